//! Generates random programs and settings from a seed.

use crate::{
    program::{
        Access, Block, Datum, DatumId, DeviceSetting, Fate, Level, Mode, Ownership, ProbeId, Program, Runner, Setting,
        Stmt, Task, TaskIndex,
    },
    random::Random,
};
use superscalar_runtime::{Lock, PolicyName};

/// The number of consecutive seeds that share one setting, and so one runtime.
pub const SEEDS_PER_SETTING: u64 = 256;
const DEPTH_MAX: usize = 3;

pub fn setting(seed: u64) -> Setting {
    let mut random = Random::new(!(seed / SEEDS_PER_SETTING));
    let devices = if random.percent(50) { 0 } else { 1 + random.below(3) };
    let device = |random: &mut Random| DeviceSetting {
        kind: if random.percent(50) { "alpha" } else { "beta" },
        queues: 1 + random.below(3) as u16,
        depth: 1 + random.below(5),
        waits_for_others: random.percent(60),
        delay_us_max: if random.percent(70) { 0 } else { 30 },
        tells_times: random.percent(70),
    };
    Setting {
        workers: 1 + random.below(4),
        policy: *random.pick(&PolicyName::ALL),
        window: *random.pick(&[1, 2, 3, 8, 64, 4096]),
        devices: (0..devices).map(|_| device(&mut random)).collect(),
        trace: random.percent(30),
    }
}

pub fn program(seed: u64, setting: &Setting) -> Program {
    let mut random = Random::new(seed);
    let fails = random.percent(35);
    let mut writer = Writer {
        failing: if fails { *random.pick(&[3, 10, 30]) } else { 0 },
        cancels: fails && random.percent(50),
        devices: !setting.devices.is_empty(),
        kinds: [has(setting, "alpha"), has(setting, "beta")],
        codelets: random.percent(60),
        tasks_left: 2 + random.below(30),
        nests: random.percent(40),
        random,
        program: Program::default(),
        live: Vec::new(),
    };
    writer.level(0);
    writer.program
}

fn has(setting: &Setting, kind: &str) -> bool {
    setting.devices.iter().any(|device| device.kind == kind)
}

struct Writer {
    random: Random,
    program: Program,
    failing: usize,
    cancels: bool,
    devices: bool,
    kinds: [bool; 2],
    codelets: bool,
    nests: bool,
    tasks_left: usize,
    /// The data that can be named at the current level.
    live: Vec<DatumId>,
}

/// The position at which statements are generated.
#[derive(Clone, Copy)]
struct Position {
    depth: usize,
    /// Number of open scopes of the level.
    scopes: usize,
}

impl Writer {
    fn level(&mut self, depth: usize) -> usize {
        let index = self.program.levels.len();
        self.program.levels.push(Level::default());
        let outer = std::mem::take(&mut self.live);
        let count = 1 + self.random.below(if depth == 0 { 5 } else { 3 });
        let data: Vec<_> = (0..count).map(|_| self.datum()).collect();
        self.live = data.clone();
        let position = Position { depth, scopes: 0 };
        let mut stmts = Vec::new();
        for _ in 0..1 + self.random.below(3) {
            stmts.push(Stmt::Scope(self.block(position)));
            if depth == 0 && self.random.percent(40) {
                for _ in 0..self.random.below(5) {
                    if let Some(stmt) = self.front() {
                        stmts.push(stmt);
                    }
                }
            }
            if let Some(stmt) = self.end_handle() {
                stmts.push(stmt);
            }
        }
        if depth == 0 {
            stmts.push(Stmt::FrontWait(self.probe()));
        }
        // The remaining handles are taken, so that their values are checked.
        for datum in self.named(|ownership| ownership == Ownership::Handle) {
            stmts.push(Stmt::Take(self.probe(), datum));
        }
        self.live = outer;
        self.program.levels[index] = Level { data, stmts };
        index
    }

    fn datum(&mut self) -> DatumId {
        let ownership = *self.random.pick(&[Ownership::Lent, Ownership::Lent, Ownership::Own, Ownership::Handle]);
        self.new_datum(ownership)
    }

    fn new_datum(&mut self, ownership: Ownership) -> DatumId {
        let (renaming, initial) = (self.random.percent(30), self.random.next());
        self.program.data.push(Datum { ownership, renaming: renaming && ownership != Ownership::Output, initial });
        DatumId(self.program.data.len() - 1)
    }

    fn ownership(&self, datum: DatumId) -> Ownership {
        self.program.data[datum.0].ownership
    }

    fn probe(&mut self) -> ProbeId {
        self.program.probes += 1;
        ProbeId(self.program.probes - 1)
    }

    fn block(&mut self, position: Position) -> Block {
        let position = Position { scopes: position.scopes + 1, ..position };
        let probe = self.probe();
        let mut stmts = Vec::new();
        for _ in 0..self.random.below(if position.depth == 0 { 16 } else { 5 }) {
            if let Some(stmt) = self.stmt(position) {
                stmts.push(stmt);
            }
        }
        if position.scopes == 1 {
            self.live.retain(|datum| self.program.data[datum.0].ownership != Ownership::Output);
        }
        Block { probe, stmts }
    }

    fn stmt(&mut self, position: Position) -> Option<Stmt> {
        match self.random.below(100) {
            0..3 => Some(Stmt::Wait(self.probe())),
            3..7 => {
                let accesses = self.accesses(2, &[Mode::Read, Mode::Update, Mode::Write, Mode::Commute, Mode::Sum]);
                Some(Stmt::WaitFor(self.probe(), accesses))
            }
            7..10 => {
                let outputs = self.named(|ownership| ownership == Ownership::Output);
                let output = *outputs.get(self.random.below(outputs.len()))?;
                (position.scopes == 1).then(|| Stmt::Get(self.probe(), output))
            }
            10..12 if self.cancels => Some(Stmt::Cancel),
            12..13 if self.failing > 0 => {
                let data = self.named(|ownership| ownership != Ownership::Output);
                let datum = *data.get(self.random.below(data.len()))?;
                let cancels = self.cancels && self.random.percent(30);
                Some(Stmt::Refused { probe: self.probe(), datum, cancels })
            }
            13..16 => self.end_handle(),
            16..19 if position.depth == 0 => self.front(),
            19..22 if position.scopes < 3 => Some(Stmt::Scope(self.block(position))),
            _ => self.task(position).map(Stmt::Task),
        }
    }

    fn front(&mut self) -> Option<Stmt> {
        if self.random.percent(20) {
            return Some(Stmt::FrontWait(self.probe()));
        }
        let handles = self.named(|ownership| ownership == Ownership::Handle);
        if handles.is_empty() || self.tasks_left == 0 {
            return None;
        }
        self.tasks_left -= 1;
        let accesses = self.accesses_among(handles, 3, &ALL);
        let task = Task { accesses, scratch: 0, runner: Runner::Closure, inner: None, output: None, ..self.plain() };
        Some(Stmt::Front(self.add(task)))
    }

    fn end_handle(&mut self) -> Option<Stmt> {
        if !self.random.percent(20) {
            return None;
        }
        let handles = self.named(|ownership| ownership == Ownership::Handle);
        let handle = *handles.get(self.random.below(handles.len()))?;
        self.live.retain(|datum| *datum != handle);
        Some(if self.random.percent(50) { Stmt::Drop(handle) } else { Stmt::Take(self.probe(), handle) })
    }

    fn named(&self, which: impl Fn(Ownership) -> bool) -> Vec<DatumId> {
        self.live.iter().copied().filter(|datum| which(self.ownership(*datum))).collect()
    }

    fn add(&mut self, task: Task) -> TaskIndex {
        self.program.tasks.push(task);
        TaskIndex(self.program.tasks.len() - 1)
    }

    fn plain(&mut self) -> Task {
        let fate = match self.random.percent(self.failing) {
            false => Fate::Succeed,
            true if self.random.percent(50) => Fate::Fail,
            true => Fate::Panic,
        };
        let lock = match self.random.below(10) {
            0 => Lock::Worker(self.random.below(5) as u16),
            1 => Lock::Host,
            _ => Lock::None,
        };
        let priority = if self.random.percent(30) { self.random.below(24) as i32 - 12 } else { 0 };
        let work = if self.random.percent(20) { self.random.below(3000) as u32 } else { self.random.below(50) as u32 };
        let (scratch, propagates) = (self.random.below(20) / 17, self.random.percent(50));
        let (accesses, runner) = (Vec::new(), Runner::Closure);
        Task { accesses, scratch, fate, priority, lock, runner, work, inner: None, propagates, output: None }
    }

    fn task(&mut self, position: Position) -> Option<TaskIndex> {
        self.tasks_left = self.tasks_left.checked_sub(1)?;
        let mut task = self.plain();
        if self.devices && self.codelets && self.random.percent(60) {
            return Some(self.codelet(task));
        }
        task.accesses = self.accesses(4, &ALL);
        if self.nests && position.depth < DEPTH_MAX && self.random.percent(25) {
            // The task is added first, so that it precedes its inner tasks.
            let index = self.add(task);
            let inner = self.level(position.depth + 1);
            self.program.tasks[index.0].inner = Some(inner);
            return Some(index);
        }
        if position.scopes == 1 && self.random.percent(15) {
            let output = self.new_datum(Ownership::Output);
            // A `compute` body cannot return an error, so it panics instead.
            if task.fate == Fate::Fail {
                task.fate = Fate::Panic;
            }
            task.output = Some(output);
            let index = self.add(task);
            self.live.push(output);
            return Some(index);
        }
        Some(self.add(task))
    }

    fn codelet(&mut self, mut task: Task) -> TaskIndex {
        let data = self.named(|ownership| ownership != Ownership::Output);
        task.accesses = self.accesses_among(data, 4, &[Mode::Read, Mode::Write, Mode::Update]);
        task.scratch = 0;
        let [alpha, beta] = [self.kinds[0] && self.random.percent(70), self.kinds[1] && self.random.percent(70)];
        let host = self.random.percent(50) || !alpha && !beta;
        task.lock = match task.lock {
            Lock::None if (alpha || beta) && self.random.percent(20) => Lock::Device,
            lock if host => lock,
            _ => Lock::None,
        };
        task.runner = Runner::Codelet { host, alpha, beta };
        self.add(task)
    }

    fn accesses(&mut self, most: usize, modes: &[Mode]) -> Vec<Access> {
        self.accesses_among(self.live.clone(), most, modes)
    }

    fn accesses_among(&mut self, data: Vec<DatumId>, most: usize, modes: &[Mode]) -> Vec<Access> {
        let mut accesses = Vec::<Access>::new();
        for _ in 0..self.random.below(most + 1) {
            let Some(&datum) = data.get(self.random.below(data.len())) else { break };
            let before = accesses.iter().find(|access| access.datum == datum);
            let mode = match (self.ownership(datum), before) {
                (Ownership::Output, _) => Mode::Read,
                (_, Some(Access { mode: Mode::Read, .. })) => Mode::Read,
                (_, Some(_)) => continue,
                (_, None) => *self.random.pick(modes),
            };
            accesses.push(Access { datum, mode });
        }
        accesses
    }
}

const ALL: [Mode; 10] = [
    Mode::Read,
    Mode::Read,
    Mode::Read,
    Mode::Write,
    Mode::Update,
    Mode::Update,
    Mode::Commute,
    Mode::Sum,
    Mode::Sum,
    Mode::Xor,
];
