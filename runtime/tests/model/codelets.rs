//! The codelets of programs: every combination of implementations, over the general shape.

use crate::{
    body::{Run, Seen, perform},
    program::{Fate, TaskIndex},
    test_device,
    value::{Token, Value},
};
use std::sync::{Arc, LazyLock};
use superscalar_runtime::{Codelet, DeviceError, DeviceKind, IssueContext, Operand, Reads, Updates, Writes};

pub const ALPHA: DeviceKind = DeviceKind("alpha");
pub const BETA: DeviceKind = DeviceKind("beta");

/// The parameters of a call.
pub struct Call {
    pub run: Arc<Run>,
    pub index: TaskIndex,
    /// Where the reads, writes and updates of lent data stand in the list of accesses.
    pub places: [Vec<usize>; 3],
    pub owned_places: [Vec<usize>; 3],
    #[expect(dead_code, reason = "it is there to be dropped")]
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

/// The codelet with these implementations.
pub fn of(host: bool, alpha: bool, beta: bool) -> &'static Codelet<Shape, Call> {
    static ALL: LazyLock<Vec<Codelet<Shape, Call>>> = LazyLock::new(|| (0..8).map(make).collect());
    &ALL[usize::from(host) | usize::from(alpha) << 1 | usize::from(beta) << 2]
}

fn make(bits: usize) -> Codelet<Shape, Call> {
    let mut codelet = Codelet::new("call");
    if bits & 1 != 0 {
        codelet = codelet.on_host(|(r, w, u, owned_r, owned_w, owned_u), call: &Call| {
            let [reads, writes, updates] = &call.places;
            let [owned_reads, owned_writes, owned_updates] = &call.owned_places;
            let mut seen = Seen::default();
            seen.reads.extend(reads.iter().copied().zip(r));
            seen.reads.extend(owned_reads.iter().copied().zip(owned_r));
            for (places, values) in [(writes, w), (updates, u), (owned_writes, owned_w), (owned_updates, owned_u)] {
                seen.changes.extend(places.iter().copied().zip(values));
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
    call: &Call,
) -> Result<(), DeviceError> {
    let fails = call.run.program.tasks[call.index.0].fate != Fate::Succeed;
    if fails && call.index.0.is_multiple_of(3) {
        return Err(DeviceError::new("planned refusal"));
    }
    let [reads, writes, updates] = call.places.clone();
    let [owned_reads, owned_writes, owned_updates] = call.owned_places.clone();
    let pairs = |places: Vec<usize>, ones: Ones| places.into_iter().zip(ones);
    let reads: Vec<_> = pairs(reads, r).chain(pairs(owned_reads, owned_r)).collect();
    let changes = pairs(writes, w).chain(pairs(updates, u));
    let changes: Vec<_> = changes.chain(pairs(owned_writes, owned_w)).chain(pairs(owned_updates, owned_u)).collect();
    let (run, index) = (call.run.clone(), call.index);
    test_device::queue(context)?.put(move || {
        // SAFETY: the queue runs the work after the events that it was given, so the hazards give it the right to each datum
        // in its mode until the work is reported finished; the data live until then, and the task names each once or only
        // reads it.
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
