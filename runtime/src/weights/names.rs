//! Tables indexed by a kernel's name. A name is short and looked up several times per device task, so this hash is much
//! cheaper than the standard library's. It does not resist chosen collisions; the names come from the program itself.

use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hasher},
};

/// A map from kernel names.
pub(super) type NameMap<T> = HashMap<String, T, BuildHasherDefault<NameHasher>>;

/// A multiplicative hash over words of eight bytes.
#[derive(Default)]
pub(super) struct NameHasher(u64);

impl NameHasher {
    fn add(&mut self, word: u64) {
        // An odd constant without a pattern (the golden ratio). The upper bits of the product depend on all bits of the
        // word, so they are mixed into the lower ones.
        let product = (self.0 ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = product ^ product >> 32;
    }
}

impl Hasher for NameHasher {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| self.add(u64::from_le_bytes(*word)));
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.add(u64::from_le_bytes(last) ^ (rest.len() as u64) << 56);
    }

    fn write_u8(&mut self, byte: u8) {
        self.add(u64::from(byte));
    }

    fn finish(&self) -> u64 {
        // The table uses the upper bits, too.
        self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{collections::HashSet, hash::BuildHasher};

    #[test]
    fn similar_names_get_different_hash_bits() {
        let hasher = BuildHasherDefault::<NameHasher>::default();
        let names =
            (0..64).flat_map(|at| ["dgemm", "dgem", "a longer name of a kernel, ", ""].map(|it| format!("{it}{at}")));
        let hashes: Vec<u64> = names.map(|name| hasher.hash_one(&name)).collect();
        let distinct = |bits: &dyn Fn(u64) -> u64| hashes.iter().map(|&hash| bits(hash)).collect::<HashSet<_>>().len();
        // For 256 random names in 256 places, about 162 distinct places are expected.
        assert!(distinct(&|hash| hash & 255) > 140, "{}", distinct(&|hash| hash & 255));
        assert!(distinct(&|hash| hash >> 57) > 90, "{}", distinct(&|hash| hash >> 57));
        assert_eq!(distinct(&|hash| hash), hashes.len());
    }

    #[test]
    fn equal_names_are_found() {
        let mut map = NameMap::default();
        map.insert("kernel".to_owned(), 1);
        assert_eq!((map.get("kernel"), map.get("kernels")), (Some(&1), None));
    }
}
