//! The named successor becomes the authority.

use crate::error::{HaggleError, Result};
use crate::event::ConfigUpdated;
use crate::schema::account::{Signer, State};
use crate::schema::instruction::instruction;
use crate::state::ProtocolConfig;
use pinocchio::address::address_eq;
use pinocchio::{AccountView, Address};

instruction! {
    /// Makes the named successor the authority.
    pub fn accept_authority();
    accounts<'a> {
        /// The successor that the authority named.
        authority: Signer<'a>,
        /// The configuration.
        config: State<'a, ProtocolConfig>,
    }
    effects {
        result: "authority accepted",
        actors: &[Actor { account: "authority", role: Role::Authority }],
        guards: &[],
        idempotency: Idempotency::Random,
        deadlines: &[],
        payments: &[],
        events: &["ConfigUpdated"],
    }
}

/// Replaces the authority.
///
/// # Errors
/// Unauthorized unless the named successor signs.
#[cold]
#[inline(never)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> Result {
    let (_, accounts) = load(accounts, data)?;
    let (mut config, successor) = (accounts.config, accounts.authority.address());

    let none = Address::new_from_array([0; 32]);
    // Zero means that there is no proposal. The check does not rely on the zero address being unable to sign.
    if !address_eq(successor, &config.pending_authority) || address_eq(successor, &none) {
        return Err(HaggleError::Unauthorized.into());
    }

    config.authority = *successor;
    config.pending_authority = none;
    ConfigUpdated::of(&config).emit();
    Ok(())
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use crate::error::Framework;
    use crate::event::ConfigUpdated;
    use crate::schema::declare::Flag;
    use crate::tests::fixture::{
        assert_config, event, wallet, Fixture, AUTHORITY, BUYER, LAMPORTS, STRANGER, TREASURY,
    };

    const NONE: Address = Address::new_from_array([0; 32]);

    /// The authority has named the stranger as successor.
    fn proposed() -> Fixture {
        let mut fixture = Fixture::new();
        let call = fixture.propose(STRANGER);
        fixture.run(&call).succeeds();
        fixture
    }

    #[test]
    fn the_successor_becomes_the_authority() {
        let mut fixture = proposed();
        let before = fixture.clone();
        let call = fixture.accept_authority(STRANGER);
        fixture.run(&call).succeeds().emitted(&[event(
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
            &fixture.protocol_config(),
            &ProtocolConfig {
                authority: STRANGER,
                pending_authority: NONE,
                ..Fixture::config()
            },
        );
        fixture.assert_untouched_since(&before, &[ProtocolConfig::ADDRESS]);
        fixture.refuses(&call, HaggleError::Unauthorized);
    }

    #[test]
    fn the_former_authority_loses_its_rights() {
        let mut fixture = proposed();
        let by_former = [
            fixture.update(&Fixture::config()),
            fixture.set_paused(Flag::ON),
            fixture.propose(AUTHORITY),
        ];
        // Until the successor accepts, the authority keeps them.
        for call in &by_former {
            fixture.clone().run(call).succeeds();
        }
        let call = fixture.accept_authority(STRANGER);
        fixture.run(&call).succeeds();
        for call in by_former {
            fixture.refuses(&call, HaggleError::Unauthorized);
            let call = call.with("authority", STRANGER);
            fixture.clone().run(&call).succeeds();
        }
    }

    #[test]
    fn only_the_successor_accepts() {
        let mut fixture = proposed();
        for who in [AUTHORITY, BUYER, TREASURY, NONE] {
            let call = fixture.accept_authority(who);
            fixture.refuses(&call, HaggleError::Unauthorized);
        }
        let call = fixture.accept_authority(STRANGER).unsigned("authority");
        fixture.refuses(&call, Framework::AccountNotSigner);
        let call = fixture.accept_authority(STRANGER).read_only("config");
        fixture.refuses(&call, Framework::ConstraintMut);
    }

    #[test]
    fn a_withdrawn_or_replaced_proposal_is_void() {
        for instead in [NONE, BUYER] {
            let mut fixture = proposed();
            let call = fixture.propose(instead);
            fixture.run(&call).succeeds();
            let call = fixture.accept_authority(STRANGER);
            fixture.refuses(&call, HaggleError::Unauthorized);
        }
    }

    #[test]
    fn zeros_cannot_become_the_authority() {
        let mut fixture = Fixture::new();
        // No key signs for zeros on a chain, but the program does not rely on that.
        fixture.put(NONE, wallet(LAMPORTS));
        let call = fixture.accept_authority(NONE);
        fixture.refuses(&call, HaggleError::Unauthorized);
    }

    #[test]
    fn the_authority_can_succeed_itself() {
        let mut fixture = Fixture::new();
        let call = fixture.propose(AUTHORITY);
        fixture.run(&call).succeeds();
        let call = fixture.accept_authority(AUTHORITY);
        fixture.run(&call).succeeds();
        assert_config(&fixture.protocol_config(), &Fixture::config());
    }
}
