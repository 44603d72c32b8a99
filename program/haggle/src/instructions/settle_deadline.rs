//! The milestones' deadline has passed, and the negotiation settles.

use crate::error::{HaggleError, Result};
use crate::escrow::{Delivery, Division, Recipient, Vault};
use crate::event::DeadlineSettled;
use crate::runtime::sysvar;
use crate::schema::account::State;
use crate::schema::instruction::instruction;
use crate::settlement::{settle, Paid};
use crate::state::{BondReason, Negotiation, NegotiationStatus};
use crate::token::kinds::{Buyer, EscrowMint, Seller, TokenProgram};
use pinocchio::AccountView;

instruction! {
    /// Decides the undecided milestones after their deadline, or after the arbiter's time if a dispute is
    /// open: claimed and undisputed ones are paid, disputed ones split in half, the odd unit to the buyer,
    /// and unclaimed ones refunded. The seller gets back the bond, less the fraction that equals the fraction
    /// of the price that the buyer gets back for unclaimed milestones and by the arbiter's decisions. Anyone
    /// can send it.
    pub fn settle_deadline();
    accounts<'a> {
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
        result: "settled at the deadline",
        actors: &[],
        guards: &[Guard::CreatedAt, Guard::Stage],
        idempotency: Idempotency::Random,
        deadlines: &[],
        payments: &[
            to_buyer(Money::Refund),
            to_seller(Money::Price),
            to_buyer(Money::Bond),
            to_seller(Money::Bond),
        ],
        events: &["DeadlineSettled", "NegotiationSettled", "BondSettled", "PayoutRecorded"],
    }
}

/// Settles the negotiation.
///
/// # Errors
/// InvalidState without undecided milestones, and while the seller can still claim one or the arbiter decide
/// one.
#[inline(never)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> Result {
    let (_, accounts) = load(accounts, data)?;
    let mut negotiation = accounts.negotiation;

    let now = sysvar::now()?;
    let released = negotiation.milestone_under_review();
    let split = negotiation.open_disputes();
    let all = negotiation.all_milestones();
    let refunded = all & !negotiation.milestones_claimed;
    let deadline = if split == 0 {
        negotiation.milestone_deadline
    } else {
        negotiation.arbitration_deadline()
    };
    if negotiation.status != NegotiationStatus::Accepted || now < deadline {
        return Err(HaggleError::InvalidState.into());
    }

    let owed = negotiation.owed()?;
    let undecided = negotiation.undecided()?;
    let (for_seller, for_buyer) = negotiation.halves_of(split);
    let gross = negotiation
        .sum_of(released)
        .checked_add(for_seller)
        .ok_or(HaggleError::Overflow)?;
    negotiation.milestones_decided = all;
    let paid = Paid::count(&mut negotiation, gross)?;
    let division = Division {
        buyer: undecided.checked_sub(gross).ok_or(HaggleError::Overflow)?,
        seller: paid.net,
    };
    DeadlineSettled {
        negotiation_id: *negotiation.address(),
        released,
        split,
        refunded,
        seller_amount: division.seller,
        fee: paid.fee,
        buyer_amount: division.buyer,
        timestamp: now,
    }
    .emit();
    let forfeited = negotiation.forfeited_share(for_buyer)?;
    let bond = settle(&mut negotiation, forfeited, BondReason::Settlement, now)?;
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
    use crate::state::BondState;
    use crate::tests::fixture::ARBITRATION;
    use crate::tests::fixture::{
        assert_negotiation, event, Deal, Fixture, BOND, BUYER, ESCROW, FUNDS, MILESTONE_DEADLINE,
        NOW, PRICE, REVIEW, SELLER, THIRDS,
    };
    use std::collections::BTreeSet;

    /// A milestone's state at the deadline.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
    enum Tranche {
        Unclaimed,
        UnderReview,
        Disputed,
        Released,
        Divided,
    }

    const TRANCHES: [Tranche; 5] = [
        Tranche::Unclaimed,
        Tranche::UnderReview,
        Tranche::Disputed,
        Tranche::Released,
        Tranche::Divided,
    ];

    /// The seller's share when a milestone is divided.
    const ARBITERS: u16 = 3_333;
    /// The buyer's balance after the agreement.
    const BUYER_HAS: u64 = FUNDS - ESCROW + 4_900_000 - PRICE;
    /// A single round's decay.
    const DECAY: u64 = 100_000;
    const SHARES_OF_EIGHT: [u16; 8] = [1_249, 1_251, 1, 3_333, 777, 1_111, 2_277, 1];

    /// Brings a milestone to this state. The one under review comes last, because no other can be claimed
    /// then.
    fn bring(fixture: &mut Fixture, deal: &Deal, index: u8, tranche: Tranche) {
        match tranche {
            Tranche::Unclaimed => {}
            Tranche::UnderReview => fixture.claims(deal, index),
            Tranche::Disputed => fixture.claims_and_disputes(deal, index),
            Tranche::Released => fixture.claims_and_is_paid(deal, index),
            Tranche::Divided => {
                fixture.claims_and_disputes(deal, index);
                let call = fixture.resolve(deal, index, ARBITERS);
                fixture.run(&call).succeeds();
            }
        }
    }

    /// Settles, and requires the amounts that follow from the design, computed in 128 bits.
    fn assert_settles(mut fixture: Fixture, deal: &Deal, shares: &[u16], tranches: &[Tranche]) {
        let price_of = |count: usize| {
            let share: u128 = shares[..count].iter().map(|share| u128::from(*share)).sum();
            u128::from(PRICE) * share / 10_000
        };
        // The seller's gross amounts before and now, the buyer's halves of disputes, the buyer's remaining
        // refunds before and now.
        let [mut before, mut now, mut halves, mut earlier_refund, mut refund] = [0; 5];
        let [mut released, mut split, mut refunded] = [0u8; 3];
        for (index, tranche) in tranches.iter().enumerate() {
            let amount = price_of(index + 1) - price_of(index);
            let bit = 1 << index;
            match tranche {
                Tranche::Unclaimed => {
                    refunded |= bit;
                    refund += amount;
                }
                Tranche::UnderReview => {
                    released |= bit;
                    now += amount;
                }
                Tranche::Disputed => {
                    split |= bit;
                    now += amount / 2;
                    halves += amount - amount / 2;
                }
                Tranche::Released => before += amount,
                Tranche::Divided => {
                    let sellers = amount * u128::from(ARBITERS) / 10_000;
                    before += sellers;
                    earlier_refund += amount - sellers;
                }
            }
        }
        let fee_on = |gross: u128| (gross * 50 / 10_000) as u64;
        let gross = (before + now) as u64;
        let fee = fee_on(before + now) - fee_on(before);
        let back = (refund + halves) as u64;
        let forfeited = (u128::from(BOND) * (refund + earlier_refund) / u128::from(PRICE)) as u64;
        let returned = BOND - forfeited;

        let first = MILESTONE_DEADLINE + if split == 0 { 0 } else { ARBITRATION };
        let call = fixture.settle_deadline(deal);
        fixture
            .at(first - 1)
            .refuses(&call, HaggleError::InvalidState);
        fixture.now = first;
        let earlier = fixture.negotiation(deal);
        let outcome = fixture.run(&call);
        let mut events = vec![
            event(
                DeadlineSettled::RECORD,
                &DeadlineSettled {
                    negotiation_id: deal.negotiation,
                    released,
                    split,
                    refunded,
                    seller_amount: now as u64 - fee,
                    fee,
                    buyer_amount: back,
                    timestamp: first,
                },
            ),
            fixture.settled_event(deal, gross, fee_on(before + now)),
        ];
        for (party, part) in [(BUYER, forfeited), (SELLER, returned)] {
            if part > 0 {
                events.push(fixture.bond_event(deal, party, part, BondReason::Settlement));
            }
        }
        outcome.succeeds().emitted(&events);
        assert_negotiation(
            &fixture.negotiation(deal),
            &Negotiation {
                status: NegotiationStatus::Settled,
                settled_at: first,
                bond_state: match (forfeited, returned) {
                    (0, _) => BondState::Returned,
                    (_, 0) => BondState::Forfeited,
                    _ => BondState::Split,
                },
                milestones_decided: earlier.all_milestones(),
                paid_gross: gross,
                ..earlier
            },
        );
        assert_eq!(
            fixture.balance(&deal.seller_token_account),
            gross - fee_on(before + now) + returned
        );
        assert_eq!(
            fixture.balance(&deal.buyer_token_account),
            BUYER_HAS + PRICE - gross + forfeited
        );
        assert_eq!(
            fixture.balance(&deal.escrow_vault),
            DECAY + fee_on(before + now)
        );
        fixture.refuses(&call, HaggleError::InvalidState);
    }

    /// Settles every combination of states of the remaining milestones, and returns their number.
    fn each_combination(
        fixture: &Fixture,
        deal: &Deal,
        shares: &[u16],
        tranches: &mut Vec<Tranche>,
    ) -> usize {
        if tranches.len() == shares.len() {
            let mut fixture = fixture.clone();
            let under_review = |tranche: &Tranche| *tranche == Tranche::UnderReview;
            if let Some(index) = tranches.iter().position(under_review) {
                fixture.claims(deal, index as u8);
            }
            if fixture.negotiation(deal).is_decided() {
                return 0;
            }
            assert_settles(fixture, deal, shares, tranches);
            return 1;
        }
        let mut combinations = 0;
        for tranche in TRANCHES {
            let mut fixture = fixture.clone();
            if tranche == Tranche::UnderReview {
                if tranches.contains(&tranche) {
                    continue;
                }
            } else {
                bring(&mut fixture, deal, tranches.len() as u8, tranche);
            }
            tranches.push(tranche);
            combinations += each_combination(&fixture, deal, shares, tranches);
            tranches.pop();
        }
        combinations
    }

    #[test]
    fn milestones_are_settled_in_every_combination() {
        // Four states each, and one milestone under review or none. Fully decided
        // combinations are left out.
        for (shares, combinations) in [
            (&[10_000][..], 5 - 2),
            (&[3_333, 6_667], 24 - 4),
            (&[1, 4_999, 5_000], 112 - 8),
            (&[2_501, 2_499, 3_333, 1_667], 512 - 16),
        ] {
            let (fixture, deal) = Fixture::accepted(shares);
            assert_eq!(
                each_combination(&fixture, &deal, shares, &mut Vec::new()),
                combinations
            );
        }
    }

    #[test]
    fn eight_milestones_are_settled_in_every_pair_of_states() {
        let (accepted, deal) = Fixture::accepted(&SHARES_OF_EIGHT);
        let mut seen = BTreeSet::new();
        for number in 0..320u64 {
            // Knuth's linear congruential generator, whose high digits are random enough.
            let mut digits = (number + 1).wrapping_mul(6_364_136_223_846_793_005);
            let mut tranches = [Tranche::Unclaimed; 8];
            for tranche in &mut tranches {
                digits = digits
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                *tranche = [
                    Tranche::Unclaimed,
                    Tranche::Disputed,
                    Tranche::Released,
                    Tranche::Divided,
                ][(digits >> 62) as usize];
            }
            // One in nine has none under review.
            let slot = (number % 9) as usize;
            if slot < 8 {
                tranches[slot] = Tranche::UnderReview;
            }
            let mut fixture = accepted.clone();
            for index in [5, 2, 7, 0, 3, 6, 1, 4] {
                if index != slot {
                    bring(&mut fixture, &deal, index as u8, tranches[index]);
                }
            }
            if slot < 8 {
                fixture.claims(&deal, slot as u8);
            }
            if fixture.negotiation(&deal).is_decided() {
                continue;
            }
            for index in 0..8 {
                for other in 0..8 {
                    seen.insert((index, tranches[index], other, tranches[other]));
                }
            }
            assert_settles(fixture, &deal, &SHARES_OF_EIGHT, &tranches);
        }
        // Each pair of milestones was in each pair of states, except two under review.
        assert_eq!(seen.len(), 8 * 5 + 8 * 7 * (5 * 5 - 1));
    }

    #[test]
    fn a_dispute_is_either_decided_or_settled_at_every_second() {
        let (unclaimed, deal) = Fixture::accepted(&THIRDS);
        let mut disputed = unclaimed.clone();
        disputed.claims_and_disputes(&deal, 0);
        let seconds = [
            NOW,
            MILESTONE_DEADLINE - REVIEW,
            MILESTONE_DEADLINE - 1,
            MILESTONE_DEADLINE,
            MILESTONE_DEADLINE + 1,
            MILESTONE_DEADLINE + ARBITRATION - 1,
            MILESTONE_DEADLINE + ARBITRATION,
            MILESTONE_DEADLINE + ARBITRATION + 1,
            i64::MAX,
        ];
        for now in seconds {
            let settle = disputed.settle_deadline(&deal);
            let resolve = disputed.resolve(&deal, 0, 5_000);
            let resolved = disputed.at(now).run(&resolve).error_code();
            let settled = disputed.at(now).run(&settle).error_code();
            if now < MILESTONE_DEADLINE + ARBITRATION {
                assert_eq!((resolved, settled), (None, Some(6000)));
            } else {
                assert_eq!((resolved, settled), (Some(6003), None));
            }
            // If no dispute is open, the milestones' own deadline counts.
            let mut resolved = disputed.clone();
            resolved.run(&resolve).succeeds();
            for fixture in [&unclaimed, &resolved] {
                let settled = fixture.at(now).run(&settle).error_code();
                let expected = (now < MILESTONE_DEADLINE).then_some(6000);
                assert_eq!(settled, expected);
            }
        }
    }

    #[test]
    fn a_claim_in_the_last_second_has_its_whole_review() {
        let (mut fixture, deal) = Fixture::accepted(&THIRDS);
        fixture.now = MILESTONE_DEADLINE - REVIEW;
        fixture.claims(&deal, 0);
        let settle = fixture.settle_deadline(&deal);
        let dispute = fixture.dispute(&deal, 0);
        fixture
            .at(MILESTONE_DEADLINE - 1)
            .refuses(&settle, HaggleError::InvalidState);
        fixture.at(MILESTONE_DEADLINE - 1).run(&dispute).succeeds();
        fixture
            .at(MILESTONE_DEADLINE)
            .refuses(&dispute, HaggleError::ResponseWindowExpired);
        fixture.at(MILESTONE_DEADLINE).run(&settle).succeeds();
    }

    #[test]
    fn only_an_accepted_negotiation_is_settled() {
        let terms = Fixture::milestone_terms(&THIRDS);
        let (offered, deal) = Fixture::offered_with(&terms, PRICE);
        let (created, _) = Fixture::created_with(&terms);
        let mut expired = offered.clone();
        expired.now = NOW + 300;
        let call = expired
            .expire(&deal)
            .given("seller_token_account", deal.seller_token_account);
        expired.run(&call).succeeds();
        let settled = Fixture::settled().0;
        for fixture in [created, offered, expired, settled, Fixture::offered().0] {
            for now in [
                i64::MIN,
                NOW,
                MILESTONE_DEADLINE,
                MILESTONE_DEADLINE + ARBITRATION,
                i64::MAX,
            ] {
                let call = fixture.settle_deadline(&deal);
                fixture.at(now).refuses(&call, HaggleError::InvalidState);
            }
        }
    }
}
