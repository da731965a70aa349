//! The values of model programs. They are counted, so that leaks and double drops are detected.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use superscalar_runtime::{Portable, Reduction};

/// Number of live values and tokens.
pub static ALIVE: AtomicI64 = AtomicI64::new(0);
/// Number of uses of dropped or torn values.
pub static BROKEN: AtomicU64 = AtomicU64::new(0);

const SOUND: u64 = 0x50DA_50DA_50DA_50DA;

/// A number that detects use after drop. It has three words, so that torn copies are detected, too.
pub struct Value {
    number: u64,
    inverse: u64,
    state: u64,
}

// SAFETY: it has no residence.
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

/// A value that a body captures.
pub struct Token(#[expect(dead_code, reason = "only its drop is observed")] Value);

impl Token {
    pub fn new() -> Self {
        Self(Value::new(0))
    }
}

/// Reduction by addition.
pub struct Sum;

impl Reduction<Value> for Sum {
    fn identity() -> Value {
        Value::new(0)
    }

    fn combine(into: &mut Value, part: Value) {
        into.set(into.get().wrapping_add(part.get()));
    }
}

/// Reduction by exclusive or.
pub struct Xor;

impl Reduction<Value> for Xor {
    fn identity() -> Value {
        Value::new(0)
    }

    fn combine(into: &mut Value, part: Value) {
        into.set(into.get() ^ part.get());
    }
}
