//! The tests that run for each type.

macro_rules! each_test {
    ($name:ident: $t:ty) => {
        mod $name {
            each_test!(@ $t, level1: swap scal copy axpy axpby dot asum iamax iamax_nan rot rotm);
            each_test!(@ $t, ranges: norms norms_of_special_numbers rotations_at_all_scales);
            each_test!(@ $t, rotations: signs_of_rotations modified_rotations);
            each_test!(@ $t, general: gemv gbmv ger nan_is_not_hidden);
            each_test!(@ $t, symmetric: products infinities);
            each_test!(@ $t, triangular: products solves);
            each_test!(@ $t, updates: rank_one rank_two);
            each_test!(@ $t, blocks: wide_matrices);
        }
    };
    (@ $t:ty, $module:ident: $($test:ident)*) => {
        mod $module {
            $(
                #[test]
                fn $test() {
                    super::super::$module::$test::<$t>();
                }
            )*
        }
    };
}
