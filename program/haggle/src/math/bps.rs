//! Shares in basis points.
//!
//! A share is the sum of the shares of the amount's quotient and remainder, so it is exact and cannot
//! overflow up to 10,000 basis points.

use crate::constants::BPS_DENOMINATOR;

/// `amount * bps / 10,000`, rounded down. `bps` does not exceed 10,000.
#[inline(always)]
pub fn floored(amount: u64, bps: u16) -> u64 {
    share(amount, bps, 0)
}

/// `amount * bps / 10,000`, rounded to the nearest, halves up. `bps` does not exceed 10,000.
#[inline(always)]
pub fn rounded(amount: u64, bps: u16) -> u64 {
    share(amount, bps, BPS_DENOMINATOR / 2)
}

// (q * D + r) * bps / D = q * bps + r * bps / D. With bps <= D the first term is bounded by q * D <= amount,
// the second by r + 1/2 rounded, and their sum by amount; r * bps < 10^8.
#[allow(clippy::arithmetic_side_effects)]
#[inline(always)]
fn share(amount: u64, bps: u16, rounding: u64) -> u64 {
    let bps = bps as u64;
    amount / BPS_DENOMINATOR * bps + (amount % BPS_DENOMINATOR * bps + rounding) / BPS_DENOMINATOR
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;

    fn exact(amount: u64, bps: u16, rounding: u128) -> u64 {
        ((u128::from(amount) * u128::from(bps) + rounding) / 10_000) as u64
    }

    #[test]
    fn shares_equal_those_of_128_bit_arithmetic() {
        let edges = [
            0, 1, 49, 50, 51, 9_999, 10_000, 10_001, 99_999, 100_000, 5_000_000,
        ];
        let large = [u64::MAX / 2, u64::MAX - 9_999, u64::MAX - 1, u64::MAX];
        for bps in 0..=10_000u16 {
            for amount in edges.iter().chain(&large) {
                assert_eq!(floored(*amount, bps), exact(*amount, bps, 0));
                assert_eq!(rounded(*amount, bps), exact(*amount, bps, 5_000));
            }
        }
    }

    #[test]
    fn six_rounds_of_two_percent_reproduce_the_published_table() {
        let mut escrow = 5_000_000;
        let table = [
            4_900_000, 4_802_000, 4_705_960, 4_611_841, 4_519_604, 4_429_212,
        ];
        for expected in table {
            escrow -= rounded(escrow, 200);
            assert_eq!(escrow, expected);
        }
        assert_eq!(floored(3_000_000, 50), 15_000);
    }
}
