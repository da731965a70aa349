//! The four element types. They are listed only here; all other code is generic and is instantiated through
//! [`with_type!`].

use std::fmt;
use std::str::FromStr;

/// An element type, by LAPACK's letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    S,
    D,
    C,
    Z,
}

/// `with_type!(letter, T => expression)` evaluates the expression with `T` as the element type.
macro_rules! with_type {
    ($letter:expr, $t:ident => $body:expr) => {{
        macro_rules! instance {
            ($type:ty) => {{
                type $t = $type;
                $body
            }};
        }
        match $letter {
            $crate::types::Type::S => instance!(f32),
            $crate::types::Type::D => instance!(f64),
            $crate::types::Type::C => instance!(superscalar_kernels::c32),
            $crate::types::Type::Z => instance!(superscalar_kernels::c64),
        }
    }};
}
pub(crate) use with_type;

impl Type {
    /// All element types.
    pub const ALL: [Self; 4] = [Self::S, Self::D, Self::C, Self::Z];

    /// Returns LAPACK's letter, in lower case.
    pub fn letter(self) -> char {
        use superscalar_kernels::Scalar;
        with_type!(self, T => T::LETTER)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.letter())
    }
}

impl FromStr for Type {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let same = |type_: &Self| text.eq_ignore_ascii_case(type_.letter().encode_utf8(&mut [0; 4]));
        Self::ALL
            .into_iter()
            .find(same)
            .ok_or_else(|| format!("`{text}` is not an element type: expected s, d, c or z"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_survive_a_round_trip() {
        for type_ in Type::ALL {
            assert_eq!(type_.to_string().to_uppercase().parse(), Ok(type_));
        }
        assert!("q".parse::<Type>().is_err() && "".parse::<Type>().is_err() && "dd".parse::<Type>().is_err());
    }
}
