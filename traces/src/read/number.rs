//! JSON numbers as exact integers. They are not converted through `f64`, which cannot represent a present-day time in
//! nanoseconds.

/// Converts microseconds to nanoseconds, rounded to the nearest. Returns `None` for negative numbers and beyond 64
/// bits.
///
/// `token` should be a number by JSON's grammar; for any other text the result is meaningless.
pub(crate) fn nanoseconds(token: &str) -> Option<u64> {
    let bytes = token.as_bytes();
    // The common case: at most twelve digits, then no decimals or three.
    let whole = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if (1..=12).contains(&whole) {
        let value = |digits: &[u8]| digits.iter().fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0'));
        match &bytes[whole..] {
            [] => return Some(value(&bytes[..whole]) * 1000),
            [b'.', decimals @ ..] if decimals.len() == 3 && decimals.iter().all(u8::is_ascii_digit) => {
                return Some(value(&bytes[..whole]) * 1000 + value(decimals));
            }
            _ => {}
        }
    }
    Decimal::new(token)?.shifted(3, true)
}

/// Parses a number without a sign and without a nonzero fraction. Returns `None` for any other number, and beyond 64
/// bits.
pub(crate) fn unsigned(token: &str) -> Option<u64> {
    match token.parse() {
        Ok(value) if token.as_bytes()[0].is_ascii_digit() => Some(value),
        _ => Decimal::new(token)?.shifted(0, false),
    }
}

/// Like [`unsigned`], but accepts a sign.
pub(crate) fn signed(token: &str) -> Option<i64> {
    match token.strip_prefix('-') {
        Some(rest) => 0_i64.checked_sub_unsigned(unsigned(rest)?),
        None => i64::try_from(unsigned(token)?).ok(),
    }
}

/// A decimal number as digits and an exponent.
struct Decimal<'a> {
    whole: &'a [u8],
    fraction: &'a [u8],
    exponent: i64,
}

impl<'a> Decimal<'a> {
    /// Parses a decimal number. Returns `None` for other text and for negative numbers; minus zero is zero.
    fn new(token: &'a str) -> Option<Self> {
        let (sign, token) = token.strip_prefix('-').map_or((false, token), |rest| (true, rest));
        let (digits, exponent) = token.split_once(['e', 'E']).unwrap_or((token, "0"));
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let all = || whole.bytes().chain(fraction.bytes());
        if whole.is_empty() || !all().all(|byte| byte.is_ascii_digit()) || (sign && all().any(|byte| byte != b'0')) {
            return None;
        }
        let is_zero = all().all(|byte| byte == b'0');
        // An exponent beyond 64 bits makes any number except zero too large, or round to zero.
        let beyond = if exponent.starts_with('-') { i64::MIN / 4 } else { i64::MAX / 4 };
        let exponent = if is_zero { 0 } else { exponent.parse().unwrap_or(beyond) };
        Some(Self { whole: whole.as_bytes(), fraction: fraction.as_bytes(), exponent })
    }

    /// Returns the value times a power of ten. Returns `None` beyond 64 bits, or if it is not whole and must not be
    /// rounded.
    fn shifted(&self, power: i64, may_round: bool) -> Option<u64> {
        let point = (self.whole.len() as i64).saturating_add(self.exponent).saturating_add(power);
        let mut value = 0_u64;
        let digits = self.whole.iter().chain(self.fraction);
        for (place, digit) in digits.enumerate() {
            let digit = u64::from(digit - b'0');
            if (place as i64) < point {
                value = value.checked_mul(10)?.checked_add(digit)?;
            } else if !may_round {
                if digit != 0 {
                    return None;
                }
            } else {
                let is_half = place as i64 == point && digit >= 5;
                return value.checked_add(u64::from(is_half));
            }
        }
        // Zeros between the last digit and the point.
        let digits = (self.whole.len() + self.fraction.len()) as i64;
        for _ in digits..point.max(digits) {
            if value == 0 {
                break;
            }
            value = value.checked_mul(10)?;
        }
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::{nanoseconds, signed, unsigned};
    use proptest::prelude::*;

    #[test]
    fn microseconds_are_read_exactly() {
        let cases = [
            ("0", Some(0)),
            ("-0.0", Some(0)),
            ("50315.567", Some(50_315_567)),
            ("0.0004", Some(0)),
            ("0.0005", Some(1)),
            ("0.00049999999", Some(0)),
            ("12.5", Some(12_500)),
            ("1.5e3", Some(1_500_000)),
            ("1234567E-3", Some(1_234_567)),
            ("5e-4", Some(1)),
            ("5e-5", Some(0)),
            ("1719999999999999.123", Some(1_719_999_999_999_999_123)),
            ("18446744073709551.615", Some(u64::MAX)),
            ("18446744073709551.616", None),
            ("1e99999999999999999999", None),
            ("1e-99999999999999999999", Some(0)),
            ("0e99999999999999999999", Some(0)),
            ("0e999999999", Some(0)),
            ("-1", None),
        ];
        for (token, expected) in cases {
            assert_eq!(nanoseconds(token), expected, "{token}");
        }
    }

    #[test]
    fn integers_are_whole() {
        for (token, expected) in [
            ("3", Some(3)),
            ("3.0", Some(3)),
            ("3e2", Some(300)),
            ("3.5", None),
            ("18446744073709551615", Some(u64::MAX)),
            ("18446744073709551616", None),
            ("-1", None),
        ] {
            assert_eq!(unsigned(token), expected, "{token}");
        }
        assert_eq!(signed("-9223372036854775808"), Some(i64::MIN));
        assert_eq!(signed("9223372036854775808"), None);
        assert_eq!(signed("-7"), Some(-7));
    }

    proptest! {
        #[test]
        fn what_thousandths_write_is_read(value: u64) {
            prop_assert_eq!(nanoseconds(&format!("{}.{:03}", value / 1000, value % 1000)), Some(value));
        }
    }
}
