//! Configures the protocol, once.

use crate::error::HaggleError;
use crate::event::ConfigInitialized;
use crate::runtime::sysvar::Rent;
use crate::schema::declare::{instruction, Flag};
use crate::schema::table::{Meta, Seed};
use crate::state::{Defaults, ProtocolConfig};
use crate::ID;
use crate::{runtime::pda, runtime::programs};
use pinocchio::cpi::Seed as SignerSeed;
use pinocchio::error::ProgramResult;
use pinocchio::{AccountView, Address};

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
        config: Meta::WRITE.owned_by(&[&programs::SYSTEM]).at(&ProtocolConfig::ADDRESS).derived(ProtocolConfig::SEEDS),
        /// The account in which the loader keeps the program's upgrade authority.
        program_data: Meta::READ
            .owned_by(&[&programs::UPGRADEABLE_LOADER])
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
    accounts.check_fixed_pdas()?;
    accounts.check_programs()?;

    let defaults = Defaults {
        treasury: args.treasury,
        decay_rate_bps: args.default_decay_rate_bps,
        response_window: args.default_response_window,
        protocol_fee_bps: args.default_protocol_fee_bps,
        max_rounds: args.default_max_rounds,
    };
    if !defaults.are_in_range() {
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
    pda::create(
        &accounts.config,
        &seeds,
        ProtocolConfig::SIZE,
        &ID,
        &accounts.authority,
        &Rent::get()?,
    )?;

    let config = ProtocolConfig {
        authority: *accounts.authority.address(),
        treasury: defaults.treasury,
        default_decay_rate_bps: defaults.decay_rate_bps,
        default_response_window: defaults.response_window,
        default_protocol_fee_bps: defaults.protocol_fee_bps,
        default_max_rounds: defaults.max_rounds,
        total_negotiations: 0,
        total_settled_volume: 0,
        total_fees_collected: 0,
        is_paused: Flag::OFF,
        bump: ProtocolConfig::BUMP,
        pending_authority: Address::new_from_array([0; 32]),
    };
    // SAFETY: the account has just been made for it.
    unsafe { config.write(&mut accounts.config) };

    ConfigInitialized {
        authority: *accounts.authority.address(),
        treasury: defaults.treasury,
        default_decay_rate_bps: defaults.decay_rate_bps,
        default_response_window: defaults.response_window,
        default_protocol_fee_bps: defaults.protocol_fee_bps,
        default_max_rounds: defaults.max_rounds,
        is_paused: Flag::OFF,
    }
    .emit();
    Ok(())
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use crate::error::Framework;
    use crate::tests::stage::{
        args_of, assert_config, event, named, owned, program_data, record, rent, wallet, Call,
        Stage, AUTHORITY, LAMPORTS, STRANGER,
    };

    fn call_with(stage: &Stage, change: impl FnOnce(&mut Args)) -> Call {
        let call = stage.initialize();
        let mut args = *Args::decode(&call.data[8..]).expect("the stage's arguments are right");
        change(&mut args);
        let data = [&ROW.discriminator, args_of(&args)].concat();
        call.with_data(data)
    }

    #[test]
    fn the_upgrade_authority_configures_the_protocol() {
        let mut stage = Stage::unconfigured();
        let call = stage.initialize();
        stage.run(&call).succeeds().emitted(&[event(
            ConfigInitialized::RECORD,
            &ConfigInitialized {
                authority: AUTHORITY,
                treasury: named("treasury"),
                default_decay_rate_bps: 200,
                default_response_window: 300,
                default_protocol_fee_bps: 50,
                default_max_rounds: 10,
                is_paused: Flag::OFF,
            },
        )]);
        assert_config(&stage.protocol_config(), &Stage::config());
        assert_eq!(stage.lamports(&ProtocolConfig::ADDRESS), rent(143));
        assert_eq!(stage.lamports(&AUTHORITY), LAMPORTS - rent(143));
    }

    #[test]
    fn an_address_with_lamports_on_it_is_configured_all_the_same() {
        for sent in [1, rent(143) - 1, rent(143), rent(143) + 1, LAMPORTS] {
            let mut stage = Stage::unconfigured();
            stage.put(ProtocolConfig::ADDRESS, wallet(sent));
            let call = stage.initialize();
            stage.run(&call).succeeds();
            assert_config(&stage.protocol_config(), &Stage::config());
            let held = sent.max(rent(143));
            assert_eq!(stage.lamports(&ProtocolConfig::ADDRESS), held);
            assert_eq!(stage.lamports(&AUTHORITY), LAMPORTS - (held - sent));
        }
    }

    #[test]
    fn it_cannot_be_configured_twice() {
        let mut stage = Stage::unconfigured();
        let call = stage.initialize();
        stage.run(&call).succeeds();
        stage.refuses(&call, Framework::AccountOwnedByWrongProgram);
    }

    #[test]
    fn nobody_but_the_upgrade_authority_can() {
        let mut stage = Stage::unconfigured();
        let call = stage.initialize().with("authority", STRANGER);
        stage.refuses(&call, HaggleError::Unauthorized);
    }

    #[test]
    fn nobody_can_without_an_upgrade_authority() {
        let whole = program_data(Some(&AUTHORITY)).data;
        let changed = |at: usize, byte: u8| {
            let mut data = whole.clone();
            data[at] = byte;
            data
        };
        let cases = [
            ("given up", program_data(None).data),
            ("empty", Vec::new()),
            ("a byte short", whole[..44].to_vec()),
            ("a buffer", changed(0, 1)),
            ("a program", changed(0, 2)),
            ("a tag that does not exist", changed(1, 1)),
            ("an option that is neither", changed(12, 2)),
        ];
        for (case, data) in cases {
            let mut stage = Stage::unconfigured();
            stage.put(
                Stage::program_data(),
                owned(programs::UPGRADEABLE_LOADER, data),
            );
            let call = stage.initialize();
            println!("{case}");
            stage.refuses(&call, HaggleError::Unauthorized);
        }
    }

    #[test]
    fn the_loaders_account_need_not_hold_more_than_the_authority() {
        let mut stage = Stage::unconfigured();
        let data = program_data(Some(&AUTHORITY)).data[..45].to_vec();
        stage.put(
            Stage::program_data(),
            owned(programs::UPGRADEABLE_LOADER, data),
        );
        let call = stage.initialize();
        stage.run(&call).succeeds();
    }

    #[test]
    fn each_default_is_taken_up_to_its_limits_and_not_beyond() {
        type Case = (&'static str, fn(&mut Args), bool);
        let cases: [Case; 15] = [
            ("decay 0", |args| args.default_decay_rate_bps = 0, true),
            (
                "decay 1,000",
                |args| args.default_decay_rate_bps = 1_000,
                true,
            ),
            (
                "decay 1,001",
                |args| args.default_decay_rate_bps = 1_001,
                false,
            ),
            ("window 59", |args| args.default_response_window = 59, false),
            ("window 60", |args| args.default_response_window = 60, true),
            (
                "window 3,600",
                |args| args.default_response_window = 3_600,
                true,
            ),
            (
                "window 3,601",
                |args| args.default_response_window = 3_601,
                false,
            ),
            (
                "window below zero",
                |args| args.default_response_window = -60,
                false,
            ),
            ("fee 0", |args| args.default_protocol_fee_bps = 0, true),
            ("fee 500", |args| args.default_protocol_fee_bps = 500, true),
            ("fee 501", |args| args.default_protocol_fee_bps = 501, false),
            ("rounds 0", |args| args.default_max_rounds = 0, false),
            ("rounds 1", |args| args.default_max_rounds = 1, true),
            ("rounds 20", |args| args.default_max_rounds = 20, true),
            ("rounds 21", |args| args.default_max_rounds = 21, false),
        ];
        for (case, change, is_taken) in cases {
            let mut stage = Stage::unconfigured();
            let call = call_with(&stage, change);
            println!("{case}");
            if is_taken {
                stage.run(&call).succeeds();
            } else {
                stage.refuses(&call, HaggleError::InvalidParams);
            }
        }
    }

    #[test]
    fn there_has_to_be_a_treasury() {
        let mut stage = Stage::unconfigured();
        let call = call_with(&stage, |args| {
            args.treasury = Address::new_from_array([0; 32])
        });
        stage.refuses(&call, HaggleError::InvalidParams);
    }

    #[test]
    fn what_is_written_is_what_was_asked_for() {
        let mut stage = Stage::unconfigured();
        let call = call_with(&stage, |args| {
            *args = Args {
                treasury: STRANGER,
                default_decay_rate_bps: 321,
                default_response_window: 3_210,
                default_protocol_fee_bps: 123,
                default_max_rounds: 17,
            };
        });
        stage.run(&call).succeeds();
        let expected = ProtocolConfig {
            treasury: STRANGER,
            default_decay_rate_bps: 321,
            default_response_window: 3_210,
            default_protocol_fee_bps: 123,
            default_max_rounds: 17,
            ..Stage::config()
        };
        assert_config(&stage.protocol_config(), &expected);
        assert_eq!(
            stage.account(&ProtocolConfig::ADDRESS),
            record(ProtocolConfig::RECORD, &expected)
        );
    }
}
