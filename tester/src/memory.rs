//! How much memory there is, so that a case that does not fit is skipped and not ended by the system.

/// Bytes that can be taken without swapping; `usize::MAX` where the system does not tell.
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
