//! Milestones: tranches of the agreed price.
//!
//! A claimed milestone is under review until the buyer releases or disputes it;
//! never two at a time. A disputed milestone waits for the arbiter. The
//! account's masks hold a bit for each claimed, disputed and decided milestone.

use crate::constants::{MILESTONE_SLACK, MIN_ARBITRATION_WINDOW, SECONDS_PER_HOUR};
use crate::error::{HaggleError, Result};
use crate::math::bps;
use crate::state::{Negotiation, NegotiationStatus};

impl Negotiation {
    /// Reports whether payment is by milestones.
    #[inline(always)]
    pub fn has_milestones(&self) -> bool {
        let [first, ..] = self.milestone_bps;
        first != 0
    }

    /// The number of milestones, 0 to 8.
    #[inline(always)]
    pub fn milestone_count(&self) -> u8 {
        count(&{ self.milestone_bps })
    }

    /// The time to review a claimed milestone, in seconds.
    #[inline(always)]
    pub fn review_window(&self) -> i64 {
        review_window(self.review_hours)
    }

    /// The arbiter's deadline, in Unix seconds: a review window,
    /// but at least a day, after the milestone deadline.
    #[inline(always)]
    pub fn arbitration_deadline(&self) -> i64 {
        let window = self.review_window();
        { self.milestone_deadline }.saturating_add(if window > MIN_ARBITRATION_WINDOW {
            window
        } else {
            MIN_ARBITRATION_WINDOW
        })
    }

    /// A milestone's mask bit.
    ///
    /// # Errors
    /// InvalidParams if the negotiation has no milestone with this index.
    #[inline(always)]
    pub fn milestone_bit(&self, index: u8) -> Result<u8> {
        match { self.milestone_bps }.get(index as usize) {
            Some(share) if *share != 0 => Ok(1 << (index & 7)),
            _ => Err(HaggleError::InvalidParams.into()),
        }
    }

    /// The bits of all milestones.
    // A count up to eight shifts sixteen bits by up to eight.
    #[allow(clippy::arithmetic_side_effects)]
    #[inline(always)]
    pub fn all_milestones(&self) -> u8 {
        ((1u16 << (self.milestone_count() & 0xf)) - 1) as u8
    }

    /// The milestone under review, claimed and neither released nor disputed: a single bit, if any.
    #[inline(always)]
    pub fn milestone_under_review(&self) -> u8 {
        self.milestones_claimed & !self.milestones_decided & !self.milestones_disputed
    }

    /// Requires a milestone under review.
    ///
    /// # Errors
    /// InvalidState.
    #[inline(always)]
    pub fn check_under_review(&self, bit: u8) -> Result {
        if self.status == NegotiationStatus::Accepted && self.milestone_under_review() == bit {
            Ok(())
        } else {
            Err(HaggleError::InvalidState.into())
        }
    }

    /// The disputed milestones waiting for the arbiter.
    #[inline(always)]
    pub fn open_disputes(&self) -> u8 {
        self.milestones_disputed & !self.milestones_decided
    }

    /// Reports whether every milestone is decided.
    #[inline(always)]
    pub fn is_decided(&self) -> bool {
        self.milestones_decided == self.all_milestones()
    }

    /// The sum of the tranches for the milestones in `mask`,
    /// in base units. Bits of unused milestones add nothing.
    ///
    /// Tranche i is the floored price of shares 0 to i less the floored price of shares 0 to i-1. Amounts do
    /// not depend on decision order, and all tranches sum to the price. In the sum of consecutive tranches, all
    /// prices but the first and the last cancel.
    // The shares sum to 10,000, as checked at creation; a larger share gives a larger floored price, never
    // above the price.
    #[allow(clippy::arithmetic_side_effects)]
    #[inline(never)]
    pub fn sum_of(&self, mask: u8) -> u64 {
        let price = self.settled_amount;
        let mut shares = self.milestone_bps.into_iter();
        let (mut sum, mut share, mut rest) = (0u64, 0u16, mask);
        while rest != 0 {
            while rest & 1 == 0 {
                share += shares.next().unwrap_or(0);
                rest >>= 1;
            }
            let start = bps::floored(price, share);
            while rest & 1 != 0 {
                share += shares.next().unwrap_or(0);
                rest >>= 1;
            }
            sum += bps::floored(price, share) - start;
        }
        sum
    }

    /// The tranche halves for the milestones in `mask`, in base
    /// units: the seller's, and the buyer's with the odd units.
    // As for `sum_of`; both halves together never exceed the price.
    #[allow(clippy::arithmetic_side_effects)]
    #[inline(never)]
    pub fn halves_of(&self, mask: u8) -> (u64, u64) {
        let price = self.settled_amount;
        let (mut sellers, mut buyers, mut share, mut start, mut rest) = (0, 0, 0u16, 0u64, mask);
        for next in self.milestone_bps {
            share += next;
            let end = bps::floored(price, share);
            if rest & 1 != 0 {
                let tranche = end - start;
                sellers += tranche / 2;
                buyers += tranche - tranche / 2;
            }
            start = end;
            rest >>= 1;
            if rest == 0 {
                break;
            }
        }
        (sellers, buyers)
    }

    /// The price's undecided part, in base units.
    ///
    /// # Errors
    /// Overflow if the decided tranches exceeded the price.
    #[inline(always)]
    pub fn undecided(&self) -> Result<u64> {
        { self.settled_amount }
            .checked_sub(self.sum_of(self.milestones_decided))
            .ok_or(HaggleError::Overflow.into())
    }
}

/// The number of leading nonzero shares.
#[inline(always)]
pub fn count(shares: &[u16; 8]) -> u8 {
    shares.iter().take_while(|share| **share != 0).count() as u8
}

/// The time to review a claimed milestone, in seconds.
// At most 255 hours.
#[allow(clippy::arithmetic_side_effects)]
#[inline(always)]
pub fn review_window(review_hours: u8) -> i64 {
    review_hours as i64 * SECONDS_PER_HOUR
}

/// The earliest deadline that leaves each of `count` milestones the review window and a minute of slack after
/// the bargaining, in Unix seconds.
// At most 255 times 256 hours.
#[allow(clippy::arithmetic_side_effects)]
#[inline(always)]
pub fn earliest_milestone_deadline(global_deadline: i64, count: u8, review_hours: u8) -> i64 {
    let each = review_window(review_hours) + MILESTONE_SLACK;
    global_deadline.saturating_add(count as i64 * each)
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use crate::tests::fixture::{Fixture, MILESTONE_DEADLINE, PRICE, THIRDS};

    /// An accepted negotiation with the given shares, whether or not they are valid.
    fn accepted(milestone_bps: [u16; 8]) -> Negotiation {
        let (fixture, deal) = Fixture::accepted(&THIRDS);
        let mut negotiation = fixture.negotiation(&deal);
        negotiation.milestone_bps = milestone_bps;
        negotiation
    }

    #[test]
    fn the_shares_before_the_first_zero_are_the_milestones() {
        for count in 0..=8u8 {
            let mut shares = [0; 8];
            shares[..usize::from(count)].fill(1);
            let negotiation = accepted(shares);
            assert_eq!(negotiation.milestone_count(), count);
            assert_eq!(negotiation.has_milestones(), count > 0);
            let all = (0..count).fold(0, |all, index| all | 1 << index);
            assert_eq!(negotiation.all_milestones(), all);
            for index in 0..=u8::MAX {
                let bit = negotiation.milestone_bit(index);
                if index < count {
                    assert_eq!(bit, Ok(1 << index));
                } else {
                    assert_eq!(bit, Err(HaggleError::InvalidParams.into()));
                }
            }
        }
    }

    #[test]
    fn the_sum_of_a_mask_is_the_sum_of_its_tranches() {
        for shares in [
            [3_333, 3_333, 3_334, 0, 0, 0, 0, 0],
            [1_249, 1_251, 1, 3_333, 777, 1_111, 2_277, 1],
        ] {
            let mut negotiation = accepted(shares);
            for price in [0, 1, 7, 9_999, PRICE, u64::MAX] {
                negotiation.settled_amount = price;
                let mut end = 0;
                let tranches = shares.map(|share| {
                    let start = bps::floored(price, end);
                    end += share;
                    bps::floored(price, end) - start
                });
                assert_eq!(negotiation.sum_of(u8::MAX), price);
                for mask in 0..=u8::MAX {
                    let of_mask = || (0..8).filter(|index| mask & 1 << index != 0);
                    let sum: u64 = of_mask().map(|index| tranches[index]).sum();
                    assert_eq!(negotiation.sum_of(mask), sum, "{mask:b}");
                    let sellers: u64 = of_mask().map(|index| tranches[index] / 2).sum();
                    let halves = negotiation.halves_of(mask);
                    assert_eq!(halves, (sellers, sum - sellers), "{mask:b}");
                }
            }
        }
    }

    #[test]
    fn the_arbiter_has_a_review_window_but_at_least_a_day() {
        let mut negotiation = accepted([10_000, 0, 0, 0, 0, 0, 0, 0]);
        for (review_hours, hours) in [(1, 24), (23, 24), (24, 24), (25, 25), (168, 168)] {
            negotiation.review_hours = review_hours;
            let deadline = MILESTONE_DEADLINE + hours * 3_600;
            assert_eq!(negotiation.arbitration_deadline(), deadline);
        }
    }

    #[test]
    fn each_milestone_has_its_review_and_a_minute() {
        assert_eq!(earliest_milestone_deadline(100, 1, 1), 100 + 3_660);
        assert_eq!(earliest_milestone_deadline(100, 8, 168), 100 + 8 * 604_860);
        assert_eq!(earliest_milestone_deadline(i64::MAX, 8, 255), i64::MAX);
    }

    #[test]
    fn one_milestone_at_most_is_under_review() {
        let mut negotiation = accepted([3_333, 3_333, 3_334, 0, 0, 0, 0, 0]);
        negotiation.milestones_claimed = 0b111;
        negotiation.milestones_decided = 0b001;
        negotiation.milestones_disputed = 0b010;
        assert_eq!(negotiation.milestone_under_review(), 0b100);
        assert_eq!(negotiation.open_disputes(), 0b010);
        assert!(negotiation.check_under_review(0b100).is_ok());
        for bit in [0b001, 0b010, 0b1000] {
            assert!(negotiation.check_under_review(bit).is_err());
        }
        negotiation.status = NegotiationStatus::Settled;
        assert!(negotiation.check_under_review(0b100).is_err());
    }
}
