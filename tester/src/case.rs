//! A case (sizes, letters, scalars, tile size), and the list of all cases of a command line.

use crate::range::{Dim, TileSize};
use clap::ValueEnum;
use std::fmt;
use std::str::FromStr;
use superscalar_dla::Scalar;
use superscalar_kernels::{Diag, Direction, Norm, Op, Part, Side, Uplo};

/// Declares the parameters other than sizes: for each its field in a case, and its type. Cases are combined in this
/// order.
macro_rules! parameters {
    ($($parameter:ident $field:ident: $value:ty;)*) => {
        /// The parameters of routines, in LAPACK's terms. A routine's cases combine only the parameters that it uses.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Parameter { M, N, K, Nrhs, $($parameter),* }

        /// The parameters of one call. Parameters that the routine does not use are ignored.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct Case {
            pub dim: Dim,
            pub nrhs: usize,
            pub nb: TileSize,
            $(pub $field: $value,)*
        }

        /// The values of each parameter, at least one for each.
        #[derive(Clone, Debug)]
        pub struct Choices {
            pub dims: Vec<Dim>,
            pub nrhs: Vec<usize>,
            pub nb: Vec<TileSize>,
            $(pub $field: Vec<$value>,)*
        }

        impl Case {
            /// Returns the parameter's value as displayed in rows: a size, a letter or a scalar.
            pub fn value(&self, parameter: Parameter) -> String {
                match parameter {
                    Parameter::M => self.dim.m.to_string(),
                    Parameter::N => self.dim.n.to_string(),
                    Parameter::K => self.dim.k.to_string(),
                    Parameter::Nrhs => self.nrhs.to_string(),
                    $(Parameter::$parameter => self.$field.to_string(),)*
                }
            }
        }

        impl Choices {
            /// Returns every combination of the parameters in `uses`, each once. An unused parameter stays at its first
            /// value, so that `--dim 100x50,200x50` is one case for a routine that has only an n.
            pub fn cases(&self, uses: &[Parameter]) -> Vec<Case> {
                let used = |parameter| uses.contains(&parameter);
                let (dim, nrhs, nb) = (Dim { m: 0, n: 0, k: 0 }, self.nrhs[0], self.nb[0]);
                let first = Case { dim, nrhs, nb, $($field: self.$field[0]),* };
                let cases = combined(vec![first], true, &self.dims(uses), |case, dim| case.dim = dim);
                let cases = combined(cases, used(Parameter::Nrhs), &self.nrhs, |case, nrhs| case.nrhs = nrhs);
                let cases = combined(cases, true, &self.nb, |case, nb| case.nb = nb);
                $(let cases = combined(cases, used(Parameter::$parameter), &self.$field, |case, it| case.$field = it);)*
                cases
            }
        }
    };
}

parameters! {
    Norm norm: Norm;
    Part part: Part;
    Side side: Side;
    Uplo uplo: Uplo;
    TransA trans_a: Op;
    TransB trans_b: Op;
    Diag diag: Diag;
    Direction direction: Direction;
    Alpha alpha: Coefficient;
    Beta beta: Coefficient;
}

/// A scalar of the command line: `RE` or `RE:IM`; real types use the real part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coefficient {
    pub re: f64,
    pub im: f64,
}

impl Coefficient {
    /// Zero, which has special rules in the BLAS.
    pub const ZERO: Self = Self { re: 0.0, im: 0.0 };
    /// The default of alpha. Both parts are exact in all types, and neither is 0 or 1, which could hide errors.
    pub const ALPHA: Self = Self { re: 1.5, im: -0.75 };
    /// The default of beta.
    pub const BETA: Self = Self { re: 0.625, im: 0.375 };

    /// Returns the scalar in the element type.
    pub fn of<T: Scalar>(self) -> T {
        let part = <T::Real as superscalar_kernels::Scalar>::from_f64;
        T::from_parts(part(self.re), part(self.im))
    }

    /// Returns its real part, for routines that take a real scalar.
    pub fn real<T: Scalar>(self) -> T::Real {
        self.of::<T>().re()
    }
}

impl fmt::Display for Coefficient {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.im {
            0.0 => write!(out, "{}", self.re),
            im => write!(out, "{}:{im}", self.re),
        }
    }
}

impl FromStr for Coefficient {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |part: &str| part.parse().map_err(|_| format!("`{text}` is not a scalar: expected RE or RE:IM"));
        let (re, im) = text.split_once(':').unwrap_or((text, "0"));
        Ok(Self { re: number(re)?, im: number(im)? })
    }
}

impl Case {
    /// Returns whether the parameter has its default value, which rows do not show.
    pub fn is_usual(&self, parameter: Parameter) -> bool {
        match parameter {
            Parameter::Alpha => self.alpha == Coefficient::ALPHA,
            Parameter::Beta => self.beta == Coefficient::BETA,
            _ => false,
        }
    }
}

impl Parameter {
    /// Returns its key in rows: its name in lower case.
    pub fn key(self) -> String {
        format!("{self:?}").to_lowercase()
    }

    /// Returns whether it is a size and not a letter or a scalar.
    pub fn is_size(self) -> bool {
        matches!(self, Self::M | Self::N | Self::K | Self::Nrhs)
    }
}

impl Choices {
    fn dims(&self, uses: &[Parameter]) -> Vec<Dim> {
        let size = |parameter, size| if uses.contains(&parameter) { size } else { 0 };
        let mut dims: Vec<Dim> = Vec::new();
        for dim in &self.dims {
            let Dim { m, n, k } = *dim;
            let dim = Dim { m: size(Parameter::M, m), n: size(Parameter::N, n), k: size(Parameter::K, k) };
            // For a routine with fewer sizes, neighbours that differ only in unused sizes are equal.
            if dims.last() != Some(&dim) {
                dims.push(dim);
            }
        }
        dims
    }
}

/// Combines each case with each of the values. If the parameter is not used, returns the cases unchanged.
fn combined<V: Copy>(cases: Vec<Case>, used: bool, values: &[V], set: impl Fn(&mut Case, V)) -> Vec<Case> {
    if !used {
        return cases;
    }
    let with = |case: &Case, value| {
        let mut case = *case;
        set(&mut case, value);
        case
    };
    cases.iter().flat_map(|case| values.iter().map(|&value| with(case, value)).collect::<Vec<_>>()).collect()
}

/// `host` or `device`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Location {
    Host,
    Device,
}

#[cfg(test)]
impl Case {
    /// Returns a case of this size with the first value of each letter.
    pub fn with_dim(m: usize, n: usize, k: usize) -> Self {
        Self {
            dim: Dim { m, n, k },
            nrhs: 3,
            nb: TileSize::Fixed(8),
            uplo: Uplo::Lower,
            side: Side::Left,
            trans_a: Op::None,
            trans_b: Op::None,
            diag: Diag::NonUnit,
            norm: Norm::One,
            part: Part::All,
            direction: Direction::Forward,
            alpha: Coefficient::ALPHA,
            beta: Coefficient::BETA,
        }
    }
}

#[cfg(test)]
impl Choices {
    /// Returns these sizes with all letters, and tiles of 8.
    pub fn every_letter(dims: &[(usize, usize, usize)]) -> Self {
        use crate::letters::Letter;
        Self {
            dims: dims.iter().map(|&(m, n, k)| Dim { m, n, k }).collect(),
            nrhs: vec![3],
            nb: vec![TileSize::Fixed(8)],
            uplo: Uplo::ALL.to_vec(),
            side: Side::ALL.to_vec(),
            trans_a: Op::ALL.to_vec(),
            trans_b: Op::ALL.to_vec(),
            diag: Diag::ALL.to_vec(),
            norm: Norm::ALL.to_vec(),
            part: Part::ALL.to_vec(),
            direction: Direction::ALL.to_vec(),
            alpha: vec![Coefficient::ALPHA],
            beta: vec![Coefficient::BETA],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_used_parameters_are_combined() {
        let choices = Choices {
            nrhs: vec![1, 2],
            nb: vec![TileSize::Auto, TileSize::Fixed(8), TileSize::Fixed(9)],
            trans_a: vec![Op::None, Op::Trans],
            ..Choices::every_letter(&[(1, 5, 5), (2, 5, 5), (2, 6, 5)])
        };
        let cases = choices.cases(&[Parameter::N, Parameter::Uplo]);
        assert_eq!(cases.len(), 2 * 3 * 2);
        assert!((1..cases.len()).all(|at| !cases[..at].contains(&cases[at])));
        let all = [Parameter::M, Parameter::N, Parameter::Nrhs, Parameter::Uplo, Parameter::TransA];
        assert_eq!(choices.cases(&all).len(), 3 * 2 * 3 * 2 * 2);
        assert_eq!(all.map(|parameter| cases[1].value(parameter)), ["0", "5", "1", "U", "N"]);
    }

    #[test]
    fn scalars_have_two_parts() {
        for text in ["0", "1.5:-0.75", "-2", "1e3"] {
            let scalar: Coefficient = text.parse().expect(text);
            assert_eq!(scalar.to_string().parse(), Ok(scalar));
        }
        assert_eq!("1.5:2".parse::<Coefficient>().map(|scalar| scalar.of::<f64>()), Ok(1.5));
        assert!("".parse::<Coefficient>().is_err() && "1:2:3".parse::<Coefficient>().is_err());
    }
}
