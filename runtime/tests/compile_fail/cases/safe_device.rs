//! `Device` is unsafe: the runtime relies on correct reports of finished work.

use std::time::Duration;
use superscalar_runtime::{Device, DeviceError, DeviceInfo, Event, Finished, Issue};

struct Early;

impl Device for Early {
    fn info(&self) -> DeviceInfo {
        todo!()
    }
    fn can_wait_for(&self, _: u16) -> bool {
        true
    }
    fn issue(&self, _: u16, _: &[Event], _: Issue<'_>) -> Result<u64, DeviceError> {
        Ok(1)
    }
    fn poll(&self, _: &mut dyn FnMut(Finished)) {}
    fn wait(&self, _: Duration) {}
    fn wake(&self) {}
}

fn main() {}
