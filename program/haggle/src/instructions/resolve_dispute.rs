//! The arbiter divides a disputed milestone.

use crate::error::{HaggleError, Result};
use crate::escrow::{Delivery, Division, Recipient, Vault};
use crate::event::DisputeResolved;
use crate::math::bps;
use crate::runtime::sysvar;
use crate::schema::account::{Signer, State};
use crate::schema::instruction::instruction;
use crate::settlement::{check_share, settle_when_decided, Paid};
use crate::state::{Negotiation, NegotiationStatus};
use crate::token::kinds::{Buyer, EscrowMint, Seller, TokenProgram};
use pinocchio::address::address_eq;
use pinocchio::AccountView;

instruction! {
    /// Divides a disputed milestone between the parties. The last decided milestone settles the negotiation:
    /// the seller gets the bond back, less the fraction that equals the refunded fraction of the price.
    pub fn resolve_dispute(
        /// The negotiation's created_at seen by the signer.
        created_at: i64,
        /// The milestone, from 0.
        index: u8,
        /// The seller's share of the milestone in basis points, 0 to 10,000, rounded down to a base unit.
        seller_bps: u16,
    );
    accounts<'a> {
        /// The arbiter.
        arbiter: Signer<'a>,
        /// The negotiation.
        negotiation: State<'a, Negotiation>,
        /// The vault.
        escrow_vault: Vault<'a>,
        /// Any buyer token account. If it is not payable, it must be the associated account, and the payment
        /// is recorded.
        buyer_token_account: Recipient<'a, Buyer>,
        /// Any seller token account. If it is not payable, it must be the associated account, and the payment
        /// is recorded.
        seller_token_account: Recipient<'a, Seller>,
        /// The mint of the escrow.
        token_mint: EscrowMint,
        /// The mint's token program.
        token_program: TokenProgram,
    }
    effects {
        result: "dispute resolved",
        actors: &[Actor { account: "arbiter", role: Role::Arbiter }],
        guards: &[Guard::CreatedAtIs("created_at"), Guard::Milestone("index")],
        idempotency: Idempotency::Content,
        deadlines: &[],
        payments: &[
            to_buyer(Money::Refund),
            to_seller(Money::Price),
            to_buyer(Money::Bond),
            to_seller(Money::Bond),
        ],
        events: &["DisputeResolved", "NegotiationSettled", "BondSettled", "PayoutRecorded"],
    }
}

/// Pays both parties their parts.
///
/// # Errors
/// InvalidParams without this milestone or for a share above the whole, InvalidState unless the milestone
/// waits for the arbiter, Expired after the arbiter's time, Unauthorized,
/// StaleState.
#[inline(never)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> Result {
    let (args, accounts) = load(accounts, data)?;
    let mut negotiation = accounts.negotiation;

    let bit = negotiation.milestone_bit(args.index)?;
    check_share(args.seller_bps)?;
    if negotiation.status != NegotiationStatus::Accepted || negotiation.open_disputes() & bit == 0 {
        return Err(HaggleError::InvalidState.into());
    }
    let now = sysvar::now()?;
    if now >= negotiation.arbitration_deadline() {
        return Err(HaggleError::Expired.into());
    }
    if !address_eq(accounts.arbiter.address(), &negotiation.arbiter) {
        return Err(HaggleError::Unauthorized.into());
    }
    negotiation.check_deal(args.created_at)?;

    let owed = negotiation.owed()?;
    negotiation.milestones_decided |= bit;
    let tranche = negotiation.sum_of(bit);
    let gross = bps::floored(tranche, args.seller_bps);
    let paid = Paid::count(&mut negotiation, gross)?;
    let division = Division {
        buyer: tranche.checked_sub(gross).ok_or(HaggleError::Overflow)?,
        seller: paid.net,
    };
    DisputeResolved {
        negotiation_id: *negotiation.address(),
        index: args.index,
        seller_amount: division.seller,
        fee: paid.fee,
        buyer_amount: division.buyer,
        timestamp: now,
    }
    .emit();
    let bond = settle_when_decided(&mut negotiation, now)?;
    Delivery {
        division: division.with(bond)?,
        owed,
        negotiation: &mut negotiation,
        vault: &accounts.escrow_vault,
        buyer: Some(&accounts.buyer_token_account),
        seller: Some(&accounts.seller_token_account),
        now,
    }
    .deliver()
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;

    use crate::state::{BondReason, BondState};
    use crate::tests::fixture::ARBITRATION;
    use crate::tests::fixture::{
        assert_negotiation, event, Deal, Fixture, BOND, BUYER, ESCROW, FUNDS, MILESTONE_DEADLINE,
        NOW, PRICE, SELLER, STRANGER, THIRDS,
    };

    /// The first tranche.
    const TRANCHE: u64 = 999_899;
    /// The buyer's balance after the agreement.
    const BUYER_HAS: u64 = FUNDS - ESCROW + 4_900_000 - PRICE;

    /// The seller's amount, the fee, and the buyer's amount.
    struct Split {
        net: u64,
        fee: u64,
        back: u64,
    }

    fn resolved_event(fixture: &Fixture, deal: &Deal, index: u8, split: &Split) -> Vec<u8> {
        event(
            DisputeResolved::RECORD,
            &DisputeResolved {
                negotiation_id: deal.negotiation,
                index,
                seller_amount: split.net,
                fee: split.fee,
                buyer_amount: split.back,
                timestamp: fixture.now,
            },
        )
    }

    /// The arbiter's decisions over [`TRANCHE`].
    const SPLITS: [(u16, Split); 6] = [
        (0, split(0, 0, TRANCHE)),
        (1, split(99, 0, 999_800)),
        (4_999, split(497_350, 2_499, 500_050)),
        (5_000, split(497_450, 2_499, 499_950)),
        (9_999, split(994_801, 4_998, 100)),
        (10_000, split(994_900, 4_999, 0)),
    ];

    const fn split(net: u64, fee: u64, back: u64) -> Split {
        Split { net, fee, back }
    }

    #[test]
    fn the_arbiter_divides_the_tranche() {
        for (seller_bps, split) in SPLITS {
            assert_eq!(split.net + split.fee + split.back, TRANCHE);
            let (mut fixture, deal) = Fixture::accepted(&THIRDS);
            fixture.claims_and_disputes(&deal, 0);
            fixture.now = NOW + 4_000;
            let before = fixture.clone();
            let call = fixture.resolve(&deal, 0, seller_bps);
            let outcome = fixture.run(&call);
            outcome
                .succeeds()
                .emitted(&[resolved_event(&fixture, &deal, 0, &split)]);
            assert_negotiation(
                &fixture.negotiation(&deal),
                &Negotiation {
                    milestones_decided: 0b001,
                    paid_gross: split.net + split.fee,
                    ..before.negotiation(&deal)
                },
            );
            assert_eq!(fixture.balance(&deal.seller_token_account), split.net);
            assert_eq!(
                fixture.balance(&deal.buyer_token_account),
                BUYER_HAS + split.back
            );
            assert_eq!(
                fixture.balance(&deal.escrow_vault),
                before.balance(&deal.escrow_vault) - split.net - split.back
            );
            let mut paid = vec![deal.negotiation, deal.escrow_vault];
            if split.net > 0 {
                paid.push(deal.seller_token_account);
            }
            if split.back > 0 {
                paid.push(deal.buyer_token_account);
            }
            paid.sort();
            assert_eq!(fixture.changed_since(&before), paid);
        }
    }

    /// The whole price is one disputed tranche.
    #[test]
    fn the_last_decision_settles_and_splits_the_bond() {
        // The buyer's share of the bond equals the refunded share of the price, rounded down.
        for (seller_bps, gross, forfeited) in [
            (0, 0, BOND),
            (1, 299, 249_975),
            (5_000, 1_499_999, 125_000),
            (9_999, 2_999_699, 25),
            (10_000, PRICE, 0),
        ] {
            {
                let (mut fixture, deal) = Fixture::accepted(&[10_000]);
                fixture.claims_and_disputes(&deal, 0);
                fixture.now = NOW + 4_000;
                let before = fixture.clone();
                let call = fixture.resolve(&deal, 0, seller_bps);
                let outcome = fixture.run(&call);
                let fee = gross * 50 / 10_000;
                let split = split(gross - fee, fee, PRICE - gross);
                let to_buyer = forfeited;
                let reason = BondReason::Settlement;
                let to_seller = BOND - to_buyer;
                let state = match (to_buyer, to_seller) {
                    (0, _) => BondState::Returned,
                    (_, 0) => BondState::Forfeited,
                    _ => BondState::Split,
                };
                let mut events = vec![
                    resolved_event(&fixture, &deal, 0, &split),
                    fixture.settled_event(&deal, gross, fee),
                ];
                for (party, part) in [(BUYER, to_buyer), (SELLER, to_seller)] {
                    if part > 0 {
                        events.push(fixture.bond_event(&deal, party, part, reason));
                    }
                }
                outcome.succeeds().emitted(&events);
                assert_negotiation(
                    &fixture.negotiation(&deal),
                    &Negotiation {
                        status: NegotiationStatus::Settled,
                        settled_at: NOW + 4_000,
                        bond_state: state,
                        milestones_decided: 1,
                        paid_gross: gross,
                        ..before.negotiation(&deal)
                    },
                );
                assert_eq!(
                    fixture.balance(&deal.seller_token_account),
                    split.net + to_seller
                );
                assert_eq!(
                    fixture.balance(&deal.buyer_token_account),
                    BUYER_HAS + split.back + to_buyer
                );
                assert_eq!(fixture.balance(&deal.escrow_vault), 100_000 + fee);
            }
        }
    }

    #[test]
    fn only_an_open_dispute_is_resolved() {
        let (mut fixture, deal) = Fixture::accepted(&THIRDS);
        let call = fixture.resolve(&deal, 0, 5_000);
        fixture.refuses(&call, HaggleError::InvalidState);
        fixture.claims(&deal, 0);
        fixture.refuses(&call, HaggleError::InvalidState);
        let mut released = fixture.clone();
        let release = fixture.release(&deal, BUYER, 0);
        released.run(&release).succeeds();
        released.refuses(&call, HaggleError::InvalidState);
        let dispute = fixture.dispute(&deal, 0);
        fixture.run(&dispute).succeeds();
        let other = fixture.resolve(&deal, 1, 5_000);
        fixture.refuses(&other, HaggleError::InvalidState);
        fixture.run(&call).succeeds();
        fixture.refuses(&call, HaggleError::InvalidState);
    }

    #[test]
    fn a_decision_needs_an_existing_milestone_and_a_share_of_it() {
        let (mut fixture, deal) = Fixture::accepted(&THIRDS);
        fixture.claims_and_disputes(&deal, 2);
        for index in [3, 7, 8, 10, 255] {
            let call = fixture.resolve(&deal, index, 5_000);
            fixture.refuses(&call, HaggleError::InvalidParams);
        }
        for seller_bps in [10_001, 20_000, u16::MAX] {
            for index in [0, 2] {
                let call = fixture.resolve(&deal, index, seller_bps);
                fixture.refuses(&call, HaggleError::InvalidParams);
            }
        }
        for (mut fixture, deal) in [Fixture::offered(), Fixture::settled()] {
            let call = fixture.resolve(&deal, 0, 5_000);
            fixture.refuses(&call, HaggleError::InvalidParams);
        }
    }

    #[test]
    fn a_decision_needs_an_accepted_price_that_is_not_settled() {
        let (mut fixture, deal) = Fixture::offered_with(&Fixture::milestone_terms(&THIRDS), PRICE);
        let call = fixture.resolve(&deal, 0, 5_000);
        fixture.refuses(&call, HaggleError::InvalidState);
        let (mut fixture, deal) = Fixture::accepted(&THIRDS);
        fixture.claims_and_disputes(&deal, 0);
        fixture.now = MILESTONE_DEADLINE + ARBITRATION;
        let settle = fixture.settle_deadline(&deal);
        fixture.run(&settle).succeeds();
        for now in [NOW, MILESTONE_DEADLINE, MILESTONE_DEADLINE + ARBITRATION] {
            fixture.at(now).refuses(&call, HaggleError::InvalidState);
        }
    }

    #[test]
    fn the_arbiter_decides_until_the_end_of_its_time() {
        let (mut fixture, deal) = Fixture::accepted(&THIRDS);
        fixture.claims_and_disputes(&deal, 0);
        let end = MILESTONE_DEADLINE + ARBITRATION;
        let call = fixture.resolve(&deal, 0, 5_000);
        for now in [end, end + 1, i64::MAX] {
            fixture.at(now).refuses(&call, HaggleError::Expired);
        }
        for now in [NOW, MILESTONE_DEADLINE - 1, MILESTONE_DEADLINE, end - 1] {
            fixture.at(now).run(&call).succeeds();
        }
    }

    #[test]
    fn only_the_arbiter_resolves() {
        let (mut fixture, deal) = Fixture::accepted(&THIRDS);
        fixture.claims_and_disputes(&deal, 0);
        for who in [BUYER, SELLER, STRANGER] {
            let call = fixture.resolve(&deal, 0, 5_000).with("arbiter", who);
            fixture.refuses(&call, HaggleError::Unauthorized);
            fixture
                .at(MILESTONE_DEADLINE + ARBITRATION)
                .refuses(&call, HaggleError::Expired);
            let call = fixture.resolve(&deal, 1, 5_000).with("arbiter", who);
            fixture
                .at(MILESTONE_DEADLINE + ARBITRATION)
                .refuses(&call, HaggleError::InvalidState);
        }
    }

    #[test]
    fn undeliverable_parts_add_up() {
        let (mut fixture, deal) = Fixture::accepted(&THIRDS);
        fixture.claims_and_disputes(&deal, 0);
        fixture.claims_and_disputes(&deal, 1);
        fixture.freeze(&deal.buyer_token_account);
        fixture.freeze(&deal.seller_token_account);
        let vault = fixture.balance(&deal.escrow_vault);
        let half = split(497_450, 2_499, 499_950);
        let call = fixture.resolve(&deal, 0, 5_000);
        let outcome = fixture.run(&call);
        outcome.succeeds().emitted(&[
            resolved_event(&fixture, &deal, 0, &half),
            fixture.recorded_event(&deal, BUYER, half.back),
            fixture.recorded_event(&deal, SELLER, half.net),
        ]);
        // The fee on 499,949 + 499,950 is 4,999, including 2,499 due before.
        let second = split(497_450, 2_500, 499_950);
        let call = fixture.resolve(&deal, 1, 5_000);
        let outcome = fixture.run(&call);
        outcome.succeeds().emitted(&[
            resolved_event(&fixture, &deal, 1, &second),
            fixture.recorded_event(&deal, BUYER, second.back),
            fixture.recorded_event(&deal, SELLER, second.net),
        ]);
        let negotiation = fixture.negotiation(&deal);
        assert_eq!(
            (negotiation.claimable_buyer, negotiation.claimable_seller),
            (half.back + second.back, half.net + second.net)
        );
        assert_eq!(fixture.balance(&deal.escrow_vault), vault);
        assert_eq!(negotiation.status, NegotiationStatus::Accepted);
    }
}
