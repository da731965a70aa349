//! [`Elements`]: the memory of an operand, as a user's program has it or pinned for GPUs.

use std::ops::{Deref, DerefMut};
#[cfg(feature = "cuda")]
use superscalar::devices::PinnedBuffer;
use superscalar_kernels::Scalar;

/// What sort of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    Pageable,
    /// Pinned: GPUs copy from and to it by themselves.
    Pinned,
}

/// Elements, zero at first.
pub enum Elements<T> {
    Pageable(Vec<T>),
    #[cfg(feature = "cuda")]
    Pinned(PinnedBuffer<T>),
}

impl<T: Scalar> Elements<T> {
    /// So many; the error says why there is no such memory.
    pub fn new(len: usize, memory: Memory) -> Result<Self, String> {
        match memory {
            Memory::Pageable => {
                let mut data = Vec::new();
                data.try_reserve_exact(len).map_err(|error| error.to_string())?;
                data.resize(len, T::ZERO);
                Ok(Self::Pageable(data))
            }
            #[cfg(feature = "cuda")]
            Memory::Pinned => PinnedBuffer::new(len).map(Self::Pinned).map_err(|error| error.to_string()),
            #[cfg(not(feature = "cuda"))]
            Memory::Pinned => Err("this program was built without CUDA".to_owned()),
        }
    }
}

impl<T> Deref for Elements<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Self::Pageable(data) => data,
            #[cfg(feature = "cuda")]
            Self::Pinned(data) => data,
        }
    }
}

impl<T> DerefMut for Elements<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        match self {
            Self::Pageable(data) => data,
            #[cfg(feature = "cuda")]
            Self::Pinned(data) => data,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_there_or_the_error_says_why() {
        assert_eq!(&Elements::<f64>::new(3, Memory::Pageable).expect("little memory")[..], [0.0; 3]);
        assert!(Elements::<f64>::new(usize::MAX / 16, Memory::Pageable).is_err());
        match Elements::<f32>::new(3, Memory::Pinned) {
            Ok(pinned) => assert_eq!(&pinned[..], [0.0; 3]),
            Err(why) => assert!(!why.is_empty()),
        }
    }
}
