//! Memory in large pages, where the system has them: a page of 4 KiB takes some microseconds when it is first touched, which for a matrix is as long as
//! a pass over it, and a tile of columns that are far apart has more of them than the processor keeps addresses of.

use crate::Scalar;

/// Bytes of a large page of most systems; addresses that are multiples of it are those of smaller pages, too.
const LARGE: usize = 2 << 20;

/// So many zeros, which the system makes when they are first touched; many of them on large pages, if it has them.
///
/// ```
/// assert_eq!(superscalar_kernels::zeros::<f64>(3), [0.0; 3]);
/// ```
#[must_use]
pub fn zeros<T: Scalar>(len: usize) -> Vec<T> {
    let mut memory = bytemuck::zeroed_vec(len);
    ask_for_large(&mut memory);
    memory
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
}
