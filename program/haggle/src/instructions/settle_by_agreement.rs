//! Both parties end an accepted negotiation with a split of their own.

use crate::error::{HaggleError, Result};
use crate::escrow::{Delivery, Division, Recipient, Vault};
use crate::event::AgreementSettled;
use crate::math::bps;
use crate::runtime::sysvar;
use crate::schema::account::{Party, State};
use crate::schema::instruction::instruction;
use crate::settlement::{check_share, settle, Paid};
use crate::state::{BondReason, Negotiation, NegotiationStatus};
use crate::token::kinds::{Buyer, EscrowMint, Seller, TokenProgram};
use pinocchio::AccountView;

instruction! {
    /// Divides the undecided part of the price and the bond as both parties have agreed, and settles the
    /// negotiation. It is possible from the agreement on the price until the settlement, even past the
    /// milestones' deadline.
    pub fn settle_by_agreement(
        /// The negotiation's created_at seen by the signers.
        created_at: i64,
        /// The negotiation's milestones_decided, as the signers saw it.
        expected_decided: u8,
        /// The Unix time in seconds when the agreement becomes void.
        valid_until: i64,
        /// The seller's share of the undecided milestones in basis points, 0 to 10,000, rounded down to a
        /// base unit. The protocol's fee is deducted.
        seller_bps: u16,
        /// The buyer's share of the held bond in basis points, 0 to 10,000, rounded down to a base unit; 0 if
        /// no bond is held.
        bond_to_buyer_bps: u16,
    );
    accounts<'a> {
        /// The buyer.
        buyer: Party<'a>,
        /// The seller.
        seller: Party<'a>,
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
        result: "settled by agreement",
        actors: &[
            Actor { account: "buyer", role: Role::Buyer },
            Actor { account: "seller", role: Role::Seller },
        ],
        guards: &[
            Guard::CreatedAtIs("created_at"),
            Guard::Stage,
            Guard::DecidedIs("expected_decided"),
        ],
        idempotency: Idempotency::Content,
        deadlines: &["valid_until"],
        payments: &[
            to_buyer(Money::Refund),
            to_seller(Money::Price),
            to_buyer(Money::Bond),
            to_seller(Money::Bond),
        ],
        events: &[
            "AgreementSettled",
            "NegotiationSettled",
            "BondSettled",
            "PayoutRecorded",
        ],
    }
}

/// Settles the negotiation.
///
/// # Errors
/// InvalidParams for a share above the whole, InvalidState before the agreement on the price and after the
/// settlement, also for a bond share if no bond is held, Expired, StaleState.
#[inline(never)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> Result {
    let (args, accounts) = load(accounts, data)?;
    let mut negotiation = accounts.negotiation;

    check_share(args.seller_bps)?;
    check_share(args.bond_to_buyer_bps)?;
    let bond = negotiation.held_bond();
    if negotiation.status != NegotiationStatus::Accepted
        || (args.bond_to_buyer_bps > 0 && bond == 0)
    {
        return Err(HaggleError::InvalidState.into());
    }
    let now = sysvar::now()?;
    if now >= args.valid_until {
        return Err(HaggleError::Expired.into());
    }
    negotiation.check_deal(args.created_at)?;
    if args.expected_decided != negotiation.milestones_decided {
        return Err(HaggleError::StaleState.into());
    }

    let owed = negotiation.owed()?;
    let undecided = negotiation.undecided()?;
    negotiation.milestones_decided = negotiation.all_milestones();
    let gross = bps::floored(undecided, args.seller_bps);
    let paid = Paid::count(&mut negotiation, gross)?;
    let division = Division {
        buyer: undecided.checked_sub(gross).ok_or(HaggleError::Overflow)?,
        seller: paid.net,
    };
    let bond_to_buyer = bps::floored(bond, args.bond_to_buyer_bps);
    AgreementSettled {
        negotiation_id: *negotiation.address(),
        seller_amount: division.seller,
        fee: paid.fee,
        buyer_amount: division.buyer,
        bond_to_buyer,
        timestamp: now,
    }
    .emit();
    let bond = settle(&mut negotiation, bond_to_buyer, BondReason::Agreement, now)?;
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
    use crate::error::Framework;
    use crate::state::BondState;
    use crate::tests::fixture::{
        args_of, assert_negotiation, event, under_both_token_programs, Call, Deal, Fixture,
        ARBITER, ARBITRATION, BOND, BUYER, CREATED, MILESTONE_DEADLINE, NOW, PRICE, SELLER,
        STRANGER, THIRDS,
    };

    /// The tranches of [`PRICE`] in [`THIRDS`].
    const TRANCHES: [u64; 3] = [999_899, 999_900, 1_000_200];

    /// A point between the agreement on the price and the settlement.
    struct Point {
        name: &'static str,
        reach: fn() -> (Fixture, Deal),
        /// The decided milestones, a bit each, and the held bond.
        decided: u8,
        bond: u64,
    }

    fn accepted() -> (Fixture, Deal) {
        Fixture::accepted(&THIRDS)
    }

    fn under_review() -> (Fixture, Deal) {
        let (mut fixture, deal) = accepted();
        fixture.claims(&deal, 1);
        (fixture, deal)
    }

    fn disputed() -> (Fixture, Deal) {
        let (mut fixture, deal) = accepted();
        fixture.claims_and_disputes(&deal, 1);
        (fixture, deal)
    }

    /// One milestone is paid, one disputed, one unclaimed.
    fn mixed() -> (Fixture, Deal) {
        let (mut fixture, deal) = disputed();
        fixture.claims_and_is_paid(&deal, 2);
        (fixture, deal)
    }

    fn divided() -> (Fixture, Deal) {
        let (mut fixture, deal) = mixed();
        let call = fixture.resolve(&deal, 1, 3_333);
        fixture.run(&call).succeeds();
        (fixture, deal)
    }

    fn without_bond() -> (Fixture, Deal) {
        let mut terms = Fixture::milestone_terms(&THIRDS);
        terms.bond_required = 0;
        Fixture::accepted_with(&terms, PRICE)
    }

    const fn point(
        name: &'static str,
        reach: fn() -> (Fixture, Deal),
        decided: u8,
        bond: u64,
    ) -> Point {
        Point {
            name,
            reach,
            decided,
            bond,
        }
    }

    const POINTS: [Point; 6] = [
        point("nothing claimed", accepted, 0b000, BOND),
        point("one under review", under_review, 0b000, BOND),
        point("one disputed", disputed, 0b000, BOND),
        point("one paid and one disputed", mixed, 0b100, BOND),
        point("one divided", divided, 0b110, BOND),
        point("no bond", without_bond, 0b000, 0),
    ];

    /// Both parties' arguments for the current negotiation.
    fn args(fixture: &Fixture, deal: &Deal) -> Args {
        let negotiation = fixture.negotiation(deal);
        Args {
            created_at: negotiation.created_at,
            expected_decided: negotiation.milestones_decided,
            valid_until: i64::MAX,
            seller_bps: 5_000,
            bond_to_buyer_bps: if negotiation.held_bond() == 0 {
                0
            } else {
                2_500
            },
        }
    }

    fn with(fixture: &Fixture, deal: &Deal, change: impl FnOnce(&mut Args)) -> Call {
        let mut args = args(fixture, deal);
        change(&mut args);
        fixture
            .settle_by_agreement(deal, 0, 0)
            .with_data([&ROW.discriminator, args_of(&args)].concat())
    }

    fn part(amount: u64, bps: u16) -> u64 {
        (u128::from(amount) * u128::from(bps) / 10_000) as u64
    }

    /// Settles by agreement and requires the state, the events and the payments that follow from the design.
    fn assert_settles(
        before: &Fixture,
        deal: &Deal,
        point: &Point,
        seller_bps: u16,
        bond_bps: u16,
    ) {
        let mut fixture = before.clone();
        let earlier = before.negotiation(deal);
        let undecided: u64 = (0..3)
            .filter(|index| point.decided & 1 << index == 0)
            .map(|index| TRANCHES[index])
            .sum();
        let gross = part(undecided, seller_bps);
        let paid = earlier.paid_gross + gross;
        let fee = paid / 200 - { earlier.paid_gross } / 200;
        let bond_to_buyer = part(point.bond, bond_bps);
        let bond_to_seller = point.bond - bond_to_buyer;
        let call = with(&fixture, deal, |args| {
            args.seller_bps = seller_bps;
            args.bond_to_buyer_bps = bond_bps;
        });
        let outcome = fixture.run(&call);
        outcome.succeeds();

        let mut events = vec![
            event(
                AgreementSettled::RECORD,
                &AgreementSettled {
                    negotiation_id: deal.negotiation,
                    seller_amount: gross - fee,
                    fee,
                    buyer_amount: undecided - gross,
                    bond_to_buyer,
                    timestamp: fixture.now,
                },
            ),
            fixture.settled_event(deal, paid, paid / 200),
        ];
        for (party, bond) in [(BUYER, bond_to_buyer), (SELLER, bond_to_seller)] {
            if bond > 0 {
                events.push(fixture.bond_event(deal, party, bond, BondReason::Agreement));
            }
        }
        outcome.emitted(&events);
        assert_negotiation(
            &fixture.negotiation(deal),
            &Negotiation {
                status: NegotiationStatus::Settled,
                settled_at: fixture.now,
                milestones_decided: 0b111,
                paid_gross: paid,
                bond_state: match (bond_to_buyer, bond_to_seller) {
                    (0, 0) => earlier.bond_state,
                    (0, _) => BondState::Returned,
                    (_, 0) => BondState::Forfeited,
                    _ => BondState::Split,
                },
                ..earlier
            },
        );
        for (account, amount) in [
            (deal.buyer_token_account, undecided - gross + bond_to_buyer),
            (deal.seller_token_account, gross - fee + bond_to_seller),
        ] {
            assert_eq!(fixture.balance(&account), before.balance(&account) + amount);
        }
        // Only the fee and a single round's decay stay.
        assert_eq!(fixture.balance(&deal.escrow_vault), 100_000 + paid / 200);
        fixture.refuses(&call, HaggleError::InvalidState);
    }

    #[test]
    fn both_parties_divide_the_undecided_part_and_the_bond() {
        under_both_token_programs(|| {
            for point in POINTS {
                let (fixture, deal) = (point.reach)();
                println!("{}", point.name);
                for seller_bps in [0, 1, 3_333, 5_000, 9_999, 10_000] {
                    let shares: &[u16] = if point.bond == 0 {
                        &[0]
                    } else {
                        &[0, 1, 3_333, 9_999, 10_000]
                    };
                    for bond_bps in shares {
                        assert_settles(&fixture, &deal, &point, seller_bps, *bond_bps);
                    }
                }
            }
        });
    }

    #[test]
    fn the_agreement_is_possible_until_the_settlement_at_any_time() {
        under_both_token_programs(|| {
            for point in POINTS {
                let (fixture, deal) = (point.reach)();
                for now in [
                    NOW,
                    MILESTONE_DEADLINE - 1,
                    MILESTONE_DEADLINE,
                    MILESTONE_DEADLINE + ARBITRATION,
                    1 << 60,
                ] {
                    let bond_bps = if point.bond == 0 { 0 } else { 777 };
                    assert_settles(&fixture.at(now), &deal, &point, 1_234, bond_bps);
                }
            }
        });
    }

    #[test]
    fn only_the_parties_themselves_can_sign_and_both_must() {
        let (mut fixture, deal) = accepted();
        let call = with(&fixture, &deal, |_| {});
        for party in ["buyer", "seller"] {
            let call = call.clone().unsigned(party);
            fixture.refuses(&call, Framework::AccountNotSigner);
        }
        for (buyer, seller) in [
            (SELLER, BUYER),
            (BUYER, BUYER),
            (SELLER, SELLER),
            (STRANGER, SELLER),
            (BUYER, ARBITER),
        ] {
            let call = call.clone().with("buyer", buyer).with("seller", seller);
            fixture.refuses(&call, Framework::ConstraintHasOne);
        }
        fixture.run(&call).succeeds();
    }

    #[test]
    fn a_share_is_at_most_the_whole() {
        let (mut fixture, deal) = accepted();
        for bps in [10_001, 20_000, u16::MAX] {
            for call in [
                with(&fixture, &deal, |args| args.seller_bps = bps),
                with(&fixture, &deal, |args| args.bond_to_buyer_bps = bps),
            ] {
                fixture.refuses(&call, HaggleError::InvalidParams);
            }
        }
    }

    #[test]
    fn an_agreement_needs_an_accepted_price_that_is_not_settled() {
        let offered = Fixture::offered_with(&Fixture::milestone_terms(&THIRDS), PRICE);
        let mut settled = accepted();
        settled.0.now = MILESTONE_DEADLINE;
        let call = settled.0.settle_deadline(&settled.1);
        settled.0.run(&call).succeeds();
        for (fixture, deal) in [
            Fixture::created(),
            Fixture::offered(),
            offered,
            settled,
            Fixture::settled(),
            Fixture::rejected(),
            Fixture::expired(),
        ] {
            for now in [NOW, MILESTONE_DEADLINE, MILESTONE_DEADLINE + ARBITRATION] {
                let call = with(&fixture, &deal, |args| args.bond_to_buyer_bps = 0);
                fixture.at(now).refuses(&call, HaggleError::InvalidState);
            }
        }
    }

    #[test]
    fn a_share_of_the_bond_needs_a_held_bond() {
        let (mut fixture, deal) = without_bond();
        for bps in [1, 10_000] {
            let call = with(&fixture, &deal, |args| args.bond_to_buyer_bps = bps);
            fixture.refuses(&call, HaggleError::InvalidState);
        }
        let call = with(&fixture, &deal, |_| {});
        fixture.run(&call).succeeds();
    }

    #[test]
    fn the_agreement_is_void_from_valid_until_on() {
        let (fixture, deal) = accepted();
        for (valid_until, now, is_valid) in [
            (NOW + 60, NOW + 58, true),
            (NOW + 60, NOW + 59, true),
            (NOW + 60, NOW + 60, false),
            (NOW + 60, NOW + 61, false),
            (NOW + 60, i64::MAX, false),
            (NOW, NOW, false),
            (NOW + 1, NOW, true),
            (0, NOW, false),
            (-1, NOW, false),
            (i64::MIN, NOW, false),
            (i64::MAX, i64::MAX - 1, true),
            (i64::MAX, i64::MAX, false),
        ] {
            let call = with(&fixture, &deal, |args| args.valid_until = valid_until);
            let mut fixture = fixture.at(now);
            if is_valid {
                fixture.run(&call).succeeds();
            } else {
                fixture.refuses(&call, HaggleError::Expired);
            }
        }
    }

    #[test]
    fn a_later_decision_makes_an_agreement_stale() {
        for point in POINTS {
            let (mut fixture, deal) = (point.reach)();
            for decided in 0..=u8::MAX {
                if decided != point.decided {
                    let call = with(&fixture, &deal, |args| args.expected_decided = decided);
                    fixture.refuses(&call, HaggleError::StaleState);
                }
            }
        }
        let (mut fixture, deal) = under_review();
        let signed = with(&fixture, &deal, |_| {});
        let call = fixture.release(&deal, BUYER, 1);
        fixture.run(&call).succeeds();
        fixture.refuses(&signed, HaggleError::StaleState);
    }

    #[test]
    fn a_later_claim_or_dispute_does_not_change_an_agreement() {
        let (mut fixture, deal) = accepted();
        let signed = with(&fixture, &deal, |_| {});
        for change in [Fixture::claim_milestone, Fixture::dispute] {
            let call = change(&fixture, &deal, 1);
            fixture.run(&call).succeeds();
            fixture.clone().run(&signed).succeeds();
        }
    }

    #[test]
    fn the_first_error_in_the_order_of_the_checks_wins() {
        // Each step corrects the fault of the step before: signature, party, range, state, clock, deal,
        // decisions.
        let (mut fixture, deal) = mixed();
        let mut wrong = Args {
            created_at: CREATED + 1,
            expected_decided: 0,
            valid_until: NOW,
            seller_bps: 10_001,
            bond_to_buyer_bps: 1,
        };
        let (without_bond, _) = without_bond();
        let call = |args: &Args| with(&fixture, &deal, |call| *call = *args);
        let by_stranger = call(&wrong).with("seller", STRANGER);
        let unsigned = by_stranger.clone().unsigned("seller");
        let mut steps = vec![
            (&without_bond, unsigned, Framework::AccountNotSigner.into()),
            (
                &without_bond,
                by_stranger,
                Framework::ConstraintHasOne.into(),
            ),
            (
                &without_bond,
                call(&wrong),
                HaggleError::InvalidParams.into(),
            ),
        ];
        wrong.seller_bps = 10_000;
        steps.push((
            &without_bond,
            call(&wrong),
            HaggleError::InvalidState.into(),
        ));
        steps.push((&fixture, call(&wrong), HaggleError::Expired.into()));
        wrong.valid_until = NOW + 1;
        steps.push((&fixture, call(&wrong), HaggleError::StaleState.into()));
        wrong.expected_decided = 0b100;
        steps.push((&fixture, call(&wrong), HaggleError::StaleState.into()));
        wrong.expected_decided = 0;
        wrong.created_at = CREATED;
        steps.push((&fixture, call(&wrong), HaggleError::StaleState.into()));
        for (fixture, call, error) in steps {
            let error: pinocchio::error::ProgramError = error;
            fixture.at(NOW).refuses(&call, error);
        }
        wrong.expected_decided = 0b100;
        let call = call(&wrong);
        fixture.run(&call).succeeds();
    }

    #[test]
    fn undeliverable_parts_are_added_to_the_recorded_payouts() {
        under_both_token_programs(|| {
            let (mut fixture, deal) = accepted();
            fixture.freeze(&deal.buyer_token_account);
            fixture.freeze(&deal.seller_token_account);
            fixture.claims_and_is_paid(&deal, 0);
            let vault = fixture.balance(&deal.escrow_vault);
            let call = with(&fixture, &deal, |_| {});
            let outcome = fixture.run(&call);
            outcome.succeeds();
            // Half of 2,000,100 is paid; the fee on 1,999,949 is 9,999, including 4,999 due before.
            let to_buyer = 1_000_050 + 62_500;
            let to_seller = 1_000_050 - 5_000 + 187_500;
            assert!(outcome.events().ends_with(&[
                fixture.recorded_event(&deal, BUYER, to_buyer),
                fixture.recorded_event(&deal, SELLER, to_seller),
            ]));
            let negotiation = fixture.negotiation(&deal);
            assert_eq!(
                (negotiation.claimable_buyer, negotiation.claimable_seller),
                (to_buyer, 994_900 + to_seller)
            );
            assert_eq!(fixture.balance(&deal.escrow_vault), vault);
            fixture.thaw(&deal.buyer_token_account);
            fixture.thaw(&deal.seller_token_account);
            let [buyer, seller] = [deal.buyer_token_account, deal.seller_token_account]
                .map(|account| fixture.balance(&account));
            let call = fixture.close(&deal, STRANGER);
            fixture.run(&call).succeeds();
            assert_eq!(fixture.balance(&deal.buyer_token_account), buyer + to_buyer);
            assert_eq!(
                fixture.balance(&deal.seller_token_account),
                seller + 994_900 + to_seller
            );
            let config = fixture.protocol_config();
            assert_eq!({ config.total_settled_volume }, 1_999_949);
            assert_eq!({ config.total_fees_collected }, 9_999);
        });
    }

    #[test]
    fn the_largest_amounts_are_divided_exactly() {
        const HALF: u64 = u64::MAX / 2;
        for bps in [0, 1, 3_333, 9_999, 10_000] {
            let mut terms = Fixture::milestone_terms(&THIRDS);
            terms.escrow_amount = HALF;
            terms.bond_required = HALF;
            terms.decay_rate_bps = 0;
            let (mut fixture, deal) = Fixture::accepted_with(&terms, HALF);
            let call = with(&fixture, &deal, |args| {
                args.seller_bps = bps;
                args.bond_to_buyer_bps = bps;
            });
            fixture.run(&call).succeeds();
            let share = part(HALF, bps);
            let fee = share / 200;
            assert_eq!(fixture.balance(&deal.buyer_token_account), HALF);
            assert_eq!(fixture.balance(&deal.seller_token_account), HALF - fee);
            assert_eq!(fixture.balance(&deal.escrow_vault), fee);
        }
    }
}
