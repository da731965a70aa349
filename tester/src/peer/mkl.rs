//! Routines for batches: `cblas_?gemm_batch` of MKL and OpenBLAS, and the compact routines of MKL, which take matrices
//! of one size interleaved in vector registers.

use super::batch::{BatchCall, SizeClass};
use super::invoke::invoke;
use super::{Threads, Unavailable};
use std::ffi::c_void;
use std::ops::Range;
use std::time::{Duration, Instant};
use superscalar_kernels::Scalar;
use superscalar_runtime::Runtime;

/// `CblasColMajor`, also for compact routines.
const BY_COLUMNS: usize = 102;
/// Parts for each worker.
const PARTS_EACH: usize = 4;
/// Problems of a part are a multiple of this number, which fills the registers.
const PART_MULTIPLE: usize = 32;

/// Columns of the workspace of geqrf: many matrices are factored at once, some columns of each.
const WORK_COLUMNS: usize = 64 * 16;

/// Returns the value of an option in the enumerations of CBLAS.
fn code_of(letter: u8) -> Option<usize> {
    Some(match letter {
        b'N' => 111,
        b'T' => 112,
        b'C' => 113,
        b'U' => 121,
        b'L' => 122,
        _ => return None,
    })
}

fn word(number: usize) -> *mut c_void {
    std::ptr::without_provenance_mut(number)
}

/// The lists of `cblas_?gemm_batch`: one entry for each size, and the arrays of all problems, size by size.
struct GemmLists<T> {
    letters: [Vec<i32>; 2],
    sizes: [Vec<i32>; 6],
    scalars: [Vec<T>; 2],
    arrays: [Vec<*mut c_void>; 3],
    counts: Vec<i32>,
}

impl<T: Scalar> GemmLists<T> {
    fn new(batch: &BatchCall<'_, T>) -> Option<Self> {
        let mut lists = Self {
            letters: Default::default(),
            sizes: Default::default(),
            scalars: Default::default(),
            arrays: Default::default(),
            counts: Vec::new(),
        };
        for class in &batch.classes {
            let parts = class.call.grouped_arguments();
            for (list, &letter) in lists.letters.iter_mut().zip(&parts.letters) {
                list.push(i32::try_from(code_of(letter)?).ok()?);
            }
            for (list, &size) in lists.sizes.iter_mut().zip(&parts.sizes) {
                list.push(i32::try_from(size).ok()?);
            }
            lists.scalars.iter_mut().zip(class.call.scalars()).for_each(|(list, scalar)| list.push(scalar));
            lists.arrays.iter_mut().zip(&class.arrays).for_each(|(list, arrays)| list.extend(arrays));
            lists.counts.push(i32::try_from(class.problems.len()).ok()?);
        }
        Some(lists)
    }
}

/// Calls `cblas_?gemm_batch` at `symbol` once, with the library's threads, and returns the duration.
///
/// # Safety
/// `symbol` must be that routine in the element type, and the batch one of gemm.
pub unsafe fn gemm_batch<T: Scalar>(
    symbol: *const c_void,
    batch: &mut BatchCall<'_, T>,
) -> Result<Duration, Unavailable> {
    let lists = GemmLists::new(batch);
    let mut lists = lists.ok_or_else(|| Unavailable("too many problems for integers of 32 bits".to_owned()))?;
    let [ops_a, ops_b] = lists.letters.each_mut().map(|list| list.as_mut_ptr().cast::<c_void>());
    let [m, n, k, lda, ldb, ldc] = lists.sizes.each_mut().map(|list| list.as_mut_ptr().cast::<c_void>());
    let [alpha, beta] = lists.scalars.each_mut().map(|list| list.as_mut_ptr().cast::<c_void>());
    let [a, b, c] = lists.arrays.each_mut().map(|list| list.as_mut_ptr().cast::<c_void>());
    let groups = word(batch.classes.len());
    let counts = lists.counts.as_mut_ptr().cast();
    let words = [word(BY_COLUMNS), ops_a, ops_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, groups, counts];
    let start = Instant::now();
    // SAFETY: by the contract of this function, this is the documented argument list. The lists outlive the call, and
    // the batch borrows the arrays.
    unsafe { invoke::<()>(symbol, &words) };
    Ok(start.elapsed())
}

/// The compact routines of one operation and type.
#[derive(Clone, Copy)]
pub struct Compact {
    pub format: *const c_void,
    pub size: *const c_void,
    pub pack: *const c_void,
    pub unpack: *const c_void,
    pub routine: *const c_void,
}

/// A matrix of each problem: its number among the arrays, its shape and its leading dimension.
#[derive(Clone, Copy)]
struct Member {
    array: usize,
    shape: (usize, usize),
    ld: usize,
    /// Whether the routine reads and writes it.
    is_in: bool,
    is_out: bool,
}

/// What one task computes.
struct CompactPart<T: Scalar> {
    compact: Compact,
    threads: Threads,
    format: usize,
    count: usize,
    /// The operands, each with the arrays of the problems and the packed matrices.
    members: Vec<(Member, Vec<*mut c_void>, Vec<Packet>)>,
    words: Vec<*mut c_void>,
    scalars: Vec<T>,
    work: Vec<T>,
    info: Box<i32>,
}

/// Memory with the alignment of the widest registers.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
struct Packet([u8; 64]);

// SAFETY: the addresses in it are those of memory that it owns, of arrays that the batch's call borrows and that no
// other part has, and of functions.
unsafe impl<T: Scalar> Send for CompactPart<T> {}
// SAFETY: no method of a shared part uses an address in it.
unsafe impl<T: Scalar> Sync for CompactPart<T> {}

/// Returns the operands of a compact routine.
fn members<T: Scalar>(class: &SizeClass<T>) -> Option<Vec<Member>> {
    let parts = class.call.grouped_arguments();
    let both = |array, shape, ld| Member { array, shape, ld, is_in: true, is_out: true };
    let turned = |letter: u8, (m, n)| if letter == b'N' { (m, n) } else { (n, m) };
    match (class.call.name(), &parts.letters[..], &parts.sizes[..]) {
        ("gemm", &[op_a, op_b], &[m, n, k, lda, ldb, ldc]) => {
            let read = |array, shape, ld| Member { is_out: false, ..both(array, shape, ld) };
            Some(vec![read(0, turned(op_a, (m, k)), lda), read(1, turned(op_b, (k, n)), ldb), both(2, (m, n), ldc)])
        }
        ("potrf", &[_], &[n, ld]) => Some(vec![both(0, (n, n), ld)]),
        ("getrfnp", [], &[m, n, ld]) => Some(vec![both(0, (m, n), ld)]),
        ("geqrf", [], &[m, n, ld, _]) => {
            let tau = (m.min(n), 1);
            Some(vec![both(0, (m, n), ld), Member { is_in: false, ..both(1, tau, tau.0) }])
        }
        _ => None,
    }
}

impl<T: Scalar> CompactPart<T> {
    /// Makes the part of these problems. Returns `None` if the sizes are too large.
    ///
    /// # Safety
    /// The routines must be those of the class's operation and type. The arrays of the class must be valid as long as
    /// the part is used, and no other part has them. All fields stay as they are made here: the methods rely on that.
    unsafe fn new(compact: Compact, threads: Threads, class: &SizeClass<T>, range: Range<usize>) -> Option<Self> {
        // SAFETY: by the contract of this function, this one takes no arguments; additional words are ignored.
        let format = unsafe { invoke::<i32>(compact.format, &[word(0); 4]) };
        let (format, count) = (usize::try_from(format).ok()?, range.len());
        let mut packed = Vec::new();
        for member in members(class)? {
            let (m, n) = member.shape;
            // The function returns an `int`, which larger matrices would overflow.
            let least = count.next_multiple_of(PART_MULTIPLE).checked_mul(size_of::<T>())?;
            let bytes_max = m.max(1).checked_mul(n.max(1))?.checked_mul(least)?;
            i32::try_from(bytes_max).ok()?;
            // SAFETY: by the contract of this function, this one takes four `int`s: rows, columns, the format and the
            // number of matrices.
            let bytes =
                unsafe { invoke::<i32>(compact.size, &[word(m.max(1)), word(n.max(1)), word(format), word(count)]) };
            let len = usize::try_from(bytes).ok()?.div_ceil(size_of::<Packet>());
            packed.push((member, class.arrays[member.array][range.clone()].to_vec(), vec![Packet([0; 64]); len]));
        }
        let parts = class.call.grouped_arguments();
        let letters = parts.letters.iter().map(|&letter| code_of(letter).map(word)).collect::<Option<Vec<_>>>()?;
        let longest = packed.iter().map(|(member, ..)| member.shape.0.max(member.shape.1)).max().unwrap_or(0);
        let work = vec![T::ZERO; WORK_COLUMNS * longest.max(1)];
        let (scalars, info) = (class.call.scalars(), Box::new(0));
        let mut part =
            Self { compact, threads, format, count, members: packed, words: Vec::new(), scalars, work, info };
        part.words = part.argument_list(class.call.name(), letters, &parts.sizes);
        Some(part)
    }

    /// Returns the arguments of the routine, without the scalars of gemm.
    fn argument_list(&mut self, name: &str, letters: Vec<*mut c_void>, sizes: &[usize]) -> Vec<*mut c_void> {
        let mut list = vec![word(BY_COLUMNS)];
        list.extend(letters);
        let dims = if name == "gemm" { 3 } else { sizes.len().min(if name == "potrf" { 1 } else { 2 }) };
        list.extend(sizes[..dims].iter().map(|&size| word(size)));
        for (member, _, packed) in &mut self.members {
            list.push(packed.as_mut_ptr().cast());
            if name != "geqrf" || member.is_in {
                list.push(word(member.shape.0.max(1)));
            }
        }
        if name == "geqrf" {
            list.extend([self.work.as_mut_ptr().cast(), word(self.work.len())]);
        }
        if name != "gemm" {
            list.push((&raw mut *self.info).cast());
        }
        list.extend([word(self.format), word(self.count)]);
        list
    }

    /// Copies the matrices into the compact format, or back.
    fn convert(&mut self, is_back: bool) {
        for (member, arrays, packed) in &mut self.members {
            if self.count == 0 || !(if is_back { member.is_out } else { member.is_in }) {
                continue;
            }
            let ((m, n), ld) = (member.shape, word(member.ld.max(1)));
            let (packed, packed_ld): (*mut c_void, _) = (packed.as_mut_ptr().cast(), word(m.max(1)));
            let (format, count, arrays) = (word(self.format), word(self.count), arrays.as_mut_ptr().cast());
            let words = [word(BY_COLUMNS), word(m), word(n), arrays, ld, packed, packed_ld, format, count];
            let symbol = if is_back { self.compact.unpack } else { self.compact.pack };
            // SAFETY: this is the documented argument list of both functions, which are these by the contract of `new`.
            // The compact matrices have the size that the library has named, and the arrays are valid.
            unsafe { invoke::<()>(symbol, &words) };
        }
    }

    fn compute(&mut self) {
        match *self.scalars {
            // SAFETY: by the contract of `new` the routine is gemm, and this is its documented argument list; the
            // matrices are compact ones of these sizes.
            [alpha, beta] => unsafe { compact_gemm(self.compact.routine, &self.words, alpha, beta) },
            // SAFETY: by the contract of `new` this is the documented argument list of the routine; the matrices are
            // compact ones of these sizes.
            _ => unsafe { invoke::<()>(self.compact.routine, &self.words) },
        }
    }
}

/// Calls a compact gemm, which takes real scalars by value and complex ones by address.
///
/// # Safety
/// `symbol` must be that routine in the element type, and the words its arguments without the scalars.
unsafe fn compact_gemm<T: Scalar>(symbol: *const c_void, words: &[*mut c_void], alpha: T, beta: T) {
    let &[layout, op_a, op_b, m, n, k, a, lda, b, ldb, c, ldc, format, count] = words else {
        unreachable!("the arguments of a gemm")
    };
    type Word = *mut c_void;
    macro_rules! call {
        ($scalar:ty, $alpha:expr, $beta:expr) => {{
            type Gemm = unsafe extern "C" fn(
                Word,
                Word,
                Word,
                Word,
                Word,
                Word,
                $scalar,
                Word,
                Word,
                Word,
                Word,
                $scalar,
                Word,
                Word,
                Word,
                Word,
            );
            // SAFETY: by the contract of this function, the routine has this signature; an `int` is passed like a
            // word.
            unsafe {
                let gemm: Gemm = std::mem::transmute(symbol);
                gemm(layout, op_a, op_b, m, n, k, $alpha, a, lda, b, ldb, $beta, c, ldc, format, count);
            }
        }};
    }
    use superscalar_kernels::Real;
    match T::LETTER {
        's' => call!(f32, alpha.re().to_f64() as f32, beta.re().to_f64() as f32),
        'd' => call!(f64, alpha.re().to_f64(), beta.re().to_f64()),
        _ => {
            let (mut alpha, mut beta) = (alpha, beta);
            call!(Word, (&raw mut alpha).cast(), (&raw mut beta).cast());
        }
    }
}

/// Calls the compact routines on all workers of the runtime. Returns the duration of the routine alone, and of copies
/// to and from the compact format.
///
/// # Safety
/// These must be the routines of the batch's operation and type.
pub unsafe fn compact<T: Scalar>(
    compact: Compact,
    threads: Threads,
    batch: &mut BatchCall<'_, T>,
    rt: &Runtime,
) -> Result<(Duration, Duration), Unavailable> {
    let class = batch.uniform("a compact routine")?;
    let each = class.problems.len().div_ceil(PARTS_EACH * rt.workers()).next_multiple_of(PART_MULTIPLE);
    let starts = (0..class.problems.len()).step_by(each);
    let part = |start| {
        let range = start..class.problems.len().min(start + each);
        // SAFETY: by the contract of this function, these are the routines. The batch borrows the arrays until the
        // parts are dropped, and each part has other problems.
        unsafe { CompactPart::new(compact, threads, class, range) }
    };
    let parts = starts.map(part).collect::<Option<Vec<CompactPart<T>>>>();
    let mut parts = parts.ok_or_else(|| Unavailable("there is no compact routine for these sizes".to_owned()))?;
    let to = on_all(rt, &mut parts, |part| part.convert(false))?;
    let routine = on_all(rt, &mut parts, CompactPart::compute)?;
    let back = on_all(rt, &mut parts, |part| part.convert(true))?;
    Ok((routine, to + back))
}

/// Does something with each part, each in a task, and returns the duration.
fn on_all<T: Scalar>(
    rt: &Runtime,
    parts: &mut [CompactPart<T>],
    work: fn(&mut CompactPart<T>),
) -> Result<Duration, Unavailable> {
    let start = Instant::now();
    let result = rt.scope(|s| {
        for part in parts {
            let part = s.lend(part);
            s.spawn("peer", part.read_write(), move |part: &mut CompactPart<T>| part.threads.alone(|| work(part)));
        }
    });
    let elapsed = start.elapsed();
    result.map_err(|error| Unavailable(error.to_string()))?;
    Ok(elapsed)
}
