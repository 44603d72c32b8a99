//! The authority changes the treasury, the fee or the defaults.

use crate::error::Result;
use crate::event::ConfigUpdated;
use crate::schema::account::{Signer, State};
use crate::schema::instruction::instruction;
use crate::state::{Defaults, ProtocolConfig};
use pinocchio::{AccountView, Address};

instruction! {
    /// Replaces the treasury, the fee and the defaults. Existing negotiations keep their fee and terms; their
    /// earnings go to the treasury at the time of closing.
    pub fn update_config(
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
        /// The configuration's authority.
        authority: Signer<'a>,
        /// The configuration.
        config: State<'a, ProtocolConfig>,
    }
    effects {
        result: "configuration updated",
        actors: &[Actor { account: "authority", role: Role::Authority }],
        guards: &[],
        idempotency: Idempotency::Random,
        deadlines: &[],
        payments: &[],
        events: &["ConfigUpdated"],
    }
}

/// Replaces the values.
///
/// # Errors
/// InvalidParams for a value out of range or a zero treasury, Unauthorized unless the authority signs.
#[cold]
#[inline(never)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> Result {
    let (args, accounts) = load(accounts, data)?;
    let mut config = accounts.config;

    let defaults = Defaults {
        treasury: args.treasury,
        decay_rate_bps: args.default_decay_rate_bps,
        response_window: args.default_response_window,
        protocol_fee_bps: args.default_protocol_fee_bps,
        max_rounds: args.default_max_rounds,
    };
    defaults.check()?;
    config.check_authority(accounts.authority.address())?;

    config.treasury = defaults.treasury;
    config.default_decay_rate_bps = defaults.decay_rate_bps;
    config.default_response_window = defaults.response_window;
    config.default_protocol_fee_bps = defaults.protocol_fee_bps;
    config.default_max_rounds = defaults.max_rounds;
    ConfigUpdated::of(&config).emit();
    Ok(())
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use crate::error::HaggleError;
    use crate::event::ConfigUpdated;
    use crate::tests::fixture::{
        assert_config, assert_negotiation, event, named, Call, Fixture, AUTHORITY, BUYER, OFFER,
        SELLER, STRANGER, TREASURY,
    };

    /// Values that all differ from the fixture's.
    fn changed() -> ProtocolConfig {
        ProtocolConfig {
            treasury: STRANGER,
            default_decay_rate_bps: 321,
            default_response_window: 3_210,
            default_protocol_fee_bps: 123,
            default_max_rounds: 17,
            ..Fixture::config()
        }
    }

    fn call_with(fixture: &Fixture, change: impl FnOnce(&mut ProtocolConfig)) -> Call {
        let mut config = Fixture::config();
        change(&mut config);
        fixture.update(&config)
    }

    #[test]
    fn the_authority_replaces_the_treasury_and_the_defaults() {
        let mut fixture = Fixture::new();
        let mut before = Fixture::config();
        before.total_negotiations = 1;
        before.total_settled_volume = 2;
        before.total_fees_collected = 3;
        before.pending_authority = BUYER;
        fixture.set_config(&before);
        let snapshot = fixture.clone();
        let call = fixture.update(&changed());
        fixture.run(&call).succeeds().emitted(&[event(
            ConfigUpdated::RECORD,
            &ConfigUpdated {
                authority: AUTHORITY,
                treasury: STRANGER,
                default_decay_rate_bps: 321,
                default_response_window: 3_210,
                default_protocol_fee_bps: 123,
                default_max_rounds: 17,
                is_paused: before.is_paused,
            },
        )]);
        assert_config(
            &fixture.protocol_config(),
            &ProtocolConfig {
                total_negotiations: 1,
                total_settled_volume: 2,
                total_fees_collected: 3,
                pending_authority: BUYER,
                ..changed()
            },
        );
        fixture.assert_untouched_since(&snapshot, &[ProtocolConfig::ADDRESS]);
    }

    #[test]
    fn only_the_authority_updates() {
        let mut fixture = Fixture::new();
        // A proposed successor is not the authority yet.
        let call = fixture.propose(STRANGER);
        fixture.run(&call).succeeds();
        for who in [STRANGER, TREASURY, BUYER] {
            let call = fixture.update(&changed()).with("authority", who);
            fixture.refuses(&call, HaggleError::Unauthorized);
        }
        let call = fixture.update(&changed()).unsigned("authority");
        fixture.refuses(&call, crate::error::Framework::AccountNotSigner);
    }

    #[test]
    fn a_configuration_at_another_address_is_refused() {
        let mut fixture = Fixture::new();
        let copy = fixture.account(&ProtocolConfig::ADDRESS);
        fixture.put(named("copy"), copy);
        let call = fixture.update(&changed()).with("config", named("copy"));
        fixture.refuses(&call, crate::error::Framework::ConstraintSeeds);
        let call = fixture.update(&changed()).read_only("config");
        fixture.refuses(&call, crate::error::Framework::ConstraintMut);
    }

    #[test]
    fn an_open_negotiation_keeps_its_terms_and_its_fee() {
        let (mut fixture, deal) = Fixture::offered();
        let before = fixture.negotiation(&deal);
        let call = call_with(&fixture, |to| to.default_protocol_fee_bps = 500);
        fixture.run(&call).succeeds();
        assert_negotiation(&fixture.negotiation(&deal), &before);
        let call = fixture.accept_offer(&deal, SELLER);
        fixture.run(&call).succeeds();
        let fee = OFFER / 200;
        assert_eq!(fixture.balance(&deal.seller_token_account), OFFER - fee);

        // The next negotiation uses the new fee, if the buyer agrees.
        let mut fixture = Fixture::new();
        let call = call_with(&fixture, |to| to.default_protocol_fee_bps = 500);
        fixture.run(&call).succeeds();
        let mut terms = Fixture::terms();
        let call = fixture.create(&deal, &terms);
        fixture.refuses(&call, HaggleError::StaleState);
        terms.max_fee_bps = 500;
        let call = fixture.create(&deal, &terms);
        fixture.run(&call).succeeds();
        assert_eq!({ fixture.negotiation(&deal).protocol_fee_bps }, 500);
    }
}
