//! The codelets of model programs: every combination of implementations.

use crate::{
    body::{Execution, Seen, perform},
    program::{Fate, TaskIndex},
    test_device,
    value::{Token, Value},
};
use std::sync::{Arc, LazyLock};
use superscalar_runtime::{Codelet, DeviceError, DeviceKind, IssueContext, Operand, Reads, Updates, Writes};

pub const ALPHA: DeviceKind = DeviceKind("alpha");
pub const BETA: DeviceKind = DeviceKind("beta");

/// The parameters of a codelet call.
pub struct CallParameters {
    pub run: Arc<Execution>,
    pub index: TaskIndex,
    /// Positions of the reads, writes and updates of lent data in the list of accesses.
    pub positions: [Vec<usize>; 3],
    pub owned_positions: [Vec<usize>; 3],
    #[expect(dead_code, reason = "only its drop is observed")]
    pub token: Token,
}

type Shape = (
    Vec<Reads<Value>>,
    Vec<Writes<Value>>,
    Vec<Updates<Value>>,
    Vec<Reads<Value>>,
    Vec<Writes<Value>>,
    Vec<Updates<Value>>,
);
type Ones = Vec<Operand<Value>>;

/// Returns the codelet with these implementations.
pub fn of(host: bool, alpha: bool, beta: bool) -> &'static Codelet<Shape, CallParameters> {
    static ALL: LazyLock<Vec<Codelet<Shape, CallParameters>>> = LazyLock::new(|| (0..8).map(make).collect());
    &ALL[usize::from(host) | usize::from(alpha) << 1 | usize::from(beta) << 2]
}

fn make(bits: usize) -> Codelet<Shape, CallParameters> {
    let mut codelet = Codelet::new("call");
    if bits & 1 != 0 {
        codelet = codelet.on_host(|(r, w, u, owned_r, owned_w, owned_u), call: &CallParameters| {
            let [reads, writes, updates] = &call.positions;
            let [owned_reads, owned_writes, owned_updates] = &call.owned_positions;
            let mut seen = Seen::default();
            seen.reads.extend(reads.iter().copied().zip(r));
            seen.reads.extend(owned_reads.iter().copied().zip(owned_r));
            for (positions, values) in [(writes, w), (updates, u), (owned_writes, owned_w), (owned_updates, owned_u)] {
                seen.changes.extend(positions.iter().copied().zip(values));
            }
            perform(&call.run, call.index, Token::new(), seen).map(drop).map_err(Into::into)
        });
    }
    for (bit, kind) in [(2, ALPHA), (4, BETA)] {
        if bits & bit != 0 {
            codelet = codelet.on_device(kind, issue);
        }
    }
    codelet
}

fn issue(
    context: &mut IssueContext<'_>,
    (r, w, u, owned_r, owned_w, owned_u): (Ones, Ones, Ones, Ones, Ones, Ones),
    call: &CallParameters,
) -> Result<(), DeviceError> {
    let fails = call.run.program.tasks[call.index.0].fate != Fate::Succeed;
    if fails && call.index.0.is_multiple_of(3) {
        return Err(DeviceError::new("planned refusal"));
    }
    let [reads, writes, updates] = call.positions.clone();
    let [owned_reads, owned_writes, owned_updates] = call.owned_positions.clone();
    let pairs = |positions: Vec<usize>, ones: Ones| positions.into_iter().zip(ones);
    let reads: Vec<_> = pairs(reads, r).chain(pairs(owned_reads, owned_r)).collect();
    let changes = pairs(writes, w).chain(pairs(updates, u));
    let changes: Vec<_> = changes.chain(pairs(owned_writes, owned_w)).chain(pairs(owned_updates, owned_u)).collect();
    let (run, index) = (call.run.clone(), call.index);
    test_device::queue(context)?.put(move || {
        // SAFETY: the queue runs the work after its events, and until it reports the end the task's hazards keep
        // conflicting accesses away. The data live until then. The task names each datum once, or only reads it.
        let seen = unsafe {
            Seen {
                reads: reads.iter().map(|(at, one)| (*at, &*one.as_ptr())).collect(),
                changes: changes.iter().map(|(at, one)| (*at, &mut *one.as_ptr())).collect(),
            }
        };
        perform(&run, index, Token::new(), seen).map(drop).map_err(|error| DeviceError::new(error.to_string()))
    });
    Ok(())
}
