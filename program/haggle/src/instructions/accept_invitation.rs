//! The seller takes part.

use crate::declare::instruction;
use crate::error::HaggleError;
use crate::event::InvitationAccepted;
use crate::state::{Negotiation, NegotiationStatus};
use crate::table::Meta;
use crate::token::check_token_account;
use crate::{check, programs, sysvar};
use pinocchio::address::address_eq;
use pinocchio::error::ProgramResult;
use pinocchio::AccountView;

instruction! {
    /// The seller takes part, on the terms it has seen and no others. The buyer then has a response window to open. (The
    /// specification's diagram calls this accept_negotiation.)
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
        token_program: Meta::READ.optional().at(&programs::TOKEN),
    }
}

/// Starts the bargaining.
///
/// # Errors
/// InvalidState once it has started, Expired, Unauthorized for anyone but the seller, StaleState for other terms.
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

    // Without a bond nothing is done with the optional accounts; what is given has to be right all the same.
    if let Some(vault) = check::given(&accounts.escrow_vault) {
        check::pda(negotiation.is_vault(&id, vault.address()))?;
    }
    if let Some(mint) = check::given(&accounts.token_mint) {
        check::stored(mint, &negotiation.token_mint)?;
    }
    if let Some(account) = check::given(&accounts.seller_token_account) {
        check_token_account(account, &negotiation.token_mint, &negotiation.seller)?;
    }
    accounts.check_programs()?;

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

    negotiation.status = NegotiationStatus::Proposed;
    negotiation.start_turn(now)?;

    InvitationAccepted {
        negotiation_id: id,
        seller,
        bond: negotiation.bond_required,
        turn_deadline: negotiation.turn_deadline,
        timestamp: now,
    }
    .emit();
    Ok(())
}

/// SHA-256 of the negotiation's address and its account's data.
#[inline(always)]
fn terms_hash(negotiation: &AccountView) -> [u8; 32] {
    #[cfg(any(target_os = "solana", target_arch = "bpf"))]
    {
        // SAFETY: nothing borrows the data while the syscall reads it.
        let slices: [&[u8]; 2] = [negotiation.address().as_ref(), unsafe {
            negotiation.borrow_unchecked()
        }];
        let mut hash = core::mem::MaybeUninit::<[u8; 32]>::uninit();
        // SAFETY: the syscall reads two slices and writes the 32 bytes.
        unsafe {
            pinocchio::syscalls::sol_sha256(
                slices.as_ptr().cast(),
                slices.len() as u64,
                hash.as_mut_ptr().cast(),
            );
            hash.assume_init()
        }
    }
    #[cfg(not(any(target_os = "solana", target_arch = "bpf")))]
    panic!(
        "only the virtual machine hashes the terms of {:?}",
        negotiation.address()
    )
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use crate::error::Framework;
    use crate::tests::stage::{
        args_of, assert_negotiation, associated, event, named, owned, Call, Deal, Stage, BUYER,
        MINT, NOW, OTHER_MINT, SELLER, STRANGER,
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
            outcome.refused(HaggleError::StaleState);
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
