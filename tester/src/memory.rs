//! Determines the available memory, so that a case that is too large is skipped and the system does not kill the
//! process.

/// Returns the bytes that can be allocated without swapping, or `usize::MAX` if the system does not report them.
pub fn available() -> usize {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    parse(&text).unwrap_or(usize::MAX)
}

fn parse(meminfo: &str) -> Option<usize> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: usize = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_found() {
        assert_eq!(parse("MemTotal: 9 kB\nMemAvailable:     2048 kB\n"), Some(2048 * 1024));
        assert_eq!(parse("MemTotal: 9 kB\n"), None);
        assert!(available() > 0);
    }
}
