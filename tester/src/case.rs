//! One case: sizes, letters, tile size; and the list of all that a command line asks for.

use crate::range::{Dim, TileSize};
use superscalar_kernels::{Diag, Op, Side, Uplo};

/// What a routine can take, in LAPACK's words. A routine's cases combine only what it uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    M,
    N,
    K,
    Nrhs,
    Uplo,
    Side,
    TransA,
    TransB,
    Diag,
}

/// The parameters of one call. Those that the routine does not use have a value of no importance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    pub dim: Dim,
    pub nrhs: usize,
    pub nb: TileSize,
    pub uplo: Uplo,
    pub side: Side,
    pub trans_a: Op,
    pub trans_b: Op,
    pub diag: Diag,
}

/// The values that each parameter is to take.
#[derive(Clone, Debug)]
pub struct Choices {
    pub dims: Vec<Dim>,
    pub nrhs: Vec<usize>,
    pub nb: Vec<TileSize>,
    pub uplo: Vec<Uplo>,
    pub side: Vec<Side>,
    pub trans_a: Vec<Op>,
    pub trans_b: Vec<Op>,
    pub diag: Vec<Diag>,
}

impl Case {
    /// The parameter's value as rows show it: a size or a letter.
    pub fn value(&self, parameter: Parameter) -> String {
        match parameter {
            Parameter::M => self.dim.m.to_string(),
            Parameter::N => self.dim.n.to_string(),
            Parameter::K => self.dim.k.to_string(),
            Parameter::Nrhs => self.nrhs.to_string(),
            Parameter::Uplo => self.uplo.to_string(),
            Parameter::Side => self.side.to_string(),
            Parameter::TransA => self.trans_a.to_string(),
            Parameter::TransB => self.trans_b.to_string(),
            Parameter::Diag => self.diag.to_string(),
        }
    }
}

impl Parameter {
    /// Its key in rows.
    pub fn key(self) -> &'static str {
        match self {
            Self::M => "m",
            Self::N => "n",
            Self::K => "k",
            Self::Nrhs => "nrhs",
            Self::Uplo => "uplo",
            Self::Side => "side",
            Self::TransA => "transa",
            Self::TransB => "transb",
            Self::Diag => "diag",
        }
    }

    /// Whether it is a number rather than a letter.
    pub fn is_size(self) -> bool {
        matches!(self, Self::M | Self::N | Self::K | Self::Nrhs)
    }
}

impl Choices {
    /// Every combination of the parameters in `uses`, each once. A parameter that is not used stays at its first value,
    /// so that `--dim 100x50,200x50` is one case for a routine that has only an n.
    pub fn cases(&self, uses: &[Parameter]) -> Vec<Case> {
        let used = |parameter, count: usize| if uses.contains(&parameter) { count } else { count.min(1) };
        let mut cases: Vec<Case> = Vec::new();
        for dim in self.dims(uses) {
            let radices = [
                used(Parameter::Nrhs, self.nrhs.len()),
                self.nb.len(),
                used(Parameter::Uplo, self.uplo.len()),
                used(Parameter::Side, self.side.len()),
                used(Parameter::TransA, self.trans_a.len()),
                used(Parameter::TransB, self.trans_b.len()),
                used(Parameter::Diag, self.diag.len()),
            ];
            for at in 0..radices.iter().product() {
                let [nrhs, nb, uplo, side, trans_a, trans_b, diag] = digits(at, radices);
                cases.push(Case {
                    dim,
                    nrhs: self.nrhs[nrhs],
                    nb: self.nb[nb],
                    uplo: self.uplo[uplo],
                    side: self.side[side],
                    trans_a: self.trans_a[trans_a],
                    trans_b: self.trans_b[trans_b],
                    diag: self.diag[diag],
                });
            }
        }
        cases
    }

    fn dims(&self, uses: &[Parameter]) -> Vec<Dim> {
        let size = |parameter, size| if uses.contains(&parameter) { size } else { 0 };
        let mut dims: Vec<Dim> = Vec::new();
        for dim in &self.dims {
            let Dim { m, n, k } = *dim;
            let dim = Dim { m: size(Parameter::M, m), n: size(Parameter::N, n), k: size(Parameter::K, k) };
            // A routine with fewer sizes sees neighbours that differ in the others as one.
            if dims.last() != Some(&dim) {
                dims.push(dim);
            }
        }
        dims
    }
}

/// The number `at` in mixed radix, first digit slowest.
fn digits<const N: usize>(mut at: usize, radices: [usize; N]) -> [usize; N] {
    let mut digits = [0; N];
    for (digit, radix) in digits.iter_mut().zip(radices).rev() {
        *digit = at % radix;
        at /= radix;
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_used_is_combined() {
        let choices = Choices {
            dims: vec![Dim { m: 1, n: 5, k: 5 }, Dim { m: 2, n: 5, k: 5 }, Dim { m: 2, n: 6, k: 5 }],
            nrhs: vec![1, 2],
            nb: vec![TileSize::Auto, TileSize::Fixed(8), TileSize::Fixed(9)],
            uplo: vec![Uplo::Lower, Uplo::Upper],
            side: vec![Side::Left],
            trans_a: vec![Op::None, Op::Trans],
            trans_b: vec![Op::None],
            diag: vec![Diag::Unit],
        };
        let cases = choices.cases(&[Parameter::N, Parameter::Uplo]);
        assert_eq!(cases.len(), 2 * 3 * 2);
        assert!((1..cases.len()).all(|at| !cases[..at].contains(&cases[at])));
        let all = [Parameter::M, Parameter::N, Parameter::Nrhs, Parameter::Uplo, Parameter::TransA];
        assert_eq!(choices.cases(&all).len(), 3 * 2 * 3 * 2 * 2);
        assert_eq!(all.map(|parameter| cases[1].value(parameter)), ["0", "5", "1", "U", "N"]);
    }
}
