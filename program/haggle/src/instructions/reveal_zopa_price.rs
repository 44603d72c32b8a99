//! One side reveals a reservation price.

use crate::error::{Framework, HaggleError, Result};
use crate::escrow::{Delivery, Division, Recipient, Vault};
use crate::event::{NegotiationRejected, ZopaRevealed};
use crate::runtime::hash::is_equal;
use crate::runtime::sysvar;
use crate::schema::account::{Signer, State};
use crate::schema::instruction::instruction;
use crate::settlement::end_bond;
use crate::state::zopa::Step;
use crate::state::{BondReason, Negotiation, NegotiationStatus, OfferSide, ZopaPhase};
use crate::token::kinds::{Buyer, EscrowMint, Seller, TokenProgram};
use pinocchio::AccountView;

instruction! {
    /// Reveals a reservation price: the buyer first, then the seller, each within their own turn. If the
    /// prices leave a zone, the midpoint becomes an offer that either side can accept. Otherwise the
    /// negotiation ends: the buyer gets the escrow back and the seller the bond.
    pub fn reveal_zopa_price(
        /// The negotiation's created_at seen by the signer.
        created_at: i64,
        /// The reservation price in the mint's base units, from min_offer_bps of the escrow, but at least 1,
        /// to the escrow.
        price: u64,
        /// The nonce of the commitment.
        nonce: [u8; 32],
    );
    accounts<'a> {
        /// The party whose turn it is.
        agent: Signer<'a>,
        /// The negotiation.
        negotiation: State<'a, Negotiation>,
        /// The vault; only if the prices leave no zone.
        escrow_vault: Option<Vault<'a>>,
        /// Any buyer token account; only if the prices leave no zone. If it is not payable, it must be the
        /// associated account, and the payment is recorded.
        buyer_token_account: Option<Recipient<'a, Buyer>>,
        /// Any seller token account; only if the prices leave no zone. If it is not payable, it must be the
        /// associated account, and the payment is recorded.
        seller_token_account: Option<Recipient<'a, Seller>>,
        /// The mint of the escrow; only if the prices leave no zone.
        token_mint: Option<EscrowMint>,
        /// The mint's token program; only if the prices leave no zone. Without token_mint either token
        /// program is accepted.
        token_program: Option<TokenProgram>,
    }
    effects {
        result: "price revealed",
        actors: &[Actor { account: "agent", role: Role::Party }],
        guards: &[Guard::CreatedAtIs("created_at"), Guard::Status, Guard::ZopaStep],
        idempotency: Idempotency::Content,
        deadlines: &[],
        payments: &[to_buyer(Money::Refund), to_seller(Money::Bond)],
        events: &["ZopaRevealed", "NegotiationRejected", "BondSettled", "PayoutRecorded"],
    }
}

/// Stores the price. The second price makes the midpoint an offer, or ends the negotiation.
///
/// # Errors
/// InvalidParams for a price out of range, InvalidState if no reveal is due, Expired, ResponseWindowExpired,
/// also for a buyer's reveal leaving the seller less than a response window, Unauthorized, StaleState,
/// NotYourTurn, ZopaCommitmentMismatch, 3005 if an account needed to end is missing.
#[inline(never)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> Result {
    let (args, accounts) = load(accounts, data)?;
    let (mut negotiation, agent) = (accounts.negotiation, accounts.agent.address());
    let id = negotiation.address();

    let price = args.price;
    if !negotiation.allows_price(price) {
        return Err(HaggleError::InvalidParams.into());
    }
    let Step::Reveal(due) = negotiation.zopa_step()? else {
        return Err(HaggleError::InvalidState.into());
    };
    let now = sysvar::now()?;
    negotiation.check_clock(now)?;
    // The seller must have a whole response window: it forfeits the bond if it does not reveal.
    if due == OfferSide::Buyer
        && now.saturating_add(negotiation.response_window) > negotiation.global_deadline
    {
        return Err(HaggleError::ResponseWindowExpired.into());
    }
    let side = negotiation.side_of(agent)?;
    negotiation.check_deal(args.created_at)?;
    if side != due {
        return Err(HaggleError::NotYourTurn.into());
    }
    let committed = if due == OfferSide::Buyer {
        &negotiation.buyer_commitment
    } else {
        &negotiation.seller_commitment
    };
    if !is_equal(
        committed,
        &negotiation.commitment(id, agent, price, &args.nonce),
    ) {
        return Err(HaggleError::ZopaCommitmentMismatch.into());
    }

    let mut midpoint = 0;
    if due == OfferSide::Buyer {
        negotiation.buyer_price = price;
        negotiation.start_turn(now)?;
    } else {
        negotiation.seller_price = price;
        negotiation.zopa_phase = ZopaPhase::Revealed;
        if let Some(zone) = { negotiation.buyer_price }.checked_sub(price) {
            // Half of the zone above the seller's price does not exceed the buyer's price.
            midpoint = price.checked_add(zone / 2).ok_or(HaggleError::Overflow)?;
            negotiation.current_offer_amount = midpoint;
            negotiation.current_offer_by = *id;
            negotiation.start_turn(now)?;
        }
    }
    ZopaRevealed {
        negotiation_id: *id,
        agent: *agent,
        price,
        phase: negotiation.zopa_phase,
        midpoint,
        timestamp: now,
    }
    .emit();
    if due == OfferSide::Buyer || midpoint > 0 {
        return Ok(());
    }

    let (Some(vault), Some(_), Some(_)) = (
        accounts.escrow_vault,
        accounts.token_mint,
        accounts.token_program,
    ) else {
        return Err(Framework::AccountNotEnoughKeys.into());
    };
    end_without_zone(
        &mut negotiation,
        &vault,
        accounts.buyer_token_account.as_ref(),
        accounts.seller_token_account.as_ref(),
        now,
    )
}

/// Returns escrow and bond to the parties.
#[cold]
#[inline(never)]
fn end_without_zone<'a>(
    negotiation: &mut State<'a, Negotiation>,
    vault: &Vault<'a>,
    buyer: Option<&Recipient<'a, Buyer>>,
    seller: Option<&Recipient<'a, Seller>>,
    now: i64,
) -> Result {
    let id = *negotiation.address();
    let owed = negotiation.owed()?;
    let refund = Division::refund(negotiation);
    negotiation.status = NegotiationStatus::Rejected;
    NegotiationRejected {
        negotiation_id: id,
        rejected_by: id,
        refund_amount: refund.buyer,
        rounds_completed: negotiation.current_round,
        timestamp: now,
    }
    .emit();
    let bond = end_bond(negotiation, |_| (0, BondReason::NoDeal), now);
    Delivery {
        division: refund.with(bond)?,
        owed,
        negotiation,
        vault,
        buyer,
        seller,
        now,
    }
    .deliver()
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use crate::runtime::programs;
    use crate::state::BondState;
    use crate::tests::fixture::{
        assert_negotiation, assert_shares, event, nonce_of, Call, Deal, Fixture, BOND, BUYER,
        BUYER_PRICE, ENDING, ESCROW, FUNDS, MIDPOINT, MINT, NOW, OFFER, OTHER_MINT, SELLER,
        SELLER_FUNDS, SELLER_PRICE, STRANGER, TOO_MUCH,
    };
    use pinocchio::Address;

    fn revealed_event(
        fixture: &Fixture,
        deal: &Deal,
        agent: Address,
        price: u64,
        phase: ZopaPhase,
        midpoint: u64,
    ) -> Vec<u8> {
        event(
            ZopaRevealed::RECORD,
            &ZopaRevealed {
                negotiation_id: deal.negotiation,
                agent,
                price,
                phase,
                midpoint,
                timestamp: fixture.now,
            },
        )
    }

    /// The first three events when no zone exists.
    fn ending_events(fixture: &Fixture, deal: &Deal) -> [Vec<u8>; 3] {
        [
            revealed_event(fixture, deal, SELLER, TOO_MUCH, ZopaPhase::Revealed, 0),
            event(
                NegotiationRejected::RECORD,
                &NegotiationRejected {
                    negotiation_id: deal.negotiation,
                    rejected_by: deal.negotiation,
                    refund_amount: ESCROW,
                    rounds_completed: 0,
                    timestamp: fixture.now,
                },
            ),
            fixture.bond_event(deal, SELLER, BOND, BondReason::NoDeal),
        ]
    }

    /// The seller's reveal that leaves no zone is due.
    fn before_the_end() -> (Fixture, Deal) {
        Fixture::buyer_revealed_with(BUYER_PRICE, TOO_MUCH)
    }

    #[test]
    fn the_buyer_reveals_first() {
        let (mut fixture, deal) = Fixture::both_committed();
        let before = fixture.clone();
        fixture.now = NOW + 10;
        let call = fixture.reveal(&deal, BUYER, BUYER_PRICE, nonce_of(BUYER));
        let phase = ZopaPhase::BothCommitted;
        fixture.run(&call).succeeds().emitted(&[revealed_event(
            &fixture,
            &deal,
            BUYER,
            BUYER_PRICE,
            phase,
            0,
        )]);
        assert_negotiation(
            &fixture.negotiation(&deal),
            &Negotiation {
                buyer_price: BUYER_PRICE,
                turn_deadline: NOW + 310,
                ..before.negotiation(&deal)
            },
        );
        fixture.assert_untouched_since(&before, &[deal.negotiation]);
    }

    #[test]
    fn the_midpoint_becomes_an_offer() {
        let (mut fixture, deal) = Fixture::buyer_revealed();
        let before = fixture.clone();
        fixture.now = NOW + 20;
        let call = fixture.reveal(&deal, SELLER, SELLER_PRICE, nonce_of(SELLER));
        let phase = ZopaPhase::Revealed;
        fixture.run(&call).succeeds().emitted(&[revealed_event(
            &fixture,
            &deal,
            SELLER,
            SELLER_PRICE,
            phase,
            MIDPOINT,
        )]);
        assert_negotiation(
            &fixture.negotiation(&deal),
            &Negotiation {
                seller_price: SELLER_PRICE,
                zopa_phase: phase,
                current_offer_amount: MIDPOINT,
                current_offer_by: deal.negotiation,
                turn_deadline: NOW + 320,
                ..before.negotiation(&deal)
            },
        );
        fixture.assert_untouched_since(&before, &[deal.negotiation]);
    }

    #[test]
    fn one_unit_decides_whether_there_is_a_zone() {
        for (buyer_price, seller_price) in [
            (500_000, 500_001),
            (500_000, ESCROW),
            (BUYER_PRICE, TOO_MUCH),
            (ESCROW - 1, ESCROW),
        ] {
            let (mut fixture, deal) = Fixture::buyer_revealed_with(buyer_price, seller_price);
            let call = fixture.reveal_last(&deal, seller_price);
            fixture.run(&call).succeeds();
            let negotiation = fixture.negotiation(&deal);
            assert_eq!({ negotiation.status }, NegotiationStatus::Rejected);
            assert_eq!({ negotiation.current_offer_amount }, 0);
            assert_shares(&fixture, &deal, FUNDS, SELLER_FUNDS, 0);
        }
    }

    #[test]
    fn without_a_zone_escrow_and_bond_are_returned() {
        let (mut fixture, deal) = before_the_end();
        let before = fixture.clone();
        fixture.now = NOW + 30;
        let call = fixture.reveal_last(&deal, TOO_MUCH);
        fixture
            .run(&call)
            .succeeds()
            .emitted(&ending_events(&fixture, &deal));
        assert_negotiation(
            &fixture.negotiation(&deal),
            &Negotiation {
                status: NegotiationStatus::Rejected,
                seller_price: TOO_MUCH,
                zopa_phase: ZopaPhase::Revealed,
                bond_state: BondState::Returned,
                ..before.negotiation(&deal)
            },
        );
        assert_shares(&fixture, &deal, FUNDS, SELLER_FUNDS, 0);
        for account in [deal.negotiation, deal.escrow_vault, BUYER, SELLER] {
            assert_eq!(fixture.lamports(&account), before.lamports(&account));
        }
        let paid = [
            deal.negotiation,
            deal.escrow_vault,
            deal.buyer_token_account,
            deal.seller_token_account,
        ];
        fixture.assert_untouched_since(&before, &paid);
    }

    #[test]
    fn only_an_end_needs_its_accounts() {
        let (mut fixture, deal) = before_the_end();
        let call = fixture.reveal_last(&deal, TOO_MUCH);
        for account in ENDING {
            let call = call.clone().without(account);
            fixture.refuses(&call, Framework::AccountNotEnoughKeys);
        }
        let bare = fixture.reveal(&deal, SELLER, TOO_MUCH, nonce_of(SELLER));
        fixture.refuses(&bare, Framework::AccountNotEnoughKeys);
        fixture.run(&call).succeeds();

        for ((fixture, deal), who, price) in [
            (Fixture::both_committed(), BUYER, BUYER_PRICE),
            (Fixture::buyer_revealed(), SELLER, SELLER_PRICE),
        ] {
            let call = fixture.reveal_and_end(&deal, who, price, nonce_of(who));
            for account in ENDING {
                fixture
                    .clone()
                    .run(&call.clone().without(account))
                    .succeeds();
            }
            let mut given = fixture.clone();
            given.run(&call).succeeds();
            given.assert_untouched_since(&fixture, &[deal.negotiation]);
        }
    }

    #[test]
    fn unneeded_accounts_of_an_end_are_checked() {
        let other = Deal::between(BUYER, SELLER, 2, MINT);
        let cases: [(&str, Address, Framework); 6] = [
            (
                "escrow_vault",
                other.escrow_vault,
                Framework::ConstraintSeeds,
            ),
            (
                "escrow_vault",
                other.buyer_token_account,
                Framework::ConstraintSeeds,
            ),
            ("token_mint", OTHER_MINT, Framework::ConstraintHasOne),
            (
                "buyer_token_account",
                other.seller_token_account,
                Framework::ConstraintRaw,
            ),
            (
                "seller_token_account",
                other.buyer_token_account,
                Framework::ConstraintRaw,
            ),
            (
                "token_program",
                programs::SYSTEM,
                Framework::InvalidProgramId,
            ),
        ];
        for ((mut fixture, deal), price) in [
            (before_the_end(), TOO_MUCH),
            (Fixture::buyer_revealed(), SELLER_PRICE),
        ] {
            let call = fixture.create(&other, &Fixture::terms());
            fixture.run(&call).succeeds();
            let bare = fixture.reveal(&deal, SELLER, price, nonce_of(SELLER));
            let full = fixture.reveal_last(&deal, price);
            for (account, address, error) in cases {
                println!("{account}");
                fixture.refuses(&full.clone().with(account, address), error);
                fixture.refuses(&bare.clone().given(account, address), error);
            }
            for account in ENDING.into_iter().take(3) {
                let call = full.clone().read_only(account);
                fixture.refuses(&call, Framework::ConstraintMut);
            }
        }
    }

    #[test]
    fn only_the_committed_price_and_nonce_can_be_revealed() {
        for ((mut fixture, deal), who, other, price) in [
            (Fixture::both_committed(), BUYER, SELLER, BUYER_PRICE),
            (Fixture::buyer_revealed(), SELLER, BUYER, SELLER_PRICE),
        ] {
            let mut wrong: Vec<Call> = [price - 1, price + 1, 500_000, ESCROW, SELLER_PRICE + 7]
                .map(|price| fixture.reveal_and_end(&deal, who, price, nonce_of(who)))
                .to_vec();
            wrong.push(fixture.reveal_and_end(&deal, who, price, nonce_of(other)));
            for bit in 0..256 {
                let mut nonce = nonce_of(who);
                nonce[bit / 8] ^= 1 << (bit % 8);
                wrong.push(fixture.reveal_and_end(&deal, who, price, nonce));
            }
            for call in wrong {
                fixture.refuses(&call, HaggleError::ZopaCommitmentMismatch);
                // The commitment is checked before the missing accounts.
                let bare = ENDING.into_iter().fold(call, Call::without);
                fixture.refuses(&bare, HaggleError::ZopaCommitmentMismatch);
            }
            fixture.reveals(&deal, who, price);
        }
    }

    #[test]
    fn a_price_is_from_the_minimum_offer_to_the_escrow() {
        // The minimum is rounded down: 8,999 bps of 100,001 are 89,990.8999.
        for (escrow, min_offer_bps, least) in [
            (ESCROW, 1_000, 500_000),
            (ESCROW, 9_000, 4_500_000),
            (100_000, 100, 1_000),
            (100_001, 8_999, 89_990),
        ] {
            let mut terms = Fixture::sealed_terms();
            terms.escrow_amount = escrow;
            terms.min_offer_bps = min_offer_bps;
            let committed = |buyer_price, seller_price| {
                let (mut fixture, deal) = Fixture::bonded_with(&terms);
                fixture.commits(&deal, BUYER, buyer_price);
                fixture.commits(&deal, SELLER, seller_price);
                (fixture, deal)
            };
            for price in [0, 1, least - 1, escrow + 1, u64::MAX] {
                let (mut fixture, deal) = committed(price, price);
                let call = fixture.reveal_and_end(&deal, BUYER, price, nonce_of(BUYER));
                fixture.refuses(&call, HaggleError::InvalidParams);
                let (mut fixture, deal) = committed(least, price);
                fixture.reveals(&deal, BUYER, least);
                let call = fixture.reveal_and_end(&deal, SELLER, price, nonce_of(SELLER));
                fixture.refuses(&call, HaggleError::InvalidParams);
            }
            for price in [least, escrow] {
                let (mut fixture, deal) = committed(price, price);
                fixture.reveals(&deal, BUYER, price);
                fixture.reveals(&deal, SELLER, price);
            }
        }
    }

    #[test]
    fn a_reveal_needs_its_phase() {
        let points: [(&str, (Fixture, Deal)); 9] = [
            ("not enabled", Fixture::invited()),
            ("not enabled, with a bond", Fixture::bonded()),
            (
                "invitation open",
                Fixture::created_with_bond(&Fixture::sealed_terms()),
            ),
            ("without commitments", Fixture::sealed()),
            ("before the seller commits", Fixture::buyer_committed()),
            ("with a midpoint", Fixture::with_midpoint()),
            ("without a zone", Fixture::without_zone()),
            ("settled", Fixture::settled()),
            ("expired", Fixture::expired()),
        ];
        for (point, (mut fixture, deal)) in points {
            for (who, price) in [
                (BUYER, BUYER_PRICE),
                (SELLER, SELLER_PRICE),
                (STRANGER, SELLER_PRICE),
            ] {
                println!("{point}");
                let call = fixture.reveal(&deal, who, price, nonce_of(who));
                fixture.refuses(&call, HaggleError::InvalidState);
            }
        }
    }

    #[test]
    fn each_side_reveals_once_and_in_its_turn() {
        let (mut fixture, deal) = Fixture::both_committed();
        let by_seller = fixture.reveal(&deal, SELLER, SELLER_PRICE, nonce_of(SELLER));
        fixture.refuses(&by_seller, HaggleError::NotYourTurn);
        let by_buyer = fixture.reveal(&deal, BUYER, BUYER_PRICE, nonce_of(BUYER));
        fixture.run(&by_buyer).succeeds();
        fixture.refuses(&by_buyer, HaggleError::NotYourTurn);
        fixture.run(&by_seller).succeeds();
        fixture.refuses(&by_seller, HaggleError::InvalidState);
        fixture.refuses(&by_buyer, HaggleError::InvalidState);
    }

    #[test]
    fn a_stranger_cannot_reveal() {
        for (mut fixture, deal) in [Fixture::both_committed(), Fixture::buyer_revealed()] {
            for whose in [BUYER, SELLER] {
                let call = fixture.reveal(&deal, STRANGER, BUYER_PRICE, nonce_of(whose));
                fixture.refuses(&call, HaggleError::Unauthorized);
            }
        }
    }

    #[test]
    fn a_reveal_after_the_turn_is_refused() {
        for ((mut fixture, deal), who, price) in [
            (Fixture::both_committed(), BUYER, BUYER_PRICE),
            (Fixture::buyer_revealed(), SELLER, SELLER_PRICE),
        ] {
            let deadline = fixture.negotiation(&deal).turn_deadline;
            assert_eq!(deadline, NOW + 300);
            let call = fixture.reveal(&deal, who, price, nonce_of(who));
            for late in [deadline, deadline + 1, NOW + 3_599] {
                fixture
                    .at(late)
                    .refuses(&call, HaggleError::ResponseWindowExpired);
            }
            for late in [NOW + 3_600, i64::MAX] {
                fixture.at(late).refuses(&call, HaggleError::Expired);
            }
            fixture.now = deadline - 1;
            fixture.run(&call).succeeds();
        }
    }

    #[test]
    fn the_buyers_reveal_leaves_the_seller_a_whole_window() {
        let mut terms = Fixture::sealed_terms();
        terms.response_window = 1_800;
        let (mut fixture, deal) = Fixture::bonded_with(&terms);
        fixture.commits(&deal, BUYER, BUYER_PRICE);
        fixture.now = NOW + 1_000;
        fixture.commits(&deal, SELLER, SELLER_PRICE);
        assert_eq!({ fixture.negotiation(&deal).turn_deadline }, NOW + 2_800);
        // The turn lasts longer, but from here on the seller would have less than half an hour.
        let call = fixture.reveal(&deal, BUYER, BUYER_PRICE, nonce_of(BUYER));
        for late in [NOW + 1_801, NOW + 2_799, NOW + 2_800] {
            for who in [BUYER, SELLER, STRANGER] {
                let call = call.clone().with("agent", who);
                fixture
                    .at(late)
                    .refuses(&call, HaggleError::ResponseWindowExpired);
            }
        }
        let mut missed = fixture.at(NOW + 2_800);
        let expire = missed
            .expire(&deal)
            .given("seller_token_account", deal.seller_token_account);
        missed.run(&expire).succeeds();
        assert_shares(&missed, &deal, FUNDS, SELLER_FUNDS, 0);

        fixture.now = NOW + 1_800;
        fixture.run(&call).succeeds();
        assert_eq!({ fixture.negotiation(&deal).turn_deadline }, NOW + 3_600);
        fixture.now = NOW + 3_599;
        fixture.reveals(&deal, SELLER, SELLER_PRICE);
        assert_eq!({ fixture.negotiation(&deal).turn_deadline }, NOW + 3_600);
    }

    #[test]
    fn the_first_error_in_the_order_of_the_checks_wins() {
        // Each step corrects the fault of the step before: argument, status, clock, party, turn, commitment,
        // accounts.
        let (mut fixture, deal) = before_the_end();
        let over = Fixture::without_zone().0;
        let late = NOW + 300;
        let nothing = [9; 32];
        let out_of_range = fixture.reveal(&deal, STRANGER, 0, nothing);
        let by_stranger = fixture.reveal(&deal, STRANGER, OFFER, nothing);
        over.at(late)
            .refuses(&out_of_range, HaggleError::InvalidParams);
        over.at(late)
            .refuses(&by_stranger, HaggleError::InvalidState);
        fixture
            .at(late)
            .refuses(&by_stranger, HaggleError::ResponseWindowExpired);
        fixture.refuses(&by_stranger, HaggleError::Unauthorized);
        let by_buyer = fixture.reveal(&deal, BUYER, OFFER, nothing);
        fixture.refuses(&by_buyer, HaggleError::NotYourTurn);
        let wrong = fixture.reveal(&deal, SELLER, OFFER, nothing);
        fixture.refuses(&wrong, HaggleError::ZopaCommitmentMismatch);
        let bare = fixture.reveal(&deal, SELLER, TOO_MUCH, nonce_of(SELLER));
        fixture.refuses(&bare, Framework::AccountNotEnoughKeys);
    }
}
