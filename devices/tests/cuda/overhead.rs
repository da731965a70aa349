//! Prints the cost of tasks and hops through the runtime, and fails only for wrong results. Run these tests alone, in a
//! release build. Tasks are not timed.

use crate::bench::{apply, ordinals};
use std::{
    sync::LazyLock,
    time::{Duration, Instant},
};
use superscalar_devices::cuda::{self, Options, Queue};
use superscalar_runtime::{Codelet, DeviceError, IssueContext, Operand, Reads, Resource, Runtime, TaskSpec, Updates};

type Vector = Vec<u64>;
type Reading = Codelet<Reads<Vector>, ()>;
type Updating = Codelet<(Reads<Vector>, Updates<Vector>), ()>;
type Adding = Codelet<Updates<Vector>, ()>;

static READ: LazyLock<Reading> =
    LazyLock::new(|| Codelet::new("read").on_device(cuda::KIND, |context, _: Operand<Vector>, (): &()| empty(context)));

static UPDATE: LazyLock<Updating> = LazyLock::new(|| {
    Codelet::new("update")
        .on_device(cuda::KIND, |context, _: (Operand<Vector>, Operand<Vector>), (): &()| empty(context))
});

static ADD: LazyLock<Adding> = LazyLock::new(|| {
    Codelet::new("add").on_device(cuda::KIND, |context, operand: Operand<Vector>, (): &()| add_one(context, operand))
});

static ADD_BEHIND: LazyLock<Updating> = LazyLock::new(|| {
    Codelet::new("add behind")
        .on_device(cuda::KIND, |context, (_, operand): (Operand<Vector>, Operand<Vector>), (): &()| {
            add_one(context, operand)
        })
});

fn empty(context: &mut IssueContext<'_>) -> Result<(), DeviceError> {
    context.queue::<Queue>().map(drop)
}

fn add_one(context: &mut IssueContext<'_>, operand: Operand<Vector>) -> Result<(), DeviceError> {
    let place = operand.region()?.offset;
    apply(context.queue::<Queue>()?, "add", (place, 1), 1)
}

fn open(count: usize) -> Option<Runtime> {
    let options = Options { heap_bytes: Some(1 << 20), timed: false, ..Options::default() };
    let devices = cuda::open_all(&ordinals(count)?, 0, &options).expect("devices open");
    let builder = Runtime::builder().workers(1).bind(false).weights_file(None);
    let builder = devices.into_iter().fold(builder, |builder, device| builder.device(device));
    Some(builder.build().expect("a runtime"))
}

/// Returns the nanoseconds per task of the fastest of six runs.
fn ns_per_task(tasks: usize, mut run: impl FnMut()) -> f64 {
    let mut shortest = Duration::MAX;
    for _ in 0..6 {
        let begin = Instant::now();
        run();
        shortest = shortest.min(begin.elapsed());
    }
    shortest.as_nanos() as f64 / tasks as f64
}

#[test]
#[ignore = "prints what tasks cost; run alone"]
fn empty_tasks_through_the_runtime() {
    const TASKS: usize = 20_000;
    let Some(rt) = open(1) else { return };
    let mut data: Vec<Vector> = vec![vec![0]; 64];
    let free = ns_per_task(TASKS, || {
        let done = rt.scope(|s| {
            let one = s.lend(&mut data[0]);
            (0..TASKS).for_each(|_| READ.spawn_as(s, TaskSpec::new("read"), one.read(), ()));
        });
        done.expect("it ends well");
    });
    let with_two = ns_per_task(TASKS, || {
        let done = rt.scope(|s| {
            let data: Vec<_> = data.iter_mut().map(|vector| s.lend(vector)).collect();
            for at in 2..TASKS + 2 {
                let accesses = (data[(at - 2) % 64].read(), data[at % 64].read_write());
                UPDATE.spawn_as(s, TaskSpec::new("update"), accesses, ());
            }
        });
        done.expect("it ends well");
    });
    println!("empty tasks: {free:.0} ns each without hazards, {with_two:.0} ns with two");
}

#[test]
#[ignore = "prints what hops cost; run alone"]
fn chains_through_the_runtime() {
    const LENGTH: usize = 4000;
    let Some(rt) = open(2) else { return };
    let mut number = vec![0u64];
    let one = ns_per_task(LENGTH, || {
        let done = rt.scope(|s| {
            let number = s.lend(&mut number);
            number.deal_to(Some(Resource::device(0)));
            (0..LENGTH).for_each(|_| ADD.spawn_as(s, TaskSpec::new("add"), number.read_write(), ()));
        });
        done.expect("it ends well");
    });
    assert_eq!(number, [6 * LENGTH as u64]);
    // Each task reads the last value that the other device has written, which is copied from there.
    let mut numbers = [vec![0u64], vec![0u64]];
    let hops = ns_per_task(LENGTH, || {
        let done = rt.scope(|s| {
            let [one, other] = &mut numbers;
            let pair = [s.lend(one), s.lend(other)];
            (0..2).for_each(|at| pair[usize::from(at)].deal_to(Some(Resource::device(at))));
            for at in 0..LENGTH {
                let accesses = (pair[(at + 1) % 2].read(), pair[at % 2].read_write());
                ADD_BEHIND.spawn_as(s, TaskSpec::new("add behind"), accesses, ());
            }
        });
        done.expect("it ends well");
    });
    assert_eq!(numbers, [vec![3 * LENGTH as u64], vec![3 * LENGTH as u64]]);
    println!("a chain of small kernels: {:.2} us each on one device", one / 1e3);
    println!("a chain that alternates between two devices, with a copy each: {:.2} us each", hops / 1e3);
    println!("tasks of each device: {:?}", rt.tasks_issued());
}
