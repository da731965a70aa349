//! Copies of all three kinds, with any strides.

use crate::driving::{Host, one, region, set, start};
use superscalar_devices::sim::Spec;
use superscalar_runtime::{DeviceRegion, LinkInfo, Transfer};

fn linked() -> [Spec; 2] {
    let (mut a, b) = (Spec::new("a"), Spec::new("b"));
    a.peers = vec![(1, LinkInfo { bytes_per_s: 0.0, latency_ns: 0 })];
    [a, b]
}

#[test]
fn copies_in_and_out_round_trip() {
    let device = one(Spec::new("a"));
    for (shape, strides) in [((1, 1), (1, 9)), ((7, 3), (7, 11)), ((64, 5), (100, 64)), ((1000, 17), (1001, 1024))] {
        let mut from = Host::new(shape, strides.0, |column, row| (31 * column + row) as u8);
        let mut to = Host::new(shape, strides.1, |_, _| 0);
        let at = DeviceRegion::like(&from.region(), 4096 - 64, 64);
        let copied = device.transfer(&Transfer::In { from: from.region(), to: at }, &[]).unwrap();
        let copied = device.transfer(&Transfer::Out { from: at, to: to.region() }, &[copied]).unwrap();
        device.ends_well(copied);
        assert!(to.equals(&from), "{shape:?} {strides:?}");
    }
}

#[test]
fn copies_of_many_pieces() {
    let device = one(Spec::new("a"));
    let shape = (1_000_000, 3);
    let mut from = Host::new(shape, 1_000_001, |column, row| (row >> (column + 3)) as u8);
    let mut to = Host::new(shape, 1_000_007, |_, _| 0);
    let at = region(64, shape, 1_000_064);
    let copied = device.transfer(&Transfer::In { from: from.region(), to: at }, &[]).unwrap();
    let copied = device.transfer(&Transfer::Out { from: at, to: to.region() }, &[copied]).unwrap();
    device.ends_well(copied);
    assert!(to.equals(&from));
    let counters = device.counters();
    assert_eq!((counters.copies_in.bytes, counters.copies_in.copies), (3_000_000, 1));
    assert_eq!((counters.copies_out.bytes, counters.copies_out.copies), (3_000_000, 1));
    assert_eq!(counters.heap_peak_bytes, 64 + 2 * 1_000_064 + 1_000_000);
}

#[test]
fn peers_copy_from_each_other() {
    let devices = start(&linked());
    let (a, b) = (&devices[0], &devices[1]);
    let shape = (100, 40);
    let mut from = Host::new(shape, 100, |column, row| (3 * column + row) as u8);
    let mut to = Host::new(shape, 128, |_, _| 0);
    let (at_a, at_b) = (region(192, shape, 256), region(64, shape, 128));
    let copied = b.transfer(&Transfer::In { from: from.region(), to: at_b }, &[]).unwrap();
    let copied = a.transfer(&Transfer::Peer { device: 1, from: at_b, to: at_a }, &[copied]).unwrap();
    assert_eq!(copied.queue, 2 + 2);
    let copied = a.transfer(&Transfer::Out { from: at_a, to: to.region() }, &[copied]).unwrap();
    a.ends_well(copied);
    assert!(to.equals(&from));
    let traffic = a.counters().copies_peer;
    assert_eq!(traffic.iter().map(|(peer, traffic)| (*peer, traffic.bytes)).collect::<Vec<_>>(), [(1, 4000)]);

    let other_way = b.transfer(&Transfer::Peer { device: 0, from: at_a, to: at_b }, &[]);
    assert!(other_way.is_err_and(|error| error.to_string().contains("no peer")), "b has no link to a");
}

#[test]
fn gaps_of_a_region_are_kept() {
    let device = one(Spec::new("a"));
    let shape = (60, 3);
    let mut from = Host::new(shape, 60, |_, _| 7);
    let background = device.kernel(0, &[], Default::default(), set(0, 64 * 8, 1)).unwrap();
    let to = region(128, shape, 64);
    let copied = device.transfer(&Transfer::In { from: from.region(), to }, &[background]).unwrap();
    let mut all = Host::new((64 * 8, 1), 64 * 8, |_, _| 0);
    let whole = Transfer::Out { from: region(0, (64 * 8, 1), 64 * 8), to: all.region() };
    device.ends_well(device.transfer(&whole, &[copied]).unwrap());
    let expected = |at: usize| if (128..320).contains(&at) && at % 64 < 60 { 7 } else { 1 };
    assert!(all.column(0).iter().enumerate().all(|(at, &byte)| byte == expected(at)), "{:?}", all.column(0));
}

#[test]
fn invalid_copies_are_refused() {
    let devices = start(&linked());
    let (a, bytes) = (&devices[0], Spec::new("a").memory_bytes);
    let mut host = Host::new((64, 4), 64, |_, _| 5);
    let fits = host.region();
    let at = |offset, stride_bytes| region(offset, (64, 4), stride_bytes);
    let into = |to| Transfer::In { from: fits, to };
    let out_of = |from| Transfer::Out { from, to: fits };
    let peer = |from, to| Transfer::Peer { device: 1, from, to };
    let wrong = [
        (into(at(bytes - 192, 64)), "not in a heap"),
        (into(at(usize::MAX - 63, 64)), "not in a heap"),
        (into(at(0, usize::MAX / 2 - 63)), "not in a heap"),
        (out_of(at(bytes, 64)), "not in a heap"),
        (peer(at(bytes - 192, 64), at(0, 64)), "not in a heap"),
        (peer(at(0, 64), at(bytes - 192, 64)), "not in a heap"),
        (into(at(32, 64)), "multiples of 64"),
        (into(at(0, 96)), "multiples of 64"),
        (out_of(at(0, 0)), "overlap"),
        (into(region(0, (64, 3), 64)), "differ in shape"),
        (out_of(region(0, (63, 4), 64)), "differ in shape"),
        (peer(region(0, (64, 5), 64), at(0, 64)), "differ in shape"),
        (peer(region(0, (0, 4), 64), region(0, (0, 4), 64)), "empty"),
        (Transfer::In { from: superscalar_runtime::HostRegion { stride_bytes: 63, ..fits }, to: at(0, 64) }, "overlap"),
        (Transfer::Peer { device: 0, from: at(0, 64), to: at(512, 64) }, "no peer"),
        (Transfer::Peer { device: 2, from: at(0, 64), to: at(512, 64) }, "no peer"),
    ];
    for (count, (transfer, expected)) in wrong.into_iter().enumerate() {
        let error = a.transfer(&transfer, &[]).expect_err(expected);
        assert!(error.to_string().contains(expected) && !error.is_lost(), "{transfer:?}: {error}");
        assert_eq!(a.counters().refused, count as u64 + 1);
    }
    // A copy that just fits is accepted, and the refused ones have used no tickets.
    let last = a.transfer(&into(at(bytes - 256, 64)), &[]).unwrap();
    assert_eq!(last.ticket, 1);
    a.ends_well(last);
    assert_eq!(a.counters().heap_peak_bytes, bytes as u64);
}
