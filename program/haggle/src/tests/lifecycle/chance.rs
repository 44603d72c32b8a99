//! Chance that a number repeats: the same seed always tells the same story.

/// SplitMix64: one word of state, and every seed, even 0, starts a different stream.
pub struct Chance(u64);

impl Chance {
    pub fn from_seed(seed: u64) -> Self {
        Self(seed)
    }

    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        match (high - low).checked_add(1) {
            Some(span) => low + self.word() % span,
            None => self.word(),
        }
    }

    /// A number from `low` to `high`, both included.
    pub fn between_i64(&mut self, low: i64, high: i64) -> i64 {
        low + self.between(0, (high - low) as u64) as i64
    }

    pub fn index(&mut self, length: usize) -> usize {
        self.between(0, length as u64 - 1) as usize
    }

    /// True in `percent` of a hundred cases.
    pub fn percent(&mut self, percent: u64) -> bool {
        self.between(0, 99) < percent
    }

    pub fn pick<T: Copy>(&mut self, among: &[T]) -> T {
        among[self.index(among.len())]
    }

    /// One of the choices, each as often as its weight says.
    pub fn weighted<T: Copy>(&mut self, choices: &[(u64, T)]) -> T {
        let total: u64 = choices.iter().map(|(weight, _)| weight).sum();
        let mut at = self.between(0, total - 1);
        for (weight, choice) in choices {
            if at < *weight {
                return *choice;
            }
            at -= weight;
        }
        unreachable!("the weights add up to the total")
    }

    pub fn bytes(&mut self) -> [u8; 32] {
        let mut bytes = [0; 32];
        for part in bytes.chunks_exact_mut(8) {
            part.copy_from_slice(&self.word().to_le_bytes());
        }
        bytes
    }
}
