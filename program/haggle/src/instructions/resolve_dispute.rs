//! The arbiter divides a disputed milestone.

use crate::constants::BPS_DENOMINATOR;
use crate::error::HaggleError;
use crate::escrow::{Authority, Division, Recipient, Vault};
use crate::event::DisputeResolved;
use crate::math::bps;
use crate::schema::declare::{instruction, Flag};
use crate::schema::table::Meta;
use crate::settlement::{settle_when_decided, Paid};
use crate::state::bond::{Bond, SettledBond};
use crate::state::{BondState, Negotiation, NegotiationStatus};
use crate::{runtime::programs, runtime::sysvar, schema::check};
use pinocchio::address::address_eq;
use pinocchio::error::ProgramResult;
use pinocchio::AccountView;

instruction! {
    /// Divides a disputed milestone between the parties, as the arbiter decides, and may give the seller's bond to the buyer.
    /// With the last milestone the negotiation is settled.
    pub fn resolve_dispute(
        /// Which milestone, from 0.
        index: u8,
        /// The seller's share of the milestone, in basis points, 0 to 10,000. The odd unit is the buyer's.
        seller_bps: u16,
        /// Whether the seller's bond goes to the buyer.
        forfeit_bond: Flag,
    );
    accounts {
        /// The arbiter.
        arbiter: Meta::READ.signs(),
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

/// Pays both parties their parts.
///
/// # Errors
/// InvalidParams without such a milestone or for more than all of it, InvalidState unless it waits for the arbiter and, to
/// forfeit the bond, one is held; Expired a review window after the milestones' deadline, Unauthorized.
#[inline(always)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> ProgramResult {
    let args = Args::decode(data)?;
    let accounts = Accounts::load(accounts)?;
    let id = *accounts.negotiation.address();
    let arbiter = *accounts.arbiter.address();
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

    let bit = negotiation.milestone_bit(args.index)?;
    if args.seller_bps as u64 > BPS_DENOMINATOR {
        return Err(HaggleError::InvalidParams.into());
    }
    let forfeits = args.forfeit_bond != Flag::OFF;
    if negotiation.status != NegotiationStatus::Accepted
        || negotiation.open_disputes() & bit == 0
        || (forfeits && negotiation.bond_state != BondState::Held)
    {
        return Err(HaggleError::InvalidState.into());
    }
    let now = sysvar::now()?;
    if now >= negotiation.arbitration_deadline() {
        return Err(HaggleError::Expired.into());
    }
    if !address_eq(&arbiter, &negotiation.arbiter) {
        return Err(HaggleError::Unauthorized.into());
    }

    let owed = negotiation.owed()?;
    let tranche = negotiation.decide(args.index)?;
    let gross = bps::floored(tranche, args.seller_bps);
    let paid = Paid::count(negotiation, gross)?;
    let division = Division {
        buyer: tranche.checked_sub(gross).ok_or(HaggleError::Overflow)?,
        seller: paid.net,
    };
    DisputeResolved {
        negotiation_id: id,
        index: args.index,
        seller_amount: division.seller,
        fee: paid.fee,
        buyer_amount: division.buyer,
        timestamp: now,
    }
    .emit();
    let forfeited = if forfeits {
        SettledBond::take(negotiation, Bond::Forfeited)
    } else {
        SettledBond::NONE
    };
    let returned = settle_when_decided(&id, negotiation, now)?;
    forfeited.emit(&id, negotiation, now);
    let payments = division.with(forfeited)?.with(returned)?.deliver(
        owed,
        &vault,
        negotiation,
        to_buyer,
        to_seller,
        now,
    )?;
    let authority = Authority::of(negotiation);
    vault.pay(payments, &authority)
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use crate::error::Framework;
    use crate::tests::stage::{
        assert_negotiation, associated, event, Deal, Stage, ARBITER, BOND, BUYER, ESCROW, FUNDS,
        MILESTONE_DEADLINE, MINT, NOW, OTHER_MINT, PRICE, REVIEW, SELLER, STRANGER, THIRDS,
    };

    /// A third of the price.
    const TRANCHE: u64 = 999_899;
    /// What the buyer has after the agreement.
    const BUYER_HAS: u64 = FUNDS - ESCROW + 4_900_000 - PRICE;

    /// What the seller and the protocol get of a split, and what goes back to the buyer.
    struct Split {
        net: u64,
        fee: u64,
        back: u64,
    }

    fn resolved_event(stage: &Stage, deal: &Deal, index: u8, split: &Split) -> Vec<u8> {
        event(
            DisputeResolved::RECORD,
            &DisputeResolved {
                negotiation_id: deal.negotiation,
                index,
                seller_amount: split.net,
                fee: split.fee,
                buyer_amount: split.back,
                timestamp: stage.now,
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
            let (mut stage, deal) = Stage::accepted(&THIRDS);
            stage.claims_and_disputes(&deal, 0);
            stage.now = NOW + 4_000;
            let before = stage.clone();
            let call = stage.resolve(&deal, 0, seller_bps, Flag::OFF);
            let outcome = stage.run(&call);
            outcome
                .succeeds()
                .emitted(&[resolved_event(&stage, &deal, 0, &split)]);
            assert_negotiation(
                &stage.negotiation(&deal),
                &Negotiation {
                    milestones_decided: 0b001,
                    paid_gross: split.net + split.fee,
                    ..before.negotiation(&deal)
                },
            );
            assert_eq!(stage.balance(&deal.seller_token_account), split.net);
            assert_eq!(
                stage.balance(&deal.buyer_token_account),
                BUYER_HAS + split.back
            );
            assert_eq!(
                stage.balance(&deal.escrow_vault),
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
            assert_eq!(stage.changed_since(&before), paid);
        }
    }

    /// The seller's part of a whole price that is one disputed tranche, and who gets the bond.
    #[test]
    fn with_the_last_one_the_negotiation_is_settled() {
        for (seller_bps, gross) in [
            (0, 0),
            (1, 299),
            (5_000, 1_499_999),
            (9_999, 2_999_699),
            (10_000, PRICE),
        ] {
            for forfeit in [Flag::OFF, Flag::ON] {
                let (mut stage, deal) = Stage::accepted(&[10_000]);
                stage.claims_and_disputes(&deal, 0);
                stage.now = NOW + 4_000;
                let before = stage.clone();
                let call = stage.resolve(&deal, 0, seller_bps, forfeit);
                let outcome = stage.run(&call);
                let fee = gross * 50 / 10_000;
                let split = split(gross - fee, fee, PRICE - gross);
                let (state, owner) = if forfeit == Flag::ON {
                    (BondState::Forfeited, BUYER)
                } else {
                    (BondState::Returned, SELLER)
                };
                outcome.succeeds().emitted(&[
                    resolved_event(&stage, &deal, 0, &split),
                    stage.settled_event(&deal, gross, fee),
                    stage.bond_event(&deal, owner, BOND),
                ]);
                assert_negotiation(
                    &stage.negotiation(&deal),
                    &Negotiation {
                        status: NegotiationStatus::Settled,
                        settled_at: NOW + 4_000,
                        bond_state: state,
                        milestones_decided: 1,
                        paid_gross: gross,
                        ..before.negotiation(&deal)
                    },
                );
                let (to_buyer, to_seller) = if owner == BUYER { (BOND, 0) } else { (0, BOND) };
                assert_eq!(
                    stage.balance(&deal.seller_token_account),
                    split.net + to_seller
                );
                assert_eq!(
                    stage.balance(&deal.buyer_token_account),
                    BUYER_HAS + split.back + to_buyer
                );
                assert_eq!(stage.balance(&deal.escrow_vault), 100_000 + fee);
            }
        }
    }

    #[test]
    fn a_bond_is_forfeited_at_once_and_only_once() {
        let (mut stage, deal) = Stage::accepted(&THIRDS);
        stage.claims_and_disputes(&deal, 0);
        stage.claims_and_disputes(&deal, 1);
        let call = stage.resolve(&deal, 0, 5_000, Flag::ON);
        let outcome = stage.run(&call);
        let half = split(497_450, 2_499, 499_950);
        outcome.succeeds().emitted(&[
            resolved_event(&stage, &deal, 0, &half),
            stage.bond_event(&deal, BUYER, BOND),
        ]);
        let negotiation = stage.negotiation(&deal);
        assert_eq!(negotiation.bond_state, BondState::Forfeited);
        assert_eq!(negotiation.status, NegotiationStatus::Accepted);
        assert_eq!(
            stage.balance(&deal.buyer_token_account),
            BUYER_HAS + half.back + BOND
        );
        let again = stage.resolve(&deal, 1, 5_000, Flag::ON);
        stage.refuses(&again, HaggleError::InvalidState);
        let call = stage.resolve(&deal, 1, 5_000, Flag::OFF);
        stage.run(&call).succeeds();
        // The end returns nothing that is gone.
        stage.claims(&deal, 2);
        let call = stage.release(&deal, BUYER, 2);
        let outcome = stage.run(&call);
        outcome.succeeds();
        assert_eq!(outcome.events().len(), 2);
        assert_eq!(stage.negotiation(&deal).bond_state, BondState::Forfeited);
        let (paid, fee) = (
            { stage.negotiation(&deal).paid_gross },
            stage.balance(&deal.escrow_vault) - 100_000,
        );
        assert_eq!(stage.balance(&deal.seller_token_account), paid - fee);
    }

    #[test]
    fn what_is_no_bond_cannot_be_forfeited() {
        let mut terms = Stage::milestone_terms(&THIRDS);
        terms.bond_required = 0;
        let (mut stage, deal) = Stage::accepted_with(&terms, PRICE);
        stage.claims_and_disputes(&deal, 0);
        let call = stage.resolve(&deal, 0, 0, Flag::ON);
        stage.refuses(&call, HaggleError::InvalidState);
        let call = stage.resolve(&deal, 0, 0, Flag::OFF);
        stage.run(&call).succeeds();
    }

    #[test]
    fn only_an_open_dispute_is_resolved() {
        let (mut stage, deal) = Stage::accepted(&THIRDS);
        let call = stage.resolve(&deal, 0, 5_000, Flag::OFF);
        stage.refuses(&call, HaggleError::InvalidState);
        stage.claims(&deal, 0);
        stage.refuses(&call, HaggleError::InvalidState);
        let mut released = stage.clone();
        let release = stage.release(&deal, BUYER, 0);
        released.run(&release).succeeds();
        released.refuses(&call, HaggleError::InvalidState);
        let dispute = stage.dispute(&deal, 0);
        stage.run(&dispute).succeeds();
        let other = stage.resolve(&deal, 1, 5_000, Flag::OFF);
        stage.refuses(&other, HaggleError::InvalidState);
        stage.run(&call).succeeds();
        stage.refuses(&call, HaggleError::InvalidState);
    }

    #[test]
    fn there_has_to_be_such_a_milestone_and_such_a_share() {
        let (mut stage, deal) = Stage::accepted(&THIRDS);
        stage.claims_and_disputes(&deal, 2);
        for index in [3, 7, 8, 10, 255] {
            let call = stage.resolve(&deal, index, 5_000, Flag::OFF);
            stage.refuses(&call, HaggleError::InvalidParams);
        }
        for seller_bps in [10_001, 20_000, u16::MAX] {
            for index in [0, 2] {
                let call = stage.resolve(&deal, index, seller_bps, Flag::OFF);
                stage.refuses(&call, HaggleError::InvalidParams);
            }
        }
        for (mut stage, deal) in [Stage::offered(), Stage::settled()] {
            let call = stage.resolve(&deal, 0, 5_000, Flag::OFF);
            stage.refuses(&call, HaggleError::InvalidParams);
        }
    }

    #[test]
    fn there_is_nothing_to_resolve_before_an_agreement_or_after_the_end() {
        let (mut stage, deal) = Stage::offered_with(&Stage::milestone_terms(&THIRDS), PRICE);
        let call = stage.resolve(&deal, 0, 5_000, Flag::OFF);
        stage.refuses(&call, HaggleError::InvalidState);
        let (mut stage, deal) = Stage::accepted(&THIRDS);
        stage.claims_and_disputes(&deal, 0);
        stage.now = MILESTONE_DEADLINE + REVIEW;
        let settle = stage.settle_deadline(&deal);
        stage.run(&settle).succeeds();
        for now in [NOW, MILESTONE_DEADLINE, MILESTONE_DEADLINE + REVIEW] {
            stage.at(now).refuses(&call, HaggleError::InvalidState);
        }
    }

    #[test]
    fn the_arbiter_may_until_a_review_window_after_the_deadline() {
        let (mut stage, deal) = Stage::accepted(&THIRDS);
        stage.claims_and_disputes(&deal, 0);
        let end = MILESTONE_DEADLINE + REVIEW;
        let call = stage.resolve(&deal, 0, 5_000, Flag::OFF);
        for now in [end, end + 1, i64::MAX] {
            stage.at(now).refuses(&call, HaggleError::Expired);
        }
        for now in [NOW, MILESTONE_DEADLINE - 1, MILESTONE_DEADLINE, end - 1] {
            stage.at(now).run(&call).succeeds();
        }
    }

    #[test]
    fn only_the_arbiter_resolves() {
        let (mut stage, deal) = Stage::accepted(&THIRDS);
        stage.claims_and_disputes(&deal, 0);
        for who in [BUYER, SELLER, STRANGER] {
            let call = stage
                .resolve(&deal, 0, 5_000, Flag::OFF)
                .with("arbiter", who);
            stage.refuses(&call, HaggleError::Unauthorized);
            stage
                .at(MILESTONE_DEADLINE + REVIEW)
                .refuses(&call, HaggleError::Expired);
            let call = stage
                .resolve(&deal, 1, 5_000, Flag::OFF)
                .with("arbiter", who);
            stage
                .at(MILESTONE_DEADLINE + REVIEW)
                .refuses(&call, HaggleError::InvalidState);
        }
    }

    #[test]
    fn what_cannot_be_received_is_kept_and_adds_up() {
        let (mut stage, deal) = Stage::accepted(&THIRDS);
        stage.claims_and_disputes(&deal, 0);
        stage.claims_and_disputes(&deal, 1);
        stage.freeze(&deal.buyer_token_account);
        stage.freeze(&deal.seller_token_account);
        let vault = stage.balance(&deal.escrow_vault);
        let half = split(497_450, 2_499, 499_950);
        let call = stage.resolve(&deal, 0, 5_000, Flag::OFF);
        let outcome = stage.run(&call);
        outcome.succeeds().emitted(&[
            resolved_event(&stage, &deal, 0, &half),
            stage.recorded_event(&deal, BUYER, half.back),
            stage.recorded_event(&deal, SELLER, half.net),
        ]);
        // Twice 499,949 have a fee of 4,999, of which 2,499 have been taken. The bond is the buyer's now.
        let second = split(497_449, 2_500, 499_950);
        let call = stage.resolve(&deal, 1, 5_000, Flag::ON);
        let outcome = stage.run(&call);
        outcome.succeeds().emitted(&[
            resolved_event(&stage, &deal, 1, &second),
            stage.bond_event(&deal, BUYER, BOND),
            stage.recorded_event(&deal, BUYER, second.back + BOND),
            stage.recorded_event(&deal, SELLER, second.net),
        ]);
        let negotiation = stage.negotiation(&deal);
        assert_eq!(
            (negotiation.claimable_buyer, negotiation.claimable_seller),
            (half.back + second.back + BOND, half.net + second.net)
        );
        assert_eq!(stage.balance(&deal.escrow_vault), vault);
        assert_eq!(negotiation.status, NegotiationStatus::Accepted);
    }

    #[test]
    fn one_that_cannot_receive_does_not_hold_up_the_other() {
        for (frozen, to_buyer, to_seller) in [(BUYER, 0, 497_450), (SELLER, 499_950, 0)] {
            let (mut stage, deal) = Stage::accepted(&THIRDS);
            stage.claims_and_disputes(&deal, 0);
            stage.freeze(&associated(&frozen, &MINT));
            let call = stage.resolve(&deal, 0, 5_000, Flag::OFF);
            stage.run(&call).succeeds();
            assert_eq!(
                stage.balance(&deal.buyer_token_account),
                BUYER_HAS + to_buyer
            );
            assert_eq!(stage.balance(&deal.seller_token_account), to_seller);
            let negotiation = stage.negotiation(&deal);
            assert_eq!({ negotiation.claimable_buyer }, 499_950 - to_buyer);
            assert_eq!({ negotiation.claimable_seller }, 497_450 - to_seller);
        }
    }

    #[test]
    fn a_frozen_vault_keeps_everything() {
        let (mut stage, deal) = Stage::accepted(&THIRDS);
        stage.claims_and_disputes(&deal, 0);
        stage.freeze(&deal.escrow_vault);
        let call = stage.resolve(&deal, 0, 5_000, Flag::ON);
        stage.run(&call).succeeds();
        let negotiation = stage.negotiation(&deal);
        assert_eq!({ negotiation.claimable_buyer }, 499_950 + BOND);
        assert_eq!({ negotiation.claimable_seller }, 497_450);
    }

    #[test]
    fn the_arbiter_cannot_send_it_elsewhere() {
        let (mut stage, deal) = Stage::accepted(&THIRDS);
        stage.claims_and_disputes(&deal, 0);
        for (place, other) in [
            ("buyer_token_account", deal.seller_token_account),
            ("seller_token_account", deal.buyer_token_account),
        ] {
            for account in [
                other,
                associated(&ARBITER, &MINT),
                associated(&STRANGER, &MINT),
                associated(&BUYER, &OTHER_MINT),
                deal.escrow_vault,
            ] {
                let call = stage
                    .resolve(&deal, 0, 5_000, Flag::OFF)
                    .with(place, account);
                stage.refuses(&call, Framework::ConstraintRaw);
            }
        }
    }

    #[test]
    fn a_pause_does_not_stop_it() {
        let (mut stage, deal) = Stage::accepted(&THIRDS);
        stage.pause();
        stage.claims_and_disputes(&deal, 0);
        let call = stage.resolve(&deal, 0, 5_000, Flag::OFF);
        stage.run(&call).succeeds();
    }
}
