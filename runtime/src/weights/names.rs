//! Tables by the name of a kernel. Several times for each task of a device a name is looked up, and it is short: this takes a dozen
//! instructions for eight bytes of it, where the standard library's hash, which withstands whoever chooses names in order to make them
//! collide, takes a hundred and more. Here the program chooses them.

use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hasher},
};

/// What is known by name.
pub(super) type NameMap<T> = HashMap<String, T, BuildHasherDefault<NameHasher>>;

/// See the module's head.
#[derive(Default)]
pub(super) struct NameHasher(u64);

impl NameHasher {
    fn add(&mut self, word: u64) {
        // An odd number without a pattern (the golden ratio). Of a product the upper bits depend on all the word's: they come down again.
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
        // The table goes by the upper bits, too.
        self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{collections::HashSet, hash::BuildHasher};

    #[test]
    fn names_that_differ_little_differ_in_the_bits_that_tables_go_by() {
        let hasher = BuildHasherDefault::<NameHasher>::default();
        let names =
            (0..64).flat_map(|at| ["dgemm", "dgem", "a longer name of a kernel, ", ""].map(|it| format!("{it}{at}")));
        let hashes: Vec<u64> = names.map(|name| hasher.hash_one(&name)).collect();
        let distinct = |bits: &dyn Fn(u64) -> u64| hashes.iter().map(|&hash| bits(hash)).collect::<HashSet<_>>().len();
        // Of 256 names in 256 places some 162 are alone or the first, were they strewn at random.
        assert!(distinct(&|hash| hash & 255) > 140, "{}", distinct(&|hash| hash & 255));
        assert!(distinct(&|hash| hash >> 57) > 90, "{}", distinct(&|hash| hash >> 57));
        assert_eq!(distinct(&|hash| hash), hashes.len());
    }

    #[test]
    fn what_is_equal_is_found() {
        let mut map = NameMap::default();
        map.insert("kernel".to_owned(), 1);
        assert_eq!((map.get("kernel"), map.get("kernels")), (Some(&1), None));
    }
}
