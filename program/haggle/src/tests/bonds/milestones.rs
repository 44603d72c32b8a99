//! Bonds with milestones: the buyer's refund forfeits the same share of the bond.

use super::{assert_split, bond_events};
use crate::constants::MIN_OFFER_BPS_FLOOR;
use crate::state::{BondReason, BondState};
use crate::tests::fixture::{
    under_both_token_programs, Deal, Fixture, Outcome, ARBITRATION, BOND, BUYER,
    MILESTONE_DEADLINE, PRICE, SELLER, STRANGER, THIRDS,
};

/// A milestone's end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    /// The buyer releases it.
    Released,
    /// The arbiter gives the seller this share, in basis points.
    Divided(u16),
    /// It is under review when the deadline passes. At most one.
    UnderReview,
    /// It is disputed, and the arbiter does not decide.
    Undecided,
    /// The seller does not claim it.
    Unclaimed,
}
use End::{Divided, Released, Unclaimed, Undecided, UnderReview};

/// Brings each milestone to the given end, settles the negotiation, and returns the outcome of the last call.
fn settle(fixture: &mut Fixture, deal: &Deal, ends: &[End]) -> Outcome {
    let mut last = None;
    for (index, end) in (0u8..).zip(ends) {
        match end {
            Released => {
                fixture.claims(deal, index);
                last = Some(fixture.release(deal, BUYER, index));
            }
            Divided(seller_bps) => {
                fixture.claims_and_disputes(deal, index);
                last = Some(fixture.resolve(deal, index, *seller_bps));
            }
            Undecided => fixture.claims_and_disputes(deal, index),
            UnderReview | Unclaimed => continue,
        }
        if let Some(call) = last.take() {
            // The last decision can give the buyer a part of the bond.
            let call = if call.row.name == "release_milestone" {
                call.given("buyer_token_account", deal.buyer_token_account)
            } else {
                call
            };
            let outcome = fixture.run(&call);
            outcome.succeeds();
            if fixture.negotiation(deal).is_over() {
                return outcome;
            }
        }
    }
    if let Some(index) = ends.iter().position(|end| *end == UnderReview) {
        fixture.claims(deal, index as u8);
    }
    fixture.now = MILESTONE_DEADLINE + ARBITRATION;
    let call = fixture.settle_deadline(deal);
    let outcome = fixture.run(&call);
    outcome.succeeds();
    outcome
}

/// Settles the price in these tranches with this bond, and requires that the buyer gets `forfeited`.
fn assert_forfeits(shares: &[u16], bond: u64, ends: &[End], forfeited: u64) {
    let mut terms = Fixture::milestone_terms(shares);
    terms.bond_required = bond;
    let (mut fixture, deal) = Fixture::accepted_with(&terms, PRICE);
    let [buyer, seller] = [deal.buyer_token_account, deal.seller_token_account]
        .map(|account| fixture.balance(&account));
    println!("{bond}: {ends:?}");
    let outcome = settle(&mut fixture, &deal, ends);
    let parts = [forfeited, bond - forfeited];
    let state = match parts {
        [0, 0] => BondState::None,
        [0, _] => BondState::Returned,
        [_, 0] => BondState::Forfeited,
        _ => BondState::Split,
    };
    assert_split(
        &fixture,
        &deal,
        &outcome,
        state,
        parts,
        BondReason::Settlement,
    );
    let paid = fixture.negotiation(&deal).paid_gross;
    let fee = paid / 200;
    assert_eq!(
        fixture.balance(&deal.buyer_token_account),
        buyer + PRICE - paid + parts[0]
    );
    assert_eq!(
        fixture.balance(&deal.seller_token_account),
        seller + paid - fee + parts[1]
    );
    assert_eq!(fixture.balance(&deal.escrow_vault), 100_000 + fee);
}

#[test]
fn the_buyers_refund_forfeits_the_same_share_of_the_bond() {
    // 2,999,999 splits into the tranches 999,899, 999,900 and 1,000,200.
    let cases: [(&[End], u64); 13] = [
        (&[Released; 3], 0),
        (&[Divided(10_000); 3], 0),
        (&[Divided(0), Released, Released], 83_327),
        (&[Divided(3_333), Released, Released], 55_554),
        (&[Released, Released, Divided(9_999)], 8),
        (&[Divided(0); 3], 250_007),
        (&[Unclaimed; 3], 250_007),
        (&[Released, Unclaimed, Released], 83_327),
        (&[Released, Unclaimed, UnderReview], 83_327),
        // A dispute that the arbiter does not decide costs none of the bond.
        (&[Undecided; 3], 0),
        (&[Undecided, Undecided, Unclaimed], 83_352),
        (&[Undecided, Unclaimed, Divided(5_000)], 125_003),
        (&[UnderReview, Unclaimed, Undecided], 83_327),
    ];
    under_both_token_programs(|| {
        for (ends, forfeited) in cases {
            assert_forfeits(&THIRDS, 250_007, ends, forfeited);
        }
    });
}

#[test]
fn the_forfeited_share_is_rounded_down() {
    // 2,999,999 splits into the tranches 2,999,699 and 300.
    let cases: [(u64, [End; 2], u64); 6] = [
        (0, [Released, Unclaimed], 0),
        (1, [Unclaimed, Released], 0),
        (1, [Unclaimed, Unclaimed], 1),
        (2, [Unclaimed, Released], 1),
        (9_999, [Released, Unclaimed], 0),
        (10_000, [Released, Unclaimed], 1),
    ];
    under_both_token_programs(|| {
        for (bond, ends, forfeited) in cases {
            assert_forfeits(&[9_999, 1], bond, &ends, forfeited);
        }
    });
}

#[test]
fn the_forfeited_share_is_exact_for_the_largest_amounts() {
    const HALF: u64 = u64::MAX / 2;
    under_both_token_programs(|| {
        for (escrow, bond) in [
            (HALF, HALF + 1),
            (1 << 62, 1 << 62),
            (u64::MAX - 3, 3),
            (100_000, u64::MAX - 100_000),
        ] {
            for seller_bps in [0, 1, 3_333, 9_999, 10_000] {
                let mut terms = Fixture::milestone_terms(&[10_000]);
                terms.escrow_amount = escrow;
                terms.bond_required = bond;
                terms.decay_rate_bps = 0;
                let (mut fixture, deal) = Fixture::accepted_with(&terms, escrow);
                fixture.set_balance(&deal.buyer_token_account, 0);
                fixture.claims_and_disputes(&deal, 0);
                let call = fixture.resolve(&deal, 0, seller_bps);
                fixture.run(&call).succeeds();
                let paid = fixture.negotiation(&deal).paid_gross;
                let refund = escrow - paid;
                let forfeited = u128::from(bond) * u128::from(refund) / u128::from(escrow);
                let balance = u128::from(fixture.balance(&deal.buyer_token_account));
                assert_eq!(balance, u128::from(refund) + forfeited);
            }
        }
    });
}

#[test]
fn the_arbiters_share_decides_the_bond() {
    under_both_token_programs(|| {
        for (seller_bps, state, parts) in [
            (10_000, BondState::Returned, [0, BOND]),
            (5_000, BondState::Split, [125_000, 125_000]),
            (0, BondState::Forfeited, [BOND, 0]),
        ] {
            let (mut fixture, deal) = Fixture::accepted(&[10_000]);
            fixture.claims_and_disputes(&deal, 0);
            let call = fixture.resolve(&deal, 0, seller_bps);
            let outcome = fixture.run(&call);
            outcome.succeeds();
            assert_split(
                &fixture,
                &deal,
                &outcome,
                state,
                parts,
                BondReason::Settlement,
            );
            assert_eq!(outcome.events().len(), 2 + bond_events(&outcome).len());
        }
    });
}

#[test]
fn a_tranche_of_nothing_costs_none_of_the_bond() {
    under_both_token_programs(|| {
        let mut terms = Fixture::milestone_terms(&[1, 9_999]);
        terms.escrow_amount = 100_000;
        terms.min_offer_bps = MIN_OFFER_BPS_FLOOR;
        let (mut fixture, deal) = Fixture::accepted_with(&terms, 980);
        fixture.claims_and_disputes(&deal, 0);
        let call = fixture.resolve(&deal, 0, 0);
        fixture.run(&call).succeeds();
        fixture.claims(&deal, 1);
        let release = fixture.release(&deal, BUYER, 1);
        let outcome = fixture.run(&release);
        outcome.succeeds();
        assert_split(
            &fixture,
            &deal,
            &outcome,
            BondState::Returned,
            [0, BOND],
            BondReason::Settlement,
        );
    });
}

#[test]
fn without_a_bond_a_decision_moves_none() {
    under_both_token_programs(|| {
        let mut terms = Fixture::milestone_terms(&THIRDS);
        terms.bond_required = 0;
        let (mut fixture, deal) = Fixture::accepted_with(&terms, PRICE);
        fixture.claims_and_disputes(&deal, 0);
        let call = fixture.resolve(&deal, 0, 0);
        let outcome = fixture.run(&call);
        outcome.succeeds();
        assert_split(
            &fixture,
            &deal,
            &outcome,
            BondState::None,
            [0, 0],
            BondReason::Settlement,
        );
    });
}

#[test]
fn a_split_bond_is_recorded_with_the_payments() {
    under_both_token_programs(|| {
        let (mut fixture, deal) = Fixture::accepted(&THIRDS);
        fixture.freeze(&deal.buyer_token_account);
        fixture.freeze(&deal.seller_token_account);
        let vault = fixture.balance(&deal.escrow_vault);
        let outcome = settle(&mut fixture, &deal, &[Released, Unclaimed, Undecided]);
        // 999,900 of the price is unclaimed and costs 83,325 of the bond.
        let to_buyer = 999_900 + 500_100 + 83_325;
        let to_seller = (999_899 - 4_999) + (500_100 - 2_500) + (BOND - 83_325);
        let last = to_seller - 994_900;
        assert!(outcome.events().ends_with(&[
            fixture.bond_event(&deal, BUYER, 83_325, BondReason::Settlement),
            fixture.bond_event(&deal, SELLER, BOND - 83_325, BondReason::Settlement),
            fixture.recorded_event(&deal, BUYER, to_buyer),
            fixture.recorded_event(&deal, SELLER, last),
        ]));
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
            seller + to_seller
        );
    });
}
