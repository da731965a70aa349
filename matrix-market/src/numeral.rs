//! Tokens into numbers: indices, counts, integers, floats.

use std::num::IntErrorKind;

use crate::error::{Excerpt, Kind, shorten};

/// The longest float that is rewritten to replace a Fortran exponent, in bytes.
const FORTRAN_BYTES_MAX: usize = 1024;

/// A number of rows, columns or entries.
pub(crate) fn count(text: &str) -> Result<usize, Kind> {
    text.parse().map_err(|error: std::num::ParseIntError| {
        let token = Excerpt::new(text);
        match error.kind() {
            IntErrorKind::PosOverflow => Kind::CountTooLarge { token },
            _ => Kind::Count { token },
        }
    })
}

/// A row or column index of a file, `1..=extent`, as a position in memory, `0..extent`.
pub(crate) fn index(text: &str, axis: &'static str, extent: usize) -> Result<usize, Kind> {
    match text.parse::<usize>() {
        Ok(index @ 1..) if index <= extent => Ok(index - 1),
        _ => Err(bad_index(text, axis, extent)),
    }
}

/// Tells an integer that is out of range, of either sign and any length, from what is no integer.
#[cold]
fn bad_index(text: &str, axis: &'static str, extent: usize) -> Kind {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Kind::Index { axis, token: Excerpt::new(text) };
    }
    Kind::OutOfRange { axis, index: shorten(text), range: format!("1..={extent}") }
}

/// A value of an integer file.
pub(crate) fn integer(text: &str) -> Result<i64, Kind> {
    text.parse().map_err(|error: std::num::ParseIntError| {
        let token = Excerpt::new(text);
        match error.kind() {
            IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => Kind::IntegerOverflow { token },
            _ => Kind::Integer { token },
        }
    })
}

/// A value, or half a value, of a real or complex file: the nearest float.
pub(crate) fn real(text: &str) -> Result<f64, Kind> {
    let value = match text.parse::<f64>() {
        Ok(value) => value,
        Err(_) => fortran(text).ok_or_else(|| Kind::Number { token: Excerpt::new(text) })?,
    };
    // An infinity must have been spelled: a numeral that has digits meant something finite.
    if value.is_infinite() && text.bytes().any(|byte| byte.is_ascii_digit()) {
        return Err(Kind::NumberOverflow { token: Excerpt::new(text) });
    }
    Ok(value)
}

/// A float with the exponent letter of Fortran's double precision, `1.0D+03`.
fn fortran(text: &str) -> Option<f64> {
    if text.len() > FORTRAN_BYTES_MAX {
        return None;
    }
    let (mantissa, exponent) = text.split_once(['d', 'D'])?;
    // Else a second letter would slip through: `1eD3` must not become `1ee3`, nor `infD` pass.
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
    fn floats_are_the_nearest_ones() {
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
    fn what_is_no_float_is_refused() {
        for text in ["", ".", "1eD3", "1D", "D3", "1D3D3", "1d3e4", "0x1p3", "1_0", "nanD0", "1,5", "١"] {
            let message = real(text).map_err(|kind| kind.to_string());
            assert_eq!(message, Err(format!("`{text}` is not a number")));
        }
        for text in ["1e309", "-1D400"] {
            let message = real(text).map_err(|kind| kind.to_string());
            assert_eq!(message, Err(format!("`{text}` is out of the range of a 64-bit float")));
        }
    }

    #[test]
    fn integers_have_edges() {
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
