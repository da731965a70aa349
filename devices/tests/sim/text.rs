//! Parsing specs from text.

use superscalar_devices::sim::{Direction, Fault, Machine, Point, Spec, parse};

#[test]
fn presets_and_ranges() {
    let names = |text: &str| parse(text).unwrap().into_iter().map(|spec| spec.name).collect::<Vec<_>>();
    assert_eq!(names("sim:2"), ["sim:2"]);
    assert_eq!(names("sim:0..3"), ["sim:0", "sim:1", "sim:2"]);
    assert_eq!(names("sim:1..=3, sim:0"), ["sim:1", "sim:2", "sim:3", "sim:0"]);
    let rates: Vec<f64> = parse("sim:0..3").unwrap().iter().map(|spec| spec.speed.flops_per_s / 0.2e9).collect();
    assert_eq!(rates, [10.0, 8.0, 5.0]);
    assert!(Spec::preset(4).is_none());
}

#[test]
fn settings_apply_to_all_devices_of_item() {
    let specs = parse(
        "sim:0..2:memory=3M:queues=5:depth=7:flops=1e9:rate=2e9:latency=1e-3:link=3e9:link-latency=2e-6,\
         sim:3:memory=64",
    );
    let specs = specs.unwrap();
    for spec in &specs[..2] {
        assert_eq!((spec.memory_bytes, spec.queues, spec.depth), (3 << 20, 5, 7));
        assert_eq!((spec.speed.flops_per_s, spec.speed.bytes_per_s, spec.speed.latency_ns), (1e9, 2e9, 1_000_000));
        assert_eq!((spec.host_link.bytes_per_s, spec.host_link.latency_ns), (3e9, 2_000));
    }
    assert_eq!((specs[2].memory_bytes, specs[2].queues), (64, 2));
    // A device with another speed has another name.
    let names: Vec<&str> = specs.iter().map(|spec| spec.name.as_str()).collect();
    let speed = "flops=1e9:rate=2e9:latency=1e-3";
    assert_eq!(names, [&format!("sim:0:{speed}"), &format!("sim:1:{speed}"), "sim:3"]);
}

#[test]
fn links_between_peers() {
    let peers = |text: &str| {
        let specs = parse(text).unwrap();
        let of = |spec: &Spec| spec.peers.iter().map(|(peer, link)| (*peer, link.bytes_per_s)).collect::<Vec<_>>();
        specs.iter().map(of).collect::<Vec<_>>()
    };
    assert_eq!(peers("sim:0..3"), [vec![(1, 0.8e9)], vec![(0, 0.8e9)], vec![]]);
    assert_eq!(peers("sim:2,sim:1,sim:0")[1], [(2, 0.8e9)]);
    assert_eq!(peers("sim:0..2:peer=none"), [vec![], vec![]]);
    let all = peers("sim:0..2:peer=3e9,sim:2:peer=1e9");
    assert_eq!(all, [vec![(1, 3e9), (2, 1e9)], vec![(0, 3e9), (2, 1e9)], vec![(0, 1e9), (1, 1e9)]]);
}

#[test]
fn faults() {
    let faults = |text: &str| parse(text).map(|specs| specs[0].faults.0.clone());
    assert_eq!(
        faults("sim:0:fault=kernel@3:fault=out@1+:fault=call-peer@2!:fault=reserve@1+!").unwrap(),
        [
            Fault::once(Point::Kernel, 3),
            Fault::forever(Point::Copy(Direction::Out), 1),
            Fault::once(Point::CopyCall(Direction::Peer), 2).losing(),
            Fault::forever(Point::Reserve, 1).losing(),
        ]
    );
}

#[test]
fn parse_errors_name_the_part() {
    for (text, named) in [
        ("", "``"),
        ("sim", "`sim`"),
        ("sim:", "`sim:`"),
        ("cpu", "`cpu`"),
        ("sim:4", "`sim:4`"),
        ("sim:2..5", "`sim:2..5`"),
        ("sim:3..3", "`sim:3..3`"),
        ("sim:0..=65535", "`sim:0..=65535`"),
        ("sim:-1", "`sim:-1`"),
        ("sim:0,", "``"),
        ("sim:0:fast", "`fast`"),
        ("sim:0:colour=red", "`colour=red`"),
        ("sim:0:flop=3", "memory, queues, depth, flops, rate, latency, link, link-latency, peer, fault"),
        ("sim:0:memory=", "`memory=`"),
        ("sim:0:memory=1T", "`memory=1T`"),
        ("sim:0:memory=99999999999999999999", "`memory=99999999999999999999`"),
        ("sim:0:memory=99999999999999G", "`memory=99999999999999G`"),
        ("sim:0:memory=é", "`memory=é`"),
        ("sim:0:flops=-1", "`flops=-1`"),
        ("sim:0:flops=nan", "`flops=nan`"),
        ("sim:0:fault=kernel", "`fault=kernel`"),
        ("sim:0:fault=kernel@0", "`fault=kernel@0`"),
        ("sim:0:fault=disk@1", "`fault=disk@1`"),
        ("sim:0:fault=kernel@1!+", "`fault=kernel@1!+`"),
    ] {
        let error = parse(text).expect_err(text);
        assert!(error.to_string().contains(named), "{text}: {error}");
    }
}

#[test]
fn invalid_specs_are_refused() {
    let good = Spec::new("a");
    let link = superscalar_runtime::LinkInfo { bytes_per_s: 1.0, latency_ns: 0 };
    let rate = |flops_per_s| superscalar_runtime::Speed { flops_per_s, ..Default::default() };
    let wrong = [
        Spec { queues: 0, ..good.clone() },
        Spec { queues: u16::MAX, ..good.clone() },
        Spec { depth: 0, ..good.clone() },
        Spec { memory_bytes: 0, ..good.clone() },
        Spec { memory_bytes: usize::MAX, ..good.clone() },
        Spec { align: 0, ..good.clone() },
        Spec { align: 48, ..good.clone() },
        Spec { align: 8, ..good.clone() },
        Spec { align: 1 << 20, ..good.clone() },
        Spec { speed: rate(f64::INFINITY), ..good.clone() },
        Spec { speed: rate(-1.0), ..good.clone() },
        Spec { peers: vec![(0, link)], ..good.clone() },
        Spec { peers: vec![(1, link)], ..good.clone() },
    ];
    for spec in wrong {
        let error = Machine::start(std::slice::from_ref(&spec)).err();
        assert!(error.is_some_and(|error| error.to_string().contains("`a`")), "{spec:?}");
    }
    assert!(Machine::start_at(u16::MAX, std::slice::from_ref(&good)).is_err());
    assert!(Machine::start(&[]).is_ok_and(|devices| devices.is_empty()));
    let named = Spec { align: 4096, ..Spec::new("a name\0with a zero, and longer than a thread's name can be") };
    assert!(Machine::start(&[named]).is_ok());
}
