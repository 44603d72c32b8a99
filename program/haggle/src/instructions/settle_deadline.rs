//! The time for milestones has passed.

use crate::error::HaggleError;
use crate::escrow::{Authority, Division, Recipient, Vault};
use crate::event::DeadlineSettled;
use crate::schema::declare::instruction;
use crate::schema::table::Meta;
use crate::settlement::{settle, Paid};
use crate::state::{Negotiation, NegotiationStatus};
use crate::{runtime::programs, runtime::sysvar, schema::check};
use pinocchio::error::ProgramResult;
use pinocchio::AccountView;

instruction! {
    /// Decides what is left of the milestones once their deadline has passed, or, with an open dispute, a review window later:
    /// those that were claimed and not disputed are paid, disputed ones are split in half, the odd unit to the buyer, and
    /// those that nobody claimed go back to the buyer. Anyone may.
    pub fn settle_deadline();
    accounts {
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
        token_program: Meta::READ.one_of(programs::TOKENS),
    }
}

/// Settles the negotiation.
///
/// # Errors
/// InvalidState without undecided milestones, and as long as anyone may still decide one.
#[inline(always)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> ProgramResult {
    Args::decode(data)?;
    let accounts = Accounts::load(accounts)?;
    let id = *accounts.negotiation.address();
    let mut view = accounts.negotiation;
    // SAFETY: `load` has checked the account; the reference is done with before the token program is called.
    let negotiation = unsafe { Negotiation::of(&mut view) };
    let vault = Vault::of(
        &accounts.negotiation,
        negotiation,
        &accounts.escrow_vault,
        &accounts.token_mint,
    )?;
    let currency = vault.currency();
    let to_buyer = Recipient::of(&accounts.buyer_token_account, &currency, &negotiation.buyer)?;
    let to_seller = Recipient::of(
        &accounts.seller_token_account,
        &currency,
        &negotiation.seller,
    )?;
    accounts.check_programs()?;
    check::token_program(&accounts.token_program, &accounts.token_mint)?;

    let now = sysvar::now()?;
    let released = negotiation.milestone_under_review();
    let split = negotiation.open_disputes();
    let refunded = negotiation.all_milestones() & !negotiation.milestones_claimed;
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
    let mut rest = undecided;
    let mut gross = 0u64;
    for index in 0..negotiation.milestone_count {
        let bit = negotiation.milestone_bit(index)?;
        if negotiation.milestones_decided & bit != 0 {
            continue;
        }
        let tranche = negotiation.decide_of(index, &mut rest)?;
        let part = if released & bit != 0 {
            tranche
        } else if split & bit != 0 {
            tranche / 2
        } else {
            0
        };
        gross = gross.checked_add(part).ok_or(HaggleError::Overflow)?;
    }
    let paid = Paid::count(negotiation, gross)?;
    let division = Division {
        buyer: undecided.checked_sub(gross).ok_or(HaggleError::Overflow)?,
        seller: paid.net,
    };
    DeadlineSettled {
        negotiation_id: id,
        released,
        split,
        refunded,
        seller_amount: division.seller,
        fee: paid.fee,
        buyer_amount: division.buyer,
        timestamp: now,
    }
    .emit();
    let bond = settle(&id, negotiation, now)?;
    let payments =
        division
            .with(bond)?
            .deliver(owed, &vault, negotiation, to_buyer, to_seller, now)?;
    let authority = Authority::of(negotiation);
    vault.pay(payments, &authority)
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use crate::schema::declare::Flag;
    use crate::state::BondState;
    use crate::tests::stage::{
        assert_negotiation, associated, event, Deal, Stage, BOND, BUYER, ESCROW, FUNDS,
        MILESTONE_DEADLINE, MINT, NOW, PRICE, REVIEW, SELLER, THIRDS,
    };
    use std::collections::BTreeSet;

    /// How far a milestone is when its time has passed.
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

    /// What the arbiter gives the seller of a divided one.
    const ARBITERS: u16 = 3_333;
    /// What the buyer has after the agreement.
    const BUYER_HAS: u64 = FUNDS - ESCROW + 4_900_000 - PRICE;
    /// What the escrow has lost.
    const DECAY: u64 = 100_000;
    const SHARES_OF_EIGHT: [u16; 8] = [1_249, 1_251, 1, 3_333, 777, 1_111, 2_277, 1];

    /// Brings milestones so far. The one under review is claimed last, as it keeps the others from being claimed.
    fn bring(stage: &mut Stage, deal: &Deal, index: u8, tranche: Tranche) {
        match tranche {
            Tranche::Unclaimed => {}
            Tranche::UnderReview => stage.claims(deal, index),
            Tranche::Disputed => stage.claims_and_disputes(deal, index),
            Tranche::Released => stage.claims_and_is_paid(deal, index),
            Tranche::Divided => {
                stage.claims_and_disputes(deal, index);
                let call = stage.resolve(deal, index, ARBITERS, Flag::OFF);
                stage.run(&call).succeeds();
            }
        }
    }

    /// Settles and compares with what a reader of the design works out with wider numbers.
    fn settles_as_it_should(mut stage: Stage, deal: &Deal, shares: &[u16], tranches: &[Tranche]) {
        let undecided = |tranche: &Tranche| {
            matches!(
                tranche,
                Tranche::Unclaimed | Tranche::UnderReview | Tranche::Disputed
            )
        };
        let floor = |index: usize| u128::from(PRICE) * u128::from(shares[index]) / 10_000;
        let last = tranches.iter().rposition(undecided).unwrap();
        let [mut before, mut now] = [0, 0];
        let [mut released, mut split, mut refunded] = [0u8; 3];
        for (index, tranche) in tranches.iter().enumerate() {
            let amount = if index == last {
                let others: u128 = (0..tranches.len())
                    .filter(|at| *at != last)
                    .map(floor)
                    .sum();
                u128::from(PRICE) - others
            } else {
                floor(index)
            };
            let bit = 1 << index;
            match tranche {
                Tranche::Unclaimed => refunded |= bit,
                Tranche::UnderReview => {
                    released |= bit;
                    now += amount;
                }
                Tranche::Disputed => {
                    split |= bit;
                    now += amount / 2;
                }
                Tranche::Released => before += amount,
                Tranche::Divided => before += amount * u128::from(ARBITERS) / 10_000,
            }
        }
        let fee_on = |gross: u128| (gross * 50 / 10_000) as u64;
        let gross = (before + now) as u64;
        let fee = fee_on(before + now) - fee_on(before);
        let decided_before: u128 = (0..tranches.len())
            .filter(|index| !undecided(&tranches[*index]))
            .map(floor)
            .sum();
        let back = PRICE - decided_before as u64 - now as u64;

        let first = MILESTONE_DEADLINE + if split == 0 { 0 } else { REVIEW };
        let call = stage.settle_deadline(deal);
        stage
            .at(first - 1)
            .refuses(&call, HaggleError::InvalidState);
        stage.now = first;
        let earlier = stage.negotiation(deal);
        let outcome = stage.run(&call);
        outcome.succeeds().emitted(&[
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
            stage.settled_event(deal, gross, fee_on(before + now)),
            stage.bond_event(deal, SELLER, BOND),
        ]);
        assert_negotiation(
            &stage.negotiation(deal),
            &Negotiation {
                status: NegotiationStatus::Settled,
                settled_at: first,
                bond_state: BondState::Returned,
                milestones_decided: earlier.all_milestones(),
                paid_gross: gross,
                ..earlier
            },
        );
        assert_eq!(
            stage.balance(&deal.seller_token_account),
            gross - fee_on(before + now) + BOND
        );
        assert_eq!(
            stage.balance(&deal.buyer_token_account),
            BUYER_HAS + PRICE - gross
        );
        assert_eq!(
            stage.balance(&deal.escrow_vault),
            DECAY + fee_on(before + now)
        );
        stage.refuses(&call, HaggleError::InvalidState);
    }

    /// Every way in which the milestones from the next one on can stand.
    fn each_combination(
        stage: &Stage,
        deal: &Deal,
        shares: &[u16],
        tranches: &mut Vec<Tranche>,
    ) -> usize {
        if tranches.len() == shares.len() {
            let mut stage = stage.clone();
            let under_review = |tranche: &Tranche| *tranche == Tranche::UnderReview;
            if let Some(index) = tranches.iter().position(under_review) {
                stage.claims(deal, index as u8);
            }
            if stage.negotiation(deal).is_decided() {
                return 0;
            }
            settles_as_it_should(stage, deal, shares, tranches);
            return 1;
        }
        let mut combinations = 0;
        for tranche in TRANCHES {
            let mut stage = stage.clone();
            if tranche == Tranche::UnderReview {
                if tranches.contains(&tranche) {
                    continue;
                }
            } else {
                bring(&mut stage, deal, tranches.len() as u8, tranche);
            }
            tranches.push(tranche);
            combinations += each_combination(&stage, deal, shares, tranches);
            tranches.pop();
        }
        combinations
    }

    #[test]
    fn milestones_are_settled_in_every_combination() {
        // Four states each, with one of them under review or none; those in which everything is decided are left out.
        for (shares, combinations) in [
            (&[10_000][..], 5 - 2),
            (&[3_333, 6_667], 24 - 4),
            (&[1, 4_999, 5_000], 112 - 8),
            (&[2_501, 2_499, 3_333, 1_667], 512 - 16),
        ] {
            let (stage, deal) = Stage::accepted(shares);
            assert_eq!(
                each_combination(&stage, &deal, shares, &mut Vec::new()),
                combinations
            );
        }
    }

    #[test]
    fn all_eight_milestones_are_settled_however_they_stand() {
        let (accepted, deal) = Stage::accepted(&SHARES_OF_EIGHT);
        let mut seen = BTreeSet::new();
        for number in 0..320u64 {
            // A generator of Knuth's: the high digits of its numbers are as good as random.
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
            let mut stage = accepted.clone();
            for index in [5, 2, 7, 0, 3, 6, 1, 4] {
                if index != slot {
                    bring(&mut stage, &deal, index as u8, tranches[index]);
                }
            }
            if slot < 8 {
                stage.claims(&deal, slot as u8);
            }
            if stage.negotiation(&deal).is_decided() {
                continue;
            }
            for index in 0..8 {
                for other in 0..8 {
                    seen.insert((index, tranches[index], other, tranches[other]));
                }
            }
            settles_as_it_should(stage, &deal, &SHARES_OF_EIGHT, &tranches);
        }
        // Each pair of milestones has stood in each pair of states, but for two under review at once.
        assert_eq!(seen.len(), 8 * 5 + 8 * 7 * (5 * 5 - 1));
    }

    #[test]
    fn at_every_second_it_is_either_decided_or_settled() {
        let (unclaimed, deal) = Stage::accepted(&THIRDS);
        let mut disputed = unclaimed.clone();
        disputed.claims_and_disputes(&deal, 0);
        let seconds = [
            NOW,
            MILESTONE_DEADLINE - REVIEW,
            MILESTONE_DEADLINE - 1,
            MILESTONE_DEADLINE,
            MILESTONE_DEADLINE + 1,
            MILESTONE_DEADLINE + REVIEW - 1,
            MILESTONE_DEADLINE + REVIEW,
            MILESTONE_DEADLINE + REVIEW + 1,
            i64::MAX,
        ];
        for now in seconds {
            let settle = disputed.settle_deadline(&deal);
            let resolve = disputed.resolve(&deal, 0, 5_000, Flag::OFF);
            let resolved = disputed.at(now).run(&resolve).error_code();
            let settled = disputed.at(now).run(&settle).error_code();
            if now < MILESTONE_DEADLINE + REVIEW {
                assert_eq!((resolved, settled), (None, Some(6000)));
            } else {
                assert_eq!((resolved, settled), (Some(6003), None));
            }
            // Once nothing is disputed any more, the milestones' own deadline counts.
            let mut resolved = disputed.clone();
            resolved.run(&resolve).succeeds();
            for stage in [&unclaimed, &resolved] {
                let settled = stage.at(now).run(&settle).error_code();
                let expected = (now < MILESTONE_DEADLINE).then_some(6000);
                assert_eq!(settled, expected);
            }
        }
    }

    #[test]
    fn a_claim_in_the_last_second_has_its_whole_review() {
        let (mut stage, deal) = Stage::accepted(&THIRDS);
        stage.now = MILESTONE_DEADLINE - REVIEW;
        stage.claims(&deal, 0);
        let settle = stage.settle_deadline(&deal);
        let dispute = stage.dispute(&deal, 0);
        stage
            .at(MILESTONE_DEADLINE - 1)
            .refuses(&settle, HaggleError::InvalidState);
        stage.at(MILESTONE_DEADLINE - 1).run(&dispute).succeeds();
        stage
            .at(MILESTONE_DEADLINE)
            .refuses(&dispute, HaggleError::ResponseWindowExpired);
        stage.at(MILESTONE_DEADLINE).run(&settle).succeeds();
    }

    #[test]
    fn without_milestones_under_way_there_is_nothing_to_settle() {
        let terms = Stage::milestone_terms(&THIRDS);
        let (offered, deal) = Stage::offered_with(&terms, PRICE);
        let (created, _) = Stage::created_with(&terms);
        let mut expired = offered.clone();
        expired.now = NOW + 300;
        let call = expired
            .expire(&deal)
            .given("seller_token_account", deal.seller_token_account);
        expired.run(&call).succeeds();
        let settled = Stage::settled().0;
        for stage in [created, offered, expired, settled, Stage::offered().0] {
            for now in [
                i64::MIN,
                NOW,
                MILESTONE_DEADLINE,
                MILESTONE_DEADLINE + REVIEW,
                i64::MAX,
            ] {
                let call = stage.settle_deadline(&deal);
                stage.at(now).refuses(&call, HaggleError::InvalidState);
            }
        }
    }

    #[test]
    fn what_cannot_be_received_is_kept_beside_what_is_already() {
        let (mut stage, deal) = Stage::accepted(&THIRDS);
        stage.freeze(&deal.buyer_token_account);
        stage.freeze(&deal.seller_token_account);
        let vault = stage.balance(&deal.escrow_vault);
        stage.claims_and_is_paid(&deal, 0);
        stage.claims_and_disputes(&deal, 1);
        stage.now = MILESTONE_DEADLINE + REVIEW;
        let call = stage.settle_deadline(&deal);
        let outcome = stage.run(&call);
        // Half of 999,899 is 499,949; with the first 999,899 the fee is 7,499, of which 4,999 have been taken.
        let [net, fee, back] = [497_449, 2_500, PRICE - 999_899 - 499_949];
        outcome.succeeds().emitted(&[
            event(
                DeadlineSettled::RECORD,
                &DeadlineSettled {
                    negotiation_id: deal.negotiation,
                    released: 0,
                    split: 0b010,
                    refunded: 0b100,
                    seller_amount: net,
                    fee,
                    buyer_amount: back,
                    timestamp: stage.now,
                },
            ),
            stage.settled_event(&deal, 999_899 + 499_949, 7_499),
            stage.bond_event(&deal, SELLER, BOND),
            stage.recorded_event(&deal, BUYER, back),
            stage.recorded_event(&deal, SELLER, net + BOND),
        ]);
        let negotiation = stage.negotiation(&deal);
        assert_eq!(
            (negotiation.claimable_buyer, negotiation.claimable_seller),
            (back, 994_900 + net + BOND)
        );
        assert_eq!(stage.balance(&deal.escrow_vault), vault);
        // Closing delivers it all.
        stage.thaw(&deal.buyer_token_account);
        stage.thaw(&deal.seller_token_account);
        let call = stage.close(&deal, BUYER);
        stage.run(&call).succeeds();
        assert_eq!(
            stage.balance(&deal.seller_token_account),
            994_900 + net + BOND
        );
        assert_eq!(stage.balance(&deal.buyer_token_account), BUYER_HAS + back);
    }

    #[test]
    fn a_frozen_vault_keeps_everything() {
        let (mut stage, deal) = Stage::accepted(&THIRDS);
        stage.freeze(&deal.escrow_vault);
        stage.now = MILESTONE_DEADLINE;
        let call = stage.settle_deadline(&deal);
        stage.run(&call).succeeds();
        let negotiation = stage.negotiation(&deal);
        assert_eq!(
            (negotiation.claimable_buyer, negotiation.claimable_seller),
            (PRICE, BOND)
        );
        assert_eq!(negotiation.status, NegotiationStatus::Settled);
    }

    #[test]
    fn a_bond_that_is_forfeited_does_not_come_back() {
        let (mut stage, deal) = Stage::accepted(&THIRDS);
        stage.claims_and_disputes(&deal, 0);
        let call = stage.resolve(&deal, 0, 0, Flag::ON);
        stage.run(&call).succeeds();
        stage.now = MILESTONE_DEADLINE;
        let call = stage.settle_deadline(&deal);
        let outcome = stage.run(&call);
        outcome.succeeds();
        assert_eq!(outcome.events().len(), 2);
        let negotiation = stage.negotiation(&deal);
        assert_eq!(negotiation.bond_state, BondState::Forfeited);
        assert_eq!(stage.balance(&deal.seller_token_account), 0);
        assert_eq!(
            stage.balance(&deal.buyer_token_account),
            BUYER_HAS + PRICE + BOND
        );
        assert_eq!(stage.balance(&deal.escrow_vault), DECAY);
    }

    #[test]
    fn tokens_that_somebody_sends_to_the_vault_change_nothing() {
        let (mut stage, deal) = Stage::accepted(&THIRDS);
        stage.donate(&deal.escrow_vault, 1_000);
        stage.now = MILESTONE_DEADLINE;
        let call = stage.settle_deadline(&deal);
        stage.run(&call).succeeds();
        assert_eq!(stage.balance(&associated(&BUYER, &MINT)), BUYER_HAS + PRICE);
        assert_eq!(stage.balance(&deal.escrow_vault), DECAY + 1_000);
    }

    #[test]
    fn a_pause_does_not_stop_it() {
        let (mut stage, deal) = Stage::accepted(&THIRDS);
        stage.pause();
        stage.now = MILESTONE_DEADLINE;
        let call = stage.settle_deadline(&deal);
        stage.run(&call).succeeds();
    }
}
