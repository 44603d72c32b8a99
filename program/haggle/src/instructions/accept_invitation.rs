//! The seller takes part.

use crate::declare::instruction;
use crate::error::HaggleError;
use crate::escrow::check_token_account;
use crate::event::InvitationAccepted;
use crate::state::{Negotiation, NegotiationStatus};
use crate::table::Meta;
use crate::{check, programs};
use pinocchio::error::ProgramResult;
use pinocchio::sysvars::clock::Clock;
use pinocchio::sysvars::Sysvar;
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
        check::stored(mint, &{ negotiation.token_mint })?;
    }
    if let Some(account) = check::given(&accounts.seller_token_account) {
        check_token_account(account, &{ negotiation.token_mint }, &{ negotiation.seller })?;
    }
    accounts.check_fixed_addresses()?;

    if negotiation.status != NegotiationStatus::Created {
        return Err(HaggleError::InvalidState.into());
    }
    let now = Clock::get()?.unix_timestamp;
    negotiation.check_clock(now)?;
    if seller != negotiation.seller {
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
        let slices: [&[u8]; 2] =
            [negotiation.address().as_ref(), unsafe { negotiation.borrow_unchecked() }];
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
    {
        core::hint::black_box(negotiation);
        [0; 32]
    }
}
