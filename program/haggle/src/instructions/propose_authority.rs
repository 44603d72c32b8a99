//! The authority names its successor.

use crate::schema::declare::instruction;
use crate::schema::table::Meta;
use crate::state::ProtocolConfig;
use pinocchio::error::ProgramResult;
use pinocchio::{AccountView, Address};

instruction! {
    /// Names who may become the configuration's authority by accepting. Until then nothing changes, so that a mistyped address
    /// locks nobody out; zeros take the proposal back.
    pub fn propose_authority(
        /// Who may accept; zeros for nobody.
        new_authority: Address,
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

/// Keeps the proposal.
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

    config.pending_authority = args.new_authority;
    config.emit_updated();
    Ok(())
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use crate::error::{Framework, HaggleError};
    use crate::event::ConfigUpdated;
    use crate::schema::declare::Flag;
    use crate::tests::stage::{
        assert_config, event, Stage, AUTHORITY, BUYER, SELLER, STRANGER, TREASURY,
    };

    #[test]
    fn a_proposal_changes_nothing_but_who_may_accept() {
        let mut stage = Stage::new();
        let before = stage.clone();
        // Another one takes its place; zeros take it back; the authority may name itself.
        let nobody = Address::new_from_array([0; 32]);
        for named in [STRANGER, BUYER, nobody, AUTHORITY] {
            let call = stage.propose(named);
            stage.run(&call).succeeds().emitted(&[event(
                ConfigUpdated::RECORD,
                &ConfigUpdated {
                    authority: AUTHORITY,
                    treasury: TREASURY,
                    default_decay_rate_bps: 200,
                    default_response_window: 300,
                    default_protocol_fee_bps: 50,
                    default_max_rounds: 10,
                    is_paused: Flag::OFF,
                },
            )]);
            assert_config(
                &stage.protocol_config(),
                &ProtocolConfig {
                    pending_authority: named,
                    ..Stage::config()
                },
            );
        }
        stage.assert_untouched_since(&before, &[ProtocolConfig::ADDRESS]);
    }

    #[test]
    fn nobody_but_the_authority_can() {
        let mut stage = Stage::new();
        let call = stage.propose(STRANGER);
        stage.run(&call).succeeds();
        for who in [STRANGER, TREASURY, SELLER] {
            let call = stage.propose(who).with("authority", who);
            stage.refuses(&call, HaggleError::Unauthorized);
        }
        let call = stage.propose(BUYER).unsigned("authority");
        stage.refuses(&call, Framework::AccountNotSigner);
        let call = stage.propose(BUYER).read_only("config");
        stage.refuses(&call, Framework::ConstraintMut);
    }
}
