//! The buyer deposits the escrow and invites a seller.

use crate::constants::{
    MAX_DEADLINE_SECONDS, MAX_DECAY_RATE_BPS, MAX_RESPONSE_WINDOW, MAX_ROUNDS,
    MIN_DEADLINE_SECONDS, MIN_ESCROW_LAMPORTS, MIN_OFFER_BPS_CEILING, MIN_OFFER_BPS_FLOOR,
    MIN_RESPONSE_WINDOW, MIN_ROUNDS, NEGOTIATION_SEED, NEGOTIATION_VERSION, VAULT_SEED,
};
use crate::declare::{instruction, packed, Flag};
use crate::error::{Framework, HaggleError};
use crate::escrow::{check_token_account, vault_seeds, Authority, TokenAccount};
use crate::event::NegotiationCreated;
use crate::state::{
    BondState, Negotiation, NegotiationStatus, OfferSide, ProtocolConfig, ZopaPhase,
};
use crate::table::Meta;
use crate::{metadata, programs, ID};
use core::mem::MaybeUninit;
use pinocchio::cpi::{CpiAccount, Signer};
use pinocchio::error::{ProgramError, ProgramResult};
use pinocchio::instruction::InstructionAccount;
use pinocchio::sysvars::clock::Clock;
use pinocchio::sysvars::Sysvar;
use pinocchio::{AccountView, Address};
use pinocchio_system::create_account_with_minimum_balance_signed;
use pinocchio_token::instructions::{Batch, InitializeAccount3, IntoBatch, TransferChecked};

packed! {
    /// The terms of a negotiation. The SDK fills in what its caller leaves out, from the configuration's defaults.
    pub struct NegotiationParams {
        /// The deposit, in base units of the mint, at least 100,000.
        pub escrow_amount: u64,
        /// SHA-256 of the service's description.
        pub service_hash: [u8; 32],
        /// How many offers can be made, 1 to 20.
        pub max_rounds: u8,
        /// What the escrow loses each round, in basis points, 0 to 1,000.
        pub decay_rate_bps: u16,
        /// The time to answer, in seconds, 60 to 3,600.
        pub response_window: i64,
        /// When the negotiation expires at the latest, in Unix seconds, 60 to 86,400 from now.
        pub global_deadline: i64,
        /// The least offer, in basis points of the effective escrow, 100 to 9,000.
        pub min_offer_bps: u16,
        /// Whether reservation prices are compared under seal first. Not yet offered: false.
        pub zopa_enabled: Flag,
        /// What the seller has to deposit, in base units of the mint. Not yet offered: 0.
        pub bond_required: u64,
        /// Who decides disputes about milestones. Not yet offered: zeros.
        pub arbiter: Address,
        /// The number of milestones. Not yet offered: 0.
        pub milestone_count: u8,
        /// Each milestone's share of the price, in basis points. Not yet offered: zeros.
        pub milestone_bps: [u16; 8],
        /// When milestones that nobody claimed fall back to the buyer. Not yet offered: 0.
        pub milestone_deadline: i64,
        /// Structured metadata: all zeros, or kind 1.
        pub metadata: [u8; 64],
    }
}

instruction! {
    /// Deposits the escrow and invites a seller. The negotiation can be rejected by either side, or expires.
    pub fn create_negotiation(
        /// A number that this pair has not used before.
        session_id: u64,
        /// The terms.
        params: NegotiationParams,
    );
    accounts {
        /// Who buys: deposits the escrow and pays the rent, which comes back when the negotiation is closed.
        buyer: Meta::WRITE.signs(),
        /// Who is invited to sell; not the buyer.
        seller: Meta::READ,
        /// The negotiation that is made.
        negotiation: Meta::WRITE.owned_by(&programs::SYSTEM).derived(Negotiation::SEEDS),
        /// The vault that is made.
        escrow_vault: Meta::WRITE.owned_by(&programs::SYSTEM).derived(Negotiation::VAULT_SEEDS),
        /// The buyer's token account that the deposit comes from.
        buyer_token_account: Meta::WRITE,
        /// The mint of the deposit.
        token_mint: Meta::READ.owned_by(&programs::TOKEN),
        /// The configuration, which fixes the fee.
        config: Meta::READ
            .holds(ProtocolConfig::RECORD)
            .at(&ProtocolConfig::ADDRESS)
            .derived(ProtocolConfig::SEEDS),
        /// The token program of the mint.
        token_program: Meta::READ.at(&programs::TOKEN),
        /// Creates the accounts.
        system_program: Meta::READ.at(&programs::SYSTEM),
    }
}

/// Whether escrow can be held in a mint of SPL Token: it only has to be one.
///
/// # Errors
/// UnsupportedMint.
#[inline(always)]
fn check_mint(mint: &AccountView) -> ProgramResult {
    const SIZE: usize = 82;
    const IS_INITIALIZED: usize = 45;
    // SAFETY: the byte is read only when there are enough, and nothing borrows them.
    if mint.data_len() == SIZE && unsafe { *mint.data_ptr().add(IS_INITIALIZED) } == 1 {
        Ok(())
    } else {
        Err(HaggleError::UnsupportedMint.into())
    }
}

impl NegotiationParams {
    /// Refuses terms out of their ranges.
    ///
    /// # Errors
    /// InvalidParams.
    #[inline(always)]
    fn check(&self, now: i64) -> ProgramResult {
        let window = self.response_window;
        let min_offer = self.min_offer_bps;
        let ahead = { self.global_deadline }
            .checked_sub(now)
            .ok_or(HaggleError::InvalidParams)?;
        let in_range = { self.escrow_amount } >= MIN_ESCROW_LAMPORTS
            && (MIN_ROUNDS..=MAX_ROUNDS).contains(&self.max_rounds)
            && { self.decay_rate_bps } <= MAX_DECAY_RATE_BPS
            && (MIN_RESPONSE_WINDOW..=MAX_RESPONSE_WINDOW).contains(&window)
            && (MIN_DEADLINE_SECONDS..=MAX_DEADLINE_SECONDS).contains(&ahead)
            && (MIN_OFFER_BPS_FLOOR..=MIN_OFFER_BPS_CEILING).contains(&min_offer);
        if !in_range || self.asks_for_what_is_not_offered() {
            return Err(HaggleError::InvalidParams.into());
        }
        metadata::check(&self.metadata)
    }

    /// Sealed prices, bonds and milestones have their place in the accounts, and no instruction yet.
    #[inline(always)]
    fn asks_for_what_is_not_offered(&self) -> bool {
        self.zopa_enabled != Flag::OFF
            || self.bond_required != 0
            || { self.arbiter } != Address::new_from_array([0; 32])
            || self.milestone_count != 0
            || { self.milestone_bps } != [0; 8]
            || self.milestone_deadline != 0
    }
}

/// The canonical bump of a PDA, if `account` is at its address.
///
/// # Errors
/// 2006.
#[inline(always)]
fn bump_of(account: &AccountView, seeds: &[&[u8]]) -> Result<u8, ProgramError> {
    #[cfg(any(target_os = "solana", target_arch = "bpf"))]
    if let Some((address, bump)) = Address::try_find_program_address(seeds, &ID) {
        if address == *account.address() {
            return Ok(bump);
        }
    }
    #[cfg(not(any(target_os = "solana", target_arch = "bpf")))]
    core::hint::black_box((account, seeds));
    Err(Framework::ConstraintSeeds.into())
}

/// Creates the negotiation and its vault, and moves the escrow there.
///
/// # Errors
/// 2006 for the wrong addresses, UnsupportedMint, InvalidParams, Paused; the token program's when the buyer has too little.
#[inline(always)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> ProgramResult {
    let args = Args::decode(data)?;
    let mut accounts = Accounts::load(accounts)?;
    let params = &args.params;
    let id = *accounts.negotiation.address();
    let buyer = *accounts.buyer.address();
    let seller = *accounts.seller.address();
    let mint = *accounts.token_mint.address();
    let session_id = { args.session_id }.to_le_bytes();

    let bump = bump_of(
        &accounts.negotiation,
        &[NEGOTIATION_SEED.as_bytes(), buyer.as_ref(), seller.as_ref(), &session_id],
    )?;
    let vault_bump = bump_of(
        &accounts.escrow_vault,
        &[VAULT_SEED.as_bytes(), id.as_ref()],
    )?;
    check_token_account(&accounts.buyer_token_account, &mint, &buyer)?;
    accounts.check_fixed_addresses()?;
    check_mint(&accounts.token_mint)?;

    let now = Clock::get()?.unix_timestamp;
    if buyer == seller {
        return Err(HaggleError::InvalidParams.into());
    }
    params.check(now)?;
    let config = ProtocolConfig::read(&accounts.config);
    if config.is_paused != Flag::OFF {
        return Err(HaggleError::Paused.into());
    }

    let negotiation = Negotiation {
        buyer,
        seller,
        session_id: args.session_id,
        status: NegotiationStatus::Created,
        current_round: 0,
        current_offer_amount: 0,
        current_offer_by: Address::new_from_array([0; 32]),
        offer_side: OfferSide::Buyer,
        service_hash: params.service_hash,
        escrow_amount: params.escrow_amount,
        effective_escrow: params.escrow_amount,
        token_mint: mint,
        max_rounds: params.max_rounds,
        decay_rate_bps: params.decay_rate_bps,
        response_window: params.response_window,
        global_deadline: params.global_deadline,
        min_offer_bps: params.min_offer_bps,
        protocol_fee_bps: config.default_protocol_fee_bps,
        zopa_enabled: params.zopa_enabled,
        created_at: now,
        last_offer_at: 0,
        settled_at: 0,
        settled_amount: 0,
        buyer_commitment: [0; 32],
        seller_commitment: [0; 32],
        zopa_phase: ZopaPhase::Skipped,
        metadata: params.metadata,
        bump,
        vault_bump,
        version: NEGOTIATION_VERSION,
        turn_deadline: params.global_deadline,
        pending_extension: 0,
        bond_required: params.bond_required,
        bond_state: BondState::None,
        buyer_price: 0,
        seller_price: 0,
        arbiter: params.arbiter,
        milestone_count: params.milestone_count,
        milestone_bps: params.milestone_bps,
        milestones_decided: 0,
        milestones_claimed: 0,
        milestones_disputed: 0,
        milestone_deadline: params.milestone_deadline,
        claimable_buyer: 0,
        claimable_seller: 0,
        paid_gross: 0,
    };

    let authority = Authority::of(&negotiation);
    create_account_with_minimum_balance_signed(
        &mut accounts.negotiation,
        Negotiation::SIZE,
        &ID,
        &accounts.buyer,
        None,
        &[Signer::from(&authority.seeds())],
    )?;
    negotiation.write(&mut accounts.negotiation);
    emit_created(&id, &negotiation, now);

    let vault_bump = [vault_bump];
    create_account_with_minimum_balance_signed(
        &mut accounts.escrow_vault,
        TokenAccount::SIZE,
        &programs::TOKEN,
        &accounts.buyer,
        None,
        &[Signer::from(&vault_seeds(&id, &vault_bump))],
    )?;
    deposit(&accounts, params.escrow_amount)
}

/// Makes the vault a token account of the negotiation's and moves the escrow there, in one call.
#[inline(always)]
fn deposit(accounts: &Accounts, amount: u64) -> ProgramResult {
    const ACCOUNTS: usize = 2 + 4;
    const DATA: usize = 1 + (2 + 33) + (2 + 10);
    let mut data = [const { MaybeUninit::<u8>::uninit() }; DATA];
    let mut metas = [const { MaybeUninit::<InstructionAccount<'_>>::uninit() }; ACCOUNTS];
    let mut views = [const { MaybeUninit::<CpiAccount<'_>>::uninit() }; ACCOUNTS];
    // SAFETY: `check_mint` has seen the whole mint, and nothing borrows it.
    let decimals = unsafe { *accounts.token_mint.data_ptr().add(44) };
    let mut batch = Batch::new(&mut data, &mut metas, &mut views)?;
    InitializeAccount3::new(
        &accounts.escrow_vault,
        &accounts.token_mint,
        accounts.negotiation.address(),
    )
    .into_batch(&mut batch)?;
    TransferChecked::new(
        &accounts.buyer_token_account,
        &accounts.token_mint,
        &accounts.escrow_vault,
        &accounts.buyer,
        amount,
        decimals,
    )
    .into_batch(&mut batch)?;
    // SAFETY: no reference to the data of these accounts is alive.
    unsafe { batch.invoke_unchecked() }
}

#[inline(always)]
fn emit_created(id: &Address, negotiation: &Negotiation, now: i64) {
    NegotiationCreated {
        negotiation_id: *id,
        buyer: negotiation.buyer,
        seller: negotiation.seller,
        escrow_amount: negotiation.escrow_amount,
        token_mint: negotiation.token_mint,
        max_rounds: negotiation.max_rounds,
        decay_rate_bps: negotiation.decay_rate_bps,
        global_deadline: negotiation.global_deadline,
        timestamp: now,
        session_id: negotiation.session_id,
        service_hash: negotiation.service_hash,
        response_window: negotiation.response_window,
        min_offer_bps: negotiation.min_offer_bps,
        protocol_fee_bps: negotiation.protocol_fee_bps,
        zopa_enabled: negotiation.zopa_enabled,
        bond_required: negotiation.bond_required,
        arbiter: negotiation.arbiter,
        milestone_count: negotiation.milestone_count,
        milestone_bps: negotiation.milestone_bps,
        milestone_deadline: negotiation.milestone_deadline,
        metadata: negotiation.metadata,
    }
    .emit();
}
