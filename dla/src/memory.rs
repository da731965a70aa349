//! Memory that a matrix needs, and memory that is available.

use std::fmt;
use superscalar_kernels::NoMemory;

/// Error of a matrix that does not fit into memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shortage {
    shape: (usize, usize),
    bytes: u128,
    /// Available bytes, where the system reports them.
    available: Option<u64>,
}

impl Shortage {
    /// Returns the shortage of an m x n matrix if it needs more memory than is available.
    pub(crate) fn of((m, n): (usize, usize), element_bytes: usize) -> Option<Self> {
        let bytes = (m as u128 * n as u128).saturating_mul(element_bytes as u128);
        let available = available_bytes();
        let most = available.map_or(isize::MAX as u128, u128::from);
        (bytes > most).then_some(Self { shape: (m, n), bytes, available })
    }

    /// Returns the size of the matrix's elements in bytes.
    pub(crate) fn bytes(&self) -> u128 {
        self.bytes
    }
}

impl From<NoMemory> for Shortage {
    fn from(error: NoMemory) -> Self {
        Self { shape: error.shape(), bytes: error.bytes(), available: available_bytes() }
    }
}

impl fmt::Display for Shortage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { shape: (m, n), bytes, available } = self;
        write!(out, "a matrix of {m} x {n} in dense storage takes {}", Bytes(*bytes))?;
        match available {
            Some(available) => write!(out, "; {} are available", Bytes(u128::from(*available))),
            None => out.write_str(", more than can be allocated"),
        }
    }
}

/// A number of bytes that is displayed like `8000000000000 bytes (7.3 TiB)`.
struct Bytes(u128);

impl fmt::Display for Bytes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
        write!(out, "{} bytes", self.0)?;
        let mut size = self.0 as f64;
        let mut unit = None;
        for name in UNITS {
            if size >= 1024.0 {
                (size, unit) = (size / 1024.0, Some(name));
            }
        }
        unit.map_or(Ok(()), |unit| write!(out, " ({size:.1} {unit})"))
    }
}

/// Returns the bytes that the system can allocate without taking memory from other processes, swap space included;
/// `None` where the system does not report them.
fn available_bytes() -> Option<u64> {
    parse(&std::fs::read_to_string("/proc/meminfo").ok()?)
}

/// Parses the available bytes from the text of `/proc/meminfo`.
fn parse(text: &str) -> Option<u64> {
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        line.trim().strip_suffix("kB")?.trim_end().parse::<u64>().ok()?.checked_mul(1024)
    };
    field("MemAvailable")?.checked_add(field("SwapFree").unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn available_memory_is_parsed() {
        let text = "MemTotal:       24600000 kB\nMemAvailable:    2000 kB\nSwapTotal:  5 kB\nSwapFree:     48 kB\n";
        assert_eq!(parse(text), Some(2048 * 1024));
        assert_eq!(parse("MemAvailable:    3 kB\n"), Some(3072));
        for text in ["", "MemFree: 3 kB\n", "MemAvailable: x kB\n", "MemAvailable: 18446744073709551615 kB\n"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn sizes_are_readable() {
        let texts = [0, 1023, 1536, 8_000_000_000_000, 1 << 67].map(|bytes| Bytes(bytes).to_string());
        let wanted = [
            "0 bytes",
            "1023 bytes",
            "1536 bytes (1.5 KiB)",
            "8000000000000 bytes (7.3 TiB)",
            "147573952589676412928 bytes (128.0 EiB)",
        ];
        assert_eq!(texts, wanted);
    }

    #[test]
    fn huge_matrices_are_shortages() {
        assert_eq!(Shortage::of((1000, 1000), 8), None);
        for (m, n) in [(1 << 33, 1 << 31), (usize::MAX, usize::MAX), (1 << 40, 1 << 20)] {
            let shortage = Shortage::of((m, n), 16).expect("more than there is");
            assert_eq!(shortage.bytes(), (m as u128 * n as u128).saturating_mul(16));
        }
    }
}
