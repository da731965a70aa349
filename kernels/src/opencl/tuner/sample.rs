//! [`random_row`]: rows that test the generator of kernels.

use super::random::Seeded;
use crate::opencl::{
    Buffering, Element, FactorTile, GroupLimits, GroupTile, LoopingTile, MatrixTile, PackedLayout, Packing,
    ParameterConstraint, Parameters, ProductForm,
};

/// Draws of a part of a row until it meets its constraints. One in some hundred does.
const DRAWS: usize = 1 << 20;
const VECTORS: [usize; 5] = [1, 2, 4, 8, 16];
const DIMS: [usize; 6] = [1, 2, 4, 8, 16, 32];
/// Work-items of a group in the kernels that are not for products.
const ITEMS: [usize; 5] = [1, 4, 16, 64, 256];

/// Returns a random row for an element type, which a device with these limits can run: any form, and blocks that are
/// smaller than a search tries, so that small matrices have several of them. A seed determines the row.
///
/// ```
/// use superscalar::kernels::opencl::{GroupLimits, tuning::random_row};
///
/// let row = random_row('d', &GroupLimits::USUAL, 7)?;
/// assert_eq!(row.check(&GroupLimits::USUAL), Ok(()));
/// assert_eq!(row, random_row('d', &GroupLimits::USUAL, 7)?);
/// # Ok::<(), superscalar::kernels::opencl::ParameterConstraint>(())
/// ```
///
/// # Errors
/// A constraint that the last of very many rows violates.
///
/// # Panics
/// If the letter is none of s, d, c and z.
pub fn random_row(letter: char, limits: &GroupLimits, seed: u64) -> Result<Parameters, ParameterConstraint> {
    let element = Element::of(letter);
    let mut random = Seeded(seed.wrapping_mul(4).wrapping_add(u64::from(letter)));
    let form = random.below(if element.is_double && limits.has_matrix_f64 { 3 } else { 2 });
    let product = drawn(|| {
        let product = match form {
            0 => ProductForm::Looping(looping(&mut random)),
            1 => ProductForm::Grouped(grouped(&mut random)),
            _ => ProductForm::Matrix(matrix(&mut random)),
        };
        product.check(element, limits).map(|()| product)
    })?;
    let mut packing = |columns: usize| {
        drawn(|| {
            let packing = packing(&mut random, columns);
            packing.check(columns, element, limits).map(|()| packing)
        })
    };
    let [a, b] = product.packed_columns();
    let packing = [packing(a)?, packing(b)?];
    let [.., k] = product.multiples();
    drawn(|| {
        let work_items = random.one_of(ITEMS);
        let row = Parameters {
            letter,
            product,
            packing,
            packed_steps: k * random.one_of([1, 2, 3, 8, 64, 256]),
            direct_order: random.one_of([0, 4, 16, 32, 512]),
            vector: random.one_of(VECTORS),
            triangle_order: if work_items == 1 { 4 * (1 + random.below(16)) } else { random.one_of([16, 32, 64]) },
            factor_order: if work_items == 1 { 1 + random.below(64) } else { 4 * (1 + random.below(16)) },
            factor_items: if work_items == 1 { 1 } else { random.one_of(ITEMS) },
            work_items,
        };
        row.check(limits).map(|()| row)
    })
}

/// Returns the first valid one.
fn drawn<V>(mut draw: impl FnMut() -> Result<V, ParameterConstraint>) -> Result<V, ParameterConstraint> {
    (1..DRAWS).find_map(|_| draw().ok()).map_or_else(draw, Ok)
}

fn looping(random: &mut Seeded) -> LoopingTile {
    let vector = random.one_of(VECTORS);
    let (m_wi, n_wi) = (vector * (1 + random.below(4)), 1 + random.below(12));
    let (m_wg, n_wg) = (m_wi * (1 + random.below(4)), n_wi * (1 + random.below(4)));
    LoopingTile { m_wg, n_wg, k_wg: random.one_of([1, 3, 8, 16, 31, 64, 256]), m_wi, n_wi, vector }
}

fn grouped(random: &mut Seeded) -> GroupTile {
    let (m_dim, n_dim, k_wi) = (random.one_of(DIMS), random.one_of(DIMS), random.one_of([1, 2, 4, 8]));
    let factor = |random: &mut Seeded, dim: usize| {
        let is_local = random.below(2) == 1;
        let layout = random.one_of([PackedLayout::RowMajor, PackedLayout::GroupBlocks, PackedLayout::ItemBlocks]);
        let (vector, is_strided) = (random.one_of(VECTORS), random.below(2) == 1);
        FactorTile { dim: if is_local { random.one_of(DIMS) } else { dim }, vector, is_strided, is_local, layout }
    };
    let (a, b) = (factor(random, m_dim), factor(random, n_dim));
    let (m_wi, n_wi) = (a.vector * (1 + random.below(4)), b.vector * (1 + random.below(4)));
    let k_wg = k_wi * random.one_of([1, 2, 4, 8]);
    let buffering = random.one_of([Buffering::None, Buffering::Registers, Buffering::Double]);
    GroupTile { m_wg: m_dim * m_wi, n_wg: n_dim * n_wi, k_wg, k_wi, m_dim, n_dim, a, b, buffering }
}

fn matrix(random: &mut Seeded) -> MatrixTile {
    let (m_warp, n_warp) = (16 * (1 + random.below(4)), 8 * (1 + random.below(8)));
    let (m_wg, n_wg) = (m_warp * (1 + random.below(4)), n_warp * (1 + random.below(4)));
    MatrixTile { m_wg, n_wg, k_wg: 8 * (1 + random.below(4)), m_warp, n_warp }
}

fn packing(random: &mut Seeded, columns: usize) -> Packing {
    // A number that does not divide leaves a rest, which the check refuses.
    let m_wg = columns.div_ceil(1 + random.below(8));
    let m_wi = m_wg.div_ceil(random.one_of(DIMS));
    let n_wi = random.one_of([1, 2, 4, 8]);
    let n_wg = n_wi * random.one_of([1, 2, 4, 8, 16]);
    let (m_unroll, n_unroll) = (random.one_of([1, 2, 3, 4]), random.one_of([1, 2, 4]));
    Packing { m_wg, n_wg, m_wi, n_wi, m_unroll, n_unroll }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Op, Uplo,
        device::{Call, Mat},
        opencl::scratch_bytes_with,
        operations::{Gemm, Geqrf, Potrf},
        scalar::LETTERS,
    };
    use std::collections::BTreeSet;

    /// Packing, layouts and the work-items of factorizations change no scratch, by which rows are told apart.
    #[test]
    fn rows_of_equal_scratch_keys_take_equal_scratch() {
        let [a, b, c] = [0, 1, 2].map(|at| Mat::<f64>::at(at * 300 * 300, (300, 300), 300));
        let (part, op_a, op_b, alpha, beta, uplo) = (None, Op::Trans, Op::None, 1.0, 0.0, Uplo::Upper);
        let calls = [
            Call::Gemm(Gemm { part, op_a, op_b, alpha, a, b, beta, c }),
            Call::Potrf(Potrf { uplo, first: 0, a }),
            Call::Geqrf(Geqrf { a, t: b, tau: Mat::at(0, (300, 1), 300) }),
        ];
        for row in (0..60).map(|seed| random_row('d', &GroupLimits::USUAL, seed).expect("a row")) {
            let mut others = vec![row.with_product(row.product), Parameters { factor_items: 4, ..row }];
            if let ProductForm::Grouped(tile) = row.product {
                let a = FactorTile { layout: PackedLayout::RowMajor, ..tile.a };
                others.push(Parameters { product: ProductForm::Grouped(GroupTile { a, ..tile }), ..row });
            }
            for other in others {
                assert!(row.scratch_key() == other.scratch_key(), "{row} {other}");
                for call in &calls {
                    assert_eq!(scratch_bytes_with(&row, call), scratch_bytes_with(&other, call), "{row} {other}");
                }
            }
        }
    }

    #[test]
    fn random_rows_are_valid_and_of_all_forms() {
        // As NVIDIA's GPUs have.
        let limits = GroupLimits { has_matrix_f64: true, local_bytes: 48 << 10, ..GroupLimits::USUAL };
        for letter in LETTERS {
            let rows = (0..40).map(|seed| random_row(letter, &limits, seed).expect("a row"));
            let rows: BTreeSet<Parameters> = rows.collect();
            assert_eq!(rows.len(), 40, "{letter}");
            assert!(rows.iter().all(|row| row.letter == letter && row.check(&limits) == Ok(())), "{rows:?}");
            let forms = rows.iter().map(|row| match row.product {
                ProductForm::Looping(_) => 0,
                ProductForm::Grouped(_) => 1,
                ProductForm::Matrix(_) => 2,
            });
            let forms: BTreeSet<usize> = forms.collect();
            assert_eq!(forms.len(), if Element::of(letter).is_double { 3 } else { 2 }, "{letter}");
        }
        let tiny = GroupLimits { items: 1, dim_items: [1; 2], local_bytes: 8 << 10, ..GroupLimits::USUAL };
        let drawn: Vec<_> = (0..9).filter_map(|seed| random_row('s', &tiny, seed).ok()).collect();
        assert!(!drawn.is_empty() && drawn.iter().all(|row| row.factor_items == 1), "{drawn:?}");
    }
}
