//! Who decides what happens next: chance, or an enumeration of everything that can.

/// A source of decisions.
pub(super) trait Choices {
    /// One of so many; at least one.
    fn pick(&mut self, among: usize) -> usize;

    /// Whether something that happens once in so many times happens now; an enumeration sees both.
    fn happens(&mut self, once_in: usize) -> bool;

    /// Whether to think again before something drastic: chance would do it too early as a rule.
    fn hesitates(&mut self) -> bool {
        false
    }

    /// Whether the next decision is not one that is only repeated.
    fn is_new(&self) -> bool {
        true
    }
}

/// Chance, by a seed (xorshift64*).
pub(super) struct Chance(u64);

impl Chance {
    pub(super) fn new(seed: u64) -> Self {
        // Neighbouring seeds must not begin alike: the finalizer of splitmix64 spreads them.
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

/// Every sequence of decisions, one after the other, depth first: a run repeats the decisions of the one before up to the last
/// that has another answer.
#[derive(Default)]
pub(super) struct Every {
    /// Answer and number of answers, per decision.
    path: Vec<(usize, usize)>,
    at: usize,
}

impl Every {
    /// Goes on to the next sequence; whether there is one.
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

impl Choices for Every {
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
