//! The values that tasks work on. Every one is counted, so that a leak or a second drop shows.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use superscalar_runtime::{Portable, Reduction};

/// Values and tokens alive.
pub static ALIVE: AtomicI64 = AtomicI64::new(0);
/// Values that were used after they were dropped.
pub static BROKEN: AtomicU64 = AtomicU64::new(0);

const SOUND: u64 = 0x50DA_50DA_50DA_50DA;

/// A number that knows whether it is alive. It is as large as three words, so that a torn copy shows, too.
pub struct Value {
    number: u64,
    inverse: u64,
    state: u64,
}

/// It stays on the host.
// SAFETY: it stays on the host.
unsafe impl Portable for Value {}

impl Value {
    pub fn new(number: u64) -> Self {
        ALIVE.fetch_add(1, Ordering::Relaxed);
        Self { number, inverse: !number, state: SOUND }
    }

    pub fn get(&self) -> u64 {
        if self.state != SOUND || self.number != !self.inverse {
            BROKEN.fetch_add(1, Ordering::Relaxed);
        }
        self.number
    }

    pub fn set(&mut self, number: u64) {
        self.get();
        self.number = number;
        self.inverse = !number;
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        self.get();
        self.state = 0;
        ALIVE.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Something that a body captures.
pub struct Token(#[expect(dead_code, reason = "it is there to be dropped")] Value);

impl Token {
    pub fn new() -> Self {
        Self(Value::new(0))
    }
}

/// Addition.
pub struct Sum;

impl Reduction<Value> for Sum {
    fn identity() -> Value {
        Value::new(0)
    }

    fn combine(into: &mut Value, part: Value) {
        into.set(into.get().wrapping_add(part.get()));
    }
}

/// Exclusive or.
pub struct Xor;

impl Reduction<Value> for Xor {
    fn identity() -> Value {
        Value::new(0)
    }

    fn combine(into: &mut Value, part: Value) {
        into.set(into.get() ^ part.get());
    }
}
