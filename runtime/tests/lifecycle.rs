//! The begin and end of runtimes, scopes and handles; values of every shape; very many tasks, and none.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering},
    },
    time::Duration,
};
use superscalar_runtime::{Error, ErrorKind, PolicyName, Runtime};

/// The system's allocator, with a count of the live bytes.
struct Counting;

static LIVE_BYTES: AtomicI64 = AtomicI64::new(0);

// SAFETY: all calls are forwarded to the system's allocator, which upholds the contract.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE_BYTES.fetch_add(layout.size() as i64, Ordering::Relaxed);
        // SAFETY: the layout comes from the caller of `alloc`, who has the same obligations as towards `System`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        LIVE_BYTES.fetch_sub(layout.size() as i64, Ordering::Relaxed);
        // SAFETY: `at` was returned by `System.alloc` with this layout, as the caller of `dealloc` ensures.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn runtime(workers: usize) -> Runtime {
    Runtime::builder().workers(workers).build().expect("threads")
}

/// A value that counts its live instances.
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn new(alive: &Arc<AtomicUsize>) -> Self {
        alive.fetch_add(1, Ordering::SeqCst);
        Self(alive.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[test]
fn no_tasks() -> Result<(), Error> {
    for workers in 1..5 {
        let rt = runtime(workers);
        rt.wait()?;
        assert_eq!(rt.scope(|_| 3)?, 3);
        rt.scope(|s| s.wait())??;
        rt.scope(|s| s.wait_for(()))??;
    }
    Ok(())
}

#[test]
fn shapes_of_values() -> Result<(), Error> {
    #[repr(align(256))]
    struct Wide([u8; 256]);
    let rt = runtime(2);
    let (mut nothing, mut units, mut empty) = ((), [(), ()], Vec::<u64>::new());
    let mut text = "a".to_owned();
    let (big, wide) = ([7u64; 500], Wide([3; 256]));
    rt.scope(|s| {
        let (nothing, empty) = (s.lend(&mut nothing), s.lend(&mut empty[..]));
        assert!(s.lend_chunks(&mut units[..0], 4).is_empty());
        s.spawn("zero-sized", (nothing.read_write(), empty.read_write()), |(_, empty)| assert!(empty.is_empty()));
        let text = s.lend(text.as_mut_str());
        s.spawn("unsized", text.read_write(), |text: &mut str| text.make_ascii_uppercase());
        s.spawn("large", s.own(0u64).write(), move |x| *x = big.iter().sum());
        s.spawn("over-aligned", (), move |()| {
            assert_eq!(&raw const wide as usize % 256, 0);
            assert_eq!(wide.0[255], 3);
        });
        let wide = s.own(Wide([1; 256])).renaming(|| Wide([2; 256]));
        for i in 0..20 {
            s.spawn("write", wide.write(), move |wide| wide.0 = [i; 256]);
            s.spawn("read", wide.read(), move |wide| {
                assert_eq!(std::ptr::from_ref(wide) as usize % 256, 0);
                assert_eq!(wide.0, [i; 256]);
            });
        }
    })?;
    assert_eq!(text, "A");
    Ok(())
}

#[test]
fn many_readers_and_a_writer() -> Result<(), Error> {
    let rt = runtime(3);
    let (mut x, read) = (5u64, AtomicUsize::new(0));
    rt.scope(|s| {
        let x = s.lend(&mut x);
        for _ in 0..100_000 {
            s.spawn("read", x.read(), |x| _ = read.fetch_add(*x as usize, Ordering::Relaxed));
        }
        s.spawn("write", x.write(), |x| *x = read.load(Ordering::Relaxed) as u64);
    })?;
    assert_eq!(x, 500_000);
    // Conversely: one task with a hundred thousand successors.
    let (go, mut y) = (AtomicBool::new(false), 0u64);
    let wide = Runtime::builder().workers(2).window(1 << 18).build()?;
    wide.scope(|s| {
        let y = s.lend(&mut y);
        s.spawn("first", y.write(), |y| {
            while !go.load(Ordering::Acquire) {
                std::thread::yield_now();
            }
            *y = 1;
        });
        for _ in 0..100_000 {
            s.spawn("read", y.read(), |y| assert_eq!(*y, 1));
        }
        go.store(true, Ordering::Release);
    })?;
    Ok(())
}

#[test]
fn million_tasks_in_small_window() -> Result<(), Error> {
    for policy in PolicyName::ALL {
        let rt = Runtime::builder().workers(2).window(64).policy(policy).build()?;
        let mut data = [0u64; 16];
        let (before, mut most) = (LIVE_BYTES.load(Ordering::Relaxed), 0);
        rt.scope(|s| {
            let data: Vec<_> = data.iter_mut().map(|x| s.lend(x)).collect();
            for i in 0..1_000_000usize {
                s.spawn("step", (data[i % 16].read_write(), data[(i + 1) % 16].read()), |(x, y)| {
                    *x = x.wrapping_add(*y + 1)
                });
                if i % 1024 == 0 {
                    most = most.max(LIVE_BYTES.load(Ordering::Relaxed) - before);
                }
            }
        })?;
        // Other tests of this process allocate little.
        assert!(most < 64 << 20, "{policy}: {most} bytes");
    }
    Ok(())
}

#[test]
fn cancellation_half_way() {
    let rt = runtime(2);
    let alive = Arc::new(AtomicUsize::new(0));
    let (mut x, ran) = (0u64, AtomicUsize::new(0));
    let error = rt
        .scope(|s| {
            let x = s.lend(&mut x);
            for i in 0..10_000 {
                let (counted, ran) = (Counted::new(&alive), &ran);
                s.spawn("step", x.read_write(), move |_| {
                    drop(counted);
                    ran.fetch_add(1, Ordering::Relaxed);
                });
                if i == 5_000 {
                    s.cancel();
                }
            }
        })
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cancelled);
    assert!(ran.load(Ordering::Relaxed) <= 5_001);
    assert_eq!(alive.load(Ordering::SeqCst), 0, "captures of cancelled tasks are not dropped");
}

#[test]
fn many_threads_open_scopes() {
    let rt = runtime(2);
    std::thread::scope(|threads| {
        for thread in 0..40u64 {
            let rt = &rt;
            threads.spawn(move || {
                for _ in 0..20 {
                    let mut x = thread;
                    let done = rt.scope(|s| {
                        let x = s.lend(&mut x);
                        (0..20).for_each(|_| s.spawn("step", x.read_write(), |x| *x += 1));
                    });
                    done.unwrap();
                    assert_eq!(x, thread + 20);
                }
            });
        }
    });
}

#[test]
fn more_threads_than_seats_take_turns() {
    let rt = runtime(1);
    let (ready, go, late) = (std::sync::Barrier::new(63), std::sync::Barrier::new(64), AtomicUsize::new(0));
    std::thread::scope(|threads| {
        for _ in 0..63 {
            threads.spawn(|| {
                rt.scope(|_| {
                    ready.wait();
                    go.wait();
                })
                .unwrap();
            });
        }
        for _ in 0..100 {
            threads.spawn(|| {
                // The understudy may have the first seat for a moment; wait until the threads above have all seats.
                std::thread::sleep(Duration::from_millis(100));
                let mut sum = 0;
                rt.scope(|s| {
                    let sum = s.lend(&mut sum);
                    (1..=10).for_each(|i| s.spawn("add", sum.read_write(), move |sum| *sum += i));
                })
                .unwrap();
                assert_eq!(sum, 55);
                late.fetch_add(1, Ordering::Relaxed);
            });
        }
        std::thread::sleep(Duration::from_millis(200));
        assert_eq!(late.load(Ordering::Relaxed), 0, "a thread found a free seat");
        go.wait();
    });
    assert_eq!(late.load(Ordering::Relaxed), 100);
}

#[test]
fn runtime_dropped_in_forked_child() -> Result<(), Error> {
    unsafe extern "C" {
        fn fork() -> i32;
        fn waitpid(process: i32, status: *mut i32, options: i32) -> i32;
        fn _exit(status: i32) -> !;
    }
    let rt = runtime(2);
    let handle = rt.register(1);
    rt.spawn("increment", handle.read_write(), |x| *x += 1)?;
    // SAFETY: the child only drops what it has inherited, and ends without returning to the harness.
    let child = unsafe { fork() };
    if child == 0 {
        let is_fine = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(rt))).is_ok();
        // SAFETY: `_exit` only ends the process.
        unsafe { _exit(if is_fine { 0 } else { 1 }) };
    }
    let mut status = -1;
    // SAFETY: `status` is a valid location, and `child` is a child of this process.
    assert_eq!(unsafe { waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 0, "the child's status");
    rt.wait()?;
    assert_eq!(handle.take()?, 2);
    Ok(())
}

#[test]
fn thousands_of_threads_open_scopes() {
    let rt = runtime(2);
    std::thread::scope(|threads| {
        for thread in 0..4000 {
            let rt = &rt;
            let build = std::thread::Builder::new().stack_size(256 << 10);
            build
                .spawn_scoped(threads, move || {
                    let mut sum = 0;
                    rt.scope(|s| {
                        let sum = s.lend(&mut sum);
                        (0..3).for_each(|_| s.spawn("add", sum.read_write(), move |sum| *sum += thread));
                    })
                    .unwrap();
                    assert_eq!(sum, 3 * thread);
                })
                .unwrap();
        }
    });
}

#[test]
fn runtimes_nest() -> Result<(), Error> {
    let (outer, inner) = (runtime(2), runtime(2));
    let mut data = [0u64; 8];
    outer.scope(|s| {
        for x in data.iter_mut() {
            let inner = &inner;
            s.spawn("outer", s.lend(x).write(), move |x| -> Result<(), Error> {
                inner.scope(|s| {
                    let x = s.lend(x);
                    (0..10).for_each(|_| s.spawn("inner", x.read_write(), |x| *x += 1));
                })
            });
        }
    })?;
    assert_eq!(data, [10; 8]);
    Ok(())
}

#[test]
fn scopes_nest_in_bodies() -> Result<(), Error> {
    fn count(rt: &Runtime, depth: u32) -> Result<u64, Error> {
        let mut sums = [0; 3];
        if depth > 0 {
            rt.scope(|s| {
                for sum in sums.iter_mut() {
                    s.spawn("level", s.lend(sum).write(), move |sum| count(rt, depth - 1).map(|below| *sum = below));
                }
            })?;
        }
        Ok(1 + sums.iter().sum::<u64>())
    }
    for workers in 1..4 {
        assert_eq!(count(&runtime(workers), 5)?, 364);
    }
    Ok(())
}

/// Runs a chain of tasks, each of whose bodies runs a chain of its own in a scope that it opens.
fn chain_of_scopes(rt: &Runtime, len: u64) -> Result<u64, Error> {
    let mut sum = 0;
    rt.scope(|s| {
        let sum = s.lend(&mut sum);
        for _ in 0..len {
            s.spawn("outer", sum.read_write(), |sum| {
                rt.scope(|s| {
                    let sum = s.lend(sum);
                    (0..len).for_each(|_| s.spawn("inner", sum.read_write(), |sum| *sum += 1));
                })
            });
        }
    })?;
    Ok(sum)
}

/// The only worker runs tasks of guest scopes, too: each thread has its own scopes, and all share a handle.
#[test]
fn the_only_worker_has_guests() {
    let rt = runtime(1);
    let handle = rt.register(0u64);
    std::thread::scope(|threads| {
        for thread in 0..4 {
            let (rt, handle) = (&rt, &handle);
            threads.spawn(move || {
                for round in 0..50 {
                    assert_eq!(chain_of_scopes(rt, 6).unwrap(), 36, "thread {thread}, round {round}");
                    let mut own = 0;
                    let both = rt.scope(|s| {
                        let own = s.lend(&mut own);
                        for _ in 0..10 {
                            s.spawn("own", own.read_write(), |own| *own += 1);
                            s.spawn("shared", (own.read(), handle.commute()), |(own, sum)| *sum += own);
                        }
                    });
                    both.unwrap();
                }
            });
        }
    });
    assert_eq!(handle.take().unwrap(), 4 * 50 * 55);
}

#[test]
fn a_runtime_dropped_in_a_body() -> Result<(), Error> {
    for workers in 1..4 {
        let alive = Arc::new(AtomicUsize::new(0));
        for _ in 0..20 {
            let rt = Arc::new(runtime(workers));
            let (last, counted) = (rt.clone(), Counted::new(&alive));
            let (sender, receiver) = std::sync::mpsc::channel();
            rt.spawn("ends it", (), move |()| {
                // Wait until this is the only owner.
                while Arc::strong_count(&last) > 1 {
                    std::thread::yield_now();
                }
                drop(last);
                drop(counted);
                sender.send(()).unwrap();
            })?;
            drop(rt);
            receiver.recv_timeout(Duration::from_secs(30)).expect("the body ends");
        }
        assert_eq!(alive.load(Ordering::SeqCst), 0);
    }
    Ok(())
}

#[test]
fn handles_outlive_their_runtime() -> Result<(), Error> {
    let alive = Arc::new(AtomicUsize::new(0));
    let rt = runtime(2);
    let [taken, dropped, used] = [(); 3].map(|()| rt.register(Counted::new(&alive)));
    rt.spawn("uses", used.read(), |_| std::thread::sleep(Duration::from_millis(5)))?;
    drop(rt);
    drop(taken.take()?);
    assert_eq!(alive.load(Ordering::SeqCst), 2);
    drop(dropped);
    assert_eq!(alive.load(Ordering::SeqCst), 1, "the dropped handle has not dropped its value");
    drop(used);
    assert_eq!(alive.load(Ordering::SeqCst), 0);
    Ok(())
}

#[test]
fn handles_dropped_while_the_runtime_ends() {
    let alive = Arc::new(AtomicUsize::new(0));
    for _ in 0..200 {
        let rt = runtime(2);
        let handles: Vec<_> = (0..20).map(|_| rt.register(Counted::new(&alive))).collect();
        let thread = std::thread::spawn(move || drop(handles));
        drop(rt);
        thread.join().unwrap();
    }
    assert_eq!(alive.load(Ordering::SeqCst), 0);
}

#[test]
fn runtime_end_waits_for_background_tasks() -> Result<(), Error> {
    for workers in 1..4 {
        let ran = Arc::new(AtomicUsize::new(0));
        let rt = runtime(workers);
        for _ in 0..1000 {
            let ran = ran.clone();
            rt.spawn("counts", (), move |()| _ = ran.fetch_add(1, Ordering::SeqCst))?;
        }
        drop(rt);
        assert_eq!(ran.load(Ordering::SeqCst), 1000);
    }
    Ok(())
}

/// Two threads wait for background tasks, one of them in a scope with a predecessor of a background task.
#[test]
fn concurrent_waits_do_not_deadlock() -> Result<(), Error> {
    for _ in 0..50 {
        let rt = runtime(1);
        let handle = rt.register(0);
        rt.scope(|s| {
            s.spawn("first", handle.read_write(), |x| *x += 1);
            rt.spawn("second", handle.read_write(), |x| *x += 1).map(drop)?;
            std::thread::scope(|threads| {
                let other = threads.spawn(|| rt.wait());
                std::thread::sleep(Duration::from_micros(300));
                rt.wait()?;
                other.join().unwrap()
            })
        })??;
        assert_eq!(handle.take()?, 2);
    }
    Ok(())
}

/// Returns the ticks of processor time that this process has used.
fn ticks() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let after_name = stat.rsplit(')').next().unwrap();
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

/// Runs only in a child process of the next test, where no other test runs.
#[test]
fn child_idles() {
    if std::env::var_os("SUPERSCALAR_TEST_IDLES").is_none() {
        return;
    }
    let rt = runtime(4);
    rt.scope(|s| (0..100).for_each(|_| s.spawn("warm", (), |()| ()))).unwrap();
    std::thread::sleep(Duration::from_millis(100));
    let before = ticks();
    std::thread::sleep(Duration::from_secs(2));
    // A tick is ten milliseconds, so two ticks are one percent of a core.
    assert!(ticks() - before <= 2, "an idle runtime used {} ticks in two seconds", ticks() - before);
}

#[test]
fn an_idle_runtime_uses_no_processor() {
    let this = std::env::current_exe().unwrap();
    let mut command = std::process::Command::new(this);
    let output = command.args(["child_idles", "--exact"]).env("SUPERSCALAR_TEST_IDLES", "1").output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}
