//! The protocol is configured for the first time.

use crate::constants::CONFIG_SEED;
use crate::error::{HaggleError, Result};
use crate::event::ConfigInitialized;
use crate::runtime::sysvar::Rent;
use crate::schema::account::{New, Payer, SystemProgram};
use crate::schema::declare::Flag;
use crate::schema::instruction::instruction;
use crate::schema::program_data::ProgramData;
use crate::state::{Defaults, ProtocolConfig};
use pinocchio::cpi::Seed;
use pinocchio::{AccountView, Address};

instruction! {
    /// Configures the protocol, once. The program's upgrade authority signs, so no other account can
    /// configure it first.
    pub fn initialize_config(
        /// The wallet whose token accounts receive fees and decay.
        treasury: Address,
        /// The proposed decay per round in basis points, 0 to 1,000.
        default_decay_rate_bps: u16,
        /// The proposed response window in seconds, 60 to 3,600.
        default_response_window: i64,
        /// The fee for new negotiations in basis points of the paid price, 0 to 500.
        default_protocol_fee_bps: u16,
        /// The proposed number of rounds, 1 to 20.
        default_max_rounds: u8,
    );
    accounts<'a> {
        /// The program's upgrade authority. It becomes the configuration's authority and pays the rent.
        authority: Payer<'a>,
        /// The new configuration.
        config: New<'a, ProtocolConfig>,
        /// The loader's account with the program's upgrade authority.
        program_data: ProgramData<'a>,
        /// The system program.
        system_program: SystemProgram<'a>,
    }
    effects {
        result: "configuration initialized",
        actors: &[Actor { account: "authority", role: Role::Authority }],
        guards: &[],
        idempotency: Idempotency::Random,
        deadlines: &[],
        payments: &[
            Payment {
                money: Money::Rent,
                from: Role::Authority,
                source: "authority",
                to: Role::Program,
                destination: "config",
            },
        ],
        events: &["ConfigInitialized"],
    }
}

/// Creates the configuration.
///
/// # Errors
/// InvalidParams for a value out of range or a zero treasury, Unauthorized unless the upgrade authority
/// signs.
#[cold]
#[inline(never)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> Result {
    let (args, accounts) = load(accounts, data)?;
    let authority = accounts.authority.address();

    let defaults = Defaults {
        treasury: args.treasury,
        decay_rate_bps: args.default_decay_rate_bps,
        response_window: args.default_response_window,
        protocol_fee_bps: args.default_protocol_fee_bps,
        max_rounds: args.default_max_rounds,
    };
    defaults.check()?;
    if accounts.program_data.upgrade_authority() != Some(authority) {
        return Err(HaggleError::Unauthorized.into());
    }

    let bump = [accounts.config.bump()];
    let seeds = [Seed::from(CONFIG_SEED.as_bytes()), Seed::from(&bump)];
    let config = ProtocolConfig {
        authority: *authority,
        treasury: defaults.treasury,
        default_decay_rate_bps: defaults.decay_rate_bps,
        default_response_window: defaults.response_window,
        default_protocol_fee_bps: defaults.protocol_fee_bps,
        default_max_rounds: defaults.max_rounds,
        total_negotiations: 0,
        total_settled_volume: 0,
        total_fees_collected: 0,
        is_paused: Flag::OFF,
        bump: bump[0],
        pending_authority: Address::new_from_array([0; 32]),
    };
    accounts
        .config
        .create(&config, &seeds, &accounts.authority, &Rent::get()?)?;

    ConfigInitialized {
        authority: *authority,
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
    use crate::runtime::programs;
    use crate::tests::fixture::{
        args_of, assert_config, event, named, owned, program_data, record, rent, Call, Fixture,
        AUTHORITY, LAMPORTS, STRANGER,
    };

    fn call_with(fixture: &Fixture, change: impl FnOnce(&mut Args)) -> Call {
        let call = fixture.initialize();
        let mut args = *Args::decode(&call.data[8..]).expect("the fixture's arguments are right");
        change(&mut args);
        let data = [&ROW.discriminator, args_of(&args)].concat();
        call.with_data(data)
    }

    #[test]
    fn the_upgrade_authority_configures_the_protocol() {
        let mut fixture = Fixture::unconfigured();
        let call = fixture.initialize();
        fixture.run(&call).succeeds().emitted(&[event(
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
        assert_config(&fixture.protocol_config(), &Fixture::config());
        assert_eq!(fixture.lamports(&ProtocolConfig::ADDRESS), rent(143));
        assert_eq!(fixture.lamports(&AUTHORITY), LAMPORTS - rent(143));
    }

    #[test]
    fn the_protocol_is_configured_once() {
        let mut fixture = Fixture::unconfigured();
        let call = fixture.initialize();
        fixture.run(&call).succeeds();
        fixture.refuses(&call, Framework::AccountOwnedByWrongProgram);
    }

    #[test]
    fn only_the_upgrade_authority_configures() {
        let mut fixture = Fixture::unconfigured();
        let call = fixture.initialize().with("authority", STRANGER);
        fixture.refuses(&call, HaggleError::Unauthorized);
    }

    #[test]
    fn without_an_upgrade_authority_the_configuration_is_refused() {
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
            let mut fixture = Fixture::unconfigured();
            fixture.put(
                Fixture::program_data(),
                owned(programs::UPGRADEABLE_LOADER, data),
            );
            let call = fixture.initialize();
            println!("{case}");
            fixture.refuses(&call, HaggleError::Unauthorized);
        }
    }

    #[test]
    fn the_loaders_account_can_end_behind_the_authority() {
        let mut fixture = Fixture::unconfigured();
        let data = program_data(Some(&AUTHORITY)).data[..45].to_vec();
        fixture.put(
            Fixture::program_data(),
            owned(programs::UPGRADEABLE_LOADER, data),
        );
        let call = fixture.initialize();
        fixture.run(&call).succeeds();
    }

    #[test]
    fn the_arguments_are_stored() {
        let mut fixture = Fixture::unconfigured();
        let call = call_with(&fixture, |args| {
            *args = Args {
                treasury: STRANGER,
                default_decay_rate_bps: 321,
                default_response_window: 3_210,
                default_protocol_fee_bps: 123,
                default_max_rounds: 17,
            };
        });
        fixture.run(&call).succeeds();
        let expected = ProtocolConfig {
            treasury: STRANGER,
            default_decay_rate_bps: 321,
            default_response_window: 3_210,
            default_protocol_fee_bps: 123,
            default_max_rounds: 17,
            ..Fixture::config()
        };
        assert_config(&fixture.protocol_config(), &expected);
        assert_eq!(
            fixture.account(&ProtocolConfig::ADDRESS),
            record(ProtocolConfig::RECORD, &expected)
        );
    }
}
