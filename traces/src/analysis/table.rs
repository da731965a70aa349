//! Tables for the terminal.

use std::fmt::{self, Write};

/// A table of text cells with column heads. The first column and text columns are aligned left, all others right.
pub(super) struct TextTable {
    title: Option<&'static str>,
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

struct Column {
    head: &'static str,
    is_left: bool,
}

impl TextTable {
    /// Creates a table without a title. A head that ends in `<` makes a text column.
    pub(super) fn new(heads: &[&'static str]) -> Self {
        let column = |(place, head): (usize, &&'static str)| {
            let text = head.strip_suffix('<');
            Column { head: text.unwrap_or(head), is_left: place == 0 || text.is_some() }
        };
        Self { title: None, columns: heads.iter().enumerate().map(column).collect(), rows: Vec::new() }
    }

    /// Creates a table with a title on a line of its own.
    pub(super) fn titled(title: &'static str, heads: &[&'static str]) -> Self {
        Self { title: Some(title), ..Self::new(heads) }
    }

    pub(super) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }
}

impl fmt::Display for TextTable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(title) = self.title {
            writeln!(out, "{title}")?;
        }
        let heads: Vec<String> = self.columns.iter().map(|column| column.head.to_owned()).collect();
        let rows = || std::iter::once(&heads).chain(&self.rows);
        let width = |place: usize| rows().filter_map(|row| Some(row.get(place)?.chars().count())).max().unwrap_or(0);
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        for row in rows() {
            let mut line = String::from(" ");
            for ((cell, column), &width) in row.iter().zip(&self.columns).zip(&widths) {
                match column.is_left {
                    true => write!(line, " {cell:<width$} ")?,
                    false => write!(line, " {cell:>width$} ")?,
                }
            }
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// Formats a number of things: `1 lane`, `2 lanes`.
pub(super) fn plural(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// Formats a time in milliseconds, for table columns.
pub(super) fn ms(time_ns: u64) -> String {
    format!("{:.3}", time_ns as f64 * 1e-6)
}

/// Formats a time in microseconds, for table columns.
pub(super) fn us(time_ns: f64) -> String {
    format!("{:.3}", time_ns * 1e-3)
}

/// Formats a fraction in per cent, for table columns.
pub(super) fn percent(part: f64) -> String {
    format!("{:.1}", 100.0 * part)
}

/// Formats a time with a suitable unit, for sentences.
pub(super) fn time(time_ns: u64) -> String {
    match time_ns {
        0..1_000 => format!("{time_ns} ns"),
        1_000..1_000_000 => format!("{:.3} us", time_ns as f64 * 1e-3),
        1_000_000..10_000_000_000 => format!("{:.3} ms", time_ns as f64 * 1e-6),
        _ => format!("{:.3} s", time_ns as f64 * 1e-9),
    }
}

/// Formats an amount of data with a suitable unit.
pub(super) fn bytes(bytes: f64) -> String {
    match bytes {
        ..1e3 => format!("{bytes:.0} B"),
        ..1e6 => format!("{:.2} kB", bytes * 1e-3),
        ..1e9 => format!("{:.2} MB", bytes * 1e-6),
        _ => format!("{:.2} GB", bytes * 1e-9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let mut table = TextTable::new(&["lane", "ms", "why<"]);
        table.row(["worker 10".to_owned(), ms(1_500_000), "x".to_owned()]);
        table.row(["w".to_owned(), ms(12_000_000), String::new()]);
        assert_eq!(table.to_string(), "  lane           ms  why\n  worker 10   1.500  x\n  w          12.000\n");
    }

    #[test]
    fn units_suit_the_amount() {
        assert_eq!(
            [999, 1_500, 2_000_000, 12_000_000_000].map(time),
            ["999 ns", "1.500 us", "2.000 ms", "12.000 s"].map(str::to_owned)
        );
        assert_eq!([12.0, 1.5e6, 3e9].map(bytes), ["12 B", "1.50 MB", "3.00 GB"].map(str::to_owned));
    }
}
