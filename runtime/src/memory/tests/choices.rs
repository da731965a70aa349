//! The source of decisions: random numbers, or an enumeration of all possibilities.

/// A source of decisions.
pub(super) trait Choices {
    /// Returns a number below `among`, which is at least one.
    fn pick(&mut self, among: usize) -> usize;

    /// Returns whether something happens that has the probability `1 / once_in`. An enumeration tries both answers.
    fn happens(&mut self, once_in: usize) -> bool;

    /// Returns whether a drastic choice is to be repeated. A random source would otherwise make such choices too early.
    fn hesitates(&mut self) -> bool {
        false
    }

    /// Returns whether the next decision is new, and not a repetition of the previous run's.
    fn is_new(&self) -> bool {
        true
    }
}

/// Random decisions from a seed (xorshift64*).
pub(super) struct Chance(u64);

impl Chance {
    pub(super) fn new(seed: u64) -> Self {
        // The finalizer of splitmix64 spreads neighbouring seeds.
        let mut word = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        Self((word ^ word >> 31) | 1)
    }
}

impl Choices for Chance {
    fn pick(&mut self, among: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        ((self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize) % among
    }

    fn happens(&mut self, once_in: usize) -> bool {
        self.pick(once_in) == 0
    }

    fn hesitates(&mut self) -> bool {
        self.pick(16) != 0
    }
}

/// Enumerates every sequence of decisions, depth first: a run repeats the decisions of the previous one up to the last
/// that has another answer.
#[derive(Default)]
pub(super) struct Enumeration {
    /// The answer and the number of answers of each decision.
    path: Vec<(usize, usize)>,
    at: usize,
}

impl Enumeration {
    /// Goes on to the next sequence; returns whether there is one.
    pub(super) fn advance(&mut self) -> bool {
        self.path.truncate(self.at);
        self.at = 0;
        while let Some(last) = self.path.last_mut() {
            last.0 += 1;
            if last.0 < last.1 {
                return true;
            }
            self.path.pop();
        }
        false
    }
}

impl Choices for Enumeration {
    fn pick(&mut self, among: usize) -> usize {
        if among == 1 {
            return 0;
        }
        if self.at == self.path.len() {
            self.path.push((0, among));
        }
        self.at += 1;
        self.path[self.at - 1].0
    }

    fn happens(&mut self, _: usize) -> bool {
        self.pick(2) == 1
    }

    fn is_new(&self) -> bool {
        self.at >= self.path.len()
    }
}
