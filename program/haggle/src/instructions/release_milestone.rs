//! A milestone is paid.

use crate::error::HaggleError;
use crate::escrow::{Authority, Division, Recipient, Vault};
use crate::event::MilestoneReleased;
use crate::schema::declare::instruction;
use crate::schema::table::Meta;
use crate::settlement::{settle_when_decided, Paid};
use crate::state::{Negotiation, NegotiationStatus};
use crate::{runtime::programs, runtime::sysvar, schema::check};
use pinocchio::address::address_eq;
use pinocchio::error::ProgramResult;
use pinocchio::AccountView;

instruction! {
    /// Pays the milestone that is under review: the buyer may at any time, anyone once the review window has passed in
    /// silence. With the last milestone the negotiation is settled and the bond goes back to the seller.
    pub fn release_milestone(
        /// Which milestone, from 0.
        index: u8,
    );
    accounts {
        /// The buyer, or after the review window anyone.
        releaser: Meta::READ.signs(),
        /// The negotiation.
        negotiation: Meta::WRITE.holds(Negotiation::RECORD),
        /// The vault.
        escrow_vault: Meta::WRITE.derived(Negotiation::VAULT_SEEDS),
        /// A token account of the seller's; if it cannot receive, the associated one, and the payment is recorded.
        seller_token_account: Meta::WRITE,
        /// The mint of the escrow.
        token_mint: Meta::READ.stored_in("negotiation"),
        /// The token program of the mint.
        token_program: Meta::READ.one_of(programs::TOKENS),
    }
}

/// Pays the tranche.
///
/// # Errors
/// InvalidParams without such a milestone, InvalidState unless it is under review, Unauthorized for anyone but the buyer before
/// the review window has passed.
#[inline(always)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> ProgramResult {
    let args = Args::decode(data)?;
    let accounts = Accounts::load(accounts)?;
    let id = *accounts.negotiation.address();
    let releaser = *accounts.releaser.address();
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
    let to_seller = Recipient::of(
        &accounts.seller_token_account,
        &currency,
        &negotiation.seller,
    )?;
    accounts.check_programs()?;
    check::token_program(&accounts.token_program, &accounts.token_mint)?;

    let bit = negotiation.milestone_bit(args.index)?;
    if negotiation.status != NegotiationStatus::Accepted
        || negotiation.milestone_under_review() != bit
    {
        return Err(HaggleError::InvalidState.into());
    }
    let now = sysvar::now()?;
    if !negotiation.is_overdue(now) && !address_eq(&releaser, &negotiation.buyer) {
        return Err(HaggleError::Unauthorized.into());
    }

    let owed = negotiation.owed()?;
    let tranche = negotiation.decide(args.index)?;
    let paid = Paid::count(negotiation, tranche)?;
    MilestoneReleased {
        negotiation_id: id,
        index: args.index,
        seller_amount: paid.net,
        fee: paid.fee,
        timestamp: now,
    }
    .emit();
    let bond = settle_when_decided(&id, negotiation, now)?;
    let nobody = Recipient::nobody(&accounts.seller_token_account);
    let payments = Division {
        buyer: 0,
        seller: paid.net,
    }
    .with(bond)?
    .deliver(owed, &vault, negotiation, nobody, to_seller, now)?;
    let authority = Authority::of(negotiation);
    vault.pay(payments, &authority)
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use crate::error::Framework;
    use crate::schema::declare::Flag;
    use crate::state::BondState;
    use crate::tests::stage::{
        assert_negotiation, associated, event, named, token_account, Deal, Stage, ARBITER, BOND,
        BUYER, ESCROW, FUNDS, MILESTONE_DEADLINE, MINT, NOW, OTHER_MINT, PRICE, REVIEW, SELLER,
        STRANGER, THIRDS,
    };

    /// A third of the price, what the seller gets of it, and the fee.
    const TRANCHE: u64 = 999_899;
    const NET: u64 = 994_900;
    const FEE: u64 = 4_999;

    fn released_event(stage: &Stage, deal: &Deal, index: u8, amounts: [u64; 2]) -> Vec<u8> {
        event(
            MilestoneReleased::RECORD,
            &MilestoneReleased {
                negotiation_id: deal.negotiation,
                index,
                seller_amount: amounts[0],
                fee: amounts[1],
                timestamp: stage.now,
            },
        )
    }

    #[test]
    fn the_buyer_releases_and_the_tranche_is_paid() {
        let (mut stage, deal) = Stage::accepted(&THIRDS);
        stage.claims(&deal, 1);
        stage.now = NOW + 77;
        let before = stage.clone();
        let call = stage.release(&deal, BUYER, 1);
        let outcome = stage.run(&call);
        outcome
            .succeeds()
            .emitted(&[released_event(&stage, &deal, 1, [NET, FEE])]);
        assert_negotiation(
            &stage.negotiation(&deal),
            &Negotiation {
                milestones_decided: 0b010,
                paid_gross: TRANCHE,
                ..before.negotiation(&deal)
            },
        );
        assert_eq!(stage.balance(&deal.seller_token_account), NET);
        assert_eq!(
            stage.balance(&deal.escrow_vault),
            before.balance(&deal.escrow_vault) - NET
        );
        let mut changed = [
            deal.negotiation,
            deal.escrow_vault,
            deal.seller_token_account,
        ];
        changed.sort();
        assert_eq!(stage.changed_since(&before), changed);
    }

    #[test]
    fn the_last_one_takes_the_rest_and_settles() {
        let (mut stage, deal) = Stage::accepted(&THIRDS);
        for index in [2, 0] {
            stage.claims_and_is_paid(&deal, index);
        }
        stage.claims(&deal, 1);
        stage.now = NOW + 500;
        let before = stage.clone();
        let call = stage.release(&deal, BUYER, 1);
        let outcome = stage.run(&call);
        // 1,000,199 and 999,899 have been paid; what is left is 999,901. The fee on all is 14,999, of which 10,000 are paid.
        outcome.succeeds().emitted(&[
            released_event(&stage, &deal, 1, [994_902, 4_999]),
            stage.settled_event(&deal, PRICE, 14_999),
            stage.bond_event(&deal, SELLER, BOND),
        ]);
        assert_negotiation(
            &stage.negotiation(&deal),
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
            stage.balance(&deal.seller_token_account),
            PRICE - 14_999 + BOND
        );
        assert_eq!(stage.balance(&deal.escrow_vault), 100_000 + 14_999);
        assert_eq!(
            stage.balance(&deal.buyer_token_account),
            FUNDS - ESCROW + 4_900_000 - PRICE
        );
    }

    #[test]
    fn without_a_bond_none_is_returned() {
        let mut terms = Stage::milestone_terms(&[10_000]);
        terms.bond_required = 0;
        let (mut stage, deal) = Stage::accepted_with(&terms, PRICE);
        stage.claims(&deal, 0);
        let call = stage.release(&deal, BUYER, 0);
        let outcome = stage.run(&call);
        outcome.succeeds().emitted(&[
            released_event(&stage, &deal, 0, [PRICE - 14_999, 14_999]),
            stage.settled_event(&deal, PRICE, 14_999),
        ]);
        assert_eq!(stage.negotiation(&deal).bond_state, BondState::None);
        assert_eq!(stage.balance(&deal.seller_token_account), PRICE - 14_999);
    }

    #[test]
    fn the_buyer_may_at_any_time_and_anyone_after_silence() {
        let (mut stage, deal) = Stage::accepted(&THIRDS);
        stage.now = NOW + 9;
        stage.claims(&deal, 0);
        let end = NOW + 9 + REVIEW;
        for now in [NOW + 9, end - 1, end, MILESTONE_DEADLINE, i64::MAX] {
            for who in [BUYER, SELLER, STRANGER, ARBITER] {
                let mut stage = stage.at(now);
                let call = stage.release(&deal, who, 0);
                if who == BUYER || now >= end {
                    stage.run(&call).succeeds();
                    assert_eq!(stage.balance(&deal.seller_token_account), NET);
                } else {
                    stage.refuses(&call, HaggleError::Unauthorized);
                }
            }
        }
    }

    #[test]
    fn only_what_is_under_review_is_released() {
        let (mut stage, deal) = Stage::accepted(&THIRDS);
        let call = stage.release(&deal, BUYER, 1);
        stage.refuses(&call, HaggleError::InvalidState);
        stage.claims(&deal, 1);
        for index in [0, 2] {
            let call = stage.release(&deal, BUYER, index);
            for now in [NOW, NOW + REVIEW, MILESTONE_DEADLINE + REVIEW] {
                stage.at(now).refuses(&call, HaggleError::InvalidState);
            }
        }
        let mut released = stage.clone();
        released.run(&call).succeeds();
        released.refuses(&call, HaggleError::InvalidState);
        let dispute = stage.dispute(&deal, 1);
        stage.run(&dispute).succeeds();
        stage.refuses(&call, HaggleError::InvalidState);
        let resolve = stage.resolve(&deal, 1, 10_000, Flag::OFF);
        stage.run(&resolve).succeeds();
        stage.refuses(&call, HaggleError::InvalidState);
    }

    #[test]
    fn there_has_to_be_such_a_milestone() {
        let (mut stage, deal) = Stage::accepted(&THIRDS);
        stage.claims(&deal, 2);
        for index in [3, 7, 8, 10, 255] {
            let call = stage.release(&deal, BUYER, index);
            stage.refuses(&call, HaggleError::InvalidParams);
        }
        for (mut stage, deal) in [Stage::offered(), Stage::settled(), Stage::expired()] {
            let call = stage.release(&deal, BUYER, 0);
            stage.refuses(&call, HaggleError::InvalidParams);
        }
    }

    #[test]
    fn there_is_nothing_to_release_before_an_agreement_or_after_the_end() {
        let (mut stage, deal) = Stage::offered_with(&Stage::milestone_terms(&THIRDS), PRICE);
        let call = stage.release(&deal, BUYER, 0);
        stage.refuses(&call, HaggleError::InvalidState);
        let (mut stage, deal) = Stage::accepted(&THIRDS);
        stage.claims(&deal, 0);
        stage.now = MILESTONE_DEADLINE;
        let settle = stage.settle_deadline(&deal);
        stage.run(&settle).succeeds();
        for now in [NOW, MILESTONE_DEADLINE] {
            stage.at(now).refuses(&call, HaggleError::InvalidState);
        }
    }

    #[test]
    fn what_the_seller_cannot_receive_is_kept_and_adds_up() {
        let (mut stage, deal) = Stage::accepted(&THIRDS);
        stage.freeze(&deal.seller_token_account);
        let vault = stage.balance(&deal.escrow_vault);
        stage.claims(&deal, 0);
        let call = stage.release(&deal, BUYER, 0);
        let outcome = stage.run(&call);
        outcome.succeeds().emitted(&[
            released_event(&stage, &deal, 0, [NET, FEE]),
            stage.recorded_event(&deal, SELLER, NET),
        ]);
        stage.claims(&deal, 1);
        let call = stage.release(&deal, BUYER, 1);
        let outcome = stage.run(&call);
        // The fee on 1,999,798 is 9,998, the last one's on the whole price 14,999.
        outcome.succeeds().emitted(&[
            released_event(&stage, &deal, 1, [NET, FEE]),
            stage.recorded_event(&deal, SELLER, NET),
        ]);
        assert_eq!({ stage.negotiation(&deal).claimable_seller }, 2 * NET);
        stage.claims(&deal, 2);
        let call = stage.release(&deal, BUYER, 2);
        let outcome = stage.run(&call);
        // The tranche and the bond in one.
        let last = 1_000_201 - 5_001;
        outcome.succeeds().emitted(&[
            released_event(&stage, &deal, 2, [last, 5_001]),
            stage.settled_event(&deal, PRICE, 14_999),
            stage.bond_event(&deal, SELLER, BOND),
            stage.recorded_event(&deal, SELLER, last + BOND),
        ]);
        let kept = { stage.negotiation(&deal).claimable_seller };
        assert_eq!(kept, PRICE - 14_999 + BOND);
        assert_eq!(stage.balance(&deal.escrow_vault), vault);
        stage.thaw(&deal.seller_token_account);
        let call = stage.claim(&deal, SELLER, kept);
        stage.run(&call).succeeds();
        assert_eq!(stage.balance(&deal.seller_token_account), kept);
        assert_eq!(stage.balance(&deal.escrow_vault), 100_000 + 14_999);
    }

    #[test]
    fn a_frozen_vault_keeps_it() {
        let (mut stage, deal) = Stage::accepted(&THIRDS);
        stage.claims(&deal, 0);
        stage.freeze(&deal.escrow_vault);
        let call = stage.release(&deal, BUYER, 0);
        let outcome = stage.run(&call);
        outcome.succeeds().emitted(&[
            released_event(&stage, &deal, 0, [NET, FEE]),
            stage.recorded_event(&deal, SELLER, NET),
        ]);
        let negotiation = stage.negotiation(&deal);
        assert_eq!(
            (negotiation.claimable_buyer, negotiation.claimable_seller),
            (0, NET)
        );
    }

    #[test]
    fn a_vault_that_holds_one_unit_too_little_keeps_it() {
        for held in [0, NET - 1, NET] {
            let (mut stage, deal) = Stage::accepted(&THIRDS);
            stage.claims(&deal, 0);
            stage.set_balance(&deal.escrow_vault, held);
            let call = stage.release(&deal, BUYER, 0);
            stage.run(&call).succeeds();
            let kept = if held < NET { NET } else { 0 };
            assert_eq!({ stage.negotiation(&deal).claimable_seller }, kept);
            assert_eq!(stage.balance(&deal.seller_token_account), NET - kept);
        }
    }

    #[test]
    fn the_seller_is_paid_to_an_account_of_its_own_and_no_other() {
        let (mut stage, deal) = Stage::accepted(&THIRDS);
        stage.claims(&deal, 0);
        stage.put(named("second"), token_account(&MINT, &SELLER, 5));
        stage.put(named("frozen"), token_account(&MINT, &SELLER, 0));
        stage.freeze(&named("frozen"));
        for account in [
            deal.buyer_token_account,
            associated(&STRANGER, &MINT),
            associated(&SELLER, &OTHER_MINT),
            deal.escrow_vault,
            named("frozen"),
            named("nothing"),
            SELLER,
        ] {
            let call = stage
                .release(&deal, BUYER, 0)
                .with("seller_token_account", account);
            stage.refuses(&call, Framework::ConstraintRaw);
        }
        let call = stage
            .release(&deal, BUYER, 0)
            .with("seller_token_account", named("second"));
        stage.run(&call).succeeds();
        assert_eq!(stage.balance(&named("second")), 5 + NET);
    }

    #[test]
    fn a_tranche_of_nothing_is_paid_without_a_transfer() {
        let mut terms = Stage::milestone_terms(&[1, 9_999]);
        terms.escrow_amount = 100_000;
        terms.min_offer_bps = 100;
        let (mut stage, deal) = Stage::accepted_with(&terms, 9_999);
        stage.claims(&deal, 0);
        let before = stage.clone();
        let call = stage.release(&deal, BUYER, 0);
        let outcome = stage.run(&call);
        outcome
            .succeeds()
            .emitted(&[released_event(&stage, &deal, 0, [0, 0])]);
        assert_eq!(stage.changed_since(&before), [deal.negotiation]);
        stage.claims_and_is_paid(&deal, 1);
        assert_eq!(stage.balance(&deal.seller_token_account), 9_999 - 49 + BOND);
    }

    #[test]
    fn money_that_does_not_add_up_is_not_moved() {
        type Change = fn(&mut Negotiation);
        let cases: [(&str, Change); 3] = [
            ("shares above the price", |negotiation| {
                negotiation.milestone_bps = [10_001, 0, 0, 0, 0, 0, 0, 0];
                negotiation.milestones_decided = 0b001;
                negotiation.milestones_claimed = 0b011;
            }),
            ("an escrow that has grown", |negotiation| {
                negotiation.effective_escrow = ESCROW + 1;
            }),
            ("a fee above the price", |negotiation| {
                negotiation.protocol_fee_bps = 10_001;
            }),
        ];
        for (case, change) in cases {
            let (mut stage, deal) = Stage::accepted(&THIRDS);
            stage.claims(&deal, 1);
            let mut negotiation = stage.negotiation(&deal);
            change(&mut negotiation);
            stage.set_negotiation(&deal, &negotiation);
            let call = stage.release(&deal, BUYER, 1);
            println!("{case}");
            stage.refuses(&call, HaggleError::Overflow);
        }
    }

    #[test]
    fn a_pause_does_not_stop_it() {
        let (mut stage, deal) = Stage::accepted(&THIRDS);
        stage.pause();
        stage.claims_and_is_paid(&deal, 0);
    }
}
