//! [`Elements`]: the memory of an operand, either pageable like a user program's or pinned for GPUs.

use std::ops::{Deref, DerefMut};
#[cfg(feature = "cuda")]
use superscalar::devices::PinnedBuffer;
use superscalar_kernels::Scalar;

/// The kinds of host memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryKind {
    Pageable,
    /// Pinned memory, which GPUs copy to and from directly.
    Pinned,
}

/// Elements, initially zero.
pub enum Elements<T> {
    Pageable(Vec<T>),
    #[cfg(feature = "cuda")]
    Pinned(PinnedBuffer<T>),
}

impl<T: Scalar> Elements<T> {
    /// Allocates `len` elements. The error explains why there is no such memory.
    pub fn new(len: usize, memory: MemoryKind) -> Result<Self, String> {
        match memory {
            MemoryKind::Pageable => {
                let mut data = Vec::new();
                data.try_reserve_exact(len).map_err(|error| error.to_string())?;
                data.resize(len, T::ZERO);
                Ok(Self::Pageable(data))
            }
            #[cfg(feature = "cuda")]
            MemoryKind::Pinned => PinnedBuffer::new(len).map(Self::Pinned).map_err(|error| error.to_string()),
            #[cfg(not(feature = "cuda"))]
            MemoryKind::Pinned => Err("the tester was built without CUDA".to_owned()),
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
    fn allocation_succeeds_or_explains_why() {
        assert_eq!(&Elements::<f64>::new(3, MemoryKind::Pageable).expect("little memory")[..], [0.0; 3]);
        assert!(Elements::<f64>::new(usize::MAX / 16, MemoryKind::Pageable).is_err());
        match Elements::<f32>::new(3, MemoryKind::Pinned) {
            Ok(pinned) => assert_eq!(&pinned[..], [0.0; 3]),
            Err(why) => assert!(!why.is_empty()),
        }
    }
}
