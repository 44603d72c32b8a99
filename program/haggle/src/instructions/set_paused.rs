//! The authority stops or resumes the creation of negotiations.

use crate::schema::declare::{instruction, Flag};
use crate::schema::table::Meta;
use crate::state::ProtocolConfig;
use pinocchio::error::ProgramResult;
use pinocchio::AccountView;

instruction! {
    /// Stops or resumes the creation of negotiations. Nothing else is ever stopped: nobody's money is locked by it.
    pub fn set_paused(
        /// Whether creating negotiations is stopped.
        paused: Flag,
    );
    accounts {
        /// The configuration's authority.
        authority: Meta::READ.signs(),
        /// The configuration.
        config: Meta::WRITE
            .holds(ProtocolConfig::RECORD)
            .at(&ProtocolConfig::ADDRESS)
            .derived(ProtocolConfig::SEEDS),
    }
}

/// Sets the flag.
///
/// # Errors
/// Unauthorized for anyone but the authority.
#[inline(always)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> ProgramResult {
    let args = Args::decode(data)?;
    let mut accounts = Accounts::load(accounts)?;
    accounts.check_fixed_pdas()?;
    // SAFETY: `load` has checked the account, and nothing else borrows it.
    let config = unsafe { ProtocolConfig::of(&mut accounts.config) };
    config.check_authority(accounts.authority.address())?;

    config.is_paused = args.paused;
    config.emit_updated();
    Ok(())
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use crate::error::{Framework, HaggleError};
    use crate::event::ConfigUpdated;
    use crate::tests::stage::{
        assert_config, event, Stage, AUTHORITY, BUYER, OFFER, SELLER, STRANGER, TREASURY,
    };

    #[test]
    fn the_authority_stops_and_resumes() {
        let mut stage = Stage::new();
        let before = stage.clone();
        // Also to what it is already.
        for paused in [Flag::OFF, Flag::ON, Flag::ON, Flag::OFF] {
            let call = stage.set_paused(paused);
            stage.run(&call).succeeds().emitted(&[event(
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
                &stage.protocol_config(),
                &ProtocolConfig {
                    is_paused: paused,
                    ..Stage::config()
                },
            );
        }
        stage.assert_untouched_since(&before, &[]);
    }

    #[test]
    fn nobody_but_the_authority_can() {
        let mut stage = Stage::new();
        let call = stage.propose(STRANGER);
        stage.run(&call).succeeds();
        for who in [STRANGER, TREASURY, BUYER] {
            let call = stage.set_paused(Flag::ON).with("authority", who);
            stage.refuses(&call, HaggleError::Unauthorized);
        }
        let call = stage.set_paused(Flag::ON).unsigned("authority");
        stage.refuses(&call, Framework::AccountNotSigner);
        let call = stage.set_paused(Flag::ON).read_only("config");
        stage.refuses(&call, Framework::ConstraintMut);
    }

    #[test]
    fn it_is_yes_or_no() {
        let mut stage = Stage::new();
        for flag in [2, u8::MAX] {
            let call = stage.set_paused(Flag(flag));
            stage.refuses(&call, Framework::InstructionDidNotDeserialize);
        }
    }

    #[test]
    fn only_creating_stops() {
        let (mut stage, deal) = Stage::created();
        let call = stage.set_paused(Flag::ON);
        stage.run(&call).succeeds();
        let next = crate::tests::stage::Deal::between(BUYER, SELLER, 2, deal.token_mint);
        let create = stage.create(&next, &Stage::terms());
        stage.refuses(&create, HaggleError::Paused);

        let call = stage.accept_invitation(&deal);
        stage.run(&call).succeeds();
        let call = stage.offer(&deal, BUYER, OFFER);
        stage.run(&call).succeeds();
        let call = stage.accept_offer(&deal, SELLER);
        stage.run(&call).succeeds();
        let call = stage.close(&deal, STRANGER);
        stage.run(&call).succeeds();

        let call = stage.set_paused(Flag::OFF);
        stage.run(&call).succeeds();
        stage.run(&create).succeeds();
    }
}
