//! One side accepts the other's offer, and the escrow is paid out.

use crate::declare::instruction;
use crate::error::HaggleError;
use crate::escrow::{check_vault, divide, is_payable, Division, Vault};
use crate::event::{NegotiationSettled, OfferAccepted};
use crate::programs;
use crate::state::{Negotiation, NegotiationStatus};
use crate::table::Meta;
use pinocchio::error::ProgramResult;
use pinocchio::sysvars::clock::Clock;
use pinocchio::sysvars::Sysvar;
use pinocchio::AccountView;

instruction! {
    /// Accepts the other side's offer: the seller is paid the price less the fee, the buyer gets the rest of the effective
    /// escrow back. Fee and decay stay in the vault until the negotiation is closed.
    pub fn accept_offer(
        /// The round that the signer has seen.
        expected_round: u8,
        /// The price that the signer has seen, in base units of the mint.
        expected_amount: u64,
        /// The metadata that the signer has seen.
        expected_metadata: [u8; 64],
    );
    accounts {
        /// The party that did not make the offer.
        acceptor: Meta::READ.signs(),
        /// The negotiation.
        negotiation: Meta::WRITE.holds(Negotiation::RECORD),
        /// The vault.
        escrow_vault: Meta::WRITE.derived(Negotiation::VAULT_SEEDS),
        /// A token account of the buyer's; if it cannot receive, the associated one, and the payment is recorded.
        buyer_token_account: Meta::WRITE,
        /// A token account of the seller's; if it cannot receive, the associated one, and the payment is recorded.
        seller_token_account: Meta::WRITE,
        /// The mint of the escrow.
        token_mint: Meta::READ.stored_in("negotiation"),
        /// The token program of the mint.
        token_program: Meta::READ.at(&programs::TOKEN),
    }
}

/// Settles the negotiation.
///
/// # Errors
/// InvalidState without an offer, Expired, ResponseWindowExpired, Unauthorized, StaleState, NotYourTurn for one's own offer.
#[inline(always)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> ProgramResult {
    let args = Args::decode(data)?;
    let accounts = Accounts::load(accounts)?;
    let id = *accounts.negotiation.address();
    let acceptor = *accounts.acceptor.address();
    let vault = Vault {
        negotiation: &accounts.negotiation,
        account: &accounts.escrow_vault,
        mint: &accounts.token_mint,
    };
    let mut view = accounts.negotiation;
    // SAFETY: `load` has checked the account; the transfers at the end only take its address and its seeds.
    let negotiation = unsafe { Negotiation::of(&mut view) };
    let mint = negotiation.token_mint;

    check_vault(&vault, negotiation)?;
    let buyer_payable =
        is_payable(&accounts.buyer_token_account, &mint, &{ negotiation.buyer })?;
    let seller_payable =
        is_payable(&accounts.seller_token_account, &mint, &{ negotiation.seller })?;
    accounts.check_fixed_addresses()?;

    if !negotiation.is_bargaining() || !negotiation.has_offer() {
        return Err(HaggleError::InvalidState.into());
    }
    let now = Clock::get()?.unix_timestamp;
    negotiation.check_clock(now)?;
    let side = negotiation.side_of(&acceptor)?;
    let amount = negotiation.current_offer_amount;
    if args.expected_round != negotiation.current_round
        || args.expected_amount != amount
        || args.expected_metadata != negotiation.metadata
    {
        return Err(HaggleError::StaleState.into());
    }
    if side == negotiation.offer_side {
        return Err(HaggleError::NotYourTurn.into());
    }

    let fee = negotiation.fee_on(amount);
    let division = Division {
        seller: amount.checked_sub(fee).ok_or(HaggleError::Overflow)?,
        buyer: { negotiation.effective_escrow }
            .checked_sub(amount)
            .ok_or(HaggleError::Overflow)?,
    };
    let decay = { negotiation.escrow_amount }
        .checked_sub(negotiation.effective_escrow)
        .ok_or(HaggleError::Overflow)?;

    negotiation.status = NegotiationStatus::Settled;
    negotiation.settled_at = now;
    negotiation.settled_amount = amount;
    negotiation.paid_gross = amount;

    OfferAccepted {
        negotiation_id: id,
        accepted_by: acceptor,
        amount,
        round: negotiation.current_round,
        timestamp: now,
    }
    .emit();
    NegotiationSettled {
        negotiation_id: id,
        buyer: negotiation.buyer,
        seller: negotiation.seller,
        settled_amount: amount,
        total_rounds: negotiation.current_round,
        protocol_fee: fee,
        escrow_decay_total: decay,
        timestamp: now,
        token_mint: mint,
        service_hash: negotiation.service_hash,
        metadata: negotiation.metadata,
    }
    .emit();
    divide(
        &vault,
        negotiation,
        &division,
        (&accounts.buyer_token_account, buyer_payable),
        Some((&accounts.seller_token_account, seller_payable)),
        now,
    )
}
