//! Text for HTML: escaped names and readable numbers.

use std::fmt::Write;

/// Escapes text for use within an element or a quoted attribute.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ => escaped.push(letter),
        }
    }
    escaped
}

/// Writes a template with each `{{name}}` replaced by its value, in one pass: values are not searched for names. Writes
/// in pieces, since a value may have tens of megabytes.
pub(super) fn fill(template: &str, values: &[(&str, &str)], out: &mut impl std::io::Write) -> std::io::Result<()> {
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after.split_once("}}").expect("the page's template closes its braces");
        let value = values.iter().find(|(known, _)| *known == name);
        let (_, value) = value.unwrap_or_else(|| panic!("the page's template names {name:?}"));
        out.write_all(before.as_bytes())?;
        out.write_all(value.as_bytes())?;
        rest = after;
    }
    out.write_all(rest.as_bytes())
}

/// Formats a length of time with four digits: `1.234 ms`.
pub(super) fn time(ns: f64) -> String {
    if ns == 0.0 { "0".to_owned() } else { scaled(ns, [(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")]) }
}

/// Formats a number with an SI prefix, to be followed by a unit: `1.234 G`.
pub(super) fn amount(value: f64) -> String {
    scaled(value, [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, "")])
}

/// Formats a value in the first unit that is not larger than it, or in the last unit.
fn scaled<const N: usize>(value: f64, units: [(f64, &str); N]) -> String {
    let (factor, unit) = units.into_iter().find(|(least, _)| value.abs() >= *least).unwrap_or(units[N - 1]);
    format!("{} {unit}", digits(value / factor))
}

/// Formats a number with four digits, or without decimals if it is whole.
pub(super) fn digits(value: f64) -> String {
    let decimals = match value.abs() {
        _ if value.fract() == 0.0 => 0,
        least if least >= 1000.0 => 0,
        least if least >= 100.0 => 1,
        least if least >= 10.0 => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

/// Formats a fraction as `12.3 %`.
pub(super) fn percent(part: f64) -> String {
    format!("{:.1}\u{a0}%", part * 100.0)
}

/// Formats a whole number in groups of three digits, with narrow spaces.
pub(super) fn count(value: usize) -> String {
    let digits = value.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push('\u{202f}');
        }
        grouped.push(digit);
    }
    grouped
}

/// Builds an HTML table. Cells are HTML.
pub(super) struct HtmlTable {
    html: String,
    is_figure: Vec<bool>,
}

impl HtmlTable {
    /// Starts a table with a caption and heads. A head that ends in `>` makes a numeric column, aligned right.
    pub fn new(caption: &str, heads: &[&str]) -> Self {
        let mut html = format!("<table><caption>{}</caption><thead><tr>", escape(caption));
        let is_figure: Vec<bool> = heads.iter().map(|head| head.ends_with('>')).collect();
        for (head, &is_figure) in heads.iter().zip(&is_figure) {
            let class = if is_figure { " class=\"figure\"" } else { "" };
            write!(html, "<th scope=\"col\"{class}>{}</th>", escape(head.trim_end_matches('>'))).expect("a string");
        }
        html.push_str("</tr></thead><tbody>");
        Self { html, is_figure }
    }

    /// Adds a row. Its first cell is a row head.
    pub fn row(&mut self, cells: &[String]) {
        self.html.push_str("<tr>");
        for (at, cell) in cells.iter().enumerate() {
            let class = if self.is_figure[at] { " class=\"figure\"" } else { "" };
            let (open, close) = if at == 0 { ("th scope=\"row\"", "th") } else { ("td", "td") };
            write!(self.html, "<{open}{class}>{cell}</{close}>").expect("a string");
        }
        self.html.push_str("</tr>\n");
    }

    pub fn finish(mut self) -> String {
        self.html.push_str("</tbody></table>\n");
        self.html
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_text_is_inert() {
        assert_eq!(escape("</script>&\"'"), "&lt;/script&gt;&amp;&quot;&#39;");
    }

    #[test]
    fn values_are_not_expanded() {
        let mut page = Vec::new();
        fill("a {{x}} b {{y}} c", &[("x", "{{y}}"), ("y", "2")], &mut page).expect("memory");
        assert_eq!(page, b"a {{y}} b 2 c");
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(
            (time(1_234_567.0), time(12.0), amount(2.5e9)),
            ("1.235 ms".into(), "12 ns".into(), "2.500 G".into())
        );
        assert_eq!(
            (count(1_234_567), count(12), percent(0.125)),
            ("1\u{202f}234\u{202f}567".into(), "12".into(), "12.5\u{a0}%".into())
        );
    }
}
