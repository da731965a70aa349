//! The options of the Level-3 BLAS and LAPACK, with their letters.
//!
//! Each type parses from LAPACK's character argument (either case, only the first letter counts, as in `LSAME`) and
//! displays as that letter.

use std::fmt;
use std::str::FromStr;

/// A string that is not one of the letters an option takes. Says which letters there are.
///
/// # Example
/// ```
/// use superscalar_kernels::Uplo;
/// assert_eq!("x".parse::<Uplo>().unwrap_err().to_string(), "\"x\" is no uplo: expected one of L, U");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{given:?} is no {option}: expected one of {letters}")]
pub struct ParseOptionError {
    given: String,
    option: &'static str,
    letters: &'static str,
}

/// Declares an option: its variants with their letters, parsing and display.
macro_rules! options {
    ($(
        $(#[$doc:meta])*
        $name:ident ($word:literal, $letters:literal) { $($(#[$vdoc:meta])* $variant:ident = $letter:literal),* $(,)? }
    )*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$vdoc])* $variant),* }

        impl $name {
            /// LAPACK's letter, in upper case.
            pub fn letter(self) -> char {
                match self { $(Self::$variant => $letter),* }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Write::write_char(f, self.letter())
            }
        }

        impl FromStr for $name {
            type Err = ParseOptionError;

            fn from_str(s: &str) -> Result<Self, ParseOptionError> {
                match s.chars().next().map(|c| c.to_ascii_uppercase()) {
                    $(Some($letter) => Ok(Self::$variant),)*
                    _ => Err(ParseOptionError { given: s.into(), option: $word, letters: $letters }),
                }
            }
        }
    )*};
}

options! {
    /// Which triangle of a square matrix is meant; the other is neither read nor written.
    ///
    /// # Example
    /// ```
    /// use superscalar_kernels::Uplo;
    /// assert_eq!("lower".parse(), Ok(Uplo::Lower));
    /// assert_eq!(Uplo::Lower.flip().to_string(), "U");
    /// ```
    Uplo ("uplo", "L, U") {
        /// The diagonal and what is below it.
        Lower = 'L',
        /// The diagonal and what is above it.
        Upper = 'U',
    }

    /// What is done to an operand before it is used.
    ///
    /// # Example
    /// ```
    /// use superscalar_kernels::Op;
    /// assert_eq!("c".parse(), Ok(Op::ConjTrans));
    /// assert_eq!(Op::Trans.shape((2, 3)), (3, 2));
    /// ```
    Op ("trans", "N, T, C") {
        /// The matrix as it is.
        None = 'N',
        /// Its transpose.
        Trans = 'T',
        /// Its conjugate transpose; for real types the same as [`Op::Trans`].
        ConjTrans = 'C',
    }

    /// The side of the unknown, or of the general operand, on which a triangular matrix stands.
    ///
    /// # Example
    /// ```
    /// use superscalar_kernels::Side;
    /// assert_eq!("R".parse(), Ok(Side::Right));
    /// ```
    Side ("side", "L, R") {
        /// op(A) X.
        Left = 'L',
        /// X op(A).
        Right = 'R',
    }

    /// Whether the diagonal of a triangular matrix is stored.
    ///
    /// # Example
    /// ```
    /// use superscalar_kernels::Diag;
    /// assert_eq!("U".parse(), Ok(Diag::Unit));
    /// ```
    Diag ("diag", "N, U") {
        /// It is stored and read.
        NonUnit = 'N',
        /// It is all ones and is not read.
        Unit = 'U',
    }

    /// The order in which a sequence of interchanges or reflectors is applied.
    ///
    /// # Example
    /// ```
    /// use superscalar_kernels::Direction;
    /// assert_eq!("b".parse(), Ok(Direction::Backward));
    /// ```
    Direction ("direct", "F, B") {
        /// The first one first: P, as a factorization found it.
        Forward = 'F',
        /// The last one first: Pᵀ, which undoes it.
        Backward = 'B',
    }
}

impl Uplo {
    /// The other triangle: where this one goes under transposition.
    pub fn flip(self) -> Self {
        match self {
            Self::Lower => Self::Upper,
            Self::Upper => Self::Lower,
        }
    }
}

impl Op {
    /// The shape of op(A) when A has this shape.
    pub fn shape(self, (m, n): (usize, usize)) -> (usize, usize) {
        match self {
            Self::None => (m, n),
            Self::Trans | Self::ConjTrans => (n, m),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_survive_a_round_trip() {
        for uplo in [Uplo::Lower, Uplo::Upper] {
            assert_eq!(uplo.to_string().parse(), Ok(uplo));
            assert_eq!(uplo.flip().flip(), uplo);
        }
        for op in [Op::None, Op::Trans, Op::ConjTrans] {
            assert_eq!(op.to_string().to_lowercase().parse(), Ok(op));
        }
        assert!("".parse::<Diag>().is_err());
    }
}
