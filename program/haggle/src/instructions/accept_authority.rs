//! The named successor becomes the authority.

use crate::error::HaggleError;
use crate::schema::declare::instruction;
use crate::schema::table::Meta;
use crate::state::ProtocolConfig;
use pinocchio::address::address_eq;
use pinocchio::error::ProgramResult;
use pinocchio::{AccountView, Address};

instruction! {
    /// Makes the signer, whom the authority has named, the authority.
    pub fn accept_authority();
    accounts {
        /// Whom the authority has named.
        authority: Meta::READ.signs(),
        /// The configuration.
        config: Meta::WRITE
            .holds(ProtocolConfig::RECORD)
            .at(&ProtocolConfig::ADDRESS)
            .derived(ProtocolConfig::SEEDS),
    }
}

/// Hands over.
///
/// # Errors
/// Unauthorized for anyone who has not been named.
#[inline(always)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> ProgramResult {
    Args::decode(data)?;
    let mut accounts = Accounts::load(accounts)?;
    accounts.check_fixed_pdas()?;
    let successor = *accounts.authority.address();
    // SAFETY: `load` has checked the account, and nothing else borrows it.
    let config = unsafe { ProtocolConfig::of(&mut accounts.config) };
    let nobody = Address::new_from_array([0; 32]);
    // Zeros stand for no proposal; that nobody can sign for them is not relied upon.
    if !address_eq(&successor, &config.pending_authority) || address_eq(&successor, &nobody) {
        return Err(HaggleError::Unauthorized.into());
    }

    config.authority = successor;
    config.pending_authority = nobody;
    config.emit_updated();
    Ok(())
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use crate::error::Framework;
    use crate::event::ConfigUpdated;
    use crate::schema::declare::Flag;
    use crate::tests::stage::{
        assert_config, event, wallet, Stage, AUTHORITY, BUYER, LAMPORTS, STRANGER, TREASURY,
    };

    const NOBODY: Address = Address::new_from_array([0; 32]);

    /// The stranger has been named.
    fn proposed() -> Stage {
        let mut stage = Stage::new();
        let call = stage.propose(STRANGER);
        stage.run(&call).succeeds();
        stage
    }

    #[test]
    fn who_has_been_named_becomes_the_authority() {
        let mut stage = proposed();
        let before = stage.clone();
        let call = stage.take_over(STRANGER);
        stage.run(&call).succeeds().emitted(&[event(
            ConfigUpdated::RECORD,
            &ConfigUpdated {
                authority: STRANGER,
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
                authority: STRANGER,
                pending_authority: NOBODY,
                ..Stage::config()
            },
        );
        stage.assert_untouched_since(&before, &[ProtocolConfig::ADDRESS]);
        stage.refuses(&call, HaggleError::Unauthorized);
    }

    #[test]
    fn from_then_on_the_former_authority_is_nobody() {
        let mut stage = proposed();
        let by_former = [
            stage.update(&Stage::config()),
            stage.set_paused(Flag::ON),
            stage.propose(AUTHORITY),
        ];
        // Until then it is not.
        for call in &by_former {
            stage.clone().run(call).succeeds();
        }
        let call = stage.take_over(STRANGER);
        stage.run(&call).succeeds();
        for call in by_former {
            stage.refuses(&call, HaggleError::Unauthorized);
            let call = call.with("authority", STRANGER);
            stage.clone().run(&call).succeeds();
        }
    }

    #[test]
    fn nobody_else_can() {
        let mut stage = proposed();
        for who in [AUTHORITY, BUYER, TREASURY, NOBODY] {
            let call = stage.take_over(who);
            stage.refuses(&call, HaggleError::Unauthorized);
        }
        let call = stage.take_over(STRANGER).unsigned("authority");
        stage.refuses(&call, Framework::AccountNotSigner);
        let call = stage.take_over(STRANGER).read_only("config");
        stage.refuses(&call, Framework::ConstraintMut);
    }

    #[test]
    fn a_proposal_that_was_taken_back_or_replaced_is_void() {
        for instead in [NOBODY, BUYER] {
            let mut stage = proposed();
            let call = stage.propose(instead);
            stage.run(&call).succeeds();
            let call = stage.take_over(STRANGER);
            stage.refuses(&call, HaggleError::Unauthorized);
        }
    }

    #[test]
    fn zeros_cannot_become_the_authority() {
        let mut stage = Stage::new();
        // Nobody signs for zeros on a chain; the program does not rely on it.
        stage.put(NOBODY, wallet(LAMPORTS));
        let call = stage.take_over(NOBODY);
        stage.refuses(&call, HaggleError::Unauthorized);
    }

    #[test]
    fn the_authority_can_name_itself_and_stay() {
        let mut stage = Stage::new();
        let call = stage.propose(AUTHORITY);
        stage.run(&call).succeeds();
        let call = stage.take_over(AUTHORITY);
        stage.run(&call).succeeds();
        assert_config(&stage.protocol_config(), &Stage::config());
    }
}
