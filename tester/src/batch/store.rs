//! [`Store`]: the operands of all problems, as a call gets them.

use super::packed::{Packed, starts};
use super::problems::Problems;
use super::roles::{PivotRole, Role, has_outcomes, pivot_role, roles};
use crate::elements::{Elements, MemoryKind};
use crate::operand::Operands;
use std::collections::BTreeMap;
use superscalar_dla::Scalar;
use superscalar_kernels::operations::{BatchOperands, BatchOperation};

/// The info of a problem before the call, which no routine returns.
const INFO_UNSET: i32 = i32::MIN;

/// The operands of all problems.
pub struct Store<T: Scalar> {
    pub operation: BatchOperation<T>,
    pub matrices: Vec<Stored<T>>,
    pub pivots: Packed<Vec<i32>>,
    pivots_before: Vec<i32>,
    pub info: Vec<i32>,
}

/// One of the routine's matrices, of all problems.
pub struct Stored<T: Scalar> {
    pub role: Role,
    pub all: Packed<Elements<T>>,
    /// The contents before the call, if the call may change them.
    before: Option<Elements<T>>,
    /// The matrices that a call gets in their place, if they are real numbers.
    pub reals: Option<Packed<Elements<T::Real>>>,
}

/// The shapes of all problems: for each of the routine's matrices, then for the interchanges.
type Shapes = Vec<Vec<(usize, usize)>>;

impl<T: Scalar> Store<T> {
    /// Makes the operands. Returns `None` if there is not enough memory.
    pub fn new(
        problems: &Problems<'_, T>,
        operation: BatchOperation<T>,
        (ld_pad, memory, bytes_max): (usize, MemoryKind, usize),
    ) -> Option<Self> {
        let roles = roles(&operation);
        let mut shapes = shapes(problems, roles.len())?;
        let pivot_shapes = shapes.pop()?;
        let firsts: Vec<_> = shapes.iter().map(|shapes| starts(shapes, ld_pad)).collect::<Option<_>>()?;
        let pivot_firsts = starts(&pivot_shapes, 0)?;
        let ends = roles.iter().zip(&firsts).map(|(role, starts)| (*role, starts.last().copied().unwrap_or(0)));
        let pivots = pivot_firsts.last().copied()?;
        // Check before allocating: the system may promise more than it has, and kill the process later. There are two
        // copies of the interchanges, and the info.
        let numbers = pivots.checked_mul(2)?.checked_add(problems.len())?.checked_mul(size_of::<i32>())?;
        let bytes =
            ends.clone().try_fold(numbers, |sum, (role, end)| sum.checked_add(end.checked_mul(bytes_each::<T>(role))?));
        bytes.filter(|&bytes| bytes <= bytes_max)?;
        let mut matrices = Vec::new();
        for ((role, end), (shapes, starts)) in ends.zip(shapes.into_iter().zip(firsts.iter().cloned())) {
            let all = Packed::new(Elements::new(end, memory).ok()?, shapes, starts, ld_pad);
            let reals = match role {
                Role::Real => {
                    let data = Elements::new(end, memory).ok()?;
                    Some(Packed::new(data, all.shapes().to_vec(), all.starts().to_vec(), ld_pad))
                }
                _ => None,
            };
            matrices.push(Stored { role, all, before: None, reals });
        }
        let pivots = Packed::new(vec![0; pivots], pivot_shapes, pivot_firsts, 0);
        let info = vec![INFO_UNSET; problems.len()];
        let mut store = Self { operation, matrices, pivots, pivots_before: Vec::new(), info };
        store.fill(problems)?;
        Some(store)
    }

    /// Makes the contents, and keeps a copy of those that a call may change.
    fn fill(&mut self, problems: &Problems<'_, T>) -> Option<()> {
        for p in 0..problems.len() {
            let operands = problems.make(p)?.into_operands();
            for (stored, matrix) in self.matrices.iter_mut().zip(&operands.matrices) {
                stored.all.get_mut(p).copy_from_slice(matrix.padded());
            }
            self.pivots.get_mut(p).copy_from_slice(&operands.pivots);
        }
        for stored in self.matrices.iter_mut().filter(|stored| stored.role != Role::Read) {
            let mut before = Elements::new(stored.all.elements().len(), MemoryKind::Pageable).ok()?;
            before.copy_from_slice(stored.all.elements());
            stored.before = Some(before);
        }
        self.pivots_before = self.pivots.elements().to_vec();
        Some(())
    }

    /// Restores the operands to what they were before the first call.
    pub fn restore(&mut self) {
        for stored in &mut self.matrices {
            if let Some(before) = &stored.before {
                stored.all.restore(before);
            }
        }
        self.pivots.restore(&self.pivots_before);
        self.info.fill(if has_outcomes(&self.operation) { INFO_UNSET } else { 0 });
    }

    /// Copies the operands of problem p.
    pub fn load(&self, p: usize, into: &mut Operands<T>) {
        for (stored, matrix) in self.matrices.iter().zip(&mut into.matrices) {
            matrix.padded_mut().copy_from_slice(stored.all.get(p));
        }
        into.pivots.copy_from_slice(self.pivots.get(p));
    }

    /// Returns the operands of a call of our library.
    pub fn operands(&mut self) -> BatchOperands<'_, T> {
        let mut operands = BatchOperands::default();
        for stored in &mut self.matrices {
            match (stored.role, &mut stored.reals) {
                (Role::Read, _) => operands.read.push(stored.all.batch_ref()),
                (Role::Updated, _) => operands.updated.push(stored.all.batch_mut()),
                (_, Some(reals)) => operands.reals.push(reals.batch_mut()),
                (Role::Written | Role::Real, None) => operands.written.push(stored.all.batch_mut()),
            }
        }
        match pivot_role(&self.operation) {
            PivotRole::Read => operands.pivots_read.push(self.pivots.batch_ref()),
            PivotRole::Written => operands.pivots_written.push(self.pivots.batch_mut()),
            PivotRole::None => {}
        }
        if has_outcomes(&self.operation) {
            operands.info.push(&mut self.info);
        }
        operands
    }

    /// Copies results that are real numbers to the routine's matrices.
    pub fn take_reals(&mut self) {
        for Stored { all, reals, .. } in &mut self.matrices {
            let Some(reals) = reals else { continue };
            for p in 0..all.shapes().len() {
                let ((m, n), from) = (all.shapes()[p], reals.get(p));
                let rows = from.len().checked_div(n).unwrap_or(0);
                let to = all.get_mut(p);
                (0..n).for_each(|j| (0..m).for_each(|i| to[j * rows + i] = T::from_real(from[j * rows + i])));
            }
        }
    }
}

/// Returns the bytes of an element of a matrix in all its copies: that of the call, the one before the call, and the
/// real numbers in its place.
fn bytes_each<T: Scalar>(role: Role) -> usize {
    match role {
        Role::Read => size_of::<T>(),
        Role::Updated | Role::Written => 2 * size_of::<T>(),
        Role::Real => 2 * size_of::<T>() + size_of::<T::Real>(),
    }
}

/// Returns the shapes of all problems. Those of one size have the same.
fn shapes<T: Scalar>(problems: &Problems<'_, T>, matrices: usize) -> Option<Shapes> {
    let mut known = BTreeMap::new();
    let mut shapes = vec![Vec::with_capacity(problems.len()); matrices + 1];
    for p in 0..problems.len() {
        let dim = problems.case(p).dim;
        let of_problem = match known.entry((dim.m, dim.n, dim.k)) {
            std::collections::btree_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::btree_map::Entry::Vacant(entry) => {
                let operands = problems.make(p)?.into_operands();
                assert_eq!(operands.matrices.len(), matrices, "a role for each matrix");
                let matrices = operands.matrices.iter().map(|matrix| matrix.view().shape());
                entry.insert(matrices.chain([(operands.pivots.len(), 1)]).collect::<Vec<_>>())
            }
        };
        shapes.iter_mut().zip(of_problem).for_each(|(shapes, shape)| shapes.push(*shape));
    }
    Some(shapes)
}
