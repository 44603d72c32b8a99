//! Parties, turns, the clock, and deadline extensions.

use crate::constants::MAX_DEADLINE_SECONDS;
use crate::error::{HaggleError, Result};
use crate::state::milestones::earliest_milestone_deadline;
use crate::state::{Negotiation, NegotiationStatus, OfferSide};
use pinocchio::address::address_eq;
use pinocchio::Address;

/// The new deadline after offering.
pub struct Extension {
    /// The bargaining deadline.
    pub global_deadline: i64,
    /// The extension not granted yet by the opposite side, in seconds.
    pub pending: u32,
}

impl Negotiation {
    /// The party's side.
    ///
    /// # Errors
    /// Unauthorized for all other addresses.
    #[inline(always)]
    pub fn side_of(&self, party: &Address) -> Result<OfferSide> {
        if address_eq(party, &self.buyer) {
            Ok(OfferSide::Buyer)
        } else if address_eq(party, &self.seller) {
            Ok(OfferSide::Seller)
        } else {
            Err(HaggleError::Unauthorized.into())
        }
    }

    /// The party on a side.
    #[inline(always)]
    pub fn party(&self, side: OfferSide) -> &Address {
        if side == OfferSide::Buyer {
            &self.buyer
        } else {
            &self.seller
        }
    }

    /// Requires a signature for this deal: `created_at`
    /// distinguishes it from every other deal using this address.
    ///
    /// # Errors
    /// StaleState.
    #[inline(always)]
    pub fn check_deal(&self, created_at: i64) -> Result {
        if created_at == self.created_at {
            Ok(())
        } else {
            Err(HaggleError::StaleState.into())
        }
    }

    /// Requires a signature for this deal in this round.
    ///
    /// # Errors
    /// StaleState.
    #[inline(always)]
    pub fn check_round(&self, created_at: i64, expected_round: u8) -> Result {
        if created_at == self.created_at && expected_round == self.current_round {
            Ok(())
        } else {
            Err(HaggleError::StaleState.into())
        }
    }

    /// Reports whether bargaining is in progress.
    #[inline(always)]
    pub fn is_bargaining(&self) -> bool {
        let status = self.status;
        status == NegotiationStatus::Proposed || status == NegotiationStatus::Countered
    }

    /// Reports whether rejection and expiry are possible.
    #[inline(always)]
    pub fn is_open(&self) -> bool {
        self.status == NegotiationStatus::Created || self.is_bargaining()
    }

    /// Reports whether the status is final.
    #[inline(always)]
    pub fn is_over(&self) -> bool {
        let status = self.status;
        status == NegotiationStatus::Settled
            || status == NegotiationStatus::Expired
            || status == NegotiationStatus::Rejected
    }

    /// Requires bargaining to be in progress.
    ///
    /// # Errors
    /// NoZopa if the reservation prices ended the negotiation, otherwise InvalidState.
    #[inline(always)]
    pub fn check_bargaining(&self) -> Result {
        if self.is_bargaining() {
            Ok(())
        } else if self.ended_without_zone() {
            Err(HaggleError::NoZopa.into())
        } else {
            Err(HaggleError::InvalidState.into())
        }
    }

    /// Reports whether there is an offer to accept.
    #[inline(always)]
    pub fn has_offer(&self) -> bool {
        !address_eq(&self.current_offer_by, &Address::new_from_array([0; 32]))
    }

    /// The side that makes the next offer: the buyer opens, then turns alternate.
    #[inline(always)]
    pub fn turn(&self) -> OfferSide {
        if self.current_round == 0 || self.offer_side == OfferSide::Seller {
            OfferSide::Buyer
        } else {
            OfferSide::Seller
        }
    }

    /// Reports whether the turn is over. From this second on anyone can expire the negotiation.
    #[inline(always)]
    pub fn is_overdue(&self, now: i64) -> bool {
        now >= self.turn_deadline
    }

    /// Requires a turn that is not over.
    ///
    /// # Errors
    /// Expired from the global deadline on, ResponseWindowExpired from the turn's end on.
    #[inline(always)]
    pub fn check_clock(&self, now: i64) -> Result {
        if !self.is_overdue(now) {
            Ok(())
        } else if now >= self.global_deadline {
            Err(HaggleError::Expired.into())
        } else {
            Err(HaggleError::ResponseWindowExpired.into())
        }
    }

    /// Starts the next side's turn.
    ///
    /// # Errors
    /// Overflow if the clock exceeds the i64 range.
    #[inline(always)]
    pub fn start_turn(&mut self, now: i64) -> Result {
        let window_end = now
            .checked_add(self.response_window)
            .ok_or(HaggleError::Overflow)?;
        let deadline = self.global_deadline;
        self.turn_deadline = if window_end < deadline {
            window_end
        } else {
            deadline
        };
        Ok(())
    }

    /// The new deadline after an offer requesting `seconds` more. Two requests in a row grant the smaller
    /// request; a single request stays pending, so neither side can lock the other's funds alone.
    ///
    /// # Errors
    /// InvalidParams if the deadline would exceed a day after creation, or would leave the milestones too
    /// little time.
    #[inline(always)]
    pub fn agree_on_extension(&self, seconds: u32) -> Result<Extension> {
        let pending = self.pending_extension;
        if pending == 0 || seconds == 0 {
            return Ok(Extension {
                global_deadline: self.global_deadline,
                pending: seconds,
            });
        }
        self.granted(if seconds < pending { seconds } else { pending })
    }

    #[cold]
    #[inline(never)]
    fn granted(&self, seconds: u32) -> Result<Extension> {
        let global_deadline = { self.global_deadline }.saturating_add(seconds as i64);
        let latest = { self.created_at }.saturating_add(MAX_DEADLINE_SECONDS);
        let leaves_time = !self.has_milestones()
            || earliest_milestone_deadline(
                global_deadline,
                self.milestone_count(),
                self.review_hours,
            ) <= self.milestone_deadline;
        if global_deadline > latest || !leaves_time {
            return Err(HaggleError::InvalidParams.into());
        }
        Ok(Extension {
            global_deadline,
            pending: 0,
        })
    }
}
