//! The vault's obligations, from the state alone: decay, fee, and the total owed.

use crate::error::{HaggleError, Result};
use crate::math::bps;
use crate::state::{Negotiation, NegotiationStatus, OfferSide};

impl Negotiation {
    /// The effective escrow after one more round.
    ///
    /// # Errors
    /// Overflow. Rates in range never cause it.
    #[inline(always)]
    pub fn escrow_after_round(&self) -> Result<u64> {
        let escrow = self.effective_escrow;
        escrow
            .checked_sub(bps::rounded(escrow, self.decay_rate_bps))
            .ok_or(HaggleError::Overflow.into())
    }

    /// The decay of all rounds so far.
    ///
    /// # Errors
    /// Overflow if the effective escrow exceeded the deposit.
    #[inline(always)]
    pub fn decay(&self) -> Result<u64> {
        { self.escrow_amount }
            .checked_sub(self.effective_escrow)
            .ok_or(HaggleError::Overflow.into())
    }

    /// The fee on a paid amount, rounded down.
    #[inline(always)]
    pub fn fee_on(&self, amount: u64) -> u64 {
        bps::floored(amount, self.protocol_fee_bps)
    }

    /// The protocol's earnings, which stay in the vault until closing: decay and fee.
    ///
    /// # Errors
    /// Overflow if money was not conserved.
    #[inline(always)]
    pub fn earned(&self) -> Result<u64> {
        self.decay()?
            .checked_add(self.fee_on(self.paid_gross))
            .ok_or(HaggleError::Overflow.into())
    }

    /// The vault's debt to the protocol and the parties,
    /// undecided milestones and the bond included.
    ///
    /// # Errors
    /// Overflow if money was not conserved.
    #[inline(always)]
    pub fn owed(&self) -> Result<u64> {
        let escrow = if self.is_open() {
            self.escrow_amount
        } else if self.status == NegotiationStatus::Accepted {
            self.earned()?
                .checked_add(self.undecided()?)
                .ok_or(HaggleError::Overflow)?
        } else {
            self.earned()?
        };
        escrow
            .checked_add(self.held_bond())
            .and_then(|sum| sum.checked_add(self.claimable_buyer))
            .and_then(|sum| sum.checked_add(self.claimable_seller))
            .ok_or(HaggleError::Overflow.into())
    }

    /// The side's recorded payout, in base units.
    #[inline(always)]
    pub fn claimable(&self, side: OfferSide) -> u64 {
        if side == OfferSide::Buyer {
            self.claimable_buyer
        } else {
            self.claimable_seller
        }
    }

    /// Adds to a side's recorded payout.
    ///
    /// # Errors
    /// Overflow beyond 64 bits.
    #[cold]
    #[inline(never)]
    pub fn record(&mut self, side: OfferSide, amount: u64) -> Result {
        let sum = self
            .claimable(side)
            .checked_add(amount)
            .ok_or(HaggleError::Overflow)?;
        if side == OfferSide::Buyer {
            self.claimable_buyer = sum;
        } else {
            self.claimable_seller = sum;
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use crate::state::BondState;
    use crate::tests::fixture::{Fixture, BOND, ESCROW, PRICE, THIRDS};

    #[test]
    fn the_vault_owes_escrow_bond_and_recorded_payouts() {
        let (fixture, deal) = Fixture::bonded();
        let mut negotiation = fixture.negotiation(&deal);
        assert_eq!(negotiation.owed(), Ok(fixture.balance(&deal.escrow_vault)));
        negotiation.claimable_buyer = 3;
        negotiation.claimable_seller = 4;
        assert_eq!(negotiation.owed(), Ok(ESCROW + BOND + 7));
        for state in [
            BondState::None,
            BondState::Returned,
            BondState::Forfeited,
            BondState::Split,
        ] {
            negotiation.bond_state = state;
            assert_eq!(negotiation.owed(), Ok(ESCROW + 7));
        }
        negotiation.claimable_seller = u64::MAX - ESCROW - 2;
        assert_eq!(negotiation.owed(), Err(HaggleError::Overflow.into()));
    }

    #[test]
    fn an_accepted_negotiation_owes_decay_fee_and_undecided_tranches() {
        let (fixture, deal) = Fixture::accepted(&THIRDS);
        let mut negotiation = fixture.negotiation(&deal);
        assert_eq!(negotiation.owed(), Ok(100_000 + PRICE + BOND));
        // Of tranches 999,899, 999,900 and 1,000,200 the second is decided, and half paid.
        negotiation.milestones_decided = 0b010;
        negotiation.paid_gross = 499_950;
        let undecided = 999_899 + 1_000_200;
        assert_eq!(negotiation.undecided(), Ok(undecided));
        assert_eq!(negotiation.owed(), Ok(100_000 + 2_499 + undecided + BOND));
        negotiation.effective_escrow = ESCROW + 1;
        assert_eq!(negotiation.owed(), Err(HaggleError::Overflow.into()));
    }
}
