//! One side offers a price.

use crate::bps;
use crate::declare::instruction;
use crate::error::HaggleError;
use crate::event::OfferSubmitted;
use crate::metadata;
use crate::state::{Negotiation, NegotiationStatus, OfferSide};
use crate::table::Meta;
use pinocchio::error::ProgramResult;
use pinocchio::sysvars::clock::Clock;
use pinocchio::sysvars::Sysvar;
use pinocchio::AccountView;

instruction! {
    /// Offers a price, which opens the next round and takes its decay from the escrow. The buyer opens, then turns alternate.
    /// (The seller's offer is what the specification's diagram calls submit_counter_offer.)
    pub fn submit_offer(
        /// The round that the signer has seen.
        expected_round: u8,
        /// The price, in base units of the mint: at least the minimum offer and at most the escrow after this round's decay.
        amount: u64,
        /// How many seconds longer the negotiation should take. Not yet offered: 0.
        deadline_extension: u32,
        /// Structured metadata: all zeros, or kind 1.
        metadata: [u8; 64],
    );
    accounts {
        /// The party whose turn it is.
        offerer: Meta::READ.signs(),
        /// The negotiation.
        negotiation: Meta::WRITE.holds(Negotiation::RECORD),
    }
}

/// Makes the offer the current one.
///
/// # Errors
/// InvalidParams, InvalidState, Expired, ResponseWindowExpired, Unauthorized, StaleState, NotYourTurn, MaxRoundsReached,
/// OfferTooLow, OfferExceedsEscrow.
#[inline(always)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> ProgramResult {
    let args = Args::decode(data)?;
    let mut accounts = Accounts::load(accounts)?;
    let id = *accounts.negotiation.address();
    let offerer = *accounts.offerer.address();
    // SAFETY: `load` has checked the account, and nothing else borrows it.
    let negotiation = unsafe { Negotiation::of(&mut accounts.negotiation) };

    if args.deadline_extension != 0 {
        return Err(HaggleError::InvalidParams.into());
    }
    metadata::check(&args.metadata)?;
    if !negotiation.is_bargaining() {
        return Err(HaggleError::InvalidState.into());
    }
    let now = Clock::get()?.unix_timestamp;
    negotiation.check_clock(now)?;
    let side = negotiation.side_of(&offerer)?;
    if args.expected_round != negotiation.current_round {
        return Err(HaggleError::StaleState.into());
    }
    if side != negotiation.turn() {
        return Err(HaggleError::NotYourTurn.into());
    }
    if negotiation.current_round >= negotiation.max_rounds {
        return Err(HaggleError::MaxRoundsReached.into());
    }
    let amount = args.amount;
    let escrow = negotiation.escrow_after_round()?;
    if amount < bps::floored(escrow, negotiation.min_offer_bps) {
        return Err(HaggleError::OfferTooLow.into());
    }
    if amount > escrow {
        return Err(HaggleError::OfferExceedsEscrow.into());
    }

    negotiation.effective_escrow = escrow;
    negotiation.current_offer_amount = amount;
    negotiation.current_offer_by = offerer;
    negotiation.offer_side = side;
    negotiation.current_round = negotiation
        .current_round
        .checked_add(1)
        .ok_or(HaggleError::Overflow)?;
    negotiation.last_offer_at = now;
    negotiation.metadata = args.metadata;
    negotiation.status = if side == OfferSide::Buyer {
        NegotiationStatus::Proposed
    } else {
        NegotiationStatus::Countered
    };
    negotiation.start_turn(now)?;

    OfferSubmitted {
        negotiation_id: id,
        offerer,
        amount,
        round: negotiation.current_round,
        effective_escrow: escrow,
        timestamp: now,
    }
    .emit();
    Ok(())
}
