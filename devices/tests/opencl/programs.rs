//! Programs: the compiler's log.

use crate::bench::{Bench, apply};
use superscalar_devices::opencl::Source;

#[test]
fn compile_error_contains_the_log() {
    let Some(mut bench) = Bench::open(1) else { return };
    let wrong = Source::new("__kernel void wrong(__global int *heap) { heap[0] = not_declared_anywhere; }", "");
    for _ in 0..2 {
        let error = bench.issue((0, 0), &[], |queue| queue.compile(&wrong)).expect_err("it does not compile");
        let message = error.to_string();
        assert!(message.contains("not_declared_anywhere") && message.contains("clBuildProgram"), "{message}");
        assert!(!error.is_lost());
    }
    let event = bench.issue((0, 0), &[], |queue| apply(queue, "set", (0, 1), 1)).expect("others still do");
    bench.end_of(event).result.expect("it ends well");
}
