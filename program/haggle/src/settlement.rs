//! A price being paid, at once or by milestones, and the end that follows when all of it is.

use crate::error::HaggleError;
use crate::event::NegotiationSettled;
use crate::state::bond::{Bond, SettledBond};
use crate::state::{Negotiation, NegotiationStatus};
use pinocchio::error::ProgramError;
use pinocchio::Address;

/// A part of the price that is paid now, in base units.
#[derive(Clone, Copy)]
pub struct Paid {
    /// What the seller gets.
    pub net: u64,
    /// The fee, which stays in the vault.
    pub fee: u64,
}

impl Paid {
    /// Counts a part of the price as paid. The fee is that on all that has been paid less that on what had been paid before,
    /// so that tranches cost what one payment would.
    ///
    /// # Errors
    /// Overflow if more were paid than there is.
    #[inline(always)]
    pub fn count(negotiation: &mut Negotiation, gross: u64) -> Result<Self, ProgramError> {
        let before = negotiation.paid_gross;
        let after = before.checked_add(gross).ok_or(HaggleError::Overflow)?;
        let fee = negotiation
            .fee_on(after)
            .checked_sub(negotiation.fee_on(before))
            .ok_or(HaggleError::Overflow)?;
        negotiation.paid_gross = after;
        Ok(Self {
            net: gross.checked_sub(fee).ok_or(HaggleError::Overflow)?,
            fee,
        })
    }
}

/// Ends a negotiation whose price is decided to the last unit, and takes the bond that goes back to the seller.
///
/// # Errors
/// Overflow if the decay were negative.
#[inline(always)]
pub fn settle(
    id: &Address,
    negotiation: &mut Negotiation,
    now: i64,
) -> Result<SettledBond, ProgramError> {
    let decay = { negotiation.escrow_amount }
        .checked_sub(negotiation.effective_escrow)
        .ok_or(HaggleError::Overflow)?;
    negotiation.status = NegotiationStatus::Settled;
    negotiation.settled_at = now;
    NegotiationSettled {
        negotiation_id: *id,
        buyer: negotiation.buyer,
        seller: negotiation.seller,
        settled_amount: negotiation.paid_gross,
        total_rounds: negotiation.current_round,
        protocol_fee: negotiation.fee_on(negotiation.paid_gross),
        escrow_decay_total: decay,
        timestamp: now,
        token_mint: negotiation.token_mint,
        service_hash: negotiation.service_hash,
        metadata: negotiation.metadata,
    }
    .emit();
    let bond = SettledBond::take(negotiation, Bond::Returned);
    bond.emit(id, negotiation, now);
    Ok(bond)
}

/// Settles the negotiation when each of its milestones has been decided; until then the bond stays where it is.
///
/// # Errors
/// As `settle`.
#[inline(always)]
pub fn settle_when_decided(
    id: &Address,
    negotiation: &mut Negotiation,
    now: i64,
) -> Result<SettledBond, ProgramError> {
    if negotiation.is_decided() {
        settle(id, negotiation, now)
    } else {
        Ok(SettledBond::NONE)
    }
}
