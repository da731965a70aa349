//! The options of the Level-3 BLAS and LAPACK, with their letters.
//!
//! Each type parses from LAPACK's character argument (either case, only the first letter counts, as in `LSAME`) and
//! displays as that letter.

use crate::Scalar;
use std::fmt;
use std::str::FromStr;

/// A string that is not one of the letters an option takes. Says which letters there are.
///
/// # Example
/// ```
/// use superscalar::kernels::Uplo;
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
        $name:ident ($word:literal, $letters:literal) {
            $($(#[$vdoc:meta])* $variant:ident = $letter:literal $(| $alias:literal)?),* $(,)?
        }
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
                    $(Some($letter $(| $alias)?) => Ok(Self::$variant),)*
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
    /// use superscalar::kernels::Uplo;
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
    /// use superscalar::kernels::Op;
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
    /// use superscalar::kernels::Side;
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
    /// use superscalar::kernels::Diag;
    /// assert_eq!("U".parse(), Ok(Diag::Unit));
    /// ```
    Diag ("diag", "N, U") {
        /// It is stored and read.
        NonUnit = 'N',
        /// It is all ones and is not read.
        Unit = 'U',
    }

    /// Which norm of a matrix.
    ///
    /// # Example
    /// ```
    /// use superscalar::kernels::Norm;
    /// assert_eq!("1".parse(), Ok(Norm::One));
    /// assert_eq!(Norm::One.to_string(), "O");
    /// ```
    Norm ("norm", "M, O, 1, I, F") {
        /// The largest modulus of an element; not a consistent norm.
        Max = 'M',
        /// The largest sum of moduli in a column.
        One = 'O' | '1',
        /// The largest sum of moduli in a row.
        Inf = 'I',
        /// The square root of the sum of the squared moduli.
        Frobenius = 'F',
    }

    /// Which part of a rectangular matrix is meant; the rest is neither read nor written.
    ///
    /// # Example
    /// ```
    /// use superscalar::kernels::Part;
    /// assert_eq!("u".parse(), Ok(Part::Upper));
    /// ```
    Part ("part", "A, L, U") {
        /// All of it.
        All = 'A',
        /// The diagonal and what is below it.
        Lower = 'L',
        /// The diagonal and what is above it.
        Upper = 'U',
    }

    /// In which order row interchanges are made.
    ///
    /// # Example
    /// ```
    /// use superscalar::kernels::Direction;
    /// assert_eq!("b".parse(), Ok(Direction::Backward));
    /// ```
    Direction ("direction", "F, B") {
        /// The first interchange first: a permutation P.
        Forward = 'F',
        /// The last interchange first: the inverse of that permutation.
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

impl Side {
    /// The order of a square matrix that stands at this side of one of m x n.
    ///
    /// ```
    /// use superscalar::kernels::Side;
    /// assert_eq!((Side::Left.order((2, 3)), Side::Right.order((2, 3))), (2, 3));
    /// ```
    pub fn order(self, (m, n): (usize, usize)) -> usize {
        if self == Self::Left { m } else { n }
    }
}

/// Whether a matrix equals its transpose or its conjugate transpose. For real types both are the same.
///
/// # Example
/// ```
/// use superscalar::kernels::{Op, Symmetry};
/// assert_eq!(Symmetry::Hermitian.mirror(), Op::ConjTrans);
/// assert_eq!(Symmetry::Symmetric.rank_k(), "syrk");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Symmetry {
    /// A = Aᵀ.
    Symmetric,
    /// A = Aᴴ.
    Hermitian,
}

impl Symmetry {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Symmetric, Self::Hermitian];

    /// How a block of one triangle becomes its mirror image.
    pub fn mirror(self) -> Op {
        match self {
            Self::Symmetric => Op::Trans,
            Self::Hermitian => Op::ConjTrans,
        }
    }

    /// What takes `op(A)` to the other side of a product: its own op if it was none.
    pub fn other(self, op: Op) -> Op {
        if op == Op::None { self.mirror() } else { Op::None }
    }

    /// The name of the rank-k update of this kind.
    pub fn rank_k(self) -> &'static str {
        if self == Self::Hermitian { "herk" } else { "syrk" }
    }

    /// The name of the rank-2k update of this kind.
    pub fn rank_2k(self) -> &'static str {
        if self == Self::Hermitian { "her2k" } else { "syr2k" }
    }

    /// The name of the product with a matrix of this kind.
    pub fn mm(self) -> &'static str {
        if self == Self::Hermitian { "hemm" } else { "symm" }
    }

    /// What alpha becomes when a product is mirrored.
    pub fn conj<T: Scalar>(self, x: T) -> T {
        if self == Self::Hermitian { x.conj() } else { x }
    }

    /// What is left of a factor that has to be real where the matrix is Hermitian.
    pub fn factor<T: Scalar>(self, x: T) -> T {
        if self == Self::Hermitian { T::from_real(x.re()) } else { x }
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
        for norm in [Norm::Max, Norm::One, Norm::Inf, Norm::Frobenius] {
            assert_eq!(norm.to_string().parse(), Ok(norm));
        }
        assert!("".parse::<Diag>().is_err() && "2".parse::<Norm>().is_err());
    }
}
