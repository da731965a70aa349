//! The options of the Level-3 BLAS and LAPACK, with their letters.
//!
//! Each type parses from LAPACK's character argument and displays as its letter. Parsing ignores case and looks at the
//! first letter only, as `LSAME` does.

use crate::Scalar;
use std::fmt;
use std::str::FromStr;

/// The error for a string that is none of an option's letters. Its message lists the letters.
///
/// # Example
/// ```
/// use superscalar::kernels::Uplo;
/// assert_eq!("x".parse::<Uplo>().unwrap_err().to_string(), "invalid uplo \"x\": expected one of L, U");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid {option} {given:?}: expected one of {letters}")]
pub struct ParseOptionError {
    given: String,
    option: &'static str,
    letters: &'static str,
}

/// Declares the options: variants with their letters, parsing and display.
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
            /// Returns LAPACK's letter, in upper case.
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
    /// The triangle of a square matrix that is meant. The other triangle is neither read nor written.
    ///
    /// # Example
    /// ```
    /// use superscalar::kernels::Uplo;
    /// assert_eq!("lower".parse(), Ok(Uplo::Lower));
    /// assert_eq!(Uplo::Lower.flip().to_string(), "U");
    /// ```
    Uplo ("uplo", "L, U") {
        /// The diagonal and the elements below it.
        Lower = 'L',
        /// The diagonal and the elements above it.
        Upper = 'U',
    }

    /// The operation applied to an operand: none, transposition or conjugate transposition.
    ///
    /// # Example
    /// ```
    /// use superscalar::kernels::Op;
    /// assert_eq!("c".parse(), Ok(Op::ConjTrans));
    /// assert_eq!(Op::Trans.shape((2, 3)), (3, 2));
    /// ```
    Op ("trans", "N, T, C") {
        /// The matrix itself.
        None = 'N',
        /// Its transpose.
        Trans = 'T',
        /// Its conjugate transpose; for real types equal to [`Op::Trans`].
        ConjTrans = 'C',
    }

    /// The side from which a triangular or symmetric matrix multiplies the general operand, or the unknown.
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
        /// The diagonal is stored and read.
        NonUnit = 'N',
        /// The diagonal is all ones and is not read.
        Unit = 'U',
    }

    /// A norm of a matrix.
    ///
    /// # Example
    /// ```
    /// use superscalar::kernels::Norm;
    /// assert_eq!("1".parse(), Ok(Norm::One));
    /// assert_eq!(Norm::One.to_string(), "O");
    /// ```
    Norm ("norm", "M, O, 1, I, F") {
        /// The largest modulus of an element. This is not a consistent norm.
        Max = 'M',
        /// The largest sum of moduli in a column.
        One = 'O' | '1',
        /// The largest sum of moduli in a row.
        Inf = 'I',
        /// The square root of the sum of the squared moduli.
        Frobenius = 'F',
    }

    /// The part of a rectangular matrix that is meant. The rest is neither read nor written.
    ///
    /// # Example
    /// ```
    /// use superscalar::kernels::Part;
    /// assert_eq!("u".parse(), Ok(Part::Upper));
    /// ```
    Part ("part", "A, L, U") {
        /// The whole matrix.
        All = 'A',
        /// The diagonal and the elements below it.
        Lower = 'L',
        /// The diagonal and the elements above it.
        Upper = 'U',
    }

    /// The order in which row interchanges are made.
    ///
    /// # Example
    /// ```
    /// use superscalar::kernels::Direction;
    /// assert_eq!("b".parse(), Ok(Direction::Backward));
    /// ```
    Direction ("direction", "F, B") {
        /// First to last: the permutation P.
        Forward = 'F',
        /// Last to first: the inverse of P.
        Backward = 'B',
    }
}

impl Uplo {
    /// Returns the other triangle, which this one becomes under transposition.
    pub fn flip(self) -> Self {
        match self {
            Self::Lower => Self::Upper,
            Self::Upper => Self::Lower,
        }
    }
}

impl Op {
    /// Returns the shape of op(A) for an A of this shape.
    pub fn shape(self, (m, n): (usize, usize)) -> (usize, usize) {
        match self {
            Self::None => (m, n),
            Self::Trans | Self::ConjTrans => (n, m),
        }
    }
}

impl Side {
    /// Returns the order of the square matrix that multiplies an m x n matrix from this side.
    ///
    /// ```
    /// use superscalar::kernels::Side;
    /// assert_eq!((Side::Left.order((2, 3)), Side::Right.order((2, 3))), (2, 3));
    /// ```
    pub fn order(self, (m, n): (usize, usize)) -> usize {
        if self == Self::Left { m } else { n }
    }
}

/// The kind of symmetry of a square matrix. For real types the two kinds are equal.
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
    /// Both kinds.
    pub const ALL: [Self; 2] = [Self::Symmetric, Self::Hermitian];

    /// Returns the operation that turns a block of one triangle into its mirror image.
    pub fn mirror(self) -> Op {
        match self {
            Self::Symmetric => Op::Trans,
            Self::Hermitian => Op::ConjTrans,
        }
    }

    /// Returns the operation of the second factor of A Aᵀ (or A Aᴴ) when the first factor is `op(A)`.
    pub fn other(self, op: Op) -> Op {
        if op == Op::None { self.mirror() } else { Op::None }
    }

    /// Returns the name of the rank-k update.
    pub fn rank_k(self) -> &'static str {
        if self == Self::Hermitian { "herk" } else { "syrk" }
    }

    /// Returns the name of the rank-2k update.
    pub fn rank_2k(self) -> &'static str {
        if self == Self::Hermitian { "her2k" } else { "syr2k" }
    }

    /// Returns the name of the product with a matrix of this symmetry.
    pub fn mm(self) -> &'static str {
        if self == Self::Hermitian { "hemm" } else { "symm" }
    }

    /// Returns the factor alpha of the mirrored product: its conjugate for Hermitian matrices.
    pub fn conj<T: Scalar>(self, x: T) -> T {
        if self == Self::Hermitian { x.conj() } else { x }
    }

    /// Returns the factor that an update uses: only the real part for Hermitian matrices.
    pub fn factor<T: Scalar>(self, x: T) -> T {
        if self == Self::Hermitian { T::from_real(x.re()) } else { x }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_round_trip() {
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
