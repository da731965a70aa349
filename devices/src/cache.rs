//! [`Cache`]: compiled programs on disk.
//!
//! Each program has one file, named after a hash of its key. The key consists of the target, the compiler, the options
//! and the source text. The file also contains the whole key, which is compared on reading; neither a hash collision
//! nor a file from elsewhere can be mistaken for the program. A checksum detects truncated and modified files. Files
//! that do not match are ignored and replaced. If the cache cannot be written, programs are compiled again; nothing
//! else changes.

use std::path::PathBuf;
use superscalar_runtime::cache::{self, CacheFile};

/// Returns the default directory for compiled programs of this kind of device: `kind` within the user's cache folder.
/// `None` if the environment names no cache folder.
pub(crate) fn directory(kind: &str) -> Option<PathBuf> {
    Some(cache::folder()?.join(kind))
}

/// Compiled programs in a directory. Without a directory nothing is kept.
#[derive(Clone, Debug)]
pub(crate) struct Cache {
    /// The first bytes of each file: the kind of device and the version of the format.
    magic: &'static [u8],
    directory: Option<PathBuf>,
}

impl Cache {
    pub(crate) fn new(magic: &'static [u8], directory: Option<PathBuf>) -> Self {
        Self { magic, directory }
    }

    /// Returns the compiled program with this key, if its file exists and is intact.
    pub(crate) fn get(&self, key: &[u8]) -> Option<Vec<u8>> {
        let parse = |file: &[u8]| match decode(self.magic, file, key) {
            Some(binary) => Ok(Some(binary.to_vec())),
            None if file.starts_with(self.magic) => Err("a compiled program that is damaged".to_owned()),
            // Written by another version of the format.
            None => Ok(None),
        };
        self.file(key)?.read(parse).ok().flatten().flatten()
    }

    /// Stores a compiled program. Failures are ignored.
    pub(crate) fn put(&self, key: &[u8], binary: &[u8]) {
        let Some(file) = self.file(key) else { return };
        let _ = file.replace(&encode(self.magic, key, binary));
    }

    fn file(&self, key: &[u8]) -> Option<CacheFile> {
        let name = format!("{:032x}.program", hash([key]));
        self.directory.as_ref().map(|directory| CacheFile::within(directory, &name))
    }
}

fn encode(magic: &[u8], key: &[u8], binary: &[u8]) -> Vec<u8> {
    let lengths = [key.len() as u64, binary.len() as u64].map(u64::to_le_bytes);
    let check = hash([&lengths[0], &lengths[1], key, binary]).to_le_bytes();
    [magic, &lengths[0], &lengths[1], &check, key, binary].concat()
}

fn decode<'a>(magic: &[u8], file: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    let rest = file.strip_prefix(magic)?;
    let (lengths, rest) = rest.split_at_checked(16)?;
    let (check, rest) = rest.split_at_checked(16)?;
    let binary = rest.strip_prefix(key)?;
    let expected = [key.len() as u64, binary.len() as u64].map(u64::to_le_bytes).concat();
    (lengths == expected && check == hash([lengths, key, binary]).to_le_bytes()).then_some(binary)
}

/// FNV-1a (Fowler, Noll, Vo) with 128 bits. The result depends on neither machine nor version, since it names files.
pub(crate) fn hash<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> u128 {
    const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    pieces.into_iter().flatten().fold(BASIS, |hash, &byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAGIC: &[u8] = b"test 1\n";

    #[test]
    fn encoded_file_is_decoded() {
        let file = encode(MAGIC, b"key", b"binary");
        assert_eq!(decode(MAGIC, &file, b"key"), Some(&b"binary"[..]));
        assert_eq!(decode(MAGIC, &file, b"kez"), None);
        assert_eq!(decode(b"test 2\n", &file, b"key"), None);
    }

    #[test]
    fn truncated_or_modified_file_is_ignored() {
        let file = encode(MAGIC, b"key", b"binary");
        for length in 0..file.len() {
            assert_eq!(decode(MAGIC, &file[..length], b"key"), None, "cut to {length}");
            let mut changed = file.clone();
            changed[length] ^= 1;
            assert_eq!(decode(MAGIC, &changed, b"key"), None, "changed at {length}");
        }
        let mut longer = file;
        longer.push(0);
        assert_eq!(decode(MAGIC, &longer, b"key"), None);
    }

    #[test]
    fn hash_matches_published_vectors() {
        // Test vectors published by the authors.
        assert_eq!(hash([&b""[..]]), 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d);
        assert_eq!(hash([&b"a"[..]]), 0xd228_cb69_6f1a_8caf_7891_2b70_4e4a_8964);
        assert_eq!(hash([&b"a"[..]]), hash([&b""[..], &b"a"[..]]));
    }
}
