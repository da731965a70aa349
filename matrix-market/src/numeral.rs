//! Parses tokens into numbers: indices, counts, integers, floats.

use std::num::IntErrorKind;

use crate::error::{Excerpt, Repr, shorten};

/// The longest float with a Fortran exponent that is accepted, in bytes.
const FORTRAN_BYTES_MAX: usize = 1024;

/// Parses a number of rows, columns or entries.
pub(crate) fn count(text: &str) -> Result<usize, Repr> {
    text.parse().map_err(|error: std::num::ParseIntError| {
        let token = Excerpt::new(text);
        match error.kind() {
            IntErrorKind::PosOverflow => Repr::CountTooLarge { token },
            _ => Repr::Count { token },
        }
    })
}

/// Parses a row or column index of a file, in `1..=extent`, and returns the index counted from 0.
pub(crate) fn index(text: &str, axis: &'static str, extent: usize) -> Result<usize, Repr> {
    match text.parse::<usize>() {
        Ok(index @ 1..) if index <= extent => Ok(index - 1),
        _ => Err(bad_index(text, axis, extent)),
    }
}

/// Returns the error for a bad index: an integer of any length and sign is out of range; other text is not an index.
#[cold]
fn bad_index(text: &str, axis: &'static str, extent: usize) -> Repr {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Repr::Index { axis, token: Excerpt::new(text) };
    }
    Repr::OutOfRange { axis, index: shorten(text), range: format!("1..={extent}") }
}

/// Parses a value of an integer file.
pub(crate) fn integer(text: &str) -> Result<i64, Repr> {
    text.parse().map_err(|error: std::num::ParseIntError| {
        let token = Excerpt::new(text);
        match error.kind() {
            IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => Repr::IntegerOverflow { token },
            _ => Repr::Integer { token },
        }
    })
}

/// Parses a value of a real file, or one part of a complex value, to the nearest float.
pub(crate) fn real(text: &str) -> Result<f64, Repr> {
    let value = match text.parse::<f64>() {
        Ok(value) => value,
        Err(_) => parse_fortran(text).ok_or_else(|| Repr::Number { token: Excerpt::new(text) })?,
    };
    // An infinity is written in letters; a numeral with digits means a finite number and has overflowed.
    if value.is_infinite() && text.bytes().any(|byte| byte.is_ascii_digit()) {
        return Err(Repr::NumberOverflow { token: Excerpt::new(text) });
    }
    Ok(value)
}

/// Parses a float with the exponent letter of Fortran's double precision, `1.0D+03`.
fn parse_fortran(text: &str) -> Option<f64> {
    if text.len() > FORTRAN_BYTES_MAX {
        return None;
    }
    let (mantissa, exponent) = text.split_once(['d', 'D'])?;
    // Letters before the exponent are refused, so `1eD3` and `infD0` are not numbers.
    let is_decimal = mantissa.bytes().all(|byte| byte.is_ascii_digit() || b"+-.".contains(&byte));
    if !is_decimal {
        return None;
    }
    format!("{mantissa}e{exponent}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{count, index, integer, real};

    #[test]
    fn floats_are_rounded_to_nearest() {
        for (text, value) in [
            ("1.0D+03", 1000.0),
            ("-2.5d-1", -0.25),
            (".5D0", 0.5),
            ("5.", 5.0),
            ("+7", 7.0),
            ("1e-400", 0.0),
            ("-INF", f64::NEG_INFINITY),
            ("Infinity", f64::INFINITY),
            ("4.9E-324", f64::from_bits(1)),
        ] {
            assert_eq!(real(text).ok(), Some(value), "{text}");
        }
        assert!(real("NaN").is_ok_and(f64::is_nan));
        assert!(real("-0").is_ok_and(|zero| zero == 0.0 && zero.is_sign_negative()));
    }

    #[test]
    fn malformed_floats_are_refused() {
        for text in ["", ".", "1eD3", "1D", "D3", "1D3D3", "1d3e4", "0x1p3", "1_0", "nanD0", "1,5", "١"] {
            let message = real(text).map_err(|repr| repr.to_string());
            assert_eq!(message, Err(format!("`{text}` is not a number")));
        }
        for text in ["1e309", "-1D400"] {
            let message = real(text).map_err(|repr| repr.to_string());
            assert_eq!(message, Err(format!("`{text}` is out of the range of a 64-bit float")));
        }
    }

    #[test]
    fn integer_ranges() {
        assert_eq!(integer("-9223372036854775808").ok(), Some(i64::MIN));
        assert_eq!(integer("+9223372036854775807").ok(), Some(i64::MAX));
        assert!(integer("9223372036854775808").is_err());
        assert!(integer("1.0").is_err());
        assert_eq!(index("3", "row", 3).ok(), Some(2));
        assert!(index("0", "row", 3).is_err() && index("4", "row", 3).is_err());
        assert!(index("1", "row", 0).is_err());
        assert_eq!(count("0").ok(), Some(0));
        assert!(count("-1").is_err());
    }
}
