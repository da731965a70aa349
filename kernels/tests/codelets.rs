//! Codelets without a device, made by `on_devices` and run on simulated devices in a runtime.

use std::error::Error as _;
use superscalar_devices::sim::{Machine, Spec};
use superscalar_kernels::{
    NotPositiveDefinite, Op, Scalar, Uplo, c32, c64,
    device::{Call, Mat, on_devices},
    operations::{Gemm, Potrf},
};
use superscalar_runtime::{Codelet, Error, Lock, Reads, Runtime, TaskSpec, Updates};

/// y := alpha x b + y for columns x and y and a number b.
type Axpy<T> = Codelet<(Reads<Vec<T>>, Reads<Vec<T>>, Updates<Vec<T>>), T>;

fn axpy<T: Scalar>() -> Axpy<T> {
    on_devices(Codelet::new("axpy"), |(x, b, y), &alpha| {
        let (a, b, c) = (Mat::new(x.region()?), Mat::new(b.region()?), Mat::new(y.region()?));
        Ok(Call::Gemm(Gemm { part: None, op_a: Op::None, op_b: Op::None, alpha, a, b, beta: T::ONE, c }))
    })
}

/// Factors a matrix of one element. The parameter is borrowed, because neither codelet nor parameter need be `'static`.
fn potrf<'p>() -> Codelet<Updates<Vec<f64>>, &'p Uplo> {
    on_devices(Codelet::new("potrf"), |a, &&uplo| {
        Ok(Call::Potrf(Potrf { uplo, first: 0, a: Mat::<f64>::new(a.region()?) }))
    })
}

fn runtime(devices: usize) -> Runtime {
    let specs: Vec<Spec> = (0..devices).map(|at| Spec::new(format!("sim:{at}"))).collect();
    let started = Machine::start(&specs).expect("simulated devices");
    let builder = Runtime::builder().workers(1).weights_file(None);
    started.into_iter().fold(builder, |builder, device| builder.device(device)).build().expect("a runtime")
}

fn on_device() -> TaskSpec {
    TaskSpec::new("on a device").lock(Lock::Device)
}

fn check_axpy<T: Scalar>() {
    let (rt, axpy) = (runtime(2), axpy::<T>());
    let (mut x, mut b) = ((0..100).map(|at| T::from_f64(f64::from(at))).collect::<Vec<_>>(), vec![T::from_f64(2.0)]);
    let mut columns: Vec<Vec<T>> = (0..5).map(|_| vec![T::ONE; 100]).collect();
    rt.scope(|s| {
        let (x, b) = (s.lend(&mut x), s.lend(&mut b));
        let columns: Vec<_> = columns.iter_mut().map(|column| s.lend(column)).collect();
        for turn in 0..3 {
            for y in &columns {
                axpy.spawn_as(s, on_device(), (x.read(), b.read(), y.read_write()), T::from_f64(f64::from(turn)));
            }
        }
    })
    .expect("every task is done");
    for column in columns {
        assert!(column.iter().zip(&x).all(|(&y, &x)| y == T::ONE + T::from_f64(6.0) * x));
    }
}

#[test]
fn tasks_of_every_type_run_on_devices() {
    check_axpy::<f32>();
    check_axpy::<f64>();
    check_axpy::<c32>();
    check_axpy::<c64>();
}

fn factor(uplo: Uplo, a: &mut Vec<f64>) -> Result<(), Error> {
    runtime(1).scope(|s| {
        let a = s.lend(a);
        potrf().spawn_as(s, on_device(), a.read_write(), &uplo);
    })
}

#[test]
fn outcome_is_the_error_of_the_task() {
    let mut a = vec![9.0];
    factor(Uplo::Lower, &mut a).expect("positive definite");
    assert_eq!(a, [3.0]);
    let error = factor(Uplo::Lower, &mut vec![-1.0]).expect_err("not positive definite");
    let mut cause = error.source();
    while let Some(outer) = cause.filter(|error| !error.is::<NotPositiveDefinite>()) {
        cause = outer.source();
    }
    let outcome = cause.and_then(|error| error.downcast_ref());
    assert_eq!(outcome, Some(&NotPositiveDefinite { minor: 1 }), "{error}");
}

#[test]
fn wrong_shapes_are_the_error_of_the_task() {
    let error = factor(Uplo::Upper, &mut vec![1.0, 2.0]).expect_err("two rows, one column");
    assert!(error.to_string().contains("potrf: shapes do not agree: A 2 x 1"), "{error}");
}
