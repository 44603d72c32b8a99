//! Configures the protocol, once.

use crate::constants::{
    MAX_DECAY_RATE_BPS, MAX_PROTOCOL_FEE_BPS, MAX_RESPONSE_WINDOW, MAX_ROUNDS, MIN_RESPONSE_WINDOW,
    MIN_ROUNDS,
};
use crate::declare::{instruction, Flag};
use crate::error::HaggleError;
use crate::event::ConfigInitialized;
use crate::programs;
use crate::state::ProtocolConfig;
use crate::table::{Meta, Seed};
use crate::ID;
use pinocchio::cpi::{Seed as SignerSeed, Signer};
use pinocchio::error::ProgramResult;
use pinocchio::{AccountView, Address};
use pinocchio_system::create_account_with_minimum_balance_signed;

instruction! {
    /// Configures the protocol, once. Signed by the program's upgrade authority, so that nobody can be faster than its
    /// deployer.
    pub fn initialize_config(
        /// The wallet whose token accounts receive fees and decay.
        treasury: Address,
        /// The decay per round that the SDK fills in, in basis points, 0 to 1,000.
        default_decay_rate_bps: u16,
        /// The time to answer that the SDK fills in, in seconds, 60 to 3,600.
        default_response_window: i64,
        /// The fee of negotiations created from now on, in basis points of what is paid, 0 to 500.
        default_protocol_fee_bps: u16,
        /// The number of rounds that the SDK fills in, 1 to 20.
        default_max_rounds: u8,
    );
    accounts {
        /// The program's upgrade authority, which becomes the configuration's and pays the rent.
        authority: Meta::WRITE.signs(),
        /// The configuration that is made.
        config: Meta::WRITE.owned_by(&programs::SYSTEM).at(&ProtocolConfig::ADDRESS).derived(ProtocolConfig::SEEDS),
        /// The account in which the loader keeps the program's upgrade authority.
        program_data: Meta::READ
            .owned_by(&programs::UPGRADEABLE_LOADER)
            .at(&PROGRAM_DATA)
            .derived_for(&programs::UPGRADEABLE_LOADER, PROGRAM_DATA_SEEDS),
        /// Creates the account.
        system_program: Meta::READ.at(&programs::SYSTEM),
    }
}

const PROGRAM_DATA_SEEDS: &[Seed] = &[Seed::Const(ID.as_array())];

/// The loader's account of this program.
const PROGRAM_DATA: Address = Address::new_from_array(
    const_crypto::ed25519::derive_program_address(
        &[ID.as_array()],
        programs::UPGRADEABLE_LOADER.as_array(),
    )
    .0,
);

/// The upgrade authority in the loader's account: after a tag (u32, 3) and a slot (u64) stands an optional address.
#[inline(always)]
fn upgrade_authority(program_data: &AccountView) -> Option<&Address> {
    const HEAD: usize = 4 + 8 + 1 + 32;
    if program_data.data_len() < HEAD {
        return None;
    }
    // SAFETY: there are that many bytes, and nothing borrows them.
    let head = unsafe { &*program_data.data_ptr().cast::<[u8; HEAD]>() };
    if head[..4] != [3, 0, 0, 0] || head[12] != 1 {
        return None;
    }
    // SAFETY: an address is any 32 bytes.
    Some(unsafe { &*head.as_ptr().add(13).cast::<Address>() })
}

/// Creates the configuration with what the upgrade authority decided.
///
/// # Errors
/// InvalidParams for a default out of its range or a treasury of zeros, Unauthorized for anyone but the upgrade authority.
#[inline(always)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> ProgramResult {
    let args = Args::decode(data)?;
    let mut accounts = Accounts::load(accounts)?;
    accounts.check_fixed_addresses()?;

    let window = args.default_response_window;
    let rounds = args.default_max_rounds;
    let treasury = args.treasury;
    if treasury == Address::new_from_array([0; 32])
        || args.default_decay_rate_bps > MAX_DECAY_RATE_BPS
        || !(MIN_RESPONSE_WINDOW..=MAX_RESPONSE_WINDOW).contains(&window)
        || args.default_protocol_fee_bps > MAX_PROTOCOL_FEE_BPS
        || !(MIN_ROUNDS..=MAX_ROUNDS).contains(&rounds)
    {
        return Err(HaggleError::InvalidParams.into());
    }
    if upgrade_authority(&accounts.program_data) != Some(accounts.authority.address()) {
        return Err(HaggleError::Unauthorized.into());
    }

    let bump = [ProtocolConfig::BUMP];
    let seeds = [
        SignerSeed::from(crate::constants::CONFIG_SEED.as_bytes()),
        SignerSeed::from(&bump),
    ];
    create_account_with_minimum_balance_signed(
        &mut accounts.config,
        ProtocolConfig::SIZE,
        &ID,
        &accounts.authority,
        None,
        &[Signer::from(&seeds)],
    )?;

    ProtocolConfig {
        authority: *accounts.authority.address(),
        treasury,
        default_decay_rate_bps: args.default_decay_rate_bps,
        default_response_window: window,
        default_protocol_fee_bps: args.default_protocol_fee_bps,
        default_max_rounds: rounds,
        total_negotiations: 0,
        total_settled_volume: 0,
        total_fees_collected: 0,
        is_paused: Flag::OFF,
        bump: ProtocolConfig::BUMP,
        pending_authority: Address::new_from_array([0; 32]),
    }
    .write(&mut accounts.config);

    ConfigInitialized {
        authority: *accounts.authority.address(),
        treasury,
        default_decay_rate_bps: args.default_decay_rate_bps,
        default_response_window: window,
        default_protocol_fee_bps: args.default_protocol_fee_bps,
        default_max_rounds: rounds,
        is_paused: Flag::OFF,
    }
    .emit();
    Ok(())
}
