//! Price payments, at once or by milestones, then
//! settlement once the whole price is decided.

use crate::error::{HaggleError, Result};
use crate::event::{BondSettled, NegotiationSettled};
use crate::schema::account::State;
use crate::state::bond::SettledBond;
use crate::state::{BondReason, Negotiation, NegotiationStatus};
use pinocchio::Address;

/// The part of the price paid now, in base units.
#[derive(Clone, Copy)]
pub struct Paid {
    /// The seller's amount.
    pub net: u64,
    /// The fee, which stays in the vault.
    pub fee: u64,
}

impl Paid {
    /// Counts a part of the price as paid. The fee is the fee on all paid parts less the fee on earlier
    /// parts, so tranches cost the same as a single payment.
    ///
    /// # Errors
    /// Overflow if the paid parts exceeded 64 bits.
    #[inline(always)]
    pub fn count(negotiation: &mut Negotiation, gross: u64) -> Result<Self> {
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

/// Settles a negotiation whose price is decided to the last unit: from any held bond, `bond_to_buyer` goes to
/// the buyer, the rest to the seller, for this reason.
///
/// # Errors
/// Overflow if the decay were negative.
#[inline(never)]
pub fn settle(
    negotiation: &mut State<'_, Negotiation>,
    bond_to_buyer: u64,
    reason: BondReason,
    now: i64,
) -> Result<SettledBond> {
    let escrow_decay_total = negotiation.decay()?;
    negotiation.status = NegotiationStatus::Settled;
    negotiation.settled_at = now;
    NegotiationSettled {
        negotiation_id: *negotiation.address(),
        buyer: negotiation.buyer,
        seller: negotiation.seller,
        settled_amount: negotiation.paid_gross,
        total_rounds: negotiation.current_round,
        protocol_fee: negotiation.fee_on(negotiation.paid_gross),
        escrow_decay_total,
        timestamp: now,
        token_mint: negotiation.token_mint,
        service_hash: negotiation.service_hash,
        metadata: negotiation.metadata,
    }
    .emit();
    Ok(end_bond(negotiation, |_| (bond_to_buyer, reason), now))
}

/// Settles the negotiation if every milestone is decided. Otherwise the bond stays in the vault.
///
/// # Errors
/// As `settle`.
#[inline(never)]
pub fn settle_when_decided(
    negotiation: &mut State<'_, Negotiation>,
    now: i64,
) -> Result<SettledBond> {
    if !negotiation.is_decided() {
        return Ok(SettledBond::NONE);
    }
    let forfeited = negotiation.forfeited_share(0)?;
    settle(negotiation, forfeited, BondReason::Settlement, now)
}

/// Takes any held bond from the deposit, and logs the parts. `decide` returns the buyer's part, at most the
/// whole bond, with the reason. The caller has already logged the event that caused it.
#[inline(always)]
pub fn end_bond(
    negotiation: &mut State<'_, Negotiation>,
    decide: impl FnOnce(&Negotiation) -> (u64, BondReason),
    now: i64,
) -> SettledBond {
    if negotiation.held_bond() == 0 {
        return SettledBond::NONE;
    }
    let (to_buyer, reason) = decide(negotiation);
    end_held_bond(negotiation, to_buyer, reason, now)
}

#[inline(never)]
fn end_held_bond(
    negotiation: &mut State<'_, Negotiation>,
    to_buyer: u64,
    reason: BondReason,
    now: i64,
) -> SettledBond {
    let bond = negotiation.take_bond(to_buyer);
    if bond.to_buyer > 0 {
        emit_bond_part(
            negotiation.address(),
            &negotiation.buyer,
            bond.to_buyer,
            reason,
            now,
        );
    }
    if bond.to_seller > 0 {
        emit_bond_part(
            negotiation.address(),
            &negotiation.seller,
            bond.to_seller,
            reason,
            now,
        );
    }
    bond
}

#[inline(never)]
fn emit_bond_part(
    negotiation_id: &Address,
    to: &Address,
    amount: u64,
    reason: BondReason,
    timestamp: i64,
) {
    BondSettled {
        negotiation_id: *negotiation_id,
        to: *to,
        amount,
        timestamp,
        reason,
    }
    .emit();
}

/// Requires a share (basis points) no greater than the whole.
///
/// # Errors
/// InvalidParams.
#[inline(always)]
pub fn check_share(bps: u16) -> Result {
    if bps as u64 > crate::constants::BPS_DENOMINATOR {
        Err(HaggleError::InvalidParams.into())
    } else {
        Ok(())
    }
}
