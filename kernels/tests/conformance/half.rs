//! Products in half precision, on every backend. Integers make all sums exact in single precision, so that the result
//! is the exact one, rounded once; sums of fractions are compared with the bound of such a product.

use super::{Image, OnDevice};
use superscalar_kernels::{
    Half, HalfResult, Op, bf16,
    device::{HalfCall, HalfGemm, HalfRound, HalfTarget, Mat},
    f16,
};
use superscalar_oracle::Random;

/// m, n and k: empty, single, ragged, and larger than blocks of kernels.
const SHAPES: [[usize; 3]; 9] =
    [[0, 3, 4], [3, 0, 4], [4, 3, 0], [1, 1, 1], [7, 5, 3], [33, 17, 65], [64, 64, 64], [130, 70, 520], [530, 9, 40]];
const OPS: [Op; 2] = [Op::None, Op::Trans];
/// alpha and beta.
const FACTORS: [(f32, f32); 5] = [(1.0, 0.0), (1.0, 1.0), (-2.0, 0.5), (0.0, 2.0), (0.0, 0.0)];

/// What the matrices hold.
#[derive(Clone, Copy, PartialEq)]
enum Entries {
    Integers,
    Fractions,
}

impl Entries {
    fn next<H: Half>(self, numbers: &mut Random) -> H {
        H::from_single(match self {
            Self::Integers => numbers.below(9) as f32 - 4.0,
            Self::Fractions => numbers.scalar::<f32>(),
        })
    }
}

/// A case: shapes, options and factors.
struct Case {
    shape: [usize; 3],
    ops: (Op, Op),
    alpha: f32,
    beta: f32,
    entries: Entries,
}

/// Checks a product.
fn check_product<H: Half, C: HalfResult<H>>(device: &mut OnDevice, numbers: &mut Random, case: &Case) {
    let &Case { shape: [m, n, k], ops: (op_a, op_b), alpha, beta, entries } = case;
    let mut image = Image::default();
    // What must not be read is NaN.
    let factor = |numbers: &mut Random| if alpha == 0.0 { H::from_single(f32::NAN) } else { entries.next(numbers) };
    let a: Mat<H> = image.place(numbers, op_a.shape((m, k)), |numbers, _, _| factor(numbers));
    let b: Mat<H> = image.place(numbers, op_b.shape((k, n)), |numbers, _, _| factor(numbers));
    let old = |numbers: &mut Random| if beta == 0.0 { f32::NAN } else { entries.next::<H>(numbers).to_single() };
    let c: Mat<C> = image.place(numbers, (m, n), |numbers, _, _| C::rounded(old(numbers)));
    let call = HalfCall::Gemm(HalfGemm { op_a, op_b, alpha, a, b, beta, c: HalfTarget::of::<C>(c) });
    let before = image.clone();
    device.carry_out(&call, &mut image).expect("a product");
    let part = |image: &Image, mat: Mat<H>, op: Op, i: usize, j: usize| {
        let (i, j) = if op == Op::None { (i, j) } else { (j, i) };
        f64::from(image.at(mat, i, j).to_single())
    };
    let mut expected = before.clone();
    for (i, j) in (0..n).flat_map(|j| (0..m).map(move |i| (i, j))) {
        let depth = if alpha == 0.0 { 0 } else { k };
        let terms = (0..depth).map(|p| f64::from(alpha) * part(&before, a, op_a, i, p) * part(&before, b, op_b, p, j));
        let kept = if beta == 0.0 { 0.0 } else { f64::from(beta) * f64::from(before.at(c, i, j).widened()) };
        let (sum, size) = terms.fold((kept, kept.abs()), |(sum, size), term| (sum + term, size + term.abs()));
        let found = image.at(c, i, j);
        if entries == Entries::Fractions {
            let roundoff = if C::IS_SINGLE { f32::EPSILON / 2.0 } else { H::ROUNDOFF };
            let bound = f64::from(roundoff) * sum.abs() + (depth + 2) as f64 * f64::from(f32::EPSILON) * size;
            let error = (f64::from(found.widened()) - sum).abs();
            assert!(error <= 1.01 * bound, "{}: ({i}, {j}) of {m} x {n} x {k}: {error} > {bound}", H::NAME);
            expected.set(c, i, j, found);
        } else {
            expected.set(c, i, j, C::rounded(sum as f32));
        }
    }
    assert!(image.bytes() == expected.bytes(), "{}: {m} x {n} x {k}, {op_a:?} {op_b:?}, {alpha} {beta}", H::NAME);
}

/// Checks C := S + beta C, at ends of the range and between numbers.
fn check_rounding<H: Half, C: HalfResult<H>>(device: &mut OnDevice, numbers: &mut Random) {
    let special = [f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 0.0, -0.0, 70000.0, 65519.9, 65520.0, 3.4e38, 1e-8];
    // Halfway between two neighbours, the lower of which ends in 0 or in 1, of both signs; and the smallest numbers.
    let tie = |numbers: &mut Random, i: usize| {
        let scale = [1.0, -1.0, 3e-6, -100.0][i / 2 % 4];
        let x = H::from_single(scale * (0.1 + numbers.scalar::<f32>().abs()));
        let bits: u16 = bytemuck::cast(x);
        let at = |bits: u16| bytemuck::cast::<u16, H>(bits).to_single();
        let lower = bits & !1 | (i % 2) as u16;
        (at(lower) + at(lower + 1)) / 2.0
    };
    for (m, n) in [(1, 1), (10, 3), (65, 37), (0, 4)] {
        for beta in [0.0, 1.0, -0.5] {
            let mut image = Image::default();
            let sum: Mat<f32> = image.place(numbers, (m, n), |numbers, i, j| match j {
                0 => special[i % special.len()],
                1 => tie(numbers, i),
                _ => numbers.scalar(),
            });
            let c: Mat<C> = image.place(numbers, (m, n), |numbers, _, _| {
                C::rounded(if beta == 0.0 { f32::NAN } else { numbers.below(3) as f32 })
            });
            let before = image.clone();
            let call = HalfCall::<H>::Round(HalfRound { sum, beta, c: HalfTarget::of::<C>(c) });
            device.carry_out(&call, &mut image).expect("a rounding");
            for (i, j) in (0..n).flat_map(|j| (0..m).map(move |i| (i, j))) {
                let kept = if beta == 0.0 { 0.0 } else { beta * before.at(c, i, j).widened() };
                let (expected, found) =
                    (C::rounded(before.at(sum, i, j) + kept).widened(), image.at(c, i, j).widened());
                let are_nan = expected.is_nan() && found.is_nan();
                assert!(expected == found || are_nan, "{}: ({i}, {j}): {found}, not {expected}", H::NAME);
                image.set(c, i, j, before.at(c, i, j));
            }
            assert!(image.bytes() == before.bytes(), "{}: other bytes were written", H::NAME);
        }
    }
}

/// Infinite and undefined factors reach exactly the elements that depend on them; what is too large becomes infinite.
fn check_propagation<H: Half>(device: &mut OnDevice, numbers: &mut Random) {
    let mut image = Image::default();
    let (nan, large) = (H::from_single(f32::NAN), H::from_single(3e4));
    let a: Mat<H> = image.place(numbers, (40, 30), |_, i, p| match (i, p) {
        (3, 7) => nan,
        (5, 2) => H::from_single(f32::INFINITY),
        (9, 0 | 1) => large,
        _ => H::from_single(1.0),
    });
    let b: Mat<H> = image.place(numbers, (30, 20), |_, _, _| H::from_single(2.0));
    let c: Mat<H> = image.place(numbers, (40, 20), |_, _, _| nan);
    let call = HalfCall::Gemm(HalfGemm {
        op_a: Op::None,
        op_b: Op::None,
        alpha: 1.0,
        a,
        b,
        beta: 0.0,
        c: HalfTarget::Half(c),
    });
    device.carry_out(&call, &mut image).expect("a product");
    for (i, j) in (0..20).flat_map(|j| (0..40).map(move |i| (i, j))) {
        let found = image.at(c, i, j).to_single();
        match i {
            3 => assert!(found.is_nan(), "({i}, {j}): {found}"),
            5 => assert_eq!(found, f32::INFINITY, "({i}, {j})"),
            9 => assert_eq!(found, H::from_single(4.0 * large.to_single() + 56.0).to_single(), "({i}, {j})"),
            _ => assert_eq!(found, 60.0, "({i}, {j})"),
        }
    }
}

fn check_refusals<H: Half>(device: &mut OnDevice) {
    let at = |offset, m, n| Mat::<H>::at(offset, (m, n), m);
    let gemm = |b, c: Mat<H>| {
        let (op_a, op_b, alpha, beta, c) = (Op::None, Op::None, 1.0, 0.0, HalfTarget::Half(c));
        HalfCall::Gemm(HalfGemm { op_a, op_b, alpha, a: at(0, 4, 5), b, beta, c })
    };
    let mut refused = |call: HalfCall<H>| {
        let mut image = Image::default();
        image.place(&mut Random::new(1), (40, 40), |_, _, _| 0.0_f32);
        device.carry_out(&call, &mut image).expect_err("the call is refused").to_string()
    };
    assert!(refused(gemm(at(30, 6, 3), at(60, 4, 3))).contains("gemm_half: shapes do not agree"));
    assert!(refused(gemm(at(30, 5, 3), at(10, 4, 3))).ends_with("gemm_half: C overlaps A"));
    let (sum, c) = (Mat::at(0, (4, 4), 4), HalfTarget::Half(at(31, 4, 4)));
    assert!(refused(HalfCall::Round(HalfRound { sum, beta: 0.0, c })).ends_with("round_half: C overlaps S"));
    let far = at(1 << 40, 4, 3);
    assert!(!refused(gemm(at(30, 5, 3), far)).is_empty(), "beyond the heap");
}

fn check_type<H: Half>(device: &mut OnDevice) {
    let mut numbers = Random::new(70);
    for shape in SHAPES {
        for ops in OPS.into_iter().flat_map(|op_a| OPS.map(|op_b| (op_a, op_b))) {
            for (alpha, beta) in FACTORS {
                let entries = Entries::Integers;
                check_product::<H, H>(device, &mut numbers, &Case { shape, ops, alpha, beta, entries });
                check_product::<H, f32>(device, &mut numbers, &Case { shape, ops, alpha, beta, entries });
            }
            let case = Case { shape, ops, alpha: 1.5, beta: -0.75, entries: Entries::Fractions };
            check_product::<H, H>(device, &mut numbers, &case);
            check_product::<H, f32>(device, &mut numbers, &case);
        }
    }
    // Real types have no conjugate.
    let ops = (Op::ConjTrans, Op::ConjTrans);
    let case = Case { shape: [33, 17, 65], ops, alpha: 1.0, beta: 0.0, entries: Entries::Integers };
    check_product::<H, H>(device, &mut numbers, &case);
    check_rounding::<H, H>(device, &mut numbers);
    check_rounding::<H, f32>(device, &mut numbers);
    check_propagation::<H>(device, &mut numbers);
    check_refusals::<H>(device);
}

macro_rules! on {
    ($($(#[$attribute:meta])* $name:ident: $device:expr;)*) => {$(
        $(#[$attribute])*
        mod $name {
            #[test]
            fn f16() {
                match $device {
                    Some(mut device) => super::check_type::<super::f16>(&mut device),
                    None => eprintln!("skipped: no device for {}", stringify!($name)),
                }
            }

            #[test]
            fn bf16() {
                match $device {
                    Some(mut device) => super::check_type::<super::bf16>(&mut device),
                    None => eprintln!("skipped: no device for {}", stringify!($name)),
                }
            }
        }
    )*};
}

on! {
    sim: Some(crate::simulated());
    #[cfg(feature = "cuda")] cuda: crate::cuda_device::device();
    #[cfg(feature = "opencl")] opencl: crate::opencl_device::device(false);
}
