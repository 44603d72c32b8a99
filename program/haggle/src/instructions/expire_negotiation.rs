//! A deadline has passed.

use crate::error::HaggleError;
use crate::escrow::{Authority, Division, Recipient, Vault};
use crate::event::NegotiationExpired;
use crate::schema::declare::instruction;
use crate::schema::table::Meta;
use crate::state::bond::{Bond, SettledBond};
use crate::state::{Negotiation, NegotiationStatus};
use crate::{runtime::programs, runtime::sysvar, schema::check};
use pinocchio::error::ProgramResult;
use pinocchio::AccountView;

instruction! {
    /// Ends a negotiation whose deadline or response window has passed: the buyer gets the escrow back, less the decay of the
    /// rounds so far, and the seller its bond; a seller that has let the time to reveal its reservation price pass, once the
    /// buyer has revealed its own, loses the bond to the buyer. Anyone may.
    pub fn expire_negotiation();
    accounts {
        /// The negotiation.
        negotiation: Meta::WRITE.holds(Negotiation::RECORD),
        /// The vault.
        escrow_vault: Meta::WRITE.derived(Negotiation::VAULT_SEEDS),
        /// A token account of the buyer's; if it cannot receive, the associated one, and the refund is recorded.
        buyer_token_account: Meta::WRITE,
        /// A token account of the seller's that the bond goes back to; only where there is one.
        seller_token_account: Meta::WRITE.optional(),
        /// The mint of the escrow.
        token_mint: Meta::READ.stored_in("negotiation"),
        /// The token program of the mint.
        token_program: Meta::READ.one_of(programs::TOKENS),
    }
}

/// Ends the negotiation.
///
/// # Errors
/// InvalidState once it has ended, and as long as someone may still act; 3005 without an account for the bond.
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
    let to_seller = Recipient::if_given(
        &accounts.seller_token_account,
        &currency,
        &negotiation.seller,
    )?;
    accounts.check_programs()?;
    check::token_program(&accounts.token_program, &accounts.token_mint)?;

    let now = sysvar::now()?;
    if !negotiation.is_open() || !negotiation.is_overdue(now) {
        return Err(HaggleError::InvalidState.into());
    }

    // The buyer has revealed its reservation price and the seller has fallen silent.
    let bond = if negotiation.seller_owes_reveal() {
        Bond::Forfeited
    } else {
        Bond::Returned
    };
    if negotiation.held_bond() > 0 && bond == Bond::Returned {
        check::needed(&accounts.seller_token_account)?;
    }

    let owed = negotiation.owed()?;
    let refund = Division::refund(negotiation);
    negotiation.status = NegotiationStatus::Expired;
    NegotiationExpired {
        negotiation_id: id,
        refund_amount: refund.buyer,
        rounds_completed: negotiation.current_round,
        timestamp: now,
    }
    .emit();
    let bond = SettledBond::take(negotiation, bond);
    bond.emit(&id, negotiation, now);
    let payments =
        refund
            .with(bond)?
            .deliver(owed, &vault, negotiation, to_buyer, to_seller, now)?;
    let authority = Authority::of(negotiation);
    vault.pay(payments, &authority)
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use crate::error::Framework;
    use crate::event::PayoutRecorded;
    use crate::state::BondState;
    use crate::tests::stage::{
        assert_negotiation, assert_shares, associated, event, named, token_account, Deal, Stage,
        BOND, BUYER, BUYER_REST, ESCROW, FUNDS, MIDPOINT, MINT, NOW, OTHER_MINT, SELLER,
        SELLER_FUNDS,
    };

    fn expired_event(deal: &Deal, refund: u64, rounds: u8, now: i64) -> Vec<u8> {
        event(
            NegotiationExpired::RECORD,
            &NegotiationExpired {
                negotiation_id: deal.negotiation,
                refund_amount: refund,
                rounds_completed: rounds,
                timestamp: now,
            },
        )
    }

    type Point = (fn() -> (Stage, Deal), i64, u64, u8);

    /// Each point at which a negotiation can expire, when, what comes back, and after how many rounds.
    const POINTS: [Point; 4] = [
        (Stage::created, NOW + 3_600, 5_000_000, 0),
        (Stage::invited, NOW + 300, 5_000_000, 0),
        (Stage::offered, NOW + 300, 4_900_000, 1),
        (Stage::countered, NOW + 300, 4_802_000, 2),
    ];

    #[test]
    fn the_buyer_gets_the_escrow_back_less_its_decay() {
        for (point, deadline, refund, rounds) in POINTS {
            for now in [deadline, deadline + 1, i64::MAX] {
                let (mut stage, deal) = point();
                let before = stage.clone();
                stage.now = now;
                let call = stage.expire(&deal);
                stage
                    .run(&call)
                    .succeeds()
                    .emitted(&[expired_event(&deal, refund, rounds, now)]);
                assert_negotiation(
                    &stage.negotiation(&deal),
                    &Negotiation {
                        status: NegotiationStatus::Expired,
                        ..before.negotiation(&deal)
                    },
                );
                assert_eq!(
                    stage.balance(&deal.buyer_token_account),
                    FUNDS - ESCROW + refund
                );
                assert_eq!(stage.balance(&deal.seller_token_account), 0);
                assert_eq!(stage.balance(&deal.escrow_vault), ESCROW - refund);
                for account in [deal.negotiation, deal.escrow_vault, BUYER, SELLER] {
                    assert_eq!(stage.lamports(&account), before.lamports(&account));
                }
            }
        }
    }

    #[test]
    fn one_second_too_early_is_too_early() {
        for (point, deadline, ..) in POINTS {
            let (mut stage, deal) = point();
            let call = stage.expire(&deal);
            for now in [i64::MIN, NOW, deadline - 1] {
                stage.now = now;
                stage.refuses(&call, HaggleError::InvalidState);
            }
        }
    }

    #[test]
    fn nobody_has_to_sign() {
        let (stage, deal) = Stage::created();
        let call = stage.expire(&deal);
        assert!(call.accounts.iter().all(|account| !account.is_signer));
    }

    #[test]
    fn the_response_window_cannot_outlast_the_negotiation() {
        let mut terms = Stage::terms();
        terms.response_window = 3_600;
        terms.global_deadline = NOW + 60;
        let (mut stage, deal) = Stage::invited_with(&terms);
        let call = stage.expire(&deal);
        stage.at(NOW + 59).refuses(&call, HaggleError::InvalidState);
        stage.now = NOW + 60;
        stage.run(&call).succeeds();
    }

    #[test]
    fn what_the_buyer_cannot_receive_is_kept_for_it() {
        type Spite = (&'static str, fn(&mut Stage, &Deal));
        let spites: [Spite; 4] = [
            ("frozen", |stage, deal| {
                stage.freeze(&deal.buyer_token_account)
            }),
            ("closed", |stage, deal| {
                stage.accounts.remove(&deal.buyer_token_account);
            }),
            ("reassigned", |stage, deal| {
                stage.change(&deal.buyer_token_account, |account| {
                    account.data[32..64].copy_from_slice(SELLER.as_ref());
                });
            }),
            ("frozen vault", |stage, deal| {
                stage.freeze(&deal.escrow_vault)
            }),
        ];
        for (spite, spoil) in spites {
            let (mut stage, deal) = Stage::countered();
            spoil(&mut stage, &deal);
            stage.now = NOW + 300;
            let call = stage.expire(&deal);
            println!("{spite}");
            stage.run(&call).succeeds().emitted(&[
                expired_event(&deal, 4_802_000, 2, NOW + 300),
                event(
                    PayoutRecorded::RECORD,
                    &PayoutRecorded {
                        negotiation_id: deal.negotiation,
                        party: BUYER,
                        amount: 4_802_000,
                        timestamp: NOW + 300,
                    },
                ),
            ]);
            let negotiation = stage.negotiation(&deal);
            assert_eq!(
                (negotiation.claimable_buyer, negotiation.claimable_seller),
                (4_802_000, 0)
            );
            assert_eq!(stage.balance(&deal.escrow_vault), ESCROW);
        }
    }

    #[test]
    fn a_stranger_cannot_choose_an_account_that_makes_the_buyer_wait() {
        let (mut stage, deal) = Stage::offered();
        stage.now = NOW + 300;
        stage.put(named("second"), token_account(&MINT, &BUYER, 0));
        stage.freeze(&named("second"));
        for account in [
            named("second"),
            named("nothing"),
            deal.seller_token_account,
            associated(&BUYER, &OTHER_MINT),
        ] {
            let call = stage.expire(&deal).with("buyer_token_account", account);
            stage.refuses(&call, Framework::ConstraintRaw);
        }
    }

    #[test]
    fn an_account_for_the_bond_that_is_given_is_the_sellers() {
        let (mut stage, deal) = Stage::offered();
        stage.now = NOW + 300;
        for (account, error) in [
            (deal.buyer_token_account, Some(Framework::ConstraintRaw)),
            (
                associated(&SELLER, &OTHER_MINT),
                Some(Framework::ConstraintRaw),
            ),
            (named("nothing"), Some(Framework::ConstraintRaw)),
            (deal.seller_token_account, None),
        ] {
            let call = stage.expire(&deal).given("seller_token_account", account);
            match error {
                Some(error) => stage.refuses(&call, error),
                None => {
                    stage.run(&call).succeeds();
                }
            }
        }
    }

    #[test]
    fn each_step_that_is_missed_decides_where_the_bond_goes() {
        type Point = (&'static str, fn() -> (Stage, Deal), bool);
        let points: [Point; 6] = [
            ("the opening", Stage::bonded, false),
            ("the buyer's commitment", Stage::sealed, false),
            ("the seller's commitment", Stage::buyer_committed, false),
            ("the buyer's reveal", Stage::both_committed, false),
            ("the seller's reveal", Stage::buyer_revealed, true),
            ("the midpoint", Stage::with_midpoint, false),
        ];
        for (missed, point, is_forfeited) in points {
            let (mut stage, deal) = point();
            let before = stage.clone();
            let bare = stage.expire(&deal);
            let call = bare
                .clone()
                .given("seller_token_account", deal.seller_token_account);
            println!("{missed}");
            stage
                .at(NOW + 299)
                .refuses(&call, HaggleError::InvalidState);
            stage
                .at(NOW + 299)
                .refuses(&bare, HaggleError::InvalidState);
            stage.now = NOW + 300;
            let (to, state, bond) = if is_forfeited {
                stage.clone().run(&bare).succeeds();
                (BUYER, BondState::Forfeited, 0)
            } else {
                stage.refuses(&bare, Framework::AccountNotEnoughKeys);
                (SELLER, BondState::Returned, BOND)
            };
            stage.run(&call).succeeds().emitted(&[
                expired_event(&deal, ESCROW, 0, NOW + 300),
                stage.bond_event(&deal, to, BOND),
            ]);
            assert_negotiation(
                &stage.negotiation(&deal),
                &Negotiation {
                    status: NegotiationStatus::Expired,
                    bond_state: state,
                    ..before.negotiation(&deal)
                },
            );
            assert_shares(
                &stage,
                &deal,
                FUNDS + BOND - bond,
                SELLER_FUNDS - BOND + bond,
                0,
            );
        }
    }

    #[test]
    fn an_invitation_to_a_bond_that_nobody_took_up_expires_without_one() {
        let (mut stage, deal) = Stage::created_with_bond(&Stage::sealed_terms());
        stage.now = NOW + 3_600;
        let call = stage.expire(&deal);
        stage
            .run(&call)
            .succeeds()
            .emitted(&[expired_event(&deal, ESCROW, 0, NOW + 3_600)]);
        assert_eq!(stage.negotiation(&deal).bond_state, BondState::None);
        assert_shares(&stage, &deal, FUNDS, SELLER_FUNDS, 0);
    }

    #[test]
    fn the_bond_of_a_silent_bargainer_goes_back() {
        // Neither an offer that nobody answers nor one in the midpoint's place costs a bond.
        for (point, rest) in [(Stage::bonded as fn() -> _, 1), (Stage::with_midpoint, 1)] {
            let (mut stage, deal) = point();
            let call = stage.offer(&deal, BUYER, MIDPOINT);
            stage.run(&call).succeeds();
            stage.now = NOW + 300;
            let call = stage
                .expire(&deal)
                .given("seller_token_account", deal.seller_token_account);
            stage.run(&call).succeeds().emitted(&[
                expired_event(&deal, 4_900_000, rest, NOW + 300),
                stage.bond_event(&deal, SELLER, BOND),
            ]);
            assert_shares(
                &stage,
                &deal,
                BUYER_REST + 4_900_000,
                SELLER_FUNDS,
                ESCROW - 4_900_000,
            );
        }
    }

    #[test]
    fn a_stranger_cannot_choose_an_account_that_makes_the_seller_wait() {
        let (mut stage, deal) = Stage::bonded();
        stage.now = NOW + 300;
        stage.put(named("second"), token_account(&MINT, &SELLER, 0));
        stage.freeze(&named("second"));
        for account in [
            named("second"),
            named("nothing"),
            deal.buyer_token_account,
            deal.escrow_vault,
            associated(&SELLER, &OTHER_MINT),
        ] {
            let call = stage.expire(&deal).given("seller_token_account", account);
            stage.refuses(&call, Framework::ConstraintRaw);
        }
        stage.freeze(&deal.seller_token_account);
        let call = stage
            .expire(&deal)
            .given("seller_token_account", deal.seller_token_account);
        stage.run(&call).succeeds().emitted(&[
            expired_event(&deal, ESCROW, 0, NOW + 300),
            stage.bond_event(&deal, SELLER, BOND),
            stage.recorded_event(&deal, SELLER, BOND),
        ]);
        assert_eq!({ stage.negotiation(&deal).claimable_seller }, BOND);
        assert_shares(&stage, &deal, FUNDS, SELLER_FUNDS - BOND, BOND);
    }

    #[test]
    fn a_forfeited_bond_that_cannot_be_received_is_kept_with_the_refund() {
        let (mut stage, deal) = Stage::buyer_revealed();
        stage.freeze(&deal.buyer_token_account);
        stage.now = NOW + 300;
        let call = stage.expire(&deal);
        stage.run(&call).succeeds().emitted(&[
            expired_event(&deal, ESCROW, 0, NOW + 300),
            stage.bond_event(&deal, BUYER, BOND),
            stage.recorded_event(&deal, BUYER, ESCROW + BOND),
        ]);
        assert_eq!({ stage.negotiation(&deal).claimable_buyer }, ESCROW + BOND);
        stage.thaw(&deal.buyer_token_account);
        let call = stage.close(&deal, BUYER);
        stage.run(&call).succeeds();
        assert_shares(&stage, &deal, FUNDS + BOND, SELLER_FUNDS - BOND, 0);
    }

    #[test]
    fn a_vault_that_holds_too_little_keeps_everything() {
        let (mut stage, deal) = Stage::offered_in_wrapped_sol();
        stage.now = NOW + 300;
        stage.set_balance(&deal.escrow_vault, 4_899_999);
        let mut enough = stage.clone();
        let call = stage.expire(&deal);
        stage.run(&call).succeeds();
        assert_eq!({ stage.negotiation(&deal).claimable_buyer }, 4_900_000);
        assert_eq!(stage.balance(&deal.escrow_vault), 4_899_999);

        enough.set_balance(&deal.escrow_vault, 4_900_000);
        enough.run(&call).succeeds();
        assert_eq!({ enough.negotiation(&deal).claimable_buyer }, 0);
        assert_eq!(enough.balance(&deal.escrow_vault), 0);
    }

    #[test]
    fn an_escrow_that_has_been_paid_from_is_not_refunded() {
        let (mut stage, deal) = Stage::offered();
        let mut negotiation = stage.negotiation(&deal);
        negotiation.paid_gross = 1_000_000;
        stage.set_negotiation(&deal, &negotiation);
        stage.now = NOW + 300;
        let call = stage.expire(&deal);
        stage.refuses(&call, HaggleError::Overflow);
    }

    #[test]
    fn an_escrow_that_has_grown_is_not_paid_out() {
        let (mut stage, deal) = Stage::offered();
        let mut negotiation = stage.negotiation(&deal);
        negotiation.effective_escrow = ESCROW + 1;
        stage.set_negotiation(&deal, &negotiation);
        stage.now = NOW + 300;
        let call = stage.expire(&deal);
        stage.refuses(&call, HaggleError::Overflow);
    }

    #[test]
    fn a_pause_does_not_stop_it() {
        let (mut stage, deal) = Stage::created();
        stage.pause();
        stage.now = NOW + 3_600;
        let call = stage.expire(&deal);
        stage.run(&call).succeeds();
    }
}
