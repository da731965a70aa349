//! The batched routines as data: their arguments, and how a problem is made and solved alone.

/// A leading dimension, an increment, or neither follows the address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spacing {
    Leading,
    Increment,
    Adjacent,
}

/// What an operand consists of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Content {
    Elements,
    Reals,
    Integers,
}

/// How an operand is filled before the call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Fill {
    Random,
    /// Random, with large elements on the diagonal; the matrix is Hermitian if it is square.
    Diagonal,
    /// Random, with large elements on the antidiagonal, so that pivoting exchanges rows.
    Antidiagonal,
    /// Overwritten by the call.
    Unset,
}

pub struct OperandOf {
    pub shape: fn([usize; 3]) -> [usize; 2],
    pub spacing: Spacing,
    pub content: Content,
    pub fill: Fill,
    pub is_written: bool,
}

pub struct Routine {
    /// The names without the letter of the type, for real and complex elements.
    pub names: [&'static str; 2],
    /// The options with which it is called, one letter for each argument.
    pub options: &'static [&'static str],
    /// The number of sizes.
    pub sizes: usize,
    /// The factors alpha and beta: the number of operands before each.
    pub factors: &'static [usize],
    pub operands: &'static [OperandOf],
    pub has_info: bool,
    /// The routine that makes the first operands, with the numbers of its options and operands.
    pub before: Option<(&'static str, usize, usize)>,
}

const fn matrix(shape: fn([usize; 3]) -> [usize; 2], fill: Fill, is_written: bool) -> OperandOf {
    OperandOf { shape, spacing: Spacing::Leading, content: Content::Elements, fill, is_written }
}

const fn column(shape: fn([usize; 3]) -> [usize; 2], content: Content, is_written: bool) -> OperandOf {
    OperandOf { shape, spacing: Spacing::Adjacent, content, fill: Fill::Unset, is_written }
}

const fn vector(shape: fn([usize; 3]) -> [usize; 2], is_written: bool) -> OperandOf {
    OperandOf { shape, spacing: Spacing::Increment, content: Content::Elements, fill: Fill::Random, is_written }
}

const SYSTEM: fn([usize; 3]) -> [usize; 2] = |[n, ..]| [n, n];
const SIDES: fn([usize; 3]) -> [usize; 2] = |[n, nrhs, _]| [n, nrhs];
const RECTANGLE: fn([usize; 3]) -> [usize; 2] = |[m, n, _]| [m, n];
const SHORT: fn([usize; 3]) -> [usize; 2] = |[m, n, _]| [if m < n { m } else { n }, 1];

const PLAIN: Routine =
    Routine { names: ["", ""], options: &[""], sizes: 2, factors: &[], operands: &[], has_info: false, before: None };

/// All routines. Each of their three sizes is at most the one before.
pub static ROUTINES: [Routine; 14] = [
    Routine {
        names: ["potrf"; 2],
        options: &["L", "u"],
        sizes: 1,
        operands: &[matrix(SYSTEM, Fill::Diagonal, true)],
        has_info: true,
        ..PLAIN
    },
    Routine {
        names: ["potrs"; 2],
        options: &["L", "u"],
        operands: &[matrix(SYSTEM, Fill::Diagonal, false), matrix(SIDES, Fill::Random, true)],
        before: Some(("potrf", 1, 1)),
        ..PLAIN
    },
    Routine {
        names: ["posv"; 2],
        options: &["L", "u"],
        operands: &[matrix(SYSTEM, Fill::Diagonal, true), matrix(SIDES, Fill::Random, true)],
        has_info: true,
        ..PLAIN
    },
    Routine {
        names: ["getrf"; 2],
        operands: &[matrix(RECTANGLE, Fill::Antidiagonal, true), column(SHORT, Content::Integers, true)],
        has_info: true,
        ..PLAIN
    },
    Routine {
        names: ["getrf_nopiv"; 2],
        operands: &[matrix(RECTANGLE, Fill::Diagonal, true)],
        has_info: true,
        ..PLAIN
    },
    Routine {
        names: ["getrs"; 2],
        options: &["N", "t", "C"],
        operands: &[
            matrix(SYSTEM, Fill::Antidiagonal, false),
            column(|[n, ..]| [n, 1], Content::Integers, false),
            matrix(SIDES, Fill::Random, true),
        ],
        before: Some(("getrf", 0, 2)),
        ..PLAIN
    },
    Routine {
        names: ["gesv"; 2],
        operands: &[
            matrix(SYSTEM, Fill::Antidiagonal, true),
            column(|[n, ..]| [n, 1], Content::Integers, true),
            matrix(SIDES, Fill::Random, true),
        ],
        has_info: true,
        ..PLAIN
    },
    Routine {
        names: ["geqrf"; 2],
        operands: &[matrix(RECTANGLE, Fill::Antidiagonal, true), column(SHORT, Content::Elements, true)],
        ..PLAIN
    },
    Routine {
        names: ["orgqr", "ungqr"],
        sizes: 3,
        operands: &[matrix(RECTANGLE, Fill::Antidiagonal, true), column(|[_, _, k]| [k, 1], Content::Elements, false)],
        before: Some(("geqrf", 0, 2)),
        ..PLAIN
    },
    Routine {
        names: ["ormqr", "unmqr"],
        options: &["LN", "l*"],
        sizes: 3,
        operands: &[
            matrix(|[m, _, k]| [m, k], Fill::Antidiagonal, false),
            column(|[_, _, k]| [k, 1], Content::Elements, false),
            matrix(RECTANGLE, Fill::Random, true),
        ],
        before: Some(("geqrf", 0, 2)),
        ..PLAIN
    },
    Routine {
        names: ["gels"; 2],
        options: &["N"],
        sizes: 3,
        operands: &[matrix(RECTANGLE, Fill::Antidiagonal, true), matrix(|[m, _, k]| [m, k], Fill::Random, true)],
        has_info: true,
        ..PLAIN
    },
    Routine {
        names: ["gebrd"; 2],
        operands: &[
            matrix(RECTANGLE, Fill::Random, true),
            column(SHORT, Content::Reals, true),
            column(|sizes| [SHORT(sizes)[0].saturating_sub(1), 1], Content::Reals, true),
            column(SHORT, Content::Elements, true),
            column(SHORT, Content::Elements, true),
        ],
        ..PLAIN
    },
    Routine {
        names: ["trsm"; 2],
        options: &["LLNN", "luTU", "RUCN", "rlnu"],
        factors: &[0],
        operands: &[matrix(|[m, ..]| [m, m], Fill::Diagonal, false), matrix(RECTANGLE, Fill::Random, true)],
        ..PLAIN
    },
    Routine {
        names: ["gemv"; 2],
        options: &["N", "t", "C"],
        factors: &[0, 2],
        operands: &[
            matrix(RECTANGLE, Fill::Random, false),
            vector(|[m, ..]| [m, 1], false),
            vector(|[m, ..]| [m, 1], true),
        ],
        ..PLAIN
    },
];
