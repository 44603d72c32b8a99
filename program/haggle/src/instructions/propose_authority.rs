//! The authority names a successor.

use crate::error::Result;
use crate::event::ConfigUpdated;
use crate::schema::account::{Signer, State};
use crate::schema::instruction::instruction;
use crate::state::ProtocolConfig;
use pinocchio::{AccountView, Address};

instruction! {
    /// Names the successor, which becomes the authority with accept_authority. Meanwhile the authority keeps
    /// all rights, so mistyping the address does no harm.
    pub fn propose_authority(
        /// The successor; zero to withdraw a proposal.
        new_authority: Address,
    );
    accounts<'a> {
        /// The configuration's authority.
        authority: Signer<'a>,
        /// The configuration.
        config: State<'a, ProtocolConfig>,
    }
    effects {
        result: "authority proposed",
        actors: &[Actor { account: "authority", role: Role::Authority }],
        guards: &[],
        idempotency: Idempotency::Random,
        deadlines: &[],
        payments: &[],
        events: &["ConfigUpdated"],
    }
}

/// Stores the proposal.
///
/// # Errors
/// Unauthorized unless the authority signs.
#[cold]
#[inline(never)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> Result {
    let (args, accounts) = load(accounts, data)?;
    let mut config = accounts.config;

    config.check_authority(accounts.authority.address())?;

    config.pending_authority = args.new_authority;
    ConfigUpdated::of(&config).emit();
    Ok(())
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use crate::error::{Framework, HaggleError};
    use crate::event::ConfigUpdated;
    use crate::schema::declare::Flag;
    use crate::tests::fixture::{
        assert_config, event, Fixture, AUTHORITY, BUYER, SELLER, STRANGER, TREASURY,
    };

    #[test]
    fn a_proposal_changes_only_the_successor() {
        let mut fixture = Fixture::new();
        let before = fixture.clone();
        // A later proposal replaces an earlier one, zeros withdraw it, and the authority can name itself.
        let none = Address::new_from_array([0; 32]);
        for named in [STRANGER, BUYER, none, AUTHORITY] {
            let call = fixture.propose(named);
            fixture.run(&call).succeeds().emitted(&[event(
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
                &fixture.protocol_config(),
                &ProtocolConfig {
                    pending_authority: named,
                    ..Fixture::config()
                },
            );
        }
        fixture.assert_untouched_since(&before, &[ProtocolConfig::ADDRESS]);
    }

    #[test]
    fn only_the_authority_proposes() {
        let mut fixture = Fixture::new();
        let call = fixture.propose(STRANGER);
        fixture.run(&call).succeeds();
        for who in [STRANGER, TREASURY, SELLER] {
            let call = fixture.propose(who).with("authority", who);
            fixture.refuses(&call, HaggleError::Unauthorized);
        }
        let call = fixture.propose(BUYER).unsigned("authority");
        fixture.refuses(&call, Framework::AccountNotSigner);
        let call = fixture.propose(BUYER).read_only("config");
        fixture.refuses(&call, Framework::ConstraintMut);
    }
}
