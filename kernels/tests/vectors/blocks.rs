//! Matrices with more rows than the loops take per pass.

use super::test_vector::{TestVector, same};
use superscalar_kernels::{MatRef, Op, Scalar, cpu};
use superscalar_oracle::Random;

pub fn wide_matrices<T: Scalar>() {
    let mut numbers = Random::new(9);
    for (m, n) in [(5000, 9), (6, 3000), (4099, 4)] {
        let a: Vec<T> = (0..m * n).map(|_| numbers.integer()).collect();
        let view = MatRef::from_col_major(&a, m, n, m).expect("the array has all elements");
        for op in [Op::None, Op::Trans, Op::ConjTrans] {
            let (rows, columns) = op.shape((m, n));
            let (x, mut y) =
                (TestVector::<T>::integers(columns, 1, &mut numbers), TestVector::<T>::integers(rows, 1, &mut numbers));
            let mut wanted = y.clone();
            for (i, j) in (0..columns).flat_map(|j| (0..rows).map(move |i| (i, j))) {
                let element = match op {
                    Op::None => view.at(i, j),
                    Op::Trans => view.at(j, i),
                    Op::ConjTrans => view.at(j, i).conj(),
                };
                wanted.set(i, wanted.get(i) + element * x.get(j));
            }
            cpu::gemv(op, T::ONE, view, x.view(), T::ONE, y.view_mut());
            same(&y.data, &wanted.data, &format!("{op:?} {m} x {n}"));
        }
    }
}
