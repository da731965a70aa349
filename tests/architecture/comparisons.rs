//! Finds comparisons that NaN passes: every comparison with NaN is false, and `f64::max` drops it. In code that checks
//! results, "fail if it is greater" must be written "pass if it is not greater", or use `superscalar_oracle`.
//!
//! The test does not know types, so it looks for signs of real numbers: the functions and names used with errors.

use crate::{Source, has_word, none, sources};

/// Text that suggests a comparison of real numbers, and words in names that do.
const FORMS: [&str; 5] = [".abs()", ".norm()", ".to_f64()", " as f64", ": f64"];
const WORDS: [&str; 6] = ["EPSILON", "eps", "bound", "tolerance", "error", "residual"];
/// Methods that take a closure that selects offenders.
const PICKERS: [&str; 4] = [".any(", ".find(", ".position(", ".filter("];

/// A piece of code up to a semicolon or a brace.
struct Statement {
    line: usize,
    text: String,
    end: char,
}

/// Returns where the code that checks results begins: at the start of tests, examples, benchmarks, the oracle and the
/// tester; in other files, at the module of tests.
fn checking(source: &Source) -> Option<usize> {
    let whole = ["tests", "examples", "oracle", "tester"].iter().any(|folder| source.is_under(folder))
        || ["/tests/", "/benches/", "/fuzz/", "tests.rs"].iter().any(|part| source.path.contains(part));
    if whole { Some(0) } else { source.text.find("#[cfg(test)]\nmod tests {") }
}

/// Returns the text without comments and without the contents of strings and characters.
pub fn code_only(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let skipped = match next {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '"' => string_end(rest),
            'r' if rest.starts_with("r#\"") => rest.find("\"#").map_or(rest.len(), |at| at + 2),
            '\'' if rest.starts_with("'\\") => rest[3..].find('\'').map_or(rest.len(), |at| at + 4),
            '\'' if rest.chars().nth(2) == Some('\'') => rest.char_indices().nth(3).map_or(rest.len(), |(at, _)| at),
            _ => 0,
        };
        if skipped == 0 {
            code.push(next);
            rest = &rest[next.len_utf8()..];
        } else {
            code.extend(rest[..skipped].chars().filter(|&char| char == '\n'));
            rest = &rest[skipped..];
        }
    }
    code
}

/// Returns the length of the string at the start of the text.
fn string_end(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, char) in text.char_indices().skip(1) {
        match char {
            '"' if !is_escaped => return at + 1,
            _ => is_escaped = char == '\\' && !is_escaped,
        }
    }
    text.len()
}

fn statements(text: &str) -> Vec<Statement> {
    let mut statements = Vec::new();
    let (mut line, mut begun) = (1, 1);
    let mut words = String::new();
    for char in code_only(text).chars() {
        line += usize::from(char == '\n');
        match char {
            ';' | '{' | '}' => {
                let text = std::mem::take(&mut words);
                statements.push(Statement { line: begun, text: text.trim().to_owned(), end: char });
            }
            _ if char.is_whitespace() => words.extend((!words.ends_with(' ') && !words.is_empty()).then_some(' ')),
            _ => {
                // rustfmt breaks chains before a dot.
                if char == '.' && words.ends_with(' ') && !words.ends_with(", ") {
                    words.pop();
                }
                begun = if words.is_empty() { line } else { begun };
                words.push(char);
            }
        }
    }
    statements
}

/// Returns whether the text has signs of real numbers.
fn is_real(text: &str) -> bool {
    let is_digit = |char: Option<char>| char.is_some_and(|char| char.is_ascii_digit());
    let literal = text.match_indices(['.', 'e']).any(|(at, _)| {
        let after = text[at + 1..].trim_start_matches('-');
        is_digit(text[..at].chars().next_back()) && is_digit(after.chars().next())
    });
    literal || FORMS.iter().any(|form| text.contains(form)) || WORDS.iter().any(|word| names(text, word))
}

/// Returns whether a name in the text contains the word: `error`, `of_error`, `errors`. Names of modules are ignored.
fn names(text: &str, word: &str) -> bool {
    let text = text.replace(&format!("{word}::"), "");
    let mut parts = text.split(|c: char| !c.is_alphanumeric());
    parts.any(|part| part == word || part.strip_suffix('s') == Some(word))
}

/// Returns whether a part of the text is true for values that are too large, and so false for NaN.
fn is_greater(text: &str) -> bool {
    let is_seen = |part: &str| (part.contains(" > ") || part.contains(" >= ")) && !part.trim_end().ends_with("> 0.0");
    !text.contains(".is_nan()")
        && text.split("&&").flat_map(|part| part.split("||")).any(|part| is_seen(part) && is_real(part))
}

/// Returns whether the text keeps a maximum in a variable: `most = most.max(one)`, or a closure of `fold`.
fn keeps_a_maximum(text: &str) -> bool {
    let kept =
        text.split(" = ").next().filter(|_| !text.starts_with("let ") && text.contains(" = ")).unwrap_or_default();
    text.match_indices(".max(").any(|(at, _)| {
        let before = &text[..at];
        let start = before.rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |at| at + 1);
        let name = &before[start..];
        let is_parameter = ["|", "|mut "]
            .iter()
            .any(|bar| [",", ":"].iter().any(|after| text.contains(&format!("{bar}{name}{after}"))));
        !name.is_empty() && is_real(text) && (has_word(kept, name) || is_parameter)
    })
}

/// Returns whether a comparison selects the larger of two names: `if x <= worst { worst } else { x }`.
fn picks_one(condition: &str, picked: &Statement) -> bool {
    let sides = [" <= ", " >= ", " < ", " > "].iter().find_map(|sign| condition.trim().split_once(sign));
    let is_picked = |side: &str| !side.is_empty() && side == picked.text && picked.end == '}';
    sides.is_some_and(|(left, right)| is_picked(left) || is_picked(right))
}

/// Returns why NaN passes the statement, if it does.
fn fault(statement: &Statement, next: Option<&Statement>) -> Option<&'static str> {
    let text = &statement.text;
    let after = |word: &str| text.rfind(word).map(|at| &text[at + word.len()..]);
    let condition = (statement.end == '{').then(|| after("if ").or(after("while "))).flatten();
    let closure = text.strip_prefix("let ").and_then(|rest| rest.split_once(" = |")).map(|(_, closure)| closure);
    let negated = after("assert!(!(");
    if ["f64::max", "f32::max", "partial_cmp("].iter().any(|form| text.contains(form)) || keeps_a_maximum(text) {
        Some("a maximum drops NaN; see superscalar_oracle::largest")
    } else if text.contains("fold(") && condition.zip(next).is_some_and(|(condition, next)| picks_one(condition, next))
    {
        Some("a comparison that selects a number may select or lose NaN; see superscalar_oracle::largest")
    } else if condition.is_some_and(is_greater) {
        Some("a condition that is false for NaN; see superscalar_oracle::at_most")
    } else if closure.is_some_and(is_greater) || PICKERS.iter().any(|picker| after(picker).is_some_and(is_greater)) {
        Some("a closure that selects large values does not select NaN")
    } else if negated.is_some_and(|text| [" > ", " >= ", " < ", " <= "].iter().any(|sign| text.contains(sign))) {
        Some("NaN passes a negated comparison")
    } else {
        None
    }
}

#[test]
fn nan_passes_no_check() {
    let mut offenders = Vec::new();
    for source in sources().iter().filter(|source| source.path != "tests/architecture/comparisons.rs") {
        let Some(from) = checking(source) else { continue };
        let above = source.text[..from].matches('\n').count();
        let statements = statements(&source.text[from..]);
        for (at, statement) in statements.iter().enumerate() {
            let why = fault(statement, statements.get(at + 1));
            offenders.extend(why.map(|why| format!("{}: {why}", source.place(above + statement.line))));
        }
    }
    none(offenders, "a check that NaN passes");
}

#[test]
fn bad_comparisons_are_found() {
    let found = |text: &str| {
        let statements = statements(text);
        (0..statements.len()).any(|at| fault(&statements[at], statements.get(at + 1)).is_some())
    };
    for bad in [
        "let most = errors.fold(0.0, f64::max);",
        "let most = rows.map(|row| row.sum()).fold(T::from(0), f32::max);",
        "let most = values.max_by(|a, b| a.partial_cmp(b).unwrap());",
        "error = error.max((x - y).abs());",
        "(error, size) = (error.max((x - y).abs()), size.max(y.abs()));",
        "let most = list.fold(0.0, |most, x| most.max(x));",
        "let worst = list.fold(0.0, |worst, x| if x <= worst { worst } else { x });",
        "let worst = list\n    .iter()\n    .fold(0.0_f64, |worst: f64, (i, j)| worst.max(x[(i, j)]));",
        "if error > 1e-12 * size { fail() }",
        "if backward > n as f64 * f64::EPSILON || forward > 10.0 * backward { fail() }",
        "let result = if residual >= limit { Err(()) } else { Ok(()) };",
        "assert!(!x.iter().any(|x| x.abs() > limit));",
        "assert!(!list\n    .iter()\n    .any(|&error| error > limit), \"too {large}\");",
        "let far = |(x, y): (&T, &T)| (x - y).abs() > limit;",
        "assert!(!(x > y));",
        "assert!(errors.iter().filter(|&&error| error > limit).count() == 0);",
    ] {
        assert!(found(bad), "{bad}");
    }
    for good in [
        "if error <= bound { Ok(()) } else { Err(()) }",
        "assert!(residual > BOUND, \"a fault was not seen: error > bound\");",
        "assert!(error <= 4.0 * bound);",
        "assert!(list.iter().all(|x| x.abs() < 1e-10));",
        "if lines > LINES_PER_FILE_MAX && !is_explained { push() }",
        "most = most.max(bytes);",
        "if x > most || x.is_nan() { take(x) }",
        "let size = (m.max(n) as f64 * a.norm_one()).max(TINY);",
        "// if error > 1e-12 { fail() }",
        "let why = '{'; let text = \"if error > bound {\";",
        "if value > 0.0 { write(value) }",
        "if alpha != 0.5 && n > 0 { product() }",
        "let count = if n <= COLUMNS_MAX { n } else { 0 };",
    ] {
        assert!(!found(good), "{good}");
    }
}
