//! Products whose operands stay packed give the same results as without, however the packed forms are reused or
//! discarded.

use std::sync::Arc;
use superscalar_kernels::cpu::{self, Operand, PackStore, PackedForms};
use superscalar_kernels::{MatMut, MatRef, Op, Scalar, Side, Uplo, c32, c64};

/// Small integers, so that every order of summation gives the same result.
fn numbers<T: Scalar>(seed: usize, len: usize) -> Vec<T> {
    (0..len).map(|at| T::from_f64(((at * 7919 + seed * 104_729) % 11) as f64 - 5.0)).collect()
}

/// A square tile with its packed forms.
struct PackedTile<T> {
    n: usize,
    ld: usize,
    data: Vec<T>,
    packs: PackedForms,
}

impl<T: Scalar> PackedTile<T> {
    fn new(seed: usize, n: usize, store: &Arc<PackStore>) -> Self {
        let ld = n + 3;
        Self { n, ld, data: numbers(seed, ld * n), packs: PackedForms::new(store) }
    }

    fn view(&self) -> MatRef<'_, T> {
        MatRef::from_col_major(&self.data, self.n, self.n, self.ld).unwrap()
    }

    fn operand(&self) -> Operand<'_, T> {
        Operand::new(self.view(), &self.packs)
    }

    fn change(&mut self, seed: usize) {
        self.packs.forget();
        self.data = numbers(seed, self.ld * self.n);
    }
}

/// Checks that a product, a rank-k update and a product with a Hermitian matrix give the same C with packed operands,
/// `times` times in a row, as without.
fn agree<T: Scalar>(times: usize, op_a: Op, a: &PackedTile<T>, op_b: Op, b: &PackedTile<T>) {
    let n = a.n;
    let run = |keep_packed: bool| {
        let mut c = [99, 98, 97].map(|seed| numbers::<T>(seed, n * n));
        let [out, triangle, whole] = c.each_mut().map(|c| MatMut::from_col_major(c, n, n, n).unwrap());
        let herk = if T::COMPLEX && op_a == Op::Trans { Op::ConjTrans } else { op_a };
        let (minus, one) = (-T::ONE, T::ONE);
        let side = if op_b == Op::None { Side::Left } else { Side::Right };
        let uplo = if op_a == Op::None { Uplo::Lower } else { Uplo::Upper };
        if keep_packed {
            cpu::gemm(minus, op_a, a.operand(), op_b, b.operand(), one, out);
            cpu::herk(Uplo::Lower, herk, minus.re(), a.operand(), one.re(), triangle);
            cpu::hemm(side, uplo, minus, a.operand(), b.operand(), one, whole);
        } else {
            cpu::gemm(minus, op_a, a.view(), op_b, b.view(), one, out);
            cpu::herk(Uplo::Lower, herk, minus.re(), a.view(), one.re(), triangle);
            cpu::hemm(side, uplo, minus, a.view(), b.view(), one, whole);
        }
        c
    };
    let expected = run(false);
    for time in 0..times {
        assert_eq!(run(true), expected, "{op_a:?} {op_b:?} n = {n}, time {time}");
    }
}

const OPS: [Op; 3] = [Op::None, Op::Trans, Op::ConjTrans];

fn every_operation<T: Scalar>() {
    let is_double = size_of::<T::Real>() == size_of::<f64>();
    for n in [1, 47, 48, 100, 275] {
        let store = PackStore::new(1 << 20);
        let mut tiles: Vec<_> = (0..3).map(|seed| PackedTile::<T>::new(seed, n, &store)).collect();
        for round in 0..2 {
            for (at, (op_a, op_b)) in OPS.iter().flat_map(|&a| OPS.map(|b| (a, b))).enumerate() {
                // For the largest order in double precision, only three pairs, with each operation once on each side.
                if n == 275 && is_double && (at / 3 + at % 3) % 3 != 1 {
                    continue;
                }
                for (i, j) in [(0, 1), (1, 0), (0, 0), (2, 0)] {
                    agree(2, op_a, &tiles[i], op_b, &tiles[j]);
                }
            }
            tiles[0].change(17 + round);
        }
    }
}

#[test]
fn results_are_the_same_single() {
    every_operation::<f32>();
    every_operation::<c32>();
}

#[test]
fn results_are_the_same_double() {
    every_operation::<f64>();
    every_operation::<c64>();
}

#[test]
fn store_is_bounded() {
    let n = 96;
    let tile_bytes = n * n * size_of::<f64>();
    let store = PackStore::new(5 * tile_bytes / 2);
    let tiles: Vec<_> = (0..6).map(|seed| PackedTile::<f64>::new(seed, n, &store)).collect();
    for _ in 0..2 {
        for a in &tiles {
            agree(1, Op::None, a, Op::Trans, &tiles[0]);
            assert!(store.bytes() <= 5 * tile_bytes / 2, "{} bytes", store.bytes());
        }
    }
    assert!(store.bytes() >= 2 * tile_bytes, "nothing was packed: {} bytes", store.bytes());
}

#[test]
fn store_without_room_packs_nothing() {
    let store = PackStore::new(0);
    let (a, b) = (PackedTile::<f64>::new(1, 100, &store), PackedTile::new(2, 100, &store));
    agree(1, Op::None, &a, Op::None, &b);
    assert_eq!(store.bytes(), 0);
}

#[test]
fn threads_share_packed_tiles() {
    let n = 60;
    let store = PackStore::new(3 * n * n * size_of::<f64>());
    let tiles: Vec<_> = (0..8).map(|seed| PackedTile::<f64>::new(seed, n, &store)).collect();
    std::thread::scope(|s| {
        for thread in 0..4 {
            let tiles = &tiles;
            s.spawn(move || {
                for at in 0..200 {
                    agree(1, Op::None, &tiles[(at * 5 + thread) % 8], Op::ConjTrans, &tiles[(at / 8) % 8]);
                }
            });
        }
    });
}
