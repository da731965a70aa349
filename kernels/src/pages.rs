//! Zeroed memory in large pages, where the system supports them. Large pages reduce the time of first touches, which
//! for a matrix is comparable to a pass over it, and the number of TLB entries that a tile of distant columns needs.

use crate::Scalar;

/// Bytes of a large page on most systems. It is a multiple of the sizes of smaller pages.
const LARGE_PAGE_BYTES: usize = 2 << 20;

/// There is not enough memory for a matrix of this shape.
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

    /// Returns the numbers of rows and columns of the matrix.
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        (self.m, self.n)
    }

    /// Returns the bytes of its elements.
    #[must_use]
    pub fn bytes(&self) -> u128 {
        (self.m as u128 * self.n as u128).saturating_mul(self.element_bytes as u128)
    }
}

/// Returns a vector of `len` zeros. The system provides the memory when it is first touched, in large pages where
/// possible.
///
/// # Panics
/// If the allocation fails.
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

/// Like [`zeros`] for an m x n matrix, but returns an error if the allocation fails.
///
/// # Errors
/// If the allocation fails or m n overflows. Systems that overcommit memory may grant the allocation and end the
/// program when the memory is touched.
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

/// Advises the system to use large pages for the whole large pages inside this memory. Only pages not yet touched
/// change.
pub(crate) fn ask_for_large<T: Copy>(memory: &mut [T]) {
    let range = memory.as_mut_ptr_range();
    let first = (range.start as usize).next_multiple_of(LARGE_PAGE_BYTES);
    let end = range.end as usize / LARGE_PAGE_BYTES * LARGE_PAGE_BYTES;
    #[cfg(target_os = "linux")]
    if first < end {
        let start = range.start.wrapping_byte_add(first - range.start as usize);
        // The error of a system without large pages is ignored. SAFETY: the range is inside `memory`, which is borrowed
        // exclusively, and the advice does not change its contents.
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
        for len in [0, 1, 1000, LARGE_PAGE_BYTES / 16, LARGE_PAGE_BYTES / 16 + 1, LARGE_PAGE_BYTES] {
            let mut memory = zeros::<c64>(len);
            assert_eq!(memory.len(), len);
            assert!(memory.iter().all(|&x| x == c64::ZERO));
            memory.fill(c64::ONE);
            ask_for_large(&mut memory);
            assert!(memory.iter().all(|&x| x == c64::ONE), "the advice changed the contents");
        }
    }

    #[test]
    fn too_much_memory_is_refused() {
        // Cases: m n wraps to zero; the bytes wrap to zero; more than the largest allocation; more than the address
        // space.
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
    fn too_long_vector_panics() {
        let _ = zeros::<f32>(usize::MAX);
    }
}
