//! Tests of devices that are lost during a factorization: the run finishes on the other devices, or returns an error
//! that says so. The result is never wrong, nothing hangs, and nothing is left on a device.

use std::time::{Duration, Instant};
use superscalar::{
    Codelet, Cost, ErrorKind, Lock, PolicyName, Runtime, TaskSpec, Updates, devices,
    dla::{self, Matrix, Options},
    kernels::Uplo,
};
use superscalar_oracle::largest;

const N: usize = 60;
const NB: usize = 12;

/// Returns a well conditioned, positive definite matrix, suitable for every factorization.
fn definite() -> Matrix<f64> {
    Matrix::from_fn(N, N, |i, j| if i == j { N as f64 } else { 1.0 / (1.0 + (i + j) as f64) })
}

const ROUTINES: [&str; 3] = ["potrf", "getrf", "geqrf"];

fn factor(rt: &Runtime, routine: &str) -> Result<Vec<f64>, dla::Error> {
    let (mut a, options) = (definite(), Options::default().nb(NB));
    match routine {
        "potrf" => dla::potrf(rt, Uplo::Lower, a.as_mut(), &options)?,
        "getrf" => dla::getrf(rt, a.as_mut(), &mut [0; N], &options)?,
        _ => dla::geqrf(rt, a.as_mut(), &mut [0.0; N], &options)?,
    }
    Ok(a.into_vec())
}

fn open(names: &str, policy: PolicyName) -> Runtime {
    let builder = Runtime::builder().workers(2).bind(false).policy(policy).weights_file(None);
    let opened = devices::open(names, None).expect("simulated devices are there");
    opened.add_to(builder).build().expect("threads can be started")
}

/// Returns the name of a simulated device without simulated time.
fn instant(number: u16, settings: &str) -> String {
    format!("sim:{number}:flops=0:rate=0:latency=0:link=0:link-latency=0{settings}")
}

fn assert_near(found: &[f64], expected: &[f64], what: &str) {
    assert_eq!(found.len(), expected.len());
    let error = largest(found.iter().zip(expected).map(|(x, y)| (x - y).abs()));
    assert!(error < 1e-10, "{what}: differs by {error}");
}

/// Runs a factorization in which the second of two devices has this fault, with or without the host, and checks its
/// result.
fn lose(
    routine: &str,
    (fault, peers): (&str, &str),
    policy: PolicyName,
    with_host: bool,
    expected: &[f64],
) -> Result<(), dla::Error> {
    let head = if with_host { "cpu," } else { "" };
    let (sound, faulty) = (instant(0, &format!(":{peers}")), instant(1, &format!(":{peers}:fault={fault}")));
    let rt = open(&format!("{head}{sound},{faulty}"), policy);
    let what = format!("{routine}, {fault}, {peers}, {policy}, host: {with_host}");
    let result = factor(&rt, routine).map(|found| assert_near(&found, expected, &what));
    // The ends of copies between devices may be reported after the end of the scope.
    let deadline = Instant::now() + Duration::from_secs(10);
    while rt.memory_in_use().iter().any(|it| (it.bytes, it.replicas, it.pins) != (0, 0, 0)) {
        assert!(Instant::now() < deadline, "{what}: {:?}", rt.memory_in_use());
        std::thread::sleep(Duration::from_millis(1));
    }
    if result.is_err() {
        // The remaining resources still work.
        let again = factor(&rt, routine).unwrap_or_else(|error| panic!("{what}, once more: {error}"));
        assert_near(&again, expected, &format!("{what}, once more"));
    }
    result
}

#[test]
fn lost_device_gives_right_result_or_error() {
    let host = Runtime::builder().workers(1).bind(false).build().expect("a thread can be started");
    let (mut finished, mut failed) = (0, 0);
    for routine in ROUTINES {
        let expected = factor(&host, routine).expect("it is regular");
        for policy in PolicyName::ALL {
            for (at, with_host) in [(1, false), (2, true), (5, false), (9, true), (17, false)] {
                for point in ["call-in", "in", "launch", "kernel", "out", "call-out"] {
                    let peers = if at % 3 == 2 { "peer=0" } else { "peer=none" };
                    match lose(routine, (&format!("{point}@{at}!"), peers), policy, with_host, &expected) {
                        Ok(()) => finished += 1,
                        Err(error) => {
                            assert_eq!(error.kind(), dla::ErrorKind::Device, "{error}");
                            // The first error noticed: that of the device, or of other work that waited for it.
                            let message = error.to_string();
                            assert!(message.contains("lost") || message.contains("waited for"), "{message}");
                            failed += 1;
                        }
                    }
                }
            }
        }
    }
    // Both outcomes must occur.
    assert!(finished > 20 && failed > 20, "{finished} finished, {failed} failed");
}

#[test]
fn device_lost_at_first_copy_is_tolerated() {
    let host = Runtime::builder().workers(1).bind(false).build().expect("a thread can be started");
    for routine in ROUTINES {
        let expected = factor(&host, routine).expect("it is regular");
        for policy in PolicyName::ALL {
            // The device's first copy is refused. With a later fault, work on other devices might already wait for the
            // device's copies, and fail with them.
            let fault = "call-in@1!";
            for with_host in [false, true] {
                // Without peers, all data on the device came from host memory.
                lose(routine, (fault, "peer=none"), policy, with_host, &expected)
                    .unwrap_or_else(|error| panic!("{routine}, {fault}, {policy}: {error}"));
            }
        }
    }
}

#[test]
fn task_without_a_capable_device_fails() {
    let double: Codelet<Updates<Vec<f64>>, ()> = Codelet::new("double")
        .on_device(superscalar_devices::sim::KIND, |context, _, ()| {
            context.queue::<superscalar_devices::sim::SimQueue>()?.launch(Cost::default(), |_| Ok(()))
        });
    for policy in PolicyName::ALL {
        let small = instant(0, ":memory=4K");
        let rt = open(&format!("{small},{}", instant(1, ":fault=kernel@1!")), policy);
        let mut large = vec![1.0; 4096];
        // The first task is lost with the device, and the second finds the device lost.
        for message in ["lost", "memory"] {
            let result = rt.scope(|s| {
                let large = s.lend(&mut large);
                double.spawn_as(s, TaskSpec::new("double").lock(Lock::Device), large.read_write(), ());
            });
            let error = result.expect_err("no device can run it");
            assert_eq!(error.kind(), ErrorKind::Device);
            assert!(error.to_string().contains(message), "{policy}: {error}");
        }
    }
}

#[test]
fn error_of_a_heap_names_the_device_once() {
    let opened = superscalar::devices::open("sim:0:fault=reserve@1", None).expect("a device");
    let error = opened.builder().weights_file(None).build().map(drop).expect_err("a fault").to_string();
    assert_eq!(error.matches("sim:0").count(), 1, "{error}");
}
