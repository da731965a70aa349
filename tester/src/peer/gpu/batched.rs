//! The routines for batches of cuBLAS and cuSOLVER: one call for the problems of each size, with arrays of addresses.

use super::super::call::code_of;
use super::super::{BatchCall, SizeClass, Span, Unavailable};
use super::api::{Cuda, GpuMemory, at, word};
use super::library::Library;
use crate::case::Location;
use std::ffi::c_void;
use std::time::{Duration, Instant};
use superscalar_kernels::Scalar;

/// A batch on the GPU.
struct LoadedBatch {
    /// The memory of each span.
    spans: Vec<(Span, GpuMemory)>,
    /// The addresses of each array of each size class, one list behind the other.
    addresses: GpuMemory,
    /// The info of each problem, size by size.
    info: GpuMemory,
    /// The interchanges of each problem, size by size.
    pivots: GpuMemory,
}

/// Returns the number of interchanges of a problem.
fn pivots_of<T: Scalar>(class: &SizeClass<T>) -> usize {
    if class.call.name() == "getrf" { class.call.grouped_arguments().sizes[1] } else { 0 }
}

impl Library {
    /// Makes the calls of a batch and returns their duration. Copies to and from the GPU are a part of it if matrices
    /// are in host memory.
    pub fn call_batch<T: Scalar>(
        &self,
        batch: &mut BatchCall<'_, T>,
        location: Location,
    ) -> Result<Duration, Unavailable> {
        self.takes(batch)?;
        self.select()?;
        let start = Instant::now();
        let loaded = LoadedBatch::new(&self.cuda, batch)?;
        self.cuda.finish()?;
        let began = Instant::now();
        let (mut list, mut problem, mut row) = (0, 0, 0);
        let mut last = 0;
        for class in &mut batch.classes {
            let lists: Vec<*mut c_void> = (0..class.arrays.len())
                .map(|at| {
                    let first = list + at * class.problems.len();
                    loaded.addresses.start().wrapping_byte_add(first * size_of::<usize>())
                })
                .collect();
            let info = loaded.info.start().wrapping_byte_add(problem * size_of::<i32>());
            let pivots = loaded.pivots.start().wrapping_byte_add(row * size_of::<i32>());
            last = self.call_class(class, &lists, info, pivots)?.max(last);
            list += class.arrays.len() * class.problems.len();
            problem += class.problems.len();
            row += class.problems.len() * pivots_of(class);
        }
        self.cuda.finish()?;
        let elapsed = began.elapsed();
        if last != 0 {
            return Err(Unavailable(format!("the library rejects argument {last}")));
        }
        loaded.store(batch)?;
        Ok(if location == Location::Device { elapsed } else { start.elapsed() })
    }

    /// Returns an error if the library has no routine for the batch.
    fn takes<T: Scalar>(&self, batch: &BatchCall<'_, T>) -> Result<(), Unavailable> {
        let Some(name) = batch.name() else { return Ok(()) };
        let routines = self.names.batched;
        if !routines.contains(&name) {
            return Err(Unavailable(format!(
                "the tester calls this library only for batches of {}",
                routines.join(", ")
            )));
        }
        let sizes = |class: &SizeClass<T>| class.call.grouped_arguments().sizes;
        if name == "getrf" && batch.classes.iter().any(|class| sizes(class)[0] != sizes(class)[1]) {
            return Err(Unavailable("cuBLAS factors batches of square matrices only".to_owned()));
        }
        if batch.classes.iter().any(|class| sizes(class).contains(&0)) {
            return Err(Unavailable("the tester does not call this library for empty matrices".to_owned()));
        }
        Ok(())
    }

    /// Calls the routine for the problems of one size. `lists` has the addresses of each array. Returns the info of the
    /// arguments.
    fn call_class<T: Scalar>(
        &self,
        class: &mut SizeClass<T>,
        lists: &[*mut c_void],
        info: *mut c_void,
        pivots: *mut c_void,
    ) -> Result<i32, Unavailable> {
        let (count, parts) = (word(class.problems.len()), class.call.grouped_arguments());
        let name = class.call.name();
        let mut rejected = 0_i32;
        let mut words = vec![self.handle];
        match (name, &parts.letters[..], &parts.sizes[..], lists) {
            ("potrf", &[uplo], &[n, ld], &[a]) => {
                words.extend([word(code_of(uplo).unwrap_or(0)), word(n), a, word(ld), info, count]);
            }
            ("getrf", [], &[n, _, ld], &[a, _]) => words.extend([word(n), a, word(ld), pivots, info, count]),
            ("geqrf", [], &[m, n, ld, _], &[a, tau]) => {
                words.extend([word(m), word(n), a, word(ld), tau, at(&mut rejected), count]);
            }
            _ => {
                let arguments = class.call.words_by_value();
                let arguments =
                    arguments.ok_or_else(|| Unavailable(format!("{name} does not take these arguments")))?;
                // The list has null in the place of each array.
                let mut lists = lists.iter();
                let positions = class.call.array_positions();
                let replaced = |(at, word): (usize, *mut c_void)| {
                    if positions.contains(&at) { lists.next().copied().unwrap_or(word) } else { word }
                };
                words.extend(arguments.into_iter().enumerate().map(replaced));
                words.push(count);
            }
        }
        let name = format!("{}{}{name}Batched", self.names.prefix, T::LETTER.to_ascii_uppercase());
        // SAFETY: this is the documented argument list. The lists are in GPU memory, with an address for each problem;
        // info and the interchanges have room for all problems of the class.
        unsafe { self.api.call(&name, &words)? };
        Ok(rejected)
    }
}

impl LoadedBatch {
    /// Copies the batch to the GPU.
    fn new<T: Scalar>(cuda: &Cuda, batch: &BatchCall<'_, T>) -> Result<Self, Unavailable> {
        let mut spans = Vec::new();
        for &span in &batch.spans {
            let memory = cuda.memory(span.bytes)?;
            if span.is_read {
                // SAFETY: the call borrows the memory of the span.
                unsafe { memory.load_all(span.start, span.bytes)? };
            }
            spans.push((span, memory));
        }
        let mut addresses: Vec<usize> = Vec::new();
        for class in &batch.classes {
            for (arrays, (span, memory)) in class.arrays.iter().zip(&spans) {
                let offset = |array: &*mut c_void| array.addr() - span.start.addr();
                addresses.extend(arrays.iter().map(|array| memory.start().addr() + offset(array)));
            }
        }
        let on = cuda.memory(size_of_val(&addresses[..]))?;
        // SAFETY: the list outlives the copy.
        unsafe { on.load_all(addresses.as_mut_ptr().cast(), size_of_val(&addresses[..]))? };
        let rows: usize = batch.classes.iter().map(|class| class.problems.len() * pivots_of(class)).sum();
        let info = cuda.memory(batch.len() * size_of::<i32>())?;
        let zeros = vec![0_i32; batch.len()];
        // SAFETY: the zeros outlive the copy, which does not change them.
        unsafe { info.load_all(zeros.as_ptr().cast_mut().cast(), size_of_val(&zeros[..]))? };
        Ok(Self { spans, addresses: on, info, pivots: cuda.memory(rows * size_of::<i32>())? })
    }

    /// Copies the results to the host.
    fn store<T: Scalar>(&self, batch: &mut BatchCall<'_, T>) -> Result<(), Unavailable> {
        for (span, memory) in self.spans.iter().filter(|(span, _)| span.is_written) {
            // SAFETY: the call borrows the memory of the span exclusively.
            unsafe { memory.store_all(span.start, span.bytes)? };
        }
        let mut info = vec![0_i32; batch.len()];
        // SAFETY: the vector has room for the info of all problems.
        unsafe { self.info.store_all(info.as_mut_ptr().cast(), size_of_val(&info[..]))? };
        let of_class = batch.classes.iter().flat_map(|class| &class.problems);
        for (&p, &info) in of_class.zip(&info) {
            batch.info[p] = info;
        }
        let rows: usize = batch.classes.iter().map(|class| class.problems.len() * pivots_of(class)).sum();
        let mut pivots = vec![0_i32; rows];
        // SAFETY: the vector has room for all interchanges.
        unsafe { self.pivots.store_all(pivots.as_mut_ptr().cast(), size_of_val(&pivots[..]))? };
        let mut rest = &pivots[..];
        for class in batch.classes.iter().filter(|class| pivots_of(class) > 0) {
            for array in &class.arrays[1] {
                let (of_problem, others) = rest.split_at(pivots_of(class));
                // SAFETY: the call borrows the interchanges of the problem exclusively, one for each column.
                unsafe { array.cast::<i32>().copy_from_nonoverlapping(of_problem.as_ptr(), of_problem.len()) };
                rest = others;
            }
        }
        Ok(())
    }
}
