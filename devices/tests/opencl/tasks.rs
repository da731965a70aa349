//! Tasks: refused launches, and a task that fails.

use crate::bench::{Bench, apply, source};
use superscalar_devices::opencl::{Arg, Source};

pub fn refuses_wrong_launches(bench: &Bench) {
    // An argument of the wrong size, and too few arguments.
    for args in [&[Arg::Heap, Arg::value(0u64), Arg::value(0u64)][..], &[Arg::Heap]] {
        let fresh = Source::new(source().text(), if args.len() == 1 { "-DFEW" } else { "" });
        // SAFETY: the launch is refused.
        let error = bench.issue((0, 0), &[], |queue| unsafe { queue.launch(&fresh, "set", args, &[1], None) });
        error.expect_err("wrong arguments");
    }
}

#[test]
fn partly_issued_task_ends_with_error() {
    let Some(mut bench) = Bench::open(1) else { return };
    let half = |queue: &mut _| {
        apply(queue, "set", (0, 1), 1)?;
        apply(queue, "no_such", (0, 1), 0)
    };
    let event = bench.issue((0, 0), &[], half).expect("a part of it is in the queue");
    let error = bench.end_of(event).result.expect_err("and the rest is not");
    assert!(error.to_string().contains("no_such"), "{error}");
}
