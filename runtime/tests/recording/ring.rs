//! Recordings that do not fit in memory.

use std::collections::BTreeSet;
use superscalar_runtime::{
    Runtime, TaskId,
    recording::{Counter, Recording},
};

/// Records a chain of tasks in a window of 64.
fn recorded(rt: &Runtime, tasks: u64) -> Recording {
    let mut value = 0_u64;
    rt.scope(|s| {
        let value = s.lend(&mut value);
        for _ in 0..tasks {
            s.spawn("link", value.read_write(), |value| *value += 1);
        }
    })
    .expect("no task fails");
    rt.take_recording().expect("a recording")
}

#[test]
fn small_recording_is_complete() {
    let rt = Runtime::builder().workers(2).window(64).trace(true).trace_memory(16).build().expect("a runtime");
    let recording = recorded(&rt, 20_000);
    assert_eq!((recording.dropped, recording.whole_from_ns), (0, 0));
    assert_eq!((recording.tasks.len(), recording.spans.len(), recording.hazards.len()), (20_000, 20_000, 19_999));
    assert_eq!((recording.window, recording.workers), (Some(64), Some(2)));
    assert!(recording.tasks.is_sorted_by_key(|task| task.inserted_ns));
}

#[test]
fn newest_tasks_are_kept() {
    for workers in [1, 2] {
        let rt = Runtime::builder().workers(workers).window(64).trace(true).trace_memory(1).build().expect("a runtime");
        let recording = recorded(&rt, 50_000);
        let kept = recording.tasks.len() + recording.hazards.len() + recording.spans.len();
        assert!(recording.dropped > 100_000 && kept > 5_000, "{} dropped, {kept} kept", recording.dropped);
        let late: BTreeSet<TaskId> = (recording.tasks.iter())
            .filter(|task| task.inserted_ns > recording.whole_from_ns)
            .map(|task| task.id)
            .collect();
        assert!(late.len() > 1000, "only {} tasks are complete", late.len());
        let last = *late.last().expect("a task");
        assert_eq!(last.0 - late.first().expect("a task").0 + 1, late.len() as u64, "the tasks have gaps");
        let ended: BTreeSet<TaskId> = recording.spans.iter().map(|span| span.task).collect();
        let waited: BTreeSet<TaskId> = recording.hazards.iter().map(|hazard| hazard.to).collect();
        assert!(late.is_subset(&ended) && late.is_subset(&waited));
        for counter in [Counter::ReadyTasks, Counter::WindowTasks] {
            let of_counter: Vec<_> = recording.counters.iter().filter(|sample| sample.counter == counter).collect();
            let latest = of_counter.iter().max_by_key(|sample| sample.at_ns).map_or(0, |sample| sample.at_ns);
            let at_end: Vec<u64> =
                of_counter.iter().filter(|sample| sample.at_ns == latest).map(|sample| sample.value).collect();
            assert_eq!(at_end.last(), Some(&0), "{counter:?} does not end at zero");
            assert!(of_counter.len() > 1000 && of_counter.iter().all(|sample| sample.at_ns >= recording.whole_from_ns));
            let most = of_counter.iter().map(|sample| sample.value).max();
            assert!(most <= Some(64 + 1), "{counter:?} reaches {most:?}");
        }
        // The next recording starts anew.
        let recording = recorded(&rt, 10);
        assert_eq!((recording.tasks.len(), recording.dropped, recording.whole_from_ns), (10, 0, 0));
    }
}

#[test]
fn window_wait_is_a_stall() {
    let rt = Runtime::builder().workers(2).window(2).trace(true).build().expect("a runtime");
    let mut value = 0_u64;
    rt.scope(|s| {
        let value = s.lend(&mut value);
        // The worker runs the first task. The inserter finds no task to help with until it ends.
        let begun = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let told = begun.clone();
        s.spawn("long", value.read_write(), move |_| {
            told.store(true, std::sync::atomic::Ordering::Release);
            std::thread::sleep(std::time::Duration::from_millis(30));
        });
        while !begun.load(std::sync::atomic::Ordering::Acquire) {
            std::thread::yield_now();
        }
        for _ in 0..4 {
            s.spawn("next", value.read_write(), |value| *value += 1);
        }
    })
    .expect("no task fails");
    let recording = rt.take_recording().expect("a recording");
    let stalls: Vec<_> =
        recording.activities.iter().filter(|stall| stall.end_ns - stall.start_ns > 10_000_000).collect();
    assert_eq!(stalls.len(), 1, "{:?}", recording.activities);
    assert_eq!(stalls[0].kind.category(), "stall");
    // The inserter is on its own seat, or on a guest's if a pool thread still had that.
    assert!(["worker 0", "guest 0"].contains(&&*recording.lanes[stalls[0].lane as usize].name));
}
