//! [`Seeded`]: random numbers that a seed determines.

/// Random numbers (Steele, Lea and Flood's SplitMix).
pub(super) struct Seeded(pub u64);

impl Seeded {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// Returns a number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    /// Returns a number between zero and one.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns one of some values.
    pub fn one_of<V: Copy, const N: usize>(&mut self, values: [V; N]) -> V {
        const { assert!(N > 0, "there is a value") };
        values[self.below(N)]
    }
}
