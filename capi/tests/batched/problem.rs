//! Problems of the batched routines, and their solution by the routines for one problem.

use crate::{
    routine::{Content, Fill, OperandOf, ROUTINES, Routine, Spacing},
    values::{ElementType, Values},
};
use libloading::Library;

/// The value of numbers that no routine may change.
pub const PADDING: f64 = -99.0;
/// The value of results before a call.
pub const UNSET: f64 = -7.0;
/// The factors alpha and beta, real and imaginary parts.
static FACTORS: [[f64; 2]; 2] = [[2.0, -0.5], [-1.0, 0.25]];
static SINGLE_FACTORS: [[f32; 2]; 2] = [[2.0, -0.5], [-1.0, 0.25]];
/// More arguments than any routine has.
const ARGUMENTS: usize = 24;

/// An element type, and whether integers have 64 bits.
#[derive(Clone, Copy, Debug)]
pub struct Interface {
    pub of: ElementType,
    pub is_wide: bool,
}

/// An operand of a problem.
#[derive(Clone, Debug)]
pub struct Operand {
    pub values: Values,
    pub shape: [usize; 2],
    /// The leading dimension, or the increment.
    pub ld: usize,
    pub spacing: Spacing,
    /// The real numbers of an element.
    pub parts: usize,
}

impl Operand {
    fn new(of: &OperandOf, interface: Interface, sizes: [usize; 3], gap: usize) -> Self {
        let shape @ [m, n] = (of.shape)(sizes);
        let parts = if of.content == Content::Elements { interface.of.parts() } else { 1 };
        let ld = match of.spacing {
            Spacing::Leading => m.max(1) + gap,
            Spacing::Increment => 1 + gap,
            Spacing::Adjacent => m.max(1),
        };
        let len = if of.spacing == Spacing::Increment { m * ld } else { ld * n } * parts;
        let values = match of.content {
            Content::Integers => Values::integers(interface.is_wide, len, UNSET as i64),
            _ => Values::reals(interface.of, len, PADDING),
        };
        Self { values, shape, ld, spacing: of.spacing, parts }
    }

    /// Returns the index of element (i, j).
    pub fn index(&self, i: usize, j: usize) -> usize {
        (if self.spacing == Spacing::Increment { i * self.ld } else { i + j * self.ld }) * self.parts
    }

    /// Returns the indices of all elements' parts.
    pub fn indices(&self) -> impl Iterator<Item = usize> {
        let [m, n] = self.shape;
        let elements = (0..n).flat_map(move |j| (0..m).map(move |i| (i, j)));
        elements.flat_map(move |(i, j)| (0..self.parts).map(move |part| self.index(i, j) + part))
    }

    fn fill(&mut self, fill: Fill, seed: usize) {
        let [m, n] = self.shape;
        let number = |at: [usize; 3]| {
            let mixed = at.iter().fold(seed + 1, |mixed, at| (((mixed % 9973) * 31 + at + 7) * 0x9e37_79b1) >> 3);
            (mixed % 2001) as f64 / 1000.0 - 1.0
        };
        let scale = if fill == Fill::Random { 1.0 } else { 1.0 / m.max(n) as f64 };
        for (i, j) in (0..n).flat_map(|j| (0..m).map(move |i| (i, j))) {
            let is_hermitian = fill == Fill::Diagonal && m == n;
            let is_large = match fill {
                Fill::Diagonal => i == j,
                Fill::Antidiagonal => i + j + 1 == n,
                Fill::Random | Fill::Unset => false,
            };
            let (row, col) = if is_hermitian { (i.max(j), i.min(j)) } else { (i, j) };
            let sign = if is_hermitian && i < j { -1.0 } else { f64::from(u8::from(!is_hermitian || i != j)) };
            let element = [
                number([row, col, 0]) * scale + if is_large { 3.0 } else { 0.0 },
                number([row, col, 1]) * scale * sign,
            ];
            for (part, &element) in element.iter().enumerate().take(self.parts) {
                let value = if fill == Fill::Unset { UNSET } else { element };
                self.values.set(self.index(i, j) + part, value);
            }
        }
    }
}

/// The operands of one problem.
#[derive(Clone, Debug)]
pub struct Problem {
    pub sizes: [usize; 3],
    pub operands: Vec<Operand>,
}

impl Problem {
    /// Makes a problem. `gap` is added to leading dimensions and increments.
    pub fn new(library: &Library, case: &Case, sizes: [usize; 3], seed: usize, gap: usize) -> Self {
        let operands = case.routine.operands.iter().map(|of| {
            let mut operand = Operand::new(of, case.interface, sizes, gap);
            operand.fill(of.fill, seed);
            operand
        });
        let mut problem = Self { sizes, operands: operands.collect() };
        if let Some((name, options, count)) = case.routine.before {
            let first = problem.operands[..count].to_vec();
            let [m, n] = first[0].shape;
            let sizes = [m, first.get(1).map_or(n, |column| column.shape[0]), 0];
            let count_sizes = if name == "potrf" { 1 } else { 2 };
            // Its options are the first ones of this routine.
            let before = Self { sizes, operands: first };
            let (solved, info) = before.solved_by(library, name, case, &case.options[..options], count_sizes);
            assert_eq!(info, 0, "{name}");
            problem.operands.splice(..count, solved.operands);
        }
        problem
    }

    /// Returns the problem after the call of the routine for one problem, and its `info`.
    pub fn solved(&self, library: &Library, case: &Case) -> (Self, i64) {
        let (name, sizes) = (case.name(), case.routine.sizes);
        if name != "getrf_nopiv" {
            return self.solved_by(library, name, case, &case.options, sizes);
        }
        let mut with_pivots = self.clone();
        let pivots = &ROUTINES.iter().find(|routine| routine.names[0] == "getrf").expect("a routine").operands[1];
        with_pivots.operands.push(Operand::new(pivots, case.interface, self.sizes, 0));
        let (mut solved, info) = with_pivots.solved_by(library, "getrf", case, "", sizes);
        let pivots = solved.operands.pop().expect("the pivots");
        assert!(pivots.indices().all(|i| pivots.values.get(i) == (i + 1) as f64), "a row is exchanged");
        (solved, info)
    }

    /// Calls a routine of LAPACK or of the BLAS.
    pub fn solved_by(&self, library: &Library, name: &str, case: &Case, options: &str, sizes: usize) -> (Self, i64) {
        let (mut solved, Interface { of, is_wide }) = (self.clone(), case.interface);
        let is_blas = ["trsm", "gemv"].contains(&name);
        let entry = match is_blas {
            true => format!("cblas_{}{name}{}", of.0, if is_wide { "64_" } else { "" }),
            false => format!("LAPACKE_{}{name}{}", of.0, if is_wide { "_64" } else { "" }),
        };
        let mut arguments = vec![102];
        let codes = options.bytes().enumerate();
        arguments.extend(codes.map(|(at, letter)| if is_blas { code(name, at, letter) } else { letter.into() }));
        arguments.extend(&self.sizes[..sizes]);
        for (at, operand) in solved.operands.iter_mut().enumerate() {
            let factor = case.routine.factors.iter().position(|&before| before == at).filter(|_| of.is_complex());
            arguments.extend(factor.map(|factor| factor_address(of, factor)));
            arguments.push(operand.values.address());
            arguments.extend((operand.spacing != Spacing::Adjacent).then_some(operand.ld));
        }
        let info = call(library, &entry, &arguments, of);
        let info = if is_wide { info } else { i64::from(info as i32) };
        (solved, if is_blas { 0 } else { info })
    }
}

/// A routine with its options, for one type.
pub struct Case {
    pub routine: &'static Routine,
    pub interface: Interface,
    pub options: String,
}

impl Case {
    /// Returns all cases of these routines.
    pub fn all(is_one: impl Fn(&Routine) -> bool) -> Vec<Self> {
        let mut cases = Vec::new();
        for routine in ROUTINES.iter().filter(|routine| is_one(routine)) {
            for (of, is_wide) in ElementType::ALL.into_iter().flat_map(|of| [false, true].map(|is_wide| (of, is_wide)))
            {
                let adjoint = if of.is_complex() { "C" } else { "T" };
                let cases_of = |options: &&str| Self {
                    routine,
                    interface: Interface { of, is_wide },
                    options: options.replace('*', adjoint),
                };
                cases.extend(routine.options.iter().map(cases_of));
            }
        }
        cases
    }

    /// Returns the routine's name without the letter of the type.
    pub fn name(&self) -> &'static str {
        self.routine.names[usize::from(self.interface.of.is_complex())]
    }
}

/// Returns the address of alpha or beta.
pub fn factor_address(of: ElementType, which: usize) -> usize {
    if of.is_single() { SINGLE_FACTORS[which].as_ptr() as usize } else { FACTORS[which].as_ptr() as usize }
}

/// Returns the enumerator of CBLAS for an option.
fn code(name: &str, at: usize, letter: u8) -> usize {
    match (if name == "gemv" { 2 } else { at }, letter.to_ascii_uppercase()) {
        (0, b'L') => 141,
        (0, _) => 142,
        (1, b'U') => 121,
        (1, _) => 122,
        (2, b'N') => 111,
        (2, b'T') => 112,
        (2, _) => 113,
        (_, b'N') => 131,
        _ => 132,
    }
}

/// Calls a function with these integers and addresses. On x86-64 a function with fewer arguments ignores the others. It
/// takes real factors from vector registers, whatever their positions are.
pub fn call(library: &Library, name: &str, arguments: &[usize], of: ElementType) -> i64 {
    let mut all = [0; ARGUMENTS];
    all[..arguments.len()].copy_from_slice(arguments);
    macro_rules! call {
        ($real:ty, $factors:expr, $($at:literal)*) => {{
            type Any = unsafe extern "C" fn($real, $real, $(call!(@ $at)),*) -> i64;
            // SAFETY: the functions that these tests name have the C calling convention, and take arguments with which
            // they read and write only the tests' arrays.
            unsafe { library.get::<Any>(name).expect(name)($factors[0][0], $factors[1][0], $(all[$at]),*) }
        }};
        (@ $at:literal) => { usize };
    }
    match of.is_single() {
        true => call!(f32, SINGLE_FACTORS, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23),
        false => call!(f64, FACTORS, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23),
    }
}
