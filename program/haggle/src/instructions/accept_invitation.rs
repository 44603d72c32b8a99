//! The seller takes part.

use crate::error::HaggleError;
use crate::event::InvitationAccepted;
use crate::runtime::hash::sha256;
use crate::schema::declare::instruction;
use crate::schema::table::Meta;
use crate::state::{BondState, Negotiation, NegotiationStatus};
use crate::token::account::{check_token_account, Currency};
use crate::token::call::TokenCall;
use crate::{runtime::programs, runtime::sysvar, schema::check};
use pinocchio::address::address_eq;
use pinocchio::error::ProgramResult;
use pinocchio::AccountView;

instruction! {
    /// The seller takes part, on the terms it has seen and no others, and deposits the bond that they ask for. The buyer then
    /// has a response window to open. (The specification's diagram calls this accept_negotiation.)
    pub fn accept_invitation(
        /// SHA-256 of the negotiation's address and the account's 512 bytes, as the seller has read them.
        terms_hash: [u8; 32],
    );
    accounts {
        /// The invited seller.
        seller: Meta::READ.signs(),
        /// The negotiation.
        negotiation: Meta::WRITE.holds(Negotiation::RECORD),
        /// The vault; only where a bond is asked for.
        escrow_vault: Meta::WRITE.optional().derived(Negotiation::VAULT_SEEDS),
        /// The seller's token account that the bond comes from; only where a bond is asked for.
        seller_token_account: Meta::WRITE.optional(),
        /// The mint of the escrow; only where a bond is asked for.
        token_mint: Meta::READ.optional().stored_in("negotiation"),
        /// The token program of the mint; only where a bond is asked for.
        token_program: Meta::READ.optional().one_of(programs::TOKENS),
    }
}

/// Starts the bargaining.
///
/// # Errors
/// InvalidState once it has started, Expired, Unauthorized for anyone but the seller, StaleState for other terms, 3005
/// without an account that the bond needs; the token program's when the seller has too little.
#[inline(always)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> ProgramResult {
    let args = Args::decode(data)?;
    let accounts = Accounts::load(accounts)?;
    let id = *accounts.negotiation.address();
    let seller = *accounts.seller.address();
    let terms = terms_hash(&accounts.negotiation);
    let mut view = accounts.negotiation;
    // SAFETY: `load` has checked the account, and the hash above is done with its data.
    let negotiation = unsafe { Negotiation::of(&mut view) };

    // Only a bond needs the optional accounts; what is given has to be right all the same.
    if let Some(vault) = check::given(&accounts.escrow_vault) {
        check::pda(negotiation.is_vault(&id, vault.address()))?;
    }
    if let Some(mint) = check::given(&accounts.token_mint) {
        check::stored(mint, &negotiation.token_mint)?;
    }
    if let Some(account) = check::given(&accounts.seller_token_account) {
        let currency = Currency::known_by(&negotiation.token_mint, &accounts.token_mint);
        check_token_account(account, &currency, &negotiation.seller)?;
    }
    if check::given(&accounts.token_program).is_some() {
        accounts.check_programs()?;
        check::token_program(&accounts.token_program, &accounts.token_mint)?;
    }

    if negotiation.status != NegotiationStatus::Created {
        return Err(HaggleError::InvalidState.into());
    }
    let now = sysvar::now()?;
    negotiation.check_clock(now)?;
    if !address_eq(&seller, &negotiation.seller) {
        return Err(HaggleError::Unauthorized.into());
    }
    if args.terms_hash != terms {
        return Err(HaggleError::StaleState.into());
    }

    let bond = negotiation.bond_required;
    if bond > 0 {
        check::needed(&accounts.escrow_vault)?;
        check::needed(&accounts.seller_token_account)?;
        check::needed(&accounts.token_mint)?;
        check::needed(&accounts.token_program)?;
        negotiation.bond_state = BondState::Held;
    }
    negotiation.status = NegotiationStatus::Proposed;
    negotiation.start_turn(now)?;

    InvitationAccepted {
        negotiation_id: id,
        seller,
        bond,
        turn_deadline: negotiation.turn_deadline,
        timestamp: now,
    }
    .emit();
    if bond == 0 {
        return Ok(());
    }
    let mut deposit = TokenCall::new(
        &accounts.seller_token_account,
        &accounts.token_mint,
        &accounts.seller,
    )?;
    deposit.transfer(&accounts.escrow_vault, bond)?;
    // SAFETY: no reference to these accounts' data is used any more.
    unsafe { deposit.invoke(&[]) };
    Ok(())
}

/// SHA-256 of the negotiation's address and its account's data.
#[inline(always)]
fn terms_hash(negotiation: &AccountView) -> [u8; 32] {
    // SAFETY: nothing borrows the data while it is hashed.
    let data = unsafe { negotiation.borrow_unchecked() };
    sha256(&[negotiation.address().as_ref(), data])
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use crate::error::Framework;
    use crate::tests::stage::{
        args_of, assert_negotiation, assert_shares, associated, event, named, owned, token_account,
        Call, Deal, Stage, BOND, BUYER, BUYER_REST, ESCROW, FUNDS, MINT, NATIVE_MINT, NOW,
        OTHER_MINT, SELLER, SELLER_FUNDS, STRANGER,
    };
    use pinocchio::Address;

    /// With every optional account given.
    fn call_with_all_accounts(stage: &Stage, deal: &Deal) -> Call {
        let terms_hash = stage.terms_hash(deal);
        stage.call(
            "accept_invitation",
            deal,
            deal.seller,
            args_of(&Args { terms_hash }),
        )
    }

    #[test]
    fn the_seller_takes_part_and_the_buyer_has_a_window_to_open() {
        let (mut stage, deal) = Stage::created();
        stage.now = NOW + 100;
        let before = stage.clone();
        let call = stage.accept_invitation(&deal);
        stage.run(&call).succeeds().emitted(&[event(
            InvitationAccepted::RECORD,
            &InvitationAccepted {
                negotiation_id: deal.negotiation,
                seller: SELLER,
                bond: 0,
                turn_deadline: NOW + 400,
                timestamp: NOW + 100,
            },
        )]);
        assert_negotiation(
            &stage.negotiation(&deal),
            &Negotiation {
                status: NegotiationStatus::Proposed,
                turn_deadline: NOW + 400,
                ..before.negotiation(&deal)
            },
        );
        for (address, account) in &before.accounts {
            if *address != deal.negotiation {
                assert!(stage.account(address) == *account);
            }
        }
    }

    #[test]
    fn the_seller_deposits_its_bond_to_the_unit() {
        let (mut stage, deal) = Stage::created_with_bond(&Stage::bonded_terms());
        let before = stage.clone();
        stage.now = NOW + 100;
        let call = stage.accept_invitation_with_bond(&deal);
        stage.run(&call).succeeds().emitted(&[event(
            InvitationAccepted::RECORD,
            &InvitationAccepted {
                negotiation_id: deal.negotiation,
                seller: SELLER,
                bond: BOND,
                turn_deadline: NOW + 400,
                timestamp: NOW + 100,
            },
        )]);
        assert_negotiation(
            &stage.negotiation(&deal),
            &Negotiation {
                status: NegotiationStatus::Proposed,
                turn_deadline: NOW + 400,
                bond_state: BondState::Held,
                ..before.negotiation(&deal)
            },
        );
        assert_shares(
            &stage,
            &deal,
            BUYER_REST,
            SELLER_FUNDS - BOND,
            ESCROW + BOND,
        );
        let moved = [
            deal.negotiation,
            deal.escrow_vault,
            deal.seller_token_account,
        ];
        stage.assert_untouched_since(&before, &moved);
        for account in [deal.negotiation, deal.escrow_vault, SELLER] {
            assert_eq!(stage.lamports(&account), before.lamports(&account));
        }
    }

    #[test]
    fn a_bond_takes_all_that_the_seller_has_and_not_a_unit_more() {
        for (bond, missing) in [(1, 0), (BOND, 0), (BOND, 1), (SELLER_FUNDS, 0)] {
            let mut terms = Stage::bonded_terms();
            terms.bond_required = bond;
            let (mut stage, deal) = Stage::created_with(&terms);
            stage.set_balance(&deal.seller_token_account, bond - missing);
            let before = stage.accounts.clone();
            let call = stage.accept_invitation_with_bond(&deal);
            let outcome = stage.run(&call);
            if missing == 0 {
                outcome.succeeds();
                assert_eq!(stage.balance(&deal.seller_token_account), 0);
                assert_eq!(stage.balance(&deal.escrow_vault), ESCROW + bond);
            } else {
                assert_eq!(outcome.error_code(), Some(1), "insufficient funds");
                assert!(stage.accounts == before);
            }
        }
    }

    #[test]
    fn a_frozen_account_cannot_pay_the_bond() {
        let (stage, deal) = Stage::created_with_bond(&Stage::bonded_terms());
        for frozen in [deal.seller_token_account, deal.escrow_vault] {
            let mut stage = stage.clone();
            stage.freeze(&frozen);
            let before = stage.accounts.clone();
            let call = stage.accept_invitation_with_bond(&deal);
            let outcome = stage.run(&call);
            assert_eq!(outcome.error_code(), Some(17), "account frozen");
            assert!(stage.accounts == before);
        }
    }

    #[test]
    fn the_bond_comes_from_any_account_of_the_sellers() {
        let (mut stage, deal) = Stage::created_with_bond(&Stage::bonded_terms());
        stage.put(named("second"), token_account(&MINT, &SELLER, BOND + 1));
        let call = stage
            .accept_invitation_with_bond(&deal)
            .with("seller_token_account", named("second"));
        stage.run(&call).succeeds();
        assert_eq!(stage.balance(&named("second")), 1);
        assert_eq!(stage.balance(&deal.seller_token_account), SELLER_FUNDS);
    }

    #[test]
    fn nobody_elses_account_pays_the_bond() {
        let (mut stage, deal) = Stage::created_with_bond(&Stage::bonded_terms());
        stage.put(
            associated(&STRANGER, &MINT),
            token_account(&MINT, &STRANGER, FUNDS),
        );
        // That the seller may spend from an account does not make it the seller's.
        stage.put(named("delegated"), token_account(&MINT, &STRANGER, FUNDS));
        stage.change(&named("delegated"), |account| {
            account.data[72] = 1;
            account.data[76..108].copy_from_slice(SELLER.as_ref());
            account.data[121..129].copy_from_slice(&FUNDS.to_le_bytes());
        });
        for account in [
            deal.buyer_token_account,
            deal.escrow_vault,
            associated(&STRANGER, &MINT),
            associated(&SELLER, &OTHER_MINT),
            named("delegated"),
            named("nothing"),
            SELLER,
        ] {
            let call = stage
                .accept_invitation_with_bond(&deal)
                .with("seller_token_account", account);
            stage.refuses(&call, Framework::ConstraintRaw);
        }
    }

    #[test]
    fn a_bond_needs_its_accounts() {
        let (mut stage, deal) = Stage::created_with_bond(&Stage::sealed_terms());
        let call = stage.accept_invitation_with_bond(&deal);
        for account in [
            "escrow_vault",
            "seller_token_account",
            "token_mint",
            "token_program",
        ] {
            let call = call.clone().without(account);
            stage.refuses(&call, Framework::AccountNotEnoughKeys);
        }
        let bare = stage.accept_invitation(&deal);
        stage.refuses(&bare, Framework::AccountNotEnoughKeys);
        // What else is wrong is told before.
        stage.at(NOW + 3_600).refuses(&bare, HaggleError::Expired);
        stage.refuses(
            &bare.clone().with("seller", STRANGER),
            HaggleError::Unauthorized,
        );
        stage.change(&deal.negotiation, |account| account.data[100] ^= 1);
        stage.refuses(&bare, HaggleError::StaleState);
    }

    #[test]
    fn a_bond_beside_the_largest_escrow_fills_the_vault() {
        let mut terms = Stage::bonded_terms();
        terms.escrow_amount = u64::MAX - BOND;
        let (mut stage, deal) = (Stage::new(), Stage::deal());
        stage.set_balance(&deal.buyer_token_account, terms.escrow_amount);
        stage.set_balance(&deal.seller_token_account, BOND);
        let call = stage.create(&deal, &terms);
        stage.run(&call).succeeds();
        let call = stage.accept_invitation_with_bond(&deal);
        stage.run(&call).succeeds();
        assert_eq!(stage.balance(&deal.escrow_vault), u64::MAX);
        let call = stage
            .reject(&deal, BUYER)
            .given("seller_token_account", deal.seller_token_account);
        stage.run(&call).succeeds();
        assert_eq!(stage.balance(&deal.escrow_vault), 0);
        assert_eq!(stage.balance(&deal.seller_token_account), BOND);
    }

    #[test]
    fn a_bond_of_wrapped_sol_is_deposited_like_any_other() {
        let mut stage = Stage::new();
        let deal = Deal::between(BUYER, SELLER, 1, NATIVE_MINT);
        for (account, who) in [
            (deal.buyer_token_account, BUYER),
            (deal.seller_token_account, SELLER),
        ] {
            stage.put(account, token_account(&NATIVE_MINT, &who, FUNDS));
        }
        let call = stage.create(&deal, &Stage::bonded_terms());
        stage.run(&call).succeeds();
        let lamports = stage.lamports(&deal.escrow_vault);
        let call = stage.accept_invitation_with_bond(&deal);
        stage.run(&call).succeeds();
        assert_eq!(stage.balance(&deal.escrow_vault), ESCROW + BOND);
        assert_eq!(stage.lamports(&deal.escrow_vault), lamports + BOND);
        assert_eq!(stage.balance(&deal.seller_token_account), FUNDS - BOND);
    }

    #[test]
    fn a_bond_that_is_raised_behind_the_sellers_back_is_not_paid() {
        let (mut stage, deal) = Stage::created_with_bond(&Stage::bonded_terms());
        let seen = stage.accept_invitation_with_bond(&deal);
        let call = stage.reject(&deal, BUYER);
        stage.run(&call).succeeds();
        let call = stage.close(&deal, BUYER);
        stage.run(&call).succeeds();
        let mut terms = Stage::bonded_terms();
        terms.bond_required = SELLER_FUNDS;
        let call = stage.create(&deal, &terms);
        stage.run(&call).succeeds();
        stage.refuses(&seen, HaggleError::StaleState);
    }

    #[test]
    fn accounts_for_a_bond_may_be_given_and_are_not_used() {
        let (mut stage, deal) = Stage::created();
        let before = stage.clone();
        let call = call_with_all_accounts(&stage, &deal);
        stage.run(&call).succeeds();
        for account in [deal.escrow_vault, deal.seller_token_account, MINT] {
            assert!(stage.account(&account) == before.account(&account));
        }
    }

    #[test]
    fn accounts_for_a_bond_that_are_given_are_the_right_ones() {
        let (mut stage, deal) = Stage::created();
        let other = Deal::between(BUYER, SELLER, 2, MINT);
        let call = stage.create(&other, &Stage::terms());
        stage.run(&call).succeeds();
        stage.put(named("empty"), owned(programs::TOKEN, vec![0; 165]));
        let cases: [(&str, Address, Framework); 7] = [
            (
                "escrow_vault",
                other.escrow_vault,
                Framework::ConstraintSeeds,
            ),
            ("token_mint", OTHER_MINT, Framework::ConstraintHasOne),
            (
                "seller_token_account",
                deal.buyer_token_account,
                Framework::ConstraintRaw,
            ),
            (
                "seller_token_account",
                associated(&SELLER, &OTHER_MINT),
                Framework::ConstraintRaw,
            ),
            (
                "seller_token_account",
                named("empty"),
                Framework::ConstraintRaw,
            ),
            (
                "seller_token_account",
                named("nothing"),
                Framework::ConstraintRaw,
            ),
            (
                "token_program",
                programs::SYSTEM,
                Framework::InvalidProgramId,
            ),
        ];
        for (account, address, error) in cases {
            let call = call_with_all_accounts(&stage, &deal).with(account, address);
            stage.refuses(&call, error);
        }
    }

    #[test]
    fn the_window_to_open_ends_with_the_negotiation() {
        let (mut stage, deal) = Stage::created();
        for (now, turn_deadline) in [
            (NOW + 3_299, NOW + 3_599),
            (NOW + 3_300, NOW + 3_600),
            (NOW + 3_301, NOW + 3_600),
            (NOW + 3_599, NOW + 3_600),
        ] {
            let mut stage = stage.clone();
            stage.now = now;
            let call = stage.accept_invitation(&deal);
            stage.run(&call).succeeds();
            assert_eq!({ stage.negotiation(&deal).turn_deadline }, turn_deadline);
        }
        stage.now = NOW + 3_600;
        let call = stage.accept_invitation(&deal);
        stage.refuses(&call, HaggleError::Expired);
    }

    #[test]
    fn the_response_window_does_not_run_before_the_seller_takes_part() {
        let (mut stage, deal) = Stage::created();
        stage.now = NOW + 301;
        let call = stage.accept_invitation(&deal);
        stage.run(&call).succeeds();
    }

    #[test]
    fn nobody_but_the_seller_can() {
        let (mut stage, deal) = Stage::created();
        for signer in [BUYER, STRANGER] {
            let call = stage.accept_invitation(&deal).with("seller", signer);
            stage.refuses(&call, HaggleError::Unauthorized);
        }
    }

    #[test]
    fn a_seller_cannot_take_part_twice() {
        let (mut stage, deal) = Stage::invited();
        let call = stage.accept_invitation(&deal);
        stage.refuses(&call, HaggleError::InvalidState);
    }

    #[test]
    fn terms_that_differ_in_one_bit_are_not_the_sellers() {
        let (mut stage, deal) = Stage::created();
        let terms_hash = stage.terms_hash(&deal);
        for at in 0..32 {
            let mut terms_hash = terms_hash;
            terms_hash[at] ^= 1;
            let call = stage.call(
                "accept_invitation",
                &deal,
                SELLER,
                args_of(&Args { terms_hash }),
            );
            stage.refuses(&call, HaggleError::StaleState);
        }
    }

    #[test]
    fn each_byte_of_the_account_is_part_of_the_terms() {
        let (stage, deal) = Stage::created();
        let call = stage.accept_invitation(&deal);
        // Not the discriminator, the seller, and the status with what an answer to them would hide.
        for at in (8..512).filter(|at| !(40..72).contains(at) && *at != 80) {
            let mut stage = stage.clone();
            stage.change(&deal.negotiation, |account| account.data[at] ^= 1);
            if stage.negotiation(&deal).is_overdue(NOW) {
                continue;
            }
            let outcome = stage.run(&call);
            if at == 8 + core::mem::offset_of!(Negotiation, version) {
                outcome.refused(Framework::AccountDidNotDeserialize);
            } else {
                outcome.refused(HaggleError::StaleState);
            }
        }
    }

    #[test]
    fn a_session_that_is_created_again_with_other_terms_is_not_what_the_seller_saw() {
        let (mut stage, deal) = Stage::created();
        let seen = stage.accept_invitation(&deal);
        let call = stage.reject(&deal, BUYER);
        stage.run(&call).succeeds();
        let call = stage.close(&deal, BUYER);
        stage.run(&call).succeeds();
        let mut terms = Stage::terms();
        terms.decay_rate_bps = 1_000;
        let call = stage.create(&deal, &terms);
        stage.run(&call).succeeds();
        stage.refuses(&seen, HaggleError::StaleState);
    }

    #[test]
    fn the_same_terms_of_another_session_are_not_what_the_seller_saw() {
        let (mut stage, deal) = Stage::created();
        let other = Deal::between(BUYER, SELLER, 2, MINT);
        let call = stage.create(&other, &Stage::terms());
        stage.run(&call).succeeds();
        let call = stage
            .accept_invitation(&deal)
            .with("negotiation", other.negotiation);
        stage.refuses(&call, HaggleError::StaleState);
    }

    #[test]
    fn a_clock_at_the_end_of_time_is_refused() {
        let (mut stage, deal) = Stage::created();
        let mut negotiation = stage.negotiation(&deal);
        negotiation.global_deadline = i64::MAX;
        negotiation.turn_deadline = i64::MAX;
        stage.set_negotiation(&deal, &negotiation);
        let call = stage.accept_invitation(&deal);
        stage
            .at(i64::MAX - 299)
            .refuses(&call, HaggleError::Overflow);
        stage.now = i64::MAX - 300;
        stage.run(&call).succeeds();
    }

    #[test]
    fn a_pause_does_not_stop_it() {
        let (mut stage, deal) = Stage::created();
        stage.pause();
        let call = stage.accept_invitation(&deal);
        stage.run(&call).succeeds();
    }
}
