//! One side walks away.

use crate::error::HaggleError;
use crate::escrow::{Authority, Division, Recipient, Vault};
use crate::event::NegotiationRejected;
use crate::schema::declare::instruction;
use crate::schema::table::Meta;
use crate::state::bond::{Bond, SettledBond};
use crate::state::{Negotiation, NegotiationStatus, OfferSide};
use crate::{runtime::programs, runtime::sysvar, schema::check};
use pinocchio::error::ProgramResult;
use pinocchio::AccountView;

instruction! {
    /// Walks away: the buyer gets the escrow back, less the decay of the rounds so far, and the seller its bond. Either
    /// party may, in time, at any point before an agreement; a seller that does so instead of revealing its reservation
    /// price, once the buyer has revealed its own, loses the bond to the buyer, and says so by naming no account for it.
    pub fn reject_negotiation(
        /// The round that the signer has seen.
        expected_round: u8,
    );
    accounts {
        /// Either party.
        rejector: Meta::READ.signs(),
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
/// InvalidState once it has ended, Expired, ResponseWindowExpired, Unauthorized, StaleState at another round or with an account for
/// a bond that is forfeited, 3005 without an account for one that is not.
#[inline(always)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> ProgramResult {
    let args = Args::decode(data)?;
    let accounts = Accounts::load(accounts)?;
    let id = *accounts.negotiation.address();
    let rejector = *accounts.rejector.address();
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

    if !negotiation.is_open() {
        return Err(HaggleError::InvalidState.into());
    }
    let now = sysvar::now()?;
    negotiation.check_clock(now)?;
    let side = negotiation.side_of(&rejector)?;
    if args.expected_round != negotiation.current_round {
        return Err(HaggleError::StaleState.into());
    }
    let bond = if side == OfferSide::Seller && negotiation.seller_owes_reveal() {
        Bond::Forfeited
    } else {
        Bond::Returned
    };
    // Whoever names an account for its bond expects it back: the buyer has revealed its price since the signer looked.
    if bond == Bond::Forfeited && check::given(&accounts.seller_token_account).is_some() {
        return Err(HaggleError::StaleState.into());
    }
    if negotiation.held_bond() > 0 && bond == Bond::Returned {
        check::needed(&accounts.seller_token_account)?;
    }

    let owed = negotiation.owed()?;
    let refund = Division::refund(negotiation);
    negotiation.status = NegotiationStatus::Rejected;
    NegotiationRejected {
        negotiation_id: id,
        rejected_by: rejector,
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
    use crate::event::{NegotiationRejected, PayoutRecorded};
    use crate::state::BondState;
    use crate::tests::stage::{
        args_of, assert_negotiation, assert_shares, associated, event, named, token_account, Call,
        Deal, Stage, BOND, BUYER, BUYER_PRICE, BUYER_REST, ESCROW, FUNDS, MIDPOINT, MINT, NOW,
        OTHER_MINT, SELLER, SELLER_FUNDS, STRANGER,
    };
    use pinocchio::Address;

    fn rejected_event(deal: &Deal, by: Address, refund: u64, rounds: u8, now: i64) -> Vec<u8> {
        event(
            NegotiationRejected::RECORD,
            &NegotiationRejected {
                negotiation_id: deal.negotiation,
                rejected_by: by,
                refund_amount: refund,
                rounds_completed: rounds,
                timestamp: now,
            },
        )
    }

    #[test]
    fn either_side_can_walk_away_at_each_point() {
        type Point = (fn() -> (Stage, Deal), u64, u8);
        let points: [Point; 4] = [
            (Stage::created, 5_000_000, 0),
            (Stage::invited, 5_000_000, 0),
            (Stage::offered, 4_900_000, 1),
            (Stage::countered, 4_802_000, 2),
        ];
        for (point, refund, rounds) in points {
            for who in [BUYER, SELLER] {
                let (mut stage, deal) = point();
                let before = stage.clone();
                stage.now = NOW + 9;
                let call = stage.reject(&deal, who);
                stage.run(&call).succeeds().emitted(&[rejected_event(
                    &deal,
                    who,
                    refund,
                    rounds,
                    NOW + 9,
                )]);
                assert_negotiation(
                    &stage.negotiation(&deal),
                    &Negotiation {
                        status: NegotiationStatus::Rejected,
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
    fn a_stranger_cannot() {
        for (mut stage, deal) in [
            Stage::created(),
            Stage::invited(),
            Stage::offered(),
            Stage::countered(),
        ] {
            let call = stage.reject(&deal, STRANGER);
            stage.refuses(&call, HaggleError::Unauthorized);
        }
    }

    #[test]
    fn one_second_too_late_is_too_late() {
        let (mut stage, deal) = Stage::created();
        let call = stage.reject(&deal, BUYER);
        stage.at(NOW + 3_600).refuses(&call, HaggleError::Expired);
        stage.now = NOW + 3_599;
        stage.run(&call).succeeds();

        let (mut stage, deal) = Stage::countered();
        let call = stage.reject(&deal, SELLER);
        stage
            .at(NOW + 300)
            .refuses(&call, HaggleError::ResponseWindowExpired);
        stage
            .at(NOW + 3_599)
            .refuses(&call, HaggleError::ResponseWindowExpired);
        stage.at(NOW + 3_600).refuses(&call, HaggleError::Expired);
        stage.now = NOW + 299;
        stage.run(&call).succeeds();
    }

    #[test]
    fn a_rejection_of_another_round_is_stale() {
        let (mut stage, deal) = Stage::countered();
        for expected_round in [0, 1, 3] {
            let args = Args { expected_round };
            let call = stage
                .call("reject_negotiation", &deal, SELLER, args_of(&args))
                .without("seller_token_account");
            stage.refuses(&call, HaggleError::StaleState);
        }
    }

    #[test]
    fn the_buyer_gets_it_in_any_account_of_its_own() {
        let (mut stage, deal) = Stage::offered();
        stage.put(named("second"), token_account(&MINT, &BUYER, 0));
        let call = stage
            .reject(&deal, SELLER)
            .with("buyer_token_account", named("second"));
        stage.run(&call).succeeds();
        assert_eq!(stage.balance(&named("second")), 4_900_000);
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
            let (mut stage, deal) = Stage::offered();
            spoil(&mut stage, &deal);
            let call = stage.reject(&deal, SELLER);
            println!("{spite}");
            stage.run(&call).succeeds().emitted(&[
                rejected_event(&deal, SELLER, 4_900_000, 1, NOW),
                event(
                    PayoutRecorded::RECORD,
                    &PayoutRecorded {
                        negotiation_id: deal.negotiation,
                        party: BUYER,
                        amount: 4_900_000,
                        timestamp: NOW,
                    },
                ),
            ]);
            let negotiation = stage.negotiation(&deal);
            assert_eq!(
                (negotiation.claimable_buyer, negotiation.claimable_seller),
                (4_900_000, 0)
            );
            assert_eq!(stage.balance(&deal.escrow_vault), ESCROW);
        }
    }

    #[test]
    fn only_the_associated_account_may_be_unable_to_receive() {
        let (mut stage, deal) = Stage::offered();
        stage.put(named("second"), token_account(&MINT, &BUYER, 0));
        stage.freeze(&named("second"));
        for account in [
            named("second"),
            named("nothing"),
            associated(&BUYER, &OTHER_MINT),
        ] {
            let call = stage
                .reject(&deal, SELLER)
                .with("buyer_token_account", account);
            stage.refuses(&call, Framework::ConstraintRaw);
        }
    }

    #[test]
    fn an_account_for_the_bond_that_is_given_is_the_sellers() {
        let (mut stage, deal) = Stage::offered();
        for account in [
            deal.buyer_token_account,
            associated(&SELLER, &OTHER_MINT),
            named("nothing"),
        ] {
            let call = stage
                .reject(&deal, SELLER)
                .given("seller_token_account", account);
            stage.refuses(&call, Framework::ConstraintRaw);
        }
        let call = stage
            .reject(&deal, SELLER)
            .given("seller_token_account", deal.seller_token_account);
        stage.refuses(
            &call.clone().read_only("seller_token_account"),
            Framework::ConstraintMut,
        );
        stage.run(&call).succeeds();
        assert_eq!(stage.balance(&deal.seller_token_account), 0);
    }

    /// With the account that a bond goes back to.
    fn with_bond(stage: &Stage, deal: &Deal, rejector: Address) -> Call {
        stage
            .reject(deal, rejector)
            .given("seller_token_account", deal.seller_token_account)
    }

    #[test]
    fn the_bond_goes_back_whoever_walks_away_except_from_a_reveal_that_is_due() {
        type Point = (&'static str, fn() -> (Stage, Deal), bool);
        let points: [Point; 6] = [
            ("before the opening", Stage::bonded, false),
            ("before anyone commits", Stage::sealed, false),
            ("before the seller commits", Stage::buyer_committed, false),
            ("before anyone reveals", Stage::both_committed, false),
            ("before the seller reveals", Stage::buyer_revealed, true),
            ("when the midpoint stands", Stage::with_midpoint, false),
        ];
        for (name, point, seller_owes) in points {
            for who in [BUYER, SELLER] {
                let (mut stage, deal) = point();
                let before = stage.clone();
                stage.now = NOW + 9;
                println!("{name}");
                let forfeited = seller_owes && who == SELLER;
                let call = if forfeited {
                    stage.refuses(&with_bond(&stage, &deal, who), HaggleError::StaleState);
                    stage.reject(&deal, who)
                } else {
                    with_bond(&stage, &deal, who)
                };
                let (to, state, bond) = if forfeited {
                    (BUYER, BondState::Forfeited, 0)
                } else {
                    (SELLER, BondState::Returned, BOND)
                };
                stage.run(&call).succeeds().emitted(&[
                    rejected_event(&deal, who, ESCROW, 0, NOW + 9),
                    stage.bond_event(&deal, to, BOND),
                ]);
                assert_negotiation(
                    &stage.negotiation(&deal),
                    &Negotiation {
                        status: NegotiationStatus::Rejected,
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
                if !forfeited {
                    let bare = before.reject(&deal, who);
                    before
                        .at(NOW + 9)
                        .refuses(&bare, Framework::AccountNotEnoughKeys);
                }
            }
        }
    }

    #[test]
    fn the_bond_loses_nothing_to_decay() {
        let (mut stage, deal) = Stage::bonded();
        for (who, amount) in [(BUYER, 3_000_000), (SELLER, 3_500_000)] {
            let call = stage.offer(&deal, who, amount);
            stage.run(&call).succeeds();
        }
        let call = with_bond(&stage, &deal, BUYER);
        stage.run(&call).succeeds().emitted(&[
            rejected_event(&deal, BUYER, 4_802_000, 2, NOW),
            stage.bond_event(&deal, SELLER, BOND),
        ]);
        let buyer = BUYER_REST + 4_802_000;
        assert_shares(&stage, &deal, buyer, SELLER_FUNDS, ESCROW - 4_802_000);
    }

    #[test]
    fn before_the_seller_takes_part_there_is_no_bond_to_return() {
        for who in [BUYER, SELLER] {
            let (mut stage, deal) = Stage::created_with_bond(&Stage::sealed_terms());
            let call = stage.reject(&deal, who);
            stage
                .run(&call)
                .succeeds()
                .emitted(&[rejected_event(&deal, who, ESCROW, 0, NOW)]);
            assert_eq!(stage.negotiation(&deal).bond_state, BondState::None);
            assert_shares(&stage, &deal, FUNDS, SELLER_FUNDS, 0);
        }
    }

    #[test]
    fn after_the_midpoint_is_replaced_the_bond_goes_back_to_whoever_falls_out() {
        let (mut stage, deal) = Stage::with_midpoint();
        let call = stage.offer(&deal, BUYER, MIDPOINT);
        stage.run(&call).succeeds();
        let call = with_bond(&stage, &deal, SELLER);
        stage.run(&call).succeeds();
        assert_eq!(stage.negotiation(&deal).bond_state, BondState::Returned);
        assert_shares(
            &stage,
            &deal,
            BUYER_REST + 4_900_000,
            SELLER_FUNDS,
            ESCROW - 4_900_000,
        );
    }

    #[test]
    fn a_bond_that_cannot_be_received_is_kept_for_the_seller() {
        type Spite = (&'static str, fn(&mut Stage, &Deal), u64);
        let spites: [Spite; 3] = [
            (
                "frozen",
                |stage, deal| stage.freeze(&deal.seller_token_account),
                0,
            ),
            (
                "closed",
                |stage, deal| {
                    stage.accounts.remove(&deal.seller_token_account);
                },
                0,
            ),
            (
                "frozen vault",
                |stage, deal| stage.freeze(&deal.escrow_vault),
                ESCROW,
            ),
        ];
        for (spite, spoil, for_buyer) in spites {
            let (mut stage, deal) = Stage::bonded();
            spoil(&mut stage, &deal);
            let call = with_bond(&stage, &deal, BUYER);
            println!("{spite}");
            let mut events = vec![
                rejected_event(&deal, BUYER, ESCROW, 0, NOW),
                stage.bond_event(&deal, SELLER, BOND),
            ];
            if for_buyer > 0 {
                events.push(stage.recorded_event(&deal, BUYER, for_buyer));
            }
            events.push(stage.recorded_event(&deal, SELLER, BOND));
            stage.run(&call).succeeds().emitted(&events);
            let negotiation = stage.negotiation(&deal);
            assert_eq!({ negotiation.claimable_buyer }, for_buyer);
            assert_eq!({ negotiation.claimable_seller }, BOND);
            assert_eq!(negotiation.bond_state, BondState::Returned);
            assert_eq!(stage.balance(&deal.escrow_vault), for_buyer + BOND);
        }
    }

    #[test]
    fn refund_and_forfeited_bond_are_one_payment() {
        let (stage, deal) = Stage::buyer_revealed();
        let mut paid = stage.clone();
        let call = paid.reject(&deal, SELLER);
        let outcome = paid.run(&call);
        outcome.succeeds();
        let transfers = outcome
            .logs
            .iter()
            .filter(|line| line.starts_with("Program Token") && line.ends_with("invoke [2]"));
        assert_eq!(transfers.count(), 1);
        assert_eq!(paid.balance(&deal.buyer_token_account), FUNDS + BOND);

        // What cannot be delivered is recorded as one sum.
        for frozen in [deal.buyer_token_account, deal.escrow_vault] {
            let mut stage = stage.clone();
            stage.freeze(&frozen);
            stage.run(&call).succeeds().emitted(&[
                rejected_event(&deal, SELLER, ESCROW, 0, NOW),
                stage.bond_event(&deal, BUYER, BOND),
                stage.recorded_event(&deal, BUYER, ESCROW + BOND),
            ]);
            let negotiation = stage.negotiation(&deal);
            assert_eq!({ negotiation.claimable_buyer }, ESCROW + BOND);
            assert_eq!({ negotiation.claimable_seller }, 0);
            assert_eq!(negotiation.bond_state, BondState::Forfeited);
            stage.thaw(&frozen);
            let call = stage.claim(&deal, BUYER, ESCROW + BOND);
            stage.run(&call).succeeds();
            assert_shares(&stage, &deal, FUNDS + BOND, SELLER_FUNDS - BOND, 0);
        }
    }

    #[test]
    fn a_seller_that_owes_its_price_can_be_rejected_only_in_time() {
        let (mut stage, deal) = Stage::buyer_revealed();
        assert_eq!({ stage.negotiation(&deal).buyer_price }, BUYER_PRICE);
        let call = stage.reject(&deal, SELLER);
        stage
            .at(NOW + 300)
            .refuses(&call, HaggleError::ResponseWindowExpired);
        stage.now = NOW + 299;
        stage.run(&call).succeeds();
    }

    #[test]
    fn tokens_that_somebody_sends_to_the_vault_stay_there() {
        let (mut stage, deal) = Stage::offered();
        stage.donate(&deal.escrow_vault, 77);
        let call = stage.reject(&deal, BUYER);
        stage.run(&call).succeeds();
        assert_eq!(stage.balance(&deal.escrow_vault), ESCROW - 4_900_000 + 77);
    }

    #[test]
    fn a_vault_that_holds_too_little_keeps_everything() {
        let (mut stage, deal) = Stage::offered_in_wrapped_sol();
        stage.set_balance(&deal.escrow_vault, 4_899_999);
        let mut enough = stage.clone();
        let call = stage.reject(&deal, SELLER);
        stage.run(&call).succeeds();
        assert_eq!({ stage.negotiation(&deal).claimable_buyer }, 4_900_000);
        assert_eq!(stage.balance(&deal.escrow_vault), 4_899_999);

        enough.set_balance(&deal.escrow_vault, 4_900_000);
        enough.run(&call).succeeds();
        assert_eq!({ enough.negotiation(&deal).claimable_buyer }, 0);
        assert_eq!(enough.balance(&deal.escrow_vault), 0);
    }

    #[test]
    fn the_sellers_account_may_be_unable_to_receive() {
        let (mut stage, deal) = Stage::offered();
        stage.freeze(&deal.seller_token_account);
        let call = stage
            .reject(&deal, BUYER)
            .given("seller_token_account", deal.seller_token_account);
        stage.run(&call).succeeds();
        assert_eq!({ stage.negotiation(&deal).claimable_seller }, 0);
    }

    #[test]
    fn an_escrow_that_has_been_paid_from_is_not_refunded() {
        let (mut stage, deal) = Stage::offered();
        let mut negotiation = stage.negotiation(&deal);
        negotiation.paid_gross = 1_000_000;
        stage.set_negotiation(&deal, &negotiation);
        let call = stage.reject(&deal, SELLER);
        stage.refuses(&call, HaggleError::Overflow);
    }

    #[test]
    fn an_escrow_that_has_grown_is_not_paid_out() {
        let (mut stage, deal) = Stage::offered();
        let mut negotiation = stage.negotiation(&deal);
        negotiation.effective_escrow = ESCROW + 1;
        stage.set_negotiation(&deal, &negotiation);
        let call = stage.reject(&deal, SELLER);
        stage.refuses(&call, HaggleError::Overflow);
    }

    #[test]
    fn a_pause_does_not_stop_it() {
        let (mut stage, deal) = Stage::created();
        stage.pause();
        let call = stage.reject(&deal, BUYER);
        stage.run(&call).succeeds();
    }
}
