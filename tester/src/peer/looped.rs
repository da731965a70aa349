//! Calls a Fortran routine for each problem of a batch, on all workers of the runtime. The library itself uses one
//! thread.

use super::batch::{BatchCall, SizeClass};
use super::call::{FortranArgument, words};
use super::invoke::invoke;
use super::{Threads, Unavailable};
use std::ffi::c_void;
use std::ops::Range;
use std::time::{Duration, Instant};
use superscalar_kernels::Scalar;
use superscalar_runtime::Runtime;

/// Parts for each worker.
const PARTS_EACH: usize = 4;

/// A call that is made again and again with other arrays. Making the argument list takes longer than a small problem.
struct RepeatedCall<T: Scalar> {
    /// The arguments that `words` points to.
    _arguments: Vec<FortranArgument<T>>,
    words: Vec<*mut c_void>,
    /// The arrays among the words.
    arrays: Vec<usize>,
    /// The info among the words.
    info: Option<usize>,
}

/// Some problems of one size.
struct Piece<T: Scalar> {
    call: RepeatedCall<T>,
    /// The arrays of each problem, problem by problem.
    arrays: Vec<*mut c_void>,
    problems: Vec<usize>,
    info: Vec<i32>,
}

/// What one task computes.
struct LoopPart<T: Scalar> {
    symbol: *const c_void,
    threads: Threads,
    pieces: Vec<Piece<T>>,
}

// SAFETY: the addresses in it are those of arguments that it owns, of arrays that the batch's call borrows and that no
// other part has, and of a function.
unsafe impl<T: Scalar> Send for LoopPart<T> {}
// SAFETY: no method of a shared part uses an address in it.
unsafe impl<T: Scalar> Sync for LoopPart<T> {}

impl<T: Scalar> Piece<T> {
    fn new(class: &SizeClass<T>, range: Range<usize>) -> Self {
        let mut arguments = class.call.arguments();
        let words = words(&mut arguments);
        let positions = |is: fn(&FortranArgument<T>) -> bool| -> Vec<usize> {
            (0..arguments.len()).filter(|&at| is(&arguments[at])).collect()
        };
        let arrays = positions(|argument| matches!(argument, FortranArgument::Array(_)));
        let info = positions(|argument| matches!(argument, FortranArgument::Info(_))).first().copied();
        let of_problems = range.clone().flat_map(|at| class.arrays.iter().map(move |arrays| arrays[at])).collect();
        let problems = class.problems[range].to_vec();
        let info_of_problems = vec![0; problems.len()];
        let call = RepeatedCall { _arguments: arguments, words, arrays, info };
        Self { call, arrays: of_problems, problems, info: info_of_problems }
    }

    /// # Safety
    /// `symbol` must be the routine of the argument list.
    unsafe fn run(&mut self, symbol: *const c_void) {
        let Self { call, arrays, info, .. } = self;
        for (arrays, info) in arrays.chunks(call.arrays.len().max(1)).zip(info) {
            for (&at, &array) in call.arrays.iter().zip(arrays) {
                call.words[at] = array;
            }
            // SAFETY: by the contract of this function, `symbol` takes these words: addresses of arguments that the
            // call owns, and arrays of a problem of the call's size, which this piece alone has.
            unsafe { invoke::<()>(symbol, &call.words) };
            if let Some(at) = call.info {
                // SAFETY: the word is the address of an `i32` that the call owns.
                *info = unsafe { *call.words[at].cast::<i32>() };
            }
        }
    }
}

/// Makes the calls of the routine at `symbol`, and returns their duration together.
///
/// # Safety
/// `symbol` must be the routine of the argument lists.
pub unsafe fn call<T: Scalar>(
    symbol: *const c_void,
    threads: Threads,
    batch: &mut BatchCall<'_, T>,
    rt: &Runtime,
) -> Result<Duration, Unavailable> {
    let count = PARTS_EACH * rt.workers();
    // Each part gets its share of each size.
    let part = |number: usize| {
        let piece = |class: &SizeClass<T>| {
            let ends = [number, number + 1].map(|number| class.problems.len() * number / count);
            (ends[0] < ends[1]).then(|| Piece::new(class, ends[0]..ends[1]))
        };
        LoopPart { symbol, threads, pieces: batch.classes.iter().filter_map(piece).collect() }
    };
    let mut parts: Vec<LoopPart<T>> = (0..count).map(part).collect();
    let start = Instant::now();
    let result = rt.scope(|s| {
        for part in &mut parts {
            let part = s.lend(part);
            s.spawn("peer", part.read_write(), |part: &mut LoopPart<T>| {
                part.threads.alone(|| {
                    // SAFETY: by the contract of `call`, the symbol is the routine of the argument lists.
                    part.pieces.iter_mut().for_each(|piece| unsafe { piece.run(part.symbol) });
                });
            });
        }
    });
    let elapsed = start.elapsed();
    result.map_err(|error| Unavailable(error.to_string()))?;
    for piece in parts.iter().flat_map(|part| &part.pieces) {
        piece.problems.iter().zip(&piece.info).for_each(|(&p, &info)| batch.info[p] = info);
    }
    Ok(elapsed)
}
