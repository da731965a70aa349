//! Numbers of tasks and data that once overflowed a count, or took quadratic time.

use super::runtime;
use std::{
    sync::{
        Barrier,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};
use superscalar_runtime::Error;

/// Spawns one unfinished task that writes all data, and readers of all data. Returns how long the insertion of the
/// readers took; all have run by then.
fn insert_readers(data: usize, readers: usize) -> Result<Duration, Error> {
    let rt = runtime(2);
    let mut values = vec![0_usize; data];
    let (begun, may_end, ran) = (Barrier::new(2), Barrier::new(2), AtomicUsize::new(0));
    let took = rt.scope(|s| {
        let values: Vec<_> = values.iter_mut().map(|value| s.lend(value)).collect();
        s.spawn("write", values.iter().map(|x| x.write()).collect::<Vec<_>>(), |values| {
            begun.wait();
            may_end.wait();
            values.into_iter().enumerate().for_each(|(at, value)| *value = at + 1);
        });
        begun.wait();
        let start = Instant::now();
        for _ in 0..readers {
            s.spawn("read", values.iter().map(|x| x.read()).collect::<Vec<_>>(), |values| {
                assert!(values.iter().enumerate().all(|(at, value)| **value == at + 1), "read before the write");
                ran.fetch_add(1, Ordering::Relaxed);
            });
        }
        let took = start.elapsed();
        may_end.wait();
        took
    })?;
    assert_eq!(ran.load(Ordering::Relaxed), readers);
    Ok(took)
}

/// 1025 × 4095 entries exceeded 22 bits when a successor had one entry per datum.
#[test]
fn successors_do_not_overflow_their_count() -> Result<(), Error> {
    insert_readers(1025, 4095).map(drop)
}

/// The limit is far above the time of an unoptimised build, and far below that of a walk of the list per entry.
#[test]
fn successors_are_added_in_constant_time() -> Result<(), Error> {
    let took = insert_readers(1100, 1000)?;
    assert!(took < Duration::from_secs(10), "{took:?} to insert 1000 readers of 1100 data");
    Ok(())
}

/// Two threads add more successors to one task than its slot and the first chunk hold.
#[test]
fn successors_from_two_threads_are_all_released() -> Result<(), Error> {
    let rt = runtime(2);
    let (begun, may_end, ran) = (Barrier::new(2), Barrier::new(3), AtomicUsize::new(0));
    let (shared, mut own) = (rt.register(0), 0);
    std::thread::scope(|threads| {
        rt.scope(|s| {
            let own = s.lend(&mut own);
            s.spawn("write", (shared.write(), own.write()), |(shared, own)| {
                begun.wait();
                may_end.wait();
                (*shared, *own) = (1, 1);
            });
            begun.wait();
            let guest = threads.spawn(|| {
                rt.scope(|s| {
                    for _ in 0..1000 {
                        s.spawn("guest", shared.read(), |shared| _ = ran.fetch_add(*shared, Ordering::Relaxed));
                    }
                    may_end.wait();
                })
            });
            for _ in 0..1000 {
                s.spawn("own", own.read(), |own| _ = ran.fetch_add(*own, Ordering::Relaxed));
            }
            may_end.wait();
            guest
        })?
        .join()
        .expect("no panic")
    })?;
    assert_eq!(ran.load(Ordering::Relaxed), 2000);
    Ok(())
}
