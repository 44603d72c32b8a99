//! A deadline has passed, and the negotiation ends.

use crate::error::{HaggleError, Result};
use crate::escrow::{Delivery, Division, Recipient, Vault};
use crate::event::NegotiationExpired;
use crate::runtime::sysvar;
use crate::schema::account::State;
use crate::schema::instruction::instruction;
use crate::settlement::end_bond;
use crate::state::{BondReason, Negotiation, NegotiationStatus};
use crate::token::kinds::{Buyer, EscrowMint, Seller, TokenProgram};
use pinocchio::AccountView;

instruction! {
    /// Ends a negotiation whose deadline or response window has passed: the buyer gets the escrow back, less
    /// the decay of the rounds so far, and the seller the bond, less the decay that the seller bears, which
    /// goes to the buyer: the decay of the seller's offers, plus the latest offer's decay if a whole response
    /// window passed at the seller's turn; if it passed at the buyer's turn, the buyer bears that decay. A
    /// seller failing to reveal a reservation price in time, after the buyer's reveal, forfeits the bond to
    /// the buyer. Anyone can send it.
    pub fn expire_negotiation();
    accounts<'a> {
        /// The negotiation.
        negotiation: State<'a, Negotiation>,
        /// The vault.
        escrow_vault: Vault<'a>,
        /// Any buyer token account. If it is not payable, it must be the associated account, and the payment
        /// is recorded.
        buyer_token_account: Recipient<'a, Buyer>,
        /// Any seller token account; only if the seller gets back any part of the bond. If it is not payable,
        /// it must be the associated account, and the payment is recorded.
        seller_token_account: Option<Recipient<'a, Seller>>,
        /// The mint of the escrow.
        token_mint: EscrowMint,
        /// The mint's token program.
        token_program: TokenProgram,
    }
    effects {
        result: "expired",
        actors: &[],
        guards: &[Guard::CreatedAt, Guard::Stage],
        idempotency: Idempotency::Random,
        deadlines: &[],
        payments: &[to_buyer(Money::Refund), to_buyer(Money::Bond), to_seller(Money::Bond)],
        events: &["NegotiationExpired", "BondSettled", "PayoutRecorded"],
    }
}

/// Ends the negotiation.
///
/// # Errors
/// InvalidState once ended or agreed, and until the turn is over; 3005 if the account for a returned bond is
/// missing.
#[inline(never)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> Result {
    let (_, accounts) = load(accounts, data)?;
    let mut negotiation = accounts.negotiation;

    let now = sysvar::now()?;
    if !negotiation.is_open() || !negotiation.is_overdue(now) {
        return Err(HaggleError::InvalidState.into());
    }

    let owed = negotiation.owed()?;
    let refund = Division::refund(&negotiation);
    negotiation.status = NegotiationStatus::Expired;
    NegotiationExpired {
        negotiation_id: *negotiation.address(),
        refund_amount: refund.buyer,
        rounds_completed: negotiation.current_round,
        timestamp: now,
    }
    .emit();
    let decide = |negotiation: &Negotiation| {
        if negotiation.seller_owes_reveal() {
            (u64::MAX, BondReason::Forfeit)
        } else {
            let silent = negotiation.silent_side();
            (negotiation.delay_of_seller(silent), BondReason::NoDeal)
        }
    };
    let bond = end_bond(&mut negotiation, decide, now);
    Delivery {
        division: refund.with(bond)?,
        owed,
        negotiation: &mut negotiation,
        vault: &accounts.escrow_vault,
        buyer: Some(&accounts.buyer_token_account),
        seller: accounts.seller_token_account.as_ref(),
        now,
    }
    .deliver()
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;

    use crate::tests::fixture::{
        assert_negotiation, event, Deal, Fixture, BUYER, ESCROW, FUNDS, NOW, SELLER,
    };

    fn expired_event(deal: &Deal, refund: u64, rounds: u8, now: i64) -> Vec<u8> {
        event(
            NegotiationExpired::RECORD,
            &NegotiationExpired {
                negotiation_id: deal.negotiation,
                refund_amount: refund,
                rounds_completed: rounds,
                timestamp: now,
            },
        )
    }

    type Point = (fn() -> (Fixture, Deal), i64, u64, u8);

    /// The points where a negotiation can expire, with the end of the turn, the refund and the number of
    /// rounds.
    const POINTS: [Point; 4] = [
        (Fixture::created, NOW + 3_600, 5_000_000, 0),
        (Fixture::invited, NOW + 300, 5_000_000, 0),
        (Fixture::offered, NOW + 300, 4_900_000, 1),
        (Fixture::countered, NOW + 300, 4_802_000, 2),
    ];

    #[test]
    fn the_buyer_gets_the_escrow_back_less_its_decay() {
        for (point, deadline, refund, rounds) in POINTS {
            for now in [deadline, deadline + 1, i64::MAX] {
                let (mut fixture, deal) = point();
                let before = fixture.clone();
                fixture.now = now;
                let call = fixture.expire(&deal);
                fixture
                    .run(&call)
                    .succeeds()
                    .emitted(&[expired_event(&deal, refund, rounds, now)]);
                assert_negotiation(
                    &fixture.negotiation(&deal),
                    &Negotiation {
                        status: NegotiationStatus::Expired,
                        ..before.negotiation(&deal)
                    },
                );
                assert_eq!(
                    fixture.balance(&deal.buyer_token_account),
                    FUNDS - ESCROW + refund
                );
                assert_eq!(fixture.balance(&deal.seller_token_account), 0);
                assert_eq!(fixture.balance(&deal.escrow_vault), ESCROW - refund);
                for account in [deal.negotiation, deal.escrow_vault, BUYER, SELLER] {
                    assert_eq!(fixture.lamports(&account), before.lamports(&account));
                }
            }
        }
    }

    #[test]
    fn an_expiry_before_the_end_of_the_turn_is_refused() {
        for (point, deadline, ..) in POINTS {
            let (mut fixture, deal) = point();
            let call = fixture.expire(&deal);
            for now in [i64::MIN, NOW, deadline - 1] {
                fixture.now = now;
                fixture.refuses(&call, HaggleError::InvalidState);
            }
        }
    }

    #[test]
    fn an_expiry_needs_no_signature() {
        let (fixture, deal) = Fixture::created();
        let call = fixture.expire(&deal);
        assert!(call.accounts.iter().all(|account| !account.is_signer));
    }

    #[test]
    fn the_response_window_ends_by_the_global_deadline() {
        let mut terms = Fixture::terms();
        terms.response_window = 3_600;
        terms.global_deadline = NOW + 60;
        let (mut fixture, deal) = Fixture::invited_with(&terms);
        let call = fixture.expire(&deal);
        fixture
            .at(NOW + 59)
            .refuses(&call, HaggleError::InvalidState);
        fixture.now = NOW + 60;
        fixture.run(&call).succeeds();
    }
}
