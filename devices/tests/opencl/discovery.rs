//! Listing, naming and opening devices.

use crate::bench::{HEAP_BYTES, found};
use superscalar_devices::opencl::{KIND, OpenclDevice, Settings, named};
use superscalar_runtime::Device;

#[test]
fn every_device_describes_itself() {
    let Some(found) = found() else { return };
    for one in &found {
        let class = one.class();
        assert!(!class.name.is_empty() && !class.platform.is_empty() && !class.driver.is_empty(), "{class:?}");
        assert!(class.compute_units > 0 && class.max_work_group > 0 && class.memory_bytes > 0, "{class:?}");
        assert!(class.buffer_bytes_max > 0 && class.vector_f32 > 0, "{class:?}");
        assert_eq!(class.has_f64, class.vector_f64 > 0, "{class:?}");
    }
}

#[test]
fn cores_of_divisible_devices_are_numbered() {
    let Some(found) = found() else { return };
    let mut number = 0;
    for whole in &found {
        let units = whole.class().compute_units;
        if whole.class().is_divisible && units > 1 {
            for unit in number..number + units {
                let core = named(&format!("opencl:{unit}"), &found).expect("a core");
                assert_eq!(core.class().compute_units, 1);
                assert_eq!(core.class().name, whole.class().name);
            }
            let all = named(&format!("opencl:{number}-{}", number + units - 1), &found).expect("all its cores");
            assert_eq!(all.class(), whole.class());
            assert_eq!(whole.part(units - 1..units).expect("its last core").class().compute_units, 1);
            whole.part(units..units + 1).expect_err("it has no such core");
            whole.part(0..0).expect_err("no cores");
            number += units;
        } else {
            let same = named(&format!("opencl:{number}"), &found).expect("the device");
            assert_eq!(same.class(), whole.class());
            number += 1;
        }
    }
    let error = named(&format!("opencl:{number}"), &found).expect_err("beyond the last");
    assert!(error.to_string().contains(&format!("opencl:{number}")), "{error}");
    for wrong in ["opencl", "opencl:one", "cuda:0", "opencl:1-0"] {
        named(wrong, &found).expect_err(wrong);
    }
}

#[test]
fn devices_opened_together_are_peers() {
    let Some(found) = found() else { return };
    let first = named("opencl:0", &found).expect("the first device");
    let second = named("opencl:1", &found).unwrap_or_else(|_| first.clone());
    let is_one_platform = first.class().platform == second.class().platform;
    let settings = |index| Settings { memory_bytes: Some(HEAP_BYTES), queues: 3, depth: 5, ..Settings::new(index) };
    let devices = OpenclDevice::open(&[(first.clone(), settings(4)), (second, settings(7))]).expect("they open");
    let infos: Vec<_> = devices.iter().map(|device| device.info()).collect();
    for info in &infos {
        assert_eq!((info.kind, info.queues, info.depth), (KIND, 3, 5));
        let memory = info.memory.as_ref().expect("a memory");
        assert_eq!(memory.bytes, HEAP_BYTES);
        assert!(memory.align.is_power_of_two() && memory.align >= 128 && memory.host.bytes_per_s > 0.0);
    }
    let peers = |at: usize| infos[at].memory.as_ref().map(|memory| memory.peers.iter().map(|peer| peer.0).collect());
    assert_eq!(peers(0), Some(if is_one_platform { vec![7u16] } else { vec![] }));
    assert_eq!(peers(1), Some(if is_one_platform { vec![4u16] } else { vec![] }));
    assert_eq!(devices[0].can_wait_for(7), is_one_platform);
    assert!(devices[0].can_wait_for(4) && !devices[0].can_wait_for(5));
    // Devices that were opened separately do not know each other.
    let alone = OpenclDevice::open(&[(first, settings(4))]).expect("it opens");
    assert!(!alone[0].can_wait_for(7));
}

#[test]
fn invalid_settings_are_refused() {
    let Some(found) = found() else { return };
    let first = named("opencl:0", &found).expect("the first device");
    let open = |settings: &[Settings]| {
        let devices: Vec<_> = settings.iter().map(|settings| (first.clone(), settings.clone())).collect();
        OpenclDevice::open(&devices).map(|devices| devices.len())
    };
    let good = Settings::new(0);
    assert_eq!(open(&[]).expect("no devices"), 0);
    assert_eq!(open(std::slice::from_ref(&good)).expect("by default"), 1);
    open(&[Settings { queues: 0, ..good.clone() }]).expect_err("no queue");
    open(&[Settings { depth: 0, ..good.clone() }]).expect_err("no depth");
    open(&[Settings { memory_bytes: Some(0), ..good.clone() }]).expect_err("no memory");
    let too_much = first.class().buffer_bytes_max.saturating_add(1 << 20);
    let error = open(&[Settings { memory_bytes: Some(too_much), ..good.clone() }]).expect_err("too much memory");
    assert!(error.to_string().contains(&first.class().buffer_bytes_max.to_string()), "{error}");
    open(&[good.clone(), good]).expect_err("one index for two");
}
