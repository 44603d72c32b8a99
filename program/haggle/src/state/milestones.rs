//! Milestones: the settled price in tranches, each paid when its milestone is reached.
//!
//! A milestone that is claimed takes the one slot until the buyer releases or disputes it; a disputed one leaves the slot
//! and waits for the arbiter. The masks of the account keep what has ever been claimed, disputed and decided.

use crate::constants::{MAX_MILESTONES, MIN_REVIEW_WINDOW};
use crate::error::HaggleError;
use crate::math::bps;
use crate::state::Negotiation;
use pinocchio::error::ProgramError;

impl Negotiation {
    /// How long the buyer may look at a claimed milestone, in seconds.
    #[inline(always)]
    pub fn review_window(&self) -> i64 {
        review_window(self.response_window)
    }

    /// Until when the arbiter may decide, in Unix seconds: a review window after the milestones' deadline.
    #[inline(always)]
    pub fn arbitration_deadline(&self) -> i64 {
        { self.milestone_deadline }.saturating_add(self.review_window())
    }

    /// The bit of a milestone in the masks.
    ///
    /// # Errors
    /// InvalidParams for an index that the negotiation has no milestone for.
    #[inline(always)]
    pub fn milestone_bit(&self, index: u8) -> Result<u8, ProgramError> {
        if index >= self.milestone_count || index as usize >= MAX_MILESTONES as usize {
            return Err(HaggleError::InvalidParams.into());
        }
        Ok(1 << index)
    }

    /// All milestones' bits.
    // A count of at most eight leaves a shift of 0 to 8 places of sixteen.
    #[allow(clippy::arithmetic_side_effects)]
    #[inline(always)]
    pub fn all_milestones(&self) -> u8 {
        let count = self.milestone_count & 0xf;
        ((1u16 << count) - 1) as u8
    }

    /// The milestone that is claimed and that the buyer has neither released nor disputed: no bit or one.
    #[inline(always)]
    pub fn milestone_under_review(&self) -> u8 {
        self.milestones_claimed & !self.milestones_decided & !self.milestones_disputed
    }

    /// The milestones that wait for the arbiter.
    #[inline(always)]
    pub fn open_disputes(&self) -> u8 {
        self.milestones_disputed & !self.milestones_decided
    }

    /// Whether each milestone has been decided.
    #[inline(always)]
    pub fn is_decided(&self) -> bool {
        self.milestones_decided == self.all_milestones()
    }

    /// A milestone's share of the settled price, rounded down.
    #[inline(always)]
    fn share(&self, index: usize) -> u64 {
        let shares = self.milestone_bps;
        bps::floored(self.settled_amount, shares[index])
    }

    /// What is still undecided of the settled price.
    ///
    /// # Errors
    /// Overflow if the shares were more than the price.
    #[inline(always)]
    pub fn undecided(&self) -> Result<u64, ProgramError> {
        if self.is_decided() {
            return Ok(0);
        }
        let mut rest = { self.settled_amount };
        for index in 0..MAX_MILESTONES as usize {
            if self.milestones_decided & (1 << index) != 0 {
                rest = rest
                    .checked_sub(self.share(index))
                    .ok_or(HaggleError::Overflow)?;
            }
        }
        Ok(rest)
    }

    /// Decides a milestone: what its tranche amounts to, the one decided last taking what rounding has left over.
    ///
    /// # Errors
    /// Overflow if the shares were more than the price.
    #[inline(always)]
    pub fn decide(&mut self, index: u8) -> Result<u64, ProgramError> {
        let mut rest = self.undecided()?;
        self.decide_of(index, &mut rest)
    }

    /// The same where it is known what is still undecided, which is less by the tranche afterwards.
    ///
    /// # Errors
    /// Overflow if the shares were more than the price.
    #[inline(always)]
    pub fn decide_of(&mut self, index: u8, undecided: &mut u64) -> Result<u64, ProgramError> {
        self.milestones_decided |= self.milestone_bit(index)?;
        let tranche = if self.is_decided() {
            *undecided
        } else {
            self.share(index as usize)
        };
        *undecided = undecided
            .checked_sub(tranche)
            .ok_or(HaggleError::Overflow)?;
        Ok(tranche)
    }
}

/// How long a buyer may look at a claimed milestone, in seconds, where the time to answer is `response_window`.
#[inline(always)]
pub fn review_window(response_window: i64) -> i64 {
    if response_window > MIN_REVIEW_WINDOW {
        response_window
    } else {
        MIN_REVIEW_WINDOW
    }
}

/// The earliest deadline that leaves each of `count` milestones its review window after the bargaining.
// At most eight windows of an hour or, checked before, of at most MAX_RESPONSE_WINDOW.
#[allow(clippy::arithmetic_side_effects)]
#[inline(always)]
pub fn earliest_milestone_deadline(global_deadline: i64, count: u8, response_window: i64) -> i64 {
    global_deadline.saturating_add(count as i64 * review_window(response_window))
}
