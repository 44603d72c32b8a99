//! One side rejects the negotiation.

use crate::error::{Framework, HaggleError, Result};
use crate::escrow::{Delivery, Division, Recipient, Vault};
use crate::event::NegotiationRejected;
use crate::runtime::sysvar;
use crate::schema::account::{Signer, State};
use crate::schema::instruction::instruction;
use crate::settlement::end_bond;
use crate::state::{BondReason, Negotiation, NegotiationStatus, OfferSide};
use crate::token::kinds::{Buyer, EscrowMint, Seller, TokenProgram};
use pinocchio::AccountView;

instruction! {
    /// Rejects the negotiation: the buyer gets the escrow back, less the decay of the rounds so far, and the
    /// seller the bond, less the decay of the seller's offers, which goes to the buyer. Either party can
    /// reject at any point until the agreement, within the turn. A seller rejecting after the buyer's
    /// reservation price is revealed and before the buyer's first offer forfeits the bond to the buyer; it
    /// agrees to the forfeiture by leaving the token account out.
    pub fn reject_negotiation(
        /// The negotiation's created_at seen by the signer.
        created_at: i64,
        /// The negotiation's current_round, as the signer saw it.
        expected_round: u8,
    );
    accounts<'a> {
        /// Either party.
        rejector: Signer<'a>,
        /// The negotiation.
        negotiation: State<'a, Negotiation>,
        /// The vault.
        escrow_vault: Vault<'a>,
        /// Any buyer token account. If it is not payable, it must be the associated account, and the payment
        /// is recorded.
        buyer_token_account: Recipient<'a, Buyer>,
        /// Any seller token account; only if a part of the bond is returned. If it is not payable, it must be
        /// the associated account, and the payment is recorded. A seller rejecting a negotiation with
        /// bond_required names it in every state, except to forfeit the bond.
        seller_token_account: Option<Recipient<'a, Seller>>,
        /// The mint of the escrow.
        token_mint: EscrowMint,
        /// The mint's token program.
        token_program: TokenProgram,
    }
    effects {
        result: "rejected",
        actors: &[Actor { account: "rejector", role: Role::Party }],
        guards: &[
            Guard::CreatedAtIs("created_at"),
            Guard::Status,
            Guard::RoundIs("expected_round"),
            Guard::ZopaStep,
        ],
        idempotency: Idempotency::Content,
        deadlines: &[],
        payments: &[to_buyer(Money::Refund), to_buyer(Money::Bond), to_seller(Money::Bond)],
        events: &["NegotiationRejected", "BondSettled", "PayoutRecorded"],
    }
}

/// Ends the negotiation.
///
/// # Errors
/// InvalidState once ended or agreed, Expired, ResponseWindowExpired, Unauthorized, StaleState, including
/// when the seller names an account for a bond that would be forfeited, 3005 if the account for a bond that
/// is returned, or would not be forfeited, is missing.
#[inline(never)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> Result {
    let (args, accounts) = load(accounts, data)?;
    let (mut negotiation, rejector) = (accounts.negotiation, accounts.rejector.address());

    if !negotiation.is_open() {
        return Err(HaggleError::InvalidState.into());
    }
    let now = sysvar::now()?;
    negotiation.check_clock(now)?;
    let side = negotiation.side_of(rejector)?;
    negotiation.check_round(args.created_at, args.expected_round)?;
    let forfeits = side == OfferSide::Seller && negotiation.rejection_forfeits_bond();
    // A seller agrees to forfeit the bond by leaving the account out, and declines by naming an
    // account. It names the account even before the deposit, so that an early signature cannot
    // forfeit the bond later.
    if side == OfferSide::Seller && negotiation.bond_required > 0 {
        match (forfeits, &accounts.seller_token_account) {
            (true, Some(_)) => return Err(HaggleError::StaleState.into()),
            (false, None) => return Err(Framework::AccountNotEnoughKeys.into()),
            _ => {}
        }
    }

    let owed = negotiation.owed()?;
    let refund = Division::refund(&negotiation);
    negotiation.status = NegotiationStatus::Rejected;
    NegotiationRejected {
        negotiation_id: *negotiation.address(),
        rejected_by: *rejector,
        refund_amount: refund.buyer,
        rounds_completed: negotiation.current_round,
        timestamp: now,
    }
    .emit();
    let decide = |negotiation: &Negotiation| {
        if forfeits {
            (u64::MAX, BondReason::Forfeit)
        } else {
            (negotiation.delay_of_seller(None), BondReason::NoDeal)
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
        args_of, assert_negotiation, assert_shares, event, Call, Deal, Fixture, BOND, BUYER,
        BUYER_PRICE, BUYER_REST, CREATED, ESCROW, FUNDS, NOW, SELLER, SELLER_FUNDS, STRANGER,
    };
    use pinocchio::Address;

    fn rejected_event(deal: &Deal, by: Address, refund: u64, rounds: u8, now: i64) -> Vec<u8> {
        event(
            NegotiationRejected::RECORD,
            &NegotiationRejected {
                negotiation_id: deal.negotiation,
                rejected_by: by,
                refund_amount: refund,
                rounds_completed: rounds,
                timestamp: now,
            },
        )
    }

    #[test]
    fn either_side_can_reject_at_each_point() {
        type Point = (fn() -> (Fixture, Deal), u64, u8);
        let points: [Point; 4] = [
            (Fixture::created, 5_000_000, 0),
            (Fixture::invited, 5_000_000, 0),
            (Fixture::offered, 4_900_000, 1),
            (Fixture::countered, 4_802_000, 2),
        ];
        for (point, refund, rounds) in points {
            for who in [BUYER, SELLER] {
                let (mut fixture, deal) = point();
                let before = fixture.clone();
                fixture.now = NOW + 9;
                let call = fixture.reject(&deal, who);
                fixture.run(&call).succeeds().emitted(&[rejected_event(
                    &deal,
                    who,
                    refund,
                    rounds,
                    NOW + 9,
                )]);
                assert_negotiation(
                    &fixture.negotiation(&deal),
                    &Negotiation {
                        status: NegotiationStatus::Rejected,
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
    fn a_stranger_cannot_reject() {
        for (mut fixture, deal) in [
            Fixture::created(),
            Fixture::invited(),
            Fixture::offered(),
            Fixture::countered(),
        ] {
            let call = fixture.reject(&deal, STRANGER);
            fixture.refuses(&call, HaggleError::Unauthorized);
        }
    }

    #[test]
    fn a_rejection_after_the_turn_is_refused() {
        let (mut fixture, deal) = Fixture::created();
        let call = fixture.reject(&deal, BUYER);
        fixture.at(NOW + 3_600).refuses(&call, HaggleError::Expired);
        fixture.now = NOW + 3_599;
        fixture.run(&call).succeeds();

        let (mut fixture, deal) = Fixture::countered();
        let call = fixture.reject(&deal, SELLER);
        fixture
            .at(NOW + 300)
            .refuses(&call, HaggleError::ResponseWindowExpired);
        fixture
            .at(NOW + 3_599)
            .refuses(&call, HaggleError::ResponseWindowExpired);
        fixture.at(NOW + 3_600).refuses(&call, HaggleError::Expired);
        fixture.now = NOW + 299;
        fixture.run(&call).succeeds();
    }

    #[test]
    fn a_rejection_of_another_round_is_stale() {
        let (mut fixture, deal) = Fixture::countered();
        for expected_round in [0, 1, 3] {
            let args = Args {
                created_at: CREATED,
                expected_round,
            };
            let call = fixture
                .call("reject_negotiation", &deal, SELLER, args_of(&args))
                .without("seller_token_account");
            fixture.refuses(&call, HaggleError::StaleState);
        }
    }

    /// A rejection with the account for returning the bond.
    fn with_bond(fixture: &Fixture, deal: &Deal, rejector: Address) -> Call {
        fixture
            .reject(deal, rejector)
            .given("seller_token_account", deal.seller_token_account)
    }

    #[test]
    fn the_bond_pays_the_decay_of_the_sellers_offers() {
        let (mut fixture, deal) = Fixture::bonded();
        for (who, amount) in [(BUYER, 3_000_000), (SELLER, 3_500_000)] {
            let call = fixture.offer(&deal, who, amount);
            fixture.run(&call).succeeds();
        }
        let call = with_bond(&fixture, &deal, BUYER);
        fixture.run(&call).succeeds().emitted(&[
            rejected_event(&deal, BUYER, 4_802_000, 2, NOW),
            fixture.bond_event(&deal, BUYER, 98_000, BondReason::NoDeal),
            fixture.bond_event(&deal, SELLER, BOND - 98_000, BondReason::NoDeal),
        ]);
        let buyer = BUYER_REST + 4_802_000 + 98_000;
        let seller = SELLER_FUNDS - 98_000;
        assert_shares(&fixture, &deal, buyer, seller, ESCROW - 4_802_000);
    }

    #[test]
    fn the_seller_can_reject_instead_of_revealing_until_the_end_of_the_turn() {
        let (mut fixture, deal) = Fixture::buyer_revealed();
        assert_eq!({ fixture.negotiation(&deal).buyer_price }, BUYER_PRICE);
        let call = fixture.reject(&deal, SELLER);
        fixture
            .at(NOW + 300)
            .refuses(&call, HaggleError::ResponseWindowExpired);
        fixture.now = NOW + 299;
        fixture.run(&call).succeeds();
    }
}
