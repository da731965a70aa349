//! The routines of `cpu::batch`: agreement with the routines for one matrix, for every order up to 40, every type,
//! option and storage, and members that are singular, indefinite, not finite, or near the ends of the exponent range.

mod factors;
mod products;
mod reflectors;
#[path = "../sets/mod.rs"]
mod sets;
mod solves;

use superscalar_kernels::{MatMut, MatRef, Scalar};
use superscalar_oracle::{Layout, Random, Stored};

/// Returns the orders that every routine is tested with: those of groups, and some above them. The first process, which
/// starts one for each instruction set, tries a few.
fn orders() -> impl Iterator<Item = usize> {
    (1..=40).filter(|n| sets::is_one_of_each() || n % 9 == 4)
}

/// Returns whether a test tries this option or shape with this order: all of them with small orders, and a quarter, in
/// turn, with larger ones.
fn tries(n: usize, case: usize) -> bool {
    n <= 9 || (n + case).is_multiple_of(4)
}

/// Runs a generic check for the four types.
macro_rules! for_all_types {
    ($check:ident) => {{
        $check::<f32>();
        $check::<f64>();
        $check::<superscalar_kernels::c32>();
        $check::<superscalar_kernels::c64>();
    }};
}
pub(crate) use for_all_types;

#[test]
fn all_instruction_sets() {
    if !sets::is_one_of_each() {
        sets::run_with_each(&["products::", "solves::", "factors::", "reflectors::"]);
    }
}

/// How the members of a batch are stored: without gaps; with gaps of several lengths; transposed; each in its own way.
const STORAGES: usize = 4;

/// Returns the layout of a member.
fn layout(numbers: &mut Random, storage: usize) -> Layout {
    let padding = numbers.below(3);
    match storage % STORAGES {
        0 => Layout::PLAIN,
        1 => Layout { padding, ..Layout::PLAIN },
        2 => Layout { padding, row_stride: 1, transposed: true },
        _ => Layout::any(numbers),
    }
}

/// Returns the number of members of a test: some full groups of the instruction set and a rest, or less than a group.
fn members(n: usize) -> usize {
    [2, 5, 9, 17, 3, 18][n % 6] / if n > 16 { 2 } else { 1 }
}

/// Makes members of one shape with parts in [-1, 1).
fn fractions<T: Scalar>(numbers: &mut Random, shape: (usize, usize), storage: usize, count: usize) -> Vec<Stored<T>> {
    let one = |_| {
        let layout = layout(numbers, storage);
        Stored::fractions(numbers, shape, layout)
    };
    (0..count).map(one).collect()
}

fn views<T: Scalar>(batch: &[Stored<T>]) -> Vec<MatRef<'_, T>> {
    batch.iter().map(Stored::view).collect()
}

fn views_mut<T: Scalar>(batch: &mut [Stored<T>]) -> Vec<MatMut<'_, T>> {
    batch.iter_mut().map(Stored::view_mut).collect()
}

/// Columns of integers, one per member, between sentinels.
struct Columns {
    rows: Vec<usize>,
    memory: Vec<Vec<i32>>,
}

impl Columns {
    const SENTINEL: i32 = -77;

    fn new(rows: impl Iterator<Item = usize>) -> Self {
        let rows: Vec<usize> = rows.collect();
        let memory = rows.iter().map(|k| vec![Self::SENTINEL; k + 1]).collect();
        Self { rows, memory }
    }

    fn views(&self) -> Vec<MatRef<'_, i32>> {
        let columns = self.memory.iter().zip(&self.rows);
        columns.map(|(memory, &k)| MatRef::from_col_major(memory, k, 1, k.max(1)).expect("k rows")).collect()
    }

    fn views_mut(&mut self) -> Vec<MatMut<'_, i32>> {
        let columns = self.memory.iter_mut().zip(&self.rows);
        columns.map(|(memory, &k)| MatMut::from_col_major(memory, k, 1, k.max(1)).expect("k rows")).collect()
    }

    /// Returns a member's column, and checks the sentinel behind it.
    fn of(&self, i: usize) -> &[i32] {
        let (last, column) = self.memory[i].split_last().expect("a sentinel");
        assert_eq!(*last, Self::SENTINEL, "the element behind a column was changed");
        column
    }
}
