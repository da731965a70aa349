//! The list of the suite's tests, and the macros that instantiate each for a backend and a type.
//!
//! A module that uses it has the suite's files as sibling modules, and for each backend a function of its name that
//! makes a runner.

/// The suite's tests on one backend, if this machine has it, for one type. Those marked `full` take long and are
/// ignored; `FULL=1 ./test.sh` runs them, too.
macro_rules! tests {
    ($backend:ident $t:ty, full: $($seed:literal $file:ident::$test:ident)*) => {$(
        #[test]
        #[ignore = "takes long; FULL=1 ./test.sh runs it"]
        fn $test() {
            tests! { @run $backend $t, $seed $file::$test }
        }
    )*};
    (@run $backend:ident $t:ty, $seed:literal $file:ident::$test:ident) => {
        match super::super::$backend::<$t>() {
            Some(mut runner) => {
                super::super::$file::$test(&mut super::super::Suite::<$t>::new($seed, &mut *runner));
            }
            None => eprintln!("skipped: no device for {}", stringify!($backend)),
        }
    };
    ($backend:ident $t:ty: $($seed:literal $file:ident::$test:ident)*) => {$(
        #[test]
        fn $test() {
            tests! { @run $backend $t, $seed $file::$test }
        }
    )*};
}

/// The panels alone, on one backend, for one type.
macro_rules! panels {
    ($backend:ident $t:ty $(, $when:ident)?) => {
        tests! {
            $backend $t $(, $when)?:
            25 panels::getrf 26 panels::getrf_special 27 panels::geqrf 28 panels::geqrf_special 29 panels::tall
            39 panels::geqrf_propagates 35 scales::panels_of_scales 36 scales::pivots_at_the_end_of_the_range
        }
    };
}

/// Every operation except panels, with all options and small operands, on one backend, for one type.
macro_rules! kernels {
    ($backend:ident $t:ty $(, $when:ident)?) => {
        tests! {
            $backend $t $(, $when)?:
            1 products::gemm 2 products::gemm_factors 3 products::gemm_propagates 4 products::symm
            5 products::rank_k 6 products::rank_2k
            7 triangles::trmm 8 triangles::trmm_propagates 9 triangles::trsm 10 triangles::trsm_propagates
            11 triangles::potrf 12 triangles::potrf_fails 30 triangles::potrf_of_trapezoids
            13 moves::laswp 38 moves::laswp_outside 14 moves::larfb 15 moves::larfb_in_blocks
            16 moves::copy 62 moves::geadd 63 moves::geadd_propagates 17 moves::scale 18 moves::refusals
        }
    };
}

/// Operations on batches, on one backend, for one type.
macro_rules! batches {
    ($backend:ident $t:ty) => {
        tests! {
            $backend $t:
            50 batch::batch_gemm 51 batch::batch_trsm 52 batch::batch_cholesky 53 batch::batch_lu
            54 batch::batch_qr 55 bidiagonal::batch_gebrd 56 batch::batch_many 57 batch::one_not_a_number
            58 batch::batch_getrs_outside 59 batch::batch_high 60 scales::batches_of_scales
            61 batch::batch_infinite_divisors
        }
    };
}

/// The whole suite, on one backend, for one type.
macro_rules! suite {
    ($backend:ident $t:ty) => {
        kernels! { $backend $t }
        tests! {
            $backend $t:
            31 triangles::potrf_of_extremes 41 triangles::potrf_of_far_pivots 40 triangles::trsm_in_blocks
            19 large::gemmt_in_blocks 20 large::trmm_in_blocks 21 large::potrf_in_blocks 22 large::laswp_in_chunks
            23 large::copy_beyond_a_grid 24 large::products_of_some_depth 32 large::potrf_with_much_beside
            33 scales::trsm_of_scales 34 scales::potrf_of_scales 37 large::products_beyond_blocks
        }
        panels! { $backend $t }
        batches! { $backend $t }
    };
}

/// One of these lists on one backend, for the four types.
macro_rules! each_type {
    ($list:ident $backend:ident) => {
        mod s {
            $list! { $backend f32 }
        }
        mod d {
            $list! { $backend f64 }
        }
        mod c {
            $list! { $backend superscalar_kernels::c32 }
        }
        mod z {
            $list! { $backend superscalar_kernels::c64 }
        }
    };
}

/// The suite on several backends.
macro_rules! instantiate {
    ($($(#[$feature:meta])? $backend:ident)*) => {$(
        $(#[$feature])?
        mod $backend {
            each_type! { suite $backend }
        }
    )*};
}
