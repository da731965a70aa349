//! Task programs as data.
//!
//! A program is a tree of **levels**: level zero is the main thread's code, and every other level is the body of one
//! task. A level declares data, opens scopes on them one after the other, and (at level zero) inserts tasks outside of
//! scopes. Everything that can be observed outside of tasks (the result of a wait, a scope or a `take`) is a **probe**
//! with a number.

use superscalar_runtime::{Lock, PolicyName};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DatumId(pub usize);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TaskIndex(pub usize);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProbeId(pub usize);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    Read,
    Write,
    Update,
    Commute,
    /// A reduction by addition.
    Sum,
    /// A reduction by exclusive or.
    Xor,
}

impl Mode {
    pub fn reads(self) -> bool {
        self != Mode::Write
    }

    /// Returns whether neighbours of this mode do not wait for each other.
    pub fn groups(self) -> bool {
        !matches!(self, Mode::Write | Mode::Update)
    }

    pub fn reduces(self) -> bool {
        matches!(self, Mode::Sum | Mode::Xor)
    }
}

/// The owner of a datum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ownership {
    /// Lent to each of the level's scopes; lives as long as the level.
    Lent,
    /// Owned by each of the level's scopes, with a new initial value in each.
    Own,
    /// An owned handle.
    Handle,
    /// The output of a task.
    Output,
}

#[derive(Clone, Debug)]
pub struct Datum {
    pub ownership: Ownership,
    pub renaming: bool,
    pub initial: u64,
}

#[derive(Clone, Copy, Debug)]
pub struct Access {
    pub datum: DatumId,
    pub mode: Mode,
}

/// The result of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Succeed,
    Fail,
    Panic,
}

/// The kind of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runner {
    /// A closure.
    Closure,
    /// A codelet with these implementations.
    Codelet { host: bool, alpha: bool, beta: bool },
}

#[derive(Clone, Debug)]
pub struct Task {
    pub accesses: Vec<Access>,
    pub scratch: usize,
    pub fate: Fate,
    pub priority: i32,
    pub lock: Lock,
    pub runner: Runner,
    /// The duration of its work, in steps of some nanoseconds.
    pub work: u32,
    /// The level that its body runs.
    pub inner: Option<usize>,
    /// Whether it fails when a scope of its inner level fails.
    pub propagates: bool,
    pub output: Option<DatumId>,
}

#[derive(Clone, Debug)]
pub enum Stmt {
    Task(TaskIndex),
    /// A task that names a handle twice. If `cancels`, it is inserted by `spawn`, which cancels the scope.
    Refused {
        probe: ProbeId,
        datum: DatumId,
        cancels: bool,
    },
    Wait(ProbeId),
    WaitFor(ProbeId, Vec<Access>),
    Get(ProbeId, DatumId),
    Cancel,
    Take(ProbeId, DatumId),
    Drop(DatumId),
    /// A task inserted outside of scopes.
    Front(TaskIndex),
    FrontWait(ProbeId),
    /// A scope within the current one, in the same body.
    Scope(Block),
}

#[derive(Clone, Debug)]
pub struct Block {
    pub probe: ProbeId,
    pub stmts: Vec<Stmt>,
}

#[derive(Clone, Debug, Default)]
pub struct Level {
    pub data: Vec<DatumId>,
    /// Scopes, and statements outside of scopes.
    pub stmts: Vec<Stmt>,
}

/// The settings of the runtime.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    pub workers: usize,
    pub policy: PolicyName,
    pub window: usize,
    pub devices: Vec<DeviceSetting>,
    pub trace: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct DeviceSetting {
    pub kind: &'static str,
    pub queues: u16,
    pub depth: usize,
    pub waits_for_others: bool,
    pub delay_us_max: u64,
    pub tells_times: bool,
}

#[derive(Clone, Debug, Default)]
pub struct Program {
    pub data: Vec<Datum>,
    pub tasks: Vec<Task>,
    pub levels: Vec<Level>,
    pub probes: usize,
}
