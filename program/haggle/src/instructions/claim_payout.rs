//! A party fetches what could not be delivered to it.

use crate::error::{Framework, HaggleError};
use crate::escrow::{Authority, Payment, Vault};
use crate::event::PayoutClaimed;
use crate::schema::declare::instruction;
use crate::schema::table::Meta;
use crate::state::{Negotiation, OfferSide};
use crate::token::account::TokenAccount;
use crate::{runtime::programs, runtime::sysvar, schema::check};
use pinocchio::address::address_eq;
use pinocchio::error::ProgramResult;
use pinocchio::AccountView;

instruction! {
    /// Fetches what is kept for the signer because it could not be delivered, to any token account the signer names.
    pub fn claim_payout(
        /// What the signer expects, in base units of the mint: all that is kept for it.
        amount: u64,
    );
    accounts {
        /// The party that something is kept for.
        party: Meta::READ.signs(),
        /// The negotiation.
        negotiation: Meta::WRITE.holds(Negotiation::RECORD),
        /// The vault.
        escrow_vault: Meta::WRITE.derived(Negotiation::VAULT_SEEDS),
        /// The token account to pay to, whoever owns it.
        destination_token_account: Meta::WRITE,
        /// The mint of the escrow.
        token_mint: Meta::READ.stored_in("negotiation"),
        /// The token program of the mint.
        token_program: Meta::READ.one_of(programs::TOKENS),
    }
}

/// Pays what is kept.
///
/// # Errors
/// 2003 when the destination cannot receive, InvalidParams for nothing, InvalidState while the negotiation is open, Unauthorized,
/// StaleState for another amount than is kept, PayoutPending while the vault is frozen or holds too little.
#[inline(always)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> ProgramResult {
    let args = Args::decode(data)?;
    let accounts = Accounts::load(accounts)?;
    let id = *accounts.negotiation.address();
    let party = *accounts.party.address();
    let mut view = accounts.negotiation;
    // SAFETY: `load` has checked the account; the reference is done with before the token program is called.
    let negotiation = unsafe { Negotiation::of(&mut view) };

    let vault = Vault::of(
        &accounts.negotiation,
        negotiation,
        &accounts.escrow_vault,
        &accounts.token_mint,
    )?;
    // Paying the vault to itself would leave the money to the treasury.
    let destination = &accounts.destination_token_account;
    let currency = vault.currency();
    let can_receive = match TokenAccount::of(destination, &currency) {
        Some(token) => token.is_in(&currency) && token.can_receive(),
        None => false,
    };
    if !can_receive || address_eq(destination.address(), accounts.escrow_vault.address()) {
        return Err(Framework::ConstraintRaw.into());
    }
    accounts.check_programs()?;
    check::token_program(&accounts.token_program, &accounts.token_mint)?;

    let amount = args.amount;
    if amount == 0 {
        return Err(HaggleError::InvalidParams.into());
    }
    if negotiation.is_open() {
        return Err(HaggleError::InvalidState.into());
    }
    let side = negotiation.side_of(&party)?;
    let kept = if side == OfferSide::Buyer {
        negotiation.claimable_buyer
    } else {
        negotiation.claimable_seller
    };
    if amount != kept {
        return Err(HaggleError::StaleState.into());
    }
    let holdings = vault.holdings()?;
    if holdings.is_frozen() || holdings.amount() < amount {
        return Err(HaggleError::PayoutPending.into());
    }

    if side == OfferSide::Buyer {
        negotiation.claimable_buyer = 0;
    } else {
        negotiation.claimable_seller = 0;
    }
    PayoutClaimed {
        negotiation_id: id,
        party,
        amount,
        timestamp: sysvar::now()?,
    }
    .emit();
    vault.pay(
        [Payment {
            to: destination,
            amount,
        }],
        &Authority::of(negotiation),
    )
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use crate::tests::stage::{
        assert_negotiation, associated, event, named, owned, token_account, wallet, Deal, Stage,
        BUYER, FUNDS, MINT, NATIVE_MINT, NOW, OTHER_MINT, SELLER, STRANGER, THIRDS,
    };
    use pinocchio::Address;

    /// What `Stage::settled_with_both_kept` keeps for each, and the fee and decay beside it.
    const BUYERS: u64 = 1_900_000;
    const SELLERS: u64 = 2_985_000;
    const EARNED: u64 = 115_000;
    const FUNDS_LEFT: u64 = FUNDS - 5_000_000;

    fn claimed_event(deal: &Deal, party: Address, amount: u64, now: i64) -> Vec<u8> {
        event(
            PayoutClaimed::RECORD,
            &PayoutClaimed {
                negotiation_id: deal.negotiation,
                party,
                amount,
                timestamp: now,
            },
        )
    }

    #[test]
    fn each_party_fetches_what_is_kept_for_it() {
        let (mut stage, deal) = Stage::settled_with_both_kept();
        let before = stage.clone();
        stage.now = NOW + 1_000_000;
        let call = stage.claim(&deal, SELLER, SELLERS);
        stage.run(&call).succeeds().emitted(&[claimed_event(
            &deal,
            SELLER,
            SELLERS,
            NOW + 1_000_000,
        )]);
        assert_negotiation(
            &stage.negotiation(&deal),
            &Negotiation {
                claimable_seller: 0,
                ..before.negotiation(&deal)
            },
        );
        assert_eq!(stage.balance(&deal.seller_token_account), SELLERS);
        assert_eq!(stage.balance(&deal.escrow_vault), BUYERS + EARNED);

        let call = stage.claim(&deal, BUYER, BUYERS);
        stage.run(&call).succeeds().emitted(&[claimed_event(
            &deal,
            BUYER,
            BUYERS,
            NOW + 1_000_000,
        )]);
        assert_negotiation(
            &stage.negotiation(&deal),
            &Negotiation {
                claimable_buyer: 0,
                claimable_seller: 0,
                ..before.negotiation(&deal)
            },
        );
        assert_eq!(
            stage.balance(&deal.buyer_token_account),
            FUNDS_LEFT + BUYERS
        );
        assert_eq!(stage.balance(&deal.escrow_vault), EARNED);
    }

    #[test]
    fn it_goes_to_any_account_that_the_party_names() {
        let (stage, deal) = Stage::settled_with_both_kept();
        let mut stage = stage;
        stage.put(
            named("a cold wallet"),
            token_account(&MINT, &named("somebody"), 0),
        );
        let other = Deal::between(BUYER, SELLER, 2, MINT);
        let call = stage.create(&other, &Stage::terms());
        stage.run(&call).succeeds();
        for destination in [
            named("a cold wallet"),
            associated(&STRANGER, &MINT),
            deal.buyer_token_account,
            other.escrow_vault,
        ] {
            let mut stage = stage.clone();
            let before = stage.balance(&destination);
            let call = stage
                .claim(&deal, SELLER, SELLERS)
                .with("destination_token_account", destination);
            stage.run(&call).succeeds();
            assert_eq!(stage.balance(&destination), before + SELLERS);
            assert_eq!(stage.balance(&deal.escrow_vault), BUYERS + EARNED);
        }
    }

    #[test]
    fn an_account_that_cannot_receive_is_refused() {
        let (mut stage, deal) = Stage::settled_with_both_kept();
        stage.put(named("frozen"), token_account(&MINT, &SELLER, 0));
        stage.freeze(&named("frozen"));
        stage.put(named("uninitialised"), owned(programs::TOKEN, vec![0; 165]));
        stage.put(named("wallet"), wallet(1_000_000));
        let mut foreign = token_account(&MINT, &SELLER, 0);
        foreign.owner = named("another token program");
        stage.put(named("foreign"), foreign);
        let mut longer = token_account(&MINT, &SELLER, 0);
        longer.data.push(0);
        stage.put(named("longer"), longer);
        for destination in [
            named("frozen"),
            named("uninitialised"),
            named("wallet"),
            named("nothing"),
            named("foreign"),
            named("longer"),
            associated(&SELLER, &OTHER_MINT),
            deal.escrow_vault,
            MINT,
        ] {
            let call = stage
                .claim(&deal, SELLER, SELLERS)
                .with("destination_token_account", destination);
            stage.refuses(&call, Framework::ConstraintRaw);
        }
    }

    #[test]
    fn one_unit_more_or_less_is_not_what_is_kept() {
        let (mut stage, deal) = Stage::settled_with_both_kept();
        for amount in [1, SELLERS - 1, SELLERS + 1, BUYERS, u64::MAX] {
            let call = stage.claim(&deal, SELLER, amount);
            stage.refuses(&call, HaggleError::StaleState);
        }
        let call = stage.claim(&deal, BUYER, SELLERS);
        stage.refuses(&call, HaggleError::StaleState);
    }

    #[test]
    fn nothing_cannot_be_claimed() {
        for (mut stage, deal) in [
            Stage::created(),
            Stage::settled(),
            Stage::settled_with_both_kept(),
        ] {
            let call = stage.claim(&deal, SELLER, 0);
            stage.refuses(&call, HaggleError::InvalidParams);
        }
    }

    #[test]
    fn it_can_be_claimed_once() {
        let (mut stage, deal) = Stage::settled_with_both_kept();
        let call = stage.claim(&deal, SELLER, SELLERS);
        stage.run(&call).succeeds();
        stage.refuses(&call, HaggleError::StaleState);
    }

    #[test]
    fn there_is_nothing_to_claim_while_the_negotiation_is_open() {
        for (mut stage, deal) in [
            Stage::created(),
            Stage::invited(),
            Stage::offered(),
            Stage::countered(),
        ] {
            for party in [BUYER, SELLER, STRANGER] {
                let call = stage.claim(&deal, party, 1);
                stage.refuses(&call, HaggleError::InvalidState);
            }
        }
    }

    #[test]
    fn what_was_delivered_cannot_be_claimed_again() {
        for (mut stage, deal) in [Stage::settled(), Stage::rejected(), Stage::expired()] {
            for party in [BUYER, SELLER] {
                for amount in [1, BUYERS, SELLERS, 4_900_000] {
                    let call = stage.claim(&deal, party, amount);
                    stage.refuses(&call, HaggleError::StaleState);
                }
            }
        }
    }

    #[test]
    fn a_stranger_cannot() {
        let (mut stage, deal) = Stage::settled_with_both_kept();
        for amount in [BUYERS, SELLERS] {
            let call = stage.claim(&deal, STRANGER, amount);
            stage.refuses(&call, HaggleError::Unauthorized);
        }
    }

    #[test]
    fn a_frozen_vault_pays_when_it_is_thawed() {
        let (mut stage, deal) = Stage::settled_with_both_kept();
        stage.freeze(&deal.escrow_vault);
        for (party, amount) in [(BUYER, BUYERS), (SELLER, SELLERS)] {
            let call = stage.claim(&deal, party, amount);
            stage.refuses(&call, HaggleError::PayoutPending);
            let mut stage = stage.clone();
            stage.thaw(&deal.escrow_vault);
            stage.run(&call).succeeds();
        }
    }

    #[test]
    fn a_vault_that_holds_one_unit_too_little_pays_when_it_is_filled() {
        let (mut stage, deal) = Stage::settled_with_both_kept();
        stage.set_balance(&deal.escrow_vault, SELLERS - 1);
        let call = stage.claim(&deal, SELLER, SELLERS);
        stage.refuses(&call, HaggleError::PayoutPending);
        stage.set_balance(&deal.escrow_vault, SELLERS);
        stage.run(&call).succeeds();
        assert_eq!(stage.balance(&deal.escrow_vault), 0);
    }

    #[test]
    fn what_is_kept_in_wrapped_sol_is_paid_with_its_lamports() {
        let (mut stage, deal) = Stage::offered_in_wrapped_sol();
        stage.freeze(&deal.seller_token_account);
        let call = stage.accept_offer(&deal, SELLER);
        stage.run(&call).succeeds();
        stage.thaw(&deal.seller_token_account);
        let before = stage.lamports(&deal.seller_token_account);
        let call = stage.claim(&deal, SELLER, SELLERS);
        stage.run(&call).succeeds();
        assert_eq!(deal.token_mint, NATIVE_MINT);
        assert_eq!(stage.balance(&deal.seller_token_account), SELLERS);
        assert_eq!(stage.lamports(&deal.seller_token_account), before + SELLERS);
    }

    #[test]
    fn a_pause_does_not_stop_it() {
        let (mut stage, deal) = Stage::settled_with_both_kept();
        stage.pause();
        let call = stage.claim(&deal, SELLER, SELLERS);
        stage.run(&call).succeeds();
    }

    #[test]
    fn what_is_kept_is_paid_while_milestones_are_under_way_and_the_rest_stays() {
        let (mut stage, deal) = Stage::accepted(&THIRDS);
        stage.freeze(&deal.seller_token_account);
        stage.claims_and_is_paid(&deal, 0);
        stage.thaw(&deal.seller_token_account);
        let before = stage.clone();
        let kept = 994_900;
        for amount in [1, kept - 1, kept + 1] {
            let call = stage.claim(&deal, SELLER, amount);
            stage.refuses(&call, HaggleError::StaleState);
        }
        let close = stage.close(&deal, SELLER);
        stage.refuses(&close, HaggleError::InvalidState);
        let call = stage.claim(&deal, SELLER, kept);
        let now = stage.now;
        stage
            .run(&call)
            .succeeds()
            .emitted(&[claimed_event(&deal, SELLER, kept, now)]);
        assert_negotiation(
            &stage.negotiation(&deal),
            &Negotiation {
                claimable_seller: 0,
                ..before.negotiation(&deal)
            },
        );
        assert_eq!(stage.balance(&deal.seller_token_account), kept);
        assert_eq!(
            stage.balance(&deal.escrow_vault),
            before.balance(&deal.escrow_vault) - kept
        );
        let call = stage.claim(&deal, SELLER, kept);
        stage.refuses(&call, HaggleError::StaleState);
    }
}
