//! The authority stops or resumes the creation of negotiations.

use crate::error::Result;
use crate::event::ConfigUpdated;
use crate::schema::account::{Signer, State};
use crate::schema::declare::Flag;
use crate::schema::instruction::instruction;
use crate::state::ProtocolConfig;
use pinocchio::AccountView;

instruction! {
    /// Stops or resumes the creation of negotiations. Existing negotiations continue, so pausing locks no
    /// money.
    pub fn set_paused(
        /// Whether the creation of negotiations is stopped.
        paused: Flag,
    );
    accounts<'a> {
        /// The configuration's authority.
        authority: Signer<'a>,
        /// The configuration.
        config: State<'a, ProtocolConfig>,
    }
    effects {
        result: "pause set",
        actors: &[Actor { account: "authority", role: Role::Authority }],
        guards: &[],
        idempotency: Idempotency::Random,
        deadlines: &[],
        payments: &[],
        events: &["ConfigUpdated"],
    }
}

/// Sets the flag.
///
/// # Errors
/// Unauthorized unless the authority signs.
#[cold]
#[inline(never)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> Result {
    let (args, accounts) = load(accounts, data)?;
    let mut config = accounts.config;

    config.check_authority(accounts.authority.address())?;

    config.is_paused = args.paused;
    ConfigUpdated::of(&config).emit();
    Ok(())
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use crate::error::{Framework, HaggleError};
    use crate::event::ConfigUpdated;
    use crate::tests::fixture::{
        assert_config, event, Fixture, AUTHORITY, BUYER, STRANGER, TREASURY,
    };

    #[test]
    fn the_authority_pauses_and_resumes() {
        let mut fixture = Fixture::new();
        let before = fixture.clone();
        // Setting the current value again is not an error.
        for paused in [Flag::OFF, Flag::ON, Flag::ON, Flag::OFF] {
            let call = fixture.set_paused(paused);
            fixture.run(&call).succeeds().emitted(&[event(
                ConfigUpdated::RECORD,
                &ConfigUpdated {
                    authority: AUTHORITY,
                    treasury: TREASURY,
                    default_decay_rate_bps: 200,
                    default_response_window: 300,
                    default_protocol_fee_bps: 50,
                    default_max_rounds: 10,
                    is_paused: paused,
                },
            )]);
            assert_config(
                &fixture.protocol_config(),
                &ProtocolConfig {
                    is_paused: paused,
                    ..Fixture::config()
                },
            );
        }
        fixture.assert_untouched_since(&before, &[]);
    }

    #[test]
    fn only_the_authority_pauses() {
        let mut fixture = Fixture::new();
        let call = fixture.propose(STRANGER);
        fixture.run(&call).succeeds();
        for who in [STRANGER, TREASURY, BUYER] {
            let call = fixture.set_paused(Flag::ON).with("authority", who);
            fixture.refuses(&call, HaggleError::Unauthorized);
        }
        let call = fixture.set_paused(Flag::ON).unsigned("authority");
        fixture.refuses(&call, Framework::AccountNotSigner);
        let call = fixture.set_paused(Flag::ON).read_only("config");
        fixture.refuses(&call, Framework::ConstraintMut);
    }

    #[test]
    fn a_flag_is_zero_or_one() {
        let mut fixture = Fixture::new();
        for flag in [2, u8::MAX] {
            let call = fixture.set_paused(Flag(flag));
            fixture.refuses(&call, Framework::InstructionDidNotDeserialize);
        }
    }
}
