//! Programs: serial lists of tasks on vectors of numbers, made from a seed.

use std::ops::Range;

/// Returns the seeds of this run: `SEED` alone, or the first `PROGRAMS` seeds, or by default the first `usual`.
pub fn seeds(usual: u64) -> Range<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    match number("SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("PROGRAMS").unwrap_or(usual),
    }
}

/// A pseudo-random number generator (splitmix64), whose numbers are the same on every machine.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ (x >> 31)
    }

    /// Returns a number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

/// Where a task runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Where {
    /// A closure, on the host.
    Closure,
    /// A codelet, on the host or a device.
    Anywhere,
    Host,
    Device,
}

/// One task: the target becomes a mix of itself (unless it is overwritten) and the sources.
#[derive(Clone, Debug)]
pub struct Task {
    pub place: Where,
    pub sources: Vec<usize>,
    pub target: usize,
    pub overwrites: bool,
    pub number: u64,
}

#[derive(Clone, Debug)]
pub struct Program {
    pub data: Vec<Vec<u64>>,
    pub tasks: Vec<Task>,
}

impl Program {
    pub fn new(random: &mut Random) -> Self {
        let count = 1 + random.below(6);
        let longest = 1 + random.below(48);
        let data: Vec<Vec<u64>> =
            (0..count).map(|_| (0..1 + random.below(longest)).map(|_| random.next()).collect()).collect();
        let tasks = (0..1 + random.below(40)).map(|_| Task::new(random, count)).collect();
        Self { data, tasks }
    }

    /// Returns the data after serial execution of the tasks.
    pub fn serial(&self) -> Vec<Vec<u64>> {
        let mut data = self.data.clone();
        for task in &self.tasks {
            let sources: Vec<Vec<u64>> = task.sources.iter().map(|&at| data[at].clone()).collect();
            let sources: Vec<&[u64]> = sources.iter().map(Vec::as_slice).collect();
            mix(&sources, &mut data[task.target], task.overwrites, task.number);
        }
        data
    }
}

impl Task {
    fn new(random: &mut Random, count: usize) -> Self {
        let place = [Where::Closure, Where::Anywhere, Where::Host, Where::Device, Where::Device][random.below(5)];
        let target = random.below(count);
        let mut sources: Vec<usize> = (0..random.below(4)).map(|_| random.below(count)).collect();
        sources.retain(|&source| source != target);
        Self { place, sources, target, overwrites: random.one_in(4), number: random.next() }
    }
}

/// The work of every task, on the host and on devices. It writes all elements of the target.
pub fn mix(sources: &[&[u64]], target: &mut [u64], overwrites: bool, number: u64) {
    let sum = sources.iter().flat_map(|source| source.iter()).fold(number, |sum, &x| sum.rotate_left(7) ^ x);
    for (at, x) in target.iter_mut().enumerate() {
        let old = if overwrites { 0 } else { *x };
        *x = old.wrapping_mul(31).wrapping_add(sum ^ at as u64);
    }
}
