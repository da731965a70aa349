//! Batches of products in both layouts give the results of single products.

mod shared;

use shared::{library, run_all_tiled, symbol};

const ROWS: i32 = 101;
const COLUMNS: i32 = 102;
const PLAIN: i32 = 111;
const TRANSPOSED: i32 = 112;

/// m, n and k.
type Sizes = (usize, usize, usize);

/// The sizes and number of products C := A Bᵀ: many small ones that share tasks, two large ones, and an empty group.
const GROUPS: [(Sizes, usize); 3] = [((7, 5, 9), 300), ((200, 190, 210), 2), ((3, 3, 3), 0)];

fn element(at: usize) -> f64 {
    ((at * 7919) % 13) as f64 - 6.0
}

/// Returns the index of element (i, j) of an m x n matrix.
fn index(order: i32, (i, j): (usize, usize), (m, n): (usize, usize)) -> usize {
    if order == COLUMNS { i + j * m } else { i * n + j }
}

/// Returns the leading dimensions of A, B and C.
fn leading(order: i32, (m, n, k): Sizes) -> [usize; 3] {
    if order == COLUMNS { [m, n, m] } else { [k, k, n] }
}

/// Returns A and B of product p.
fn factors((m, n, k): Sizes, p: usize) -> [Vec<f64>; 2] {
    [(0..m * k).map(|at| element(at + p)).collect(), (0..n * k).map(|at| element(at + 2 * p + 1)).collect()]
}

/// Returns whether C is alpha A Bᵀ + beta.
fn is_right(order: i32, (m, n, k): Sizes, p: usize, alpha: f64, beta: f64, c: &[f64]) -> bool {
    let [a, b] = factors((m, n, k), p);
    let value = |i, j| {
        let terms = (0..k).map(|p| a[index(order, (i, p), (m, k))] * b[index(order, (j, p), (n, k))]);
        alpha * terms.sum::<f64>() + beta
    };
    (0..m).all(|i| (0..n).all(|j| c[index(order, (i, j), (m, n))] == value(i, j)))
}

#[test]
fn batches_by_address_tables() {
    type Batch = unsafe extern "C" fn(
        i32,
        *const i32,
        *const i32,
        *const i32,
        *const i32,
        *const i32,
        *const f64,
        *const *const f64,
        *const i32,
        *const *const f64,
        *const i32,
        *const f64,
        *const *mut f64,
        *const i32,
        i32,
        *const i32,
    );
    let library = library();
    let batch = symbol::<Batch>(&library, "cblas_dgemm_batch");
    for order in [ROWS, COLUMNS] {
        let products = GROUPS.iter().flat_map(|&(sizes, count)| (0..count).map(move |p| (sizes, p)));
        let given: Vec<_> = products.clone().map(|(sizes, p)| factors(sizes, p)).collect();
        let mut c: Vec<_> = products.clone().map(|((m, n, _), _)| vec![1.0; m * n]).collect();
        let [at_a, at_b] = [0, 1].map(|which| given.iter().map(|pair| pair[which].as_ptr()).collect::<Vec<_>>());
        let at_c: Vec<*mut f64> = c.iter_mut().map(|matrix| matrix.as_mut_ptr()).collect();
        let [m, n, k] =
            [|it: Sizes| it.0, |it: Sizes| it.1, |it: Sizes| it.2].map(|of| GROUPS.map(|it| of(it.0) as i32));
        let [lda, ldb, ldc] = [0, 1, 2].map(|which| GROUPS.map(|it| leading(order, it.0)[which] as i32));
        let (counts, groups) = (GROUPS.map(|it| it.1 as i32), GROUPS.len() as i32);
        // SAFETY: the symbol has this type, and the local tables and matrices have these sizes.
        unsafe {
            let [m, n, k, lda, ldb, ldc, counts] = [&m, &n, &k, &lda, &ldb, &ldc, &counts].map(|it| it.as_ptr());
            let [ops_a, ops_b] = [&[PLAIN; 3], &[TRANSPOSED; 3]].map(|it| it.as_ptr());
            let [alpha, beta] = [&[2.0; 3], &[-1.0; 3]].map(|it| it.as_ptr());
            let (a, b, c) = (at_a.as_ptr(), at_b.as_ptr(), at_c.as_ptr());
            batch(order, ops_a, ops_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, groups, counts);
        }
        for ((sizes, p), c) in products.zip(&c) {
            assert!(is_right(order, sizes, p, 2.0, -1.0, c), "product {p} of {sizes:?}, order {order}");
        }
    }
}

#[test]
fn strided_batches() {
    type Strided = unsafe extern "C" fn(
        i32,
        i32,
        i32,
        i32,
        i32,
        i32,
        f64,
        *const f64,
        i32,
        i32,
        *const f64,
        i32,
        i32,
        f64,
        *mut f64,
        i32,
        i32,
        i32,
    );
    let library = library();
    let strided = symbol::<Strided>(&library, "cblas_dgemm_batch_strided");
    let (sizes, count) = GROUPS[0];
    let (m, n, k) = sizes;
    for order in [ROWS, COLUMNS] {
        let [a, b] = [0, 1].map(|which| (0..count).flat_map(|p| factors(sizes, p)[which].clone()).collect::<Vec<_>>());
        let mut c = vec![f64::NAN; m * n * count];
        let [lda, ldb, ldc] = leading(order, sizes).map(|it| it as i32);
        let [of_a, of_b, of_c, m_, n_, k_, count_] = [m * k, n * k, m * n, m, n, k, count].map(|it| it as i32);
        let (a, b, at_c, plain, transposed) = (a.as_ptr(), b.as_ptr(), c.as_mut_ptr(), PLAIN, TRANSPOSED);
        // SAFETY: the symbol has this type, and the local matrices have these sizes and strides.
        unsafe {
            strided(
                order, plain, transposed, m_, n_, k_, 1.0, a, lda, of_a, b, ldb, of_b, 0.0, at_c, ldc, of_c, count_,
            );
        }
        for (p, c) in c.chunks(m * n).enumerate() {
            assert!(is_right(order, sizes, p, 1.0, 0.0, c), "product {p}, order {order}");
        }
    }
}

#[test]
fn tiled_runtime_computes_all() {
    let log = run_all_tiled("tiled_runtime_computes_all");
    let tiled = log.lines().filter(|line| line.starts_with("cblas_dgemm_batch") && line.contains("by the runtime"));
    assert_eq!(tiled.count(), 4, "{log}");
}
