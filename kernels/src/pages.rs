//! Memory in large pages, where the system has them: a page of 4 KiB takes some microseconds when it is first touched, which for a matrix is as long as
//! a pass over it, and a tile of columns that are far apart has more of them than the processor keeps addresses of.

use crate::Scalar;

/// Bytes of a large page of most systems; addresses that are multiples of it are those of smaller pages, too.
const LARGE: usize = 2 << 20;

/// There is no memory for a matrix of this shape.
///
/// ```
/// let error = superscalar::kernels::try_zeros::<f64>(1 << 33, 1 << 31).unwrap_err();
/// assert_eq!(error.bytes(), 1 << 67);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no memory for a matrix of {m} x {n} elements, which takes {} bytes", self.bytes())]
pub struct NoMemory {
    m: usize,
    n: usize,
    element_bytes: usize,
}

impl NoMemory {
    pub(crate) fn for_matrix<T>((m, n): (usize, usize)) -> Self {
        Self { m, n, element_bytes: size_of::<T>() }
    }

    /// Rows and columns of the matrix.
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        (self.m, self.n)
    }

    /// The bytes of its elements.
    #[must_use]
    pub fn bytes(&self) -> u128 {
        (self.m as u128 * self.n as u128).saturating_mul(self.element_bytes as u128)
    }
}

/// So many zeros, which the system makes when they are first touched; many of them on large pages, if it has them.
///
/// # Panics
/// If there is no memory for them.
///
/// ```
/// assert_eq!(superscalar::kernels::zeros::<f64>(3), [0.0; 3]);
/// ```
#[must_use]
#[track_caller]
pub fn zeros<T: Scalar>(len: usize) -> Vec<T> {
    match try_zeros(len, 1) {
        Ok(zeros) => zeros,
        Err(error) => panic!("{error}"),
    }
}

/// The m n zeros of a matrix.
///
/// # Errors
/// If the system does not give so much memory, or m n is more than can be counted. (Some systems give more than they
/// have, and end the program when it is touched.)
///
/// ```
/// assert_eq!(superscalar::kernels::try_zeros::<f64>(2, 3)?, [0.0; 6]);
/// # Ok::<(), superscalar::kernels::NoMemory>(())
/// ```
pub fn try_zeros<T: Scalar>(m: usize, n: usize) -> Result<Vec<T>, NoMemory> {
    let memory = m.checked_mul(n).and_then(|len| bytemuck::try_zeroed_vec(len).ok());
    let mut memory = memory.ok_or(NoMemory::for_matrix::<T>((m, n)))?;
    ask_for_large(&mut memory);
    Ok(memory)
}

/// Asks the system to have large pages under this memory, as far as it has whole ones and is not touched yet.
pub(crate) fn ask_for_large<T: Copy>(memory: &mut [T]) {
    let range = memory.as_mut_ptr_range();
    let (first, end) = ((range.start as usize).next_multiple_of(LARGE), range.end as usize / LARGE * LARGE);
    #[cfg(target_os = "linux")]
    if first < end {
        let start = range.start.wrapping_byte_add(first - range.start as usize);
        // A system without large pages says no, and that is all.
        // SAFETY: the pages are the memory's own, and what is in them stays as it is.
        let _ = unsafe { rustix::mm::madvise(start.cast(), end - first, rustix::mm::Advice::LinuxHugepage) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (first, end);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c64;

    #[test]
    fn memory_of_any_size_holds_zeros() {
        for len in [0, 1, 1000, LARGE / 16, LARGE / 16 + 1, LARGE] {
            let mut memory = zeros::<c64>(len);
            assert_eq!(memory.len(), len);
            assert!(memory.iter().all(|&x| x == c64::ZERO));
            memory.fill(c64::ONE);
            ask_for_large(&mut memory);
            assert!(memory.iter().all(|&x| x == c64::ONE), "what is there stays there");
        }
    }

    #[test]
    fn more_than_there_is_is_refused() {
        // m n wraps to nothing; m n bytes do; more than an allocation may have; more than an address has.
        for (m, n) in [(1 << 33, 1 << 31), (1 << 31, 1 << 30), (1 << 30, 1 << 30), (usize::MAX, usize::MAX)] {
            let error = try_zeros::<c64>(m, n).expect_err("no memory");
            assert_eq!((error.shape(), error.bytes()), ((m, n), (m as u128 * n as u128).saturating_mul(16)));
        }
        assert_eq!([(0, usize::MAX), (usize::MAX, 0)].map(|(m, n)| try_zeros::<f64>(m, n)), [Ok(vec![]), Ok(vec![])]);
        let message = try_zeros::<f32>(1 << 33, 1 << 31).expect_err("no memory").to_string();
        assert!(message.ends_with("8589934592 x 2147483648 elements, which takes 73786976294838206464 bytes"));
    }

    #[test]
    #[should_panic(expected = "no memory for a matrix of 18446744073709551615 x 1 elements")]
    fn a_vector_that_is_too_long_panics() {
        let _ = zeros::<f32>(usize::MAX);
    }
}
