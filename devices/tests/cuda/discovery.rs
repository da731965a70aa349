//! Listing and opening devices.

use crate::bench::{HEAP_BYTES, gpus, ordinals};
use superscalar_devices::cuda::{self, KIND, Options};
use superscalar_runtime::{Device, DeviceError};

#[test]
fn machine_without_cuda_has_no_devices() {
    // With or without a GPU, this returns a count and does not panic.
    let count = cuda::count().expect("the driver answers");
    assert_eq!(cuda::devices().expect("the driver answers").len(), count);
    let error = cuda::open(count, &Options::default()).expect_err("one more than there are");
    assert!(!error.to_string().is_empty());
}

#[test]
fn every_gpu_describes_itself() {
    if gpus().is_none() {
        return;
    }
    for (ordinal, class) in cuda::devices().expect("the driver answers").into_iter().enumerate() {
        println!("{class:?}");
        assert!(!class.name.is_empty() && class.ordinal == ordinal && class.memory_bytes > 0, "{class:?}");
        assert!(class.compute_capability.0 >= 5 && class.multiprocessors > 0, "{class:?}");
        assert!(class.clock_hz > 100_000_000 && class.memory_bytes_per_s > 1_000_000_000, "{class:?}");
        assert!(class.arch().starts_with("sm_") && class.bus.contains(':'), "{class:?}");
    }
}

#[test]
fn devices_opened_together_know_each_other() {
    let Some(ordinals) = ordinals(2) else { return };
    let options = Options { heap_bytes: Some(HEAP_BYTES + 77), queues: 3, depth: 5, ..Options::default() };
    let devices = cuda::open_all(&ordinals, 4, &options).expect("they open");
    for (device, other) in [(0usize, 5u16), (1, 4)] {
        let info = devices[device].info();
        println!("{info:?}");
        assert_eq!((info.kind, info.queues, info.depth), (KIND, 3, 5));
        assert!(info.speed.flops_per_s > 1e9 && info.speed.bytes_per_s > 1e9 && info.speed.latency_ns > 0);
        let memory = info.memory.expect("a memory");
        assert_eq!(memory.bytes, HEAP_BYTES, "whole columns only");
        assert!(memory.align.is_power_of_two() && memory.align >= 128 && memory.host.bytes_per_s > 1e9);
        assert!(memory.peers.iter().all(|(peer, link)| *peer == other && link.bytes_per_s > 1e9));
        assert!(devices[device].can_wait_for(4) && devices[device].can_wait_for(5));
        assert!(!devices[device].can_wait_for(3) && !devices[device].can_wait_for(6));
    }
}

#[test]
fn default_heap_uses_free_memory() {
    let Some(ordinals) = ordinals(1) else { return };
    let device = cuda::open(ordinals[0], &Options::default()).expect("it opens");
    let (bytes, all) = (device.info().memory.expect("a memory").bytes, device.class().memory_bytes);
    println!("a heap of {bytes} bytes of {all}");
    assert!(bytes > 0 && bytes < all);
}

#[test]
fn invalid_options_are_refused() {
    let Some(ordinals) = ordinals(1) else { return };
    let open = |options: &Options| cuda::open_all(&ordinals, 0, options).map(|devices| devices.len());
    let good = Options { heap_bytes: Some(HEAP_BYTES), ..Options::default() };
    assert_eq!(open(&good).expect("good ones"), 1);
    assert_eq!(cuda::open_all(&[], 0, &good).map(|devices| devices.len()).expect("no devices"), 0);
    open(&Options { queues: 0, ..good.clone() }).expect_err("no queue");
    open(&Options { depth: 0, ..good.clone() }).expect_err("no depth");
    open(&Options { heap_bytes: Some(0), ..good.clone() }).expect_err("no memory");
    cuda::open_all(&[ordinals[0]; 2], u16::MAX, &good).expect_err("more devices than indices");
}

#[test]
fn too_large_heap_is_refused() {
    use superscalar_runtime::DeviceMemory;
    let Some(ordinals) = ordinals(1) else { return };
    let options = Options { heap_bytes: Some(1 << 50), ..Options::default() };
    let refused: Result<(), DeviceError> = cuda::open(ordinals[0], &options).and_then(|device| device.reserve());
    let error = refused.expect_err("a petabyte");
    assert!(error.to_string().contains(&(1usize << 50).to_string()) && !error.is_lost(), "{error}");
}
