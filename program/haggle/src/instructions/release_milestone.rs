//! A milestone is paid.

use crate::error::{HaggleError, Result};
use crate::escrow::{Delivery, Division, Recipient, Vault};
use crate::event::MilestoneReleased;
use crate::runtime::sysvar;
use crate::schema::account::{Signer, State};
use crate::schema::instruction::instruction;
use crate::settlement::{settle_when_decided, Paid};
use crate::state::Negotiation;
use crate::token::kinds::{Buyer, EscrowMint, Seller, TokenProgram};
use pinocchio::address::address_eq;
use pinocchio::AccountView;

instruction! {
    /// Pays the milestone under review. The buyer can release it at any time, anyone after the review window.
    /// The last decided milestone settles the negotiation: the seller gets back the bond, less the fraction
    /// that equals the refunded fraction of the price.
    pub fn release_milestone(
        /// The negotiation's created_at seen by the signer.
        created_at: i64,
        /// The milestone, from 0.
        index: u8,
    );
    accounts<'a> {
        /// The buyer, or after the review window anyone.
        releaser: Signer<'a>,
        /// The negotiation.
        negotiation: State<'a, Negotiation>,
        /// The vault.
        escrow_vault: Vault<'a>,
        /// Any buyer token account; only if the buyer gets a part of the bond. If it is not payable, it must
        /// be the associated account, and the payment is recorded.
        buyer_token_account: Option<Recipient<'a, Buyer>>,
        /// Any seller token account. If it is not payable, it must be the associated account, and the payment
        /// is recorded.
        seller_token_account: Recipient<'a, Seller>,
        /// The mint of the escrow.
        token_mint: EscrowMint,
        /// The mint's token program.
        token_program: TokenProgram,
    }
    effects {
        result: "milestone released",
        actors: &[Actor { account: "releaser", role: Role::Anyone }],
        guards: &[Guard::CreatedAtIs("created_at"), Guard::Milestone("index")],
        idempotency: Idempotency::Content,
        deadlines: &[],
        payments: &[to_seller(Money::Price), to_buyer(Money::Bond), to_seller(Money::Bond)],
        events: &[
            "MilestoneReleased",
            "NegotiationSettled",
            "BondSettled",
            "PayoutRecorded",
        ],
    }
}

/// Pays the tranche.
///
/// # Errors
/// InvalidParams without this milestone, InvalidState unless it is under review, Unauthorized during the
/// review window unless the buyer signs, StaleState, 3005 if the account for the buyer's part of the bond is
/// missing.
#[inline(never)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> Result {
    let (args, accounts) = load(accounts, data)?;
    let mut negotiation = accounts.negotiation;

    let bit = negotiation.milestone_bit(args.index)?;
    negotiation.check_under_review(bit)?;
    let now = sysvar::now()?;
    if !negotiation.is_overdue(now) && !address_eq(accounts.releaser.address(), &negotiation.buyer)
    {
        return Err(HaggleError::Unauthorized.into());
    }
    negotiation.check_deal(args.created_at)?;

    let owed = negotiation.owed()?;
    negotiation.milestones_decided |= bit;
    let tranche = negotiation.sum_of(bit);
    let paid = Paid::count(&mut negotiation, tranche)?;
    MilestoneReleased {
        negotiation_id: *negotiation.address(),
        index: args.index,
        seller_amount: paid.net,
        fee: paid.fee,
        timestamp: now,
    }
    .emit();
    let bond = settle_when_decided(&mut negotiation, now)?;
    Delivery {
        division: Division {
            buyer: 0,
            seller: paid.net,
        }
        .with(bond)?,
        owed,
        negotiation: &mut negotiation,
        vault: &accounts.escrow_vault,
        buyer: accounts.buyer_token_account.as_ref(),
        seller: Some(&accounts.seller_token_account),
        now,
    }
    .deliver()
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use crate::error::Framework;
    use crate::state::{BondReason, BondState, NegotiationStatus};
    use crate::tests::fixture::ARBITRATION;
    use crate::tests::fixture::{
        assert_negotiation, event, Deal, Fixture, ARBITER, BOND, BUYER, ESCROW, FUNDS,
        MILESTONE_DEADLINE, NOW, PRICE, REVIEW, SELLER, STRANGER, THIRDS,
    };

    /// The tranches of [`PRICE`], and the fee on the whole price.
    const TRANCHES: [u64; 3] = [999_899, 999_900, 1_000_200];
    const FEE: u64 = 14_999;

    fn released_event(fixture: &Fixture, deal: &Deal, index: u8, amounts: [u64; 2]) -> Vec<u8> {
        event(
            MilestoneReleased::RECORD,
            &MilestoneReleased {
                negotiation_id: deal.negotiation,
                index,
                seller_amount: amounts[0],
                fee: amounts[1],
                timestamp: fixture.now,
            },
        )
    }

    #[test]
    fn the_buyers_release_pays_the_tranche() {
        let (mut fixture, deal) = Fixture::accepted(&THIRDS);
        fixture.claims(&deal, 1);
        fixture.now = NOW + 77;
        let before = fixture.clone();
        let call = fixture.release(&deal, BUYER, 1);
        let outcome = fixture.run(&call);
        outcome
            .succeeds()
            .emitted(&[released_event(&fixture, &deal, 1, [994_901, 4_999])]);
        assert_negotiation(
            &fixture.negotiation(&deal),
            &Negotiation {
                milestones_decided: 0b010,
                paid_gross: TRANCHES[1],
                ..before.negotiation(&deal)
            },
        );
        assert_eq!(fixture.balance(&deal.seller_token_account), 994_901);
        assert_eq!(
            fixture.balance(&deal.escrow_vault),
            before.balance(&deal.escrow_vault) - 994_901
        );
        let mut changed = [
            deal.negotiation,
            deal.escrow_vault,
            deal.seller_token_account,
        ];
        changed.sort();
        assert_eq!(fixture.changed_since(&before), changed);
    }

    #[test]
    fn the_last_release_settles_and_returns_the_bond() {
        let (mut fixture, deal) = Fixture::accepted(&THIRDS);
        for index in [2, 0] {
            fixture.claims_and_is_paid(&deal, index);
        }
        fixture.claims(&deal, 1);
        fixture.now = NOW + 500;
        let before = fixture.clone();
        let call = fixture.release(&deal, BUYER, 1);
        let outcome = fixture.run(&call);
        // The fee on the whole price is 14,999, including 10,000 due for the first two tranches.
        outcome.succeeds().emitted(&[
            released_event(&fixture, &deal, 1, [994_901, 4_999]),
            fixture.settled_event(&deal, PRICE, FEE),
            fixture.bond_event(&deal, SELLER, BOND, BondReason::Settlement),
        ]);
        assert_negotiation(
            &fixture.negotiation(&deal),
            &Negotiation {
                status: NegotiationStatus::Settled,
                settled_at: NOW + 500,
                bond_state: BondState::Returned,
                milestones_decided: 0b111,
                paid_gross: PRICE,
                ..before.negotiation(&deal)
            },
        );
        assert_eq!(
            fixture.balance(&deal.seller_token_account),
            PRICE - FEE + BOND
        );
        assert_eq!(fixture.balance(&deal.escrow_vault), 100_000 + FEE);
        assert_eq!(
            fixture.balance(&deal.buyer_token_account),
            FUNDS - ESCROW + 4_900_000 - PRICE
        );
    }

    #[test]
    fn an_end_without_a_bond_returns_none() {
        let mut terms = Fixture::milestone_terms(&[10_000]);
        terms.bond_required = 0;
        let (mut fixture, deal) = Fixture::accepted_with(&terms, PRICE);
        fixture.claims(&deal, 0);
        let call = fixture.release(&deal, BUYER, 0);
        let outcome = fixture.run(&call);
        outcome.succeeds().emitted(&[
            released_event(&fixture, &deal, 0, [PRICE - FEE, FEE]),
            fixture.settled_event(&deal, PRICE, FEE),
        ]);
        assert_eq!(fixture.negotiation(&deal).bond_state, BondState::None);
        assert_eq!(fixture.balance(&deal.seller_token_account), PRICE - FEE);
    }

    #[test]
    fn the_buyer_releases_at_any_time_and_anyone_after_the_review() {
        let (mut fixture, deal) = Fixture::accepted(&THIRDS);
        fixture.now = NOW + 9;
        fixture.claims(&deal, 0);
        let end = NOW + 9 + REVIEW;
        for now in [NOW + 9, end - 1, end, MILESTONE_DEADLINE, i64::MAX] {
            for who in [BUYER, SELLER, STRANGER, ARBITER] {
                let mut fixture = fixture.at(now);
                let call = fixture.release(&deal, who, 0);
                if who == BUYER || now >= end {
                    fixture.run(&call).succeeds();
                    assert_eq!(fixture.balance(&deal.seller_token_account), 994_900);
                } else {
                    fixture.refuses(&call, HaggleError::Unauthorized);
                }
            }
        }
    }

    #[test]
    fn only_the_milestone_under_review_is_released() {
        let (mut fixture, deal) = Fixture::accepted(&THIRDS);
        let call = fixture.release(&deal, BUYER, 1);
        fixture.refuses(&call, HaggleError::InvalidState);
        fixture.claims(&deal, 1);
        for index in [0, 2] {
            let call = fixture.release(&deal, BUYER, index);
            for now in [NOW, NOW + REVIEW, MILESTONE_DEADLINE + ARBITRATION] {
                fixture.at(now).refuses(&call, HaggleError::InvalidState);
            }
        }
        let mut released = fixture.clone();
        released.run(&call).succeeds();
        released.refuses(&call, HaggleError::InvalidState);
        let dispute = fixture.dispute(&deal, 1);
        fixture.run(&dispute).succeeds();
        fixture.refuses(&call, HaggleError::InvalidState);
        let resolve = fixture.resolve(&deal, 1, 10_000);
        fixture.run(&resolve).succeeds();
        fixture.refuses(&call, HaggleError::InvalidState);
    }

    #[test]
    fn a_release_needs_an_existing_milestone() {
        let (mut fixture, deal) = Fixture::accepted(&THIRDS);
        fixture.claims(&deal, 2);
        for index in [3, 7, 8, 10, 255] {
            let call = fixture.release(&deal, BUYER, index);
            fixture.refuses(&call, HaggleError::InvalidParams);
        }
        for (mut fixture, deal) in [Fixture::offered(), Fixture::settled(), Fixture::expired()] {
            let call = fixture.release(&deal, BUYER, 0);
            fixture.refuses(&call, HaggleError::InvalidParams);
        }
    }

    #[test]
    fn a_release_needs_an_accepted_price_that_is_not_settled() {
        let (mut fixture, deal) = Fixture::offered_with(&Fixture::milestone_terms(&THIRDS), PRICE);
        let call = fixture.release(&deal, BUYER, 0);
        fixture.refuses(&call, HaggleError::InvalidState);
        let (mut fixture, deal) = Fixture::accepted(&THIRDS);
        fixture.claims(&deal, 0);
        fixture.now = MILESTONE_DEADLINE;
        let settle = fixture.settle_deadline(&deal);
        fixture.run(&settle).succeeds();
        for now in [NOW, MILESTONE_DEADLINE] {
            fixture.at(now).refuses(&call, HaggleError::InvalidState);
        }
    }

    #[test]
    fn undeliverable_tranches_add_up() {
        let (mut fixture, deal) = Fixture::accepted(&THIRDS);
        fixture.freeze(&deal.seller_token_account);
        let vault = fixture.balance(&deal.escrow_vault);
        let mut recorded = 0;
        // The fees on 999,899, 1,999,799 and 2,999,999, each less the previous fee.
        for (index, net, fee) in [
            (0, 994_900, 4_999),
            (1, 994_901, 4_999),
            (2, 995_199, 5_001),
        ] {
            fixture.claims(&deal, index);
            let call = fixture.release(&deal, BUYER, index);
            let outcome = fixture.run(&call);
            let mut events = vec![released_event(&fixture, &deal, index, [net, fee])];
            let mut amount = net;
            if index == 2 {
                // The last tranche and the bond form a single amount.
                events.push(fixture.settled_event(&deal, PRICE, FEE));
                events.push(fixture.bond_event(&deal, SELLER, BOND, BondReason::Settlement));
                amount += BOND;
            }
            events.push(fixture.recorded_event(&deal, SELLER, amount));
            outcome.succeeds().emitted(&events);
            recorded += amount;
            assert_eq!({ fixture.negotiation(&deal).claimable_seller }, recorded);
        }
        assert_eq!(recorded, PRICE - FEE + BOND);
        assert_eq!(fixture.balance(&deal.escrow_vault), vault);
        fixture.thaw(&deal.seller_token_account);
        let call = fixture.claim(&deal, SELLER, recorded);
        fixture.run(&call).succeeds();
        assert_eq!(fixture.balance(&deal.seller_token_account), recorded);
        assert_eq!(fixture.balance(&deal.escrow_vault), 100_000 + FEE);
    }

    #[test]
    fn shares_above_the_price_are_not_paid() {
        let (mut fixture, deal) = Fixture::accepted(&THIRDS);
        fixture.claims(&deal, 1);
        let mut negotiation = fixture.negotiation(&deal);
        negotiation.milestone_bps = [10_001, 1, 0, 0, 0, 0, 0, 0];
        negotiation.milestones_decided = 0b01;
        negotiation.milestones_claimed = 0b11;
        fixture.set_negotiation(&deal, &negotiation);
        let call = fixture.release(&deal, BUYER, 1);
        fixture.refuses(&call, HaggleError::Overflow);
    }

    #[test]
    fn the_last_release_pays_the_buyers_part_of_the_bond() {
        let (mut fixture, deal) = Fixture::accepted(&THIRDS);
        fixture.claims_and_disputes(&deal, 0);
        let call = fixture.resolve(&deal, 0, 0);
        fixture.run(&call).succeeds();
        fixture.claims_and_is_paid(&deal, 1);
        fixture.claims(&deal, 2);
        let before = fixture.clone();
        let bare = fixture.release(&deal, BUYER, 2);
        fixture.refuses(&bare, Framework::AccountNotEnoughKeys);
        let call = bare.given("buyer_token_account", deal.buyer_token_account);
        let outcome = fixture.run(&call);
        let fee = (PRICE - TRANCHES[0]) / 200;
        outcome.succeeds().emitted(&[
            released_event(&fixture, &deal, 2, [995_199, 5_001]),
            fixture.settled_event(&deal, PRICE - TRANCHES[0], fee),
            fixture.bond_event(&deal, BUYER, 83_324, BondReason::Settlement),
            fixture.bond_event(&deal, SELLER, BOND - 83_324, BondReason::Settlement),
        ]);
        assert_negotiation(
            &fixture.negotiation(&deal),
            &Negotiation {
                status: NegotiationStatus::Settled,
                settled_at: NOW,
                bond_state: BondState::Split,
                milestones_decided: 0b111,
                paid_gross: PRICE - TRANCHES[0],
                ..before.negotiation(&deal)
            },
        );
        for (account, amount) in [
            (deal.buyer_token_account, 83_324),
            (deal.seller_token_account, 995_199 + BOND - 83_324),
        ] {
            assert_eq!(fixture.balance(&account), before.balance(&account) + amount);
        }
    }

    #[test]
    fn a_tranche_of_zero_is_released_without_a_transfer() {
        let mut terms = Fixture::milestone_terms(&[1, 9_999]);
        terms.escrow_amount = 100_000;
        terms.min_offer_bps = 100;
        let (mut fixture, deal) = Fixture::accepted_with(&terms, 9_999);
        fixture.claims(&deal, 0);
        let before = fixture.clone();
        let call = fixture.release(&deal, BUYER, 0);
        let outcome = fixture.run(&call);
        outcome
            .succeeds()
            .emitted(&[released_event(&fixture, &deal, 0, [0, 0])]);
        assert_eq!(fixture.changed_since(&before), [deal.negotiation]);
        fixture.claims_and_is_paid(&deal, 1);
        assert_eq!(
            fixture.balance(&deal.seller_token_account),
            9_999 - 49 + BOND
        );
    }
}
