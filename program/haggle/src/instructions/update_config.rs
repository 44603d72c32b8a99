//! The authority changes the defaults, the fee or the treasury.

use crate::error::HaggleError;
use crate::schema::declare::instruction;
use crate::schema::table::Meta;
use crate::state::{Defaults, ProtocolConfig};
use pinocchio::error::ProgramResult;
use pinocchio::{AccountView, Address};

instruction! {
    /// Replaces the treasury, the fee and the defaults. Negotiations under way keep the fee and the terms that they were
    /// created with; what they earn goes to the treasury there is when they are closed.
    pub fn update_config(
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
        /// The configuration's authority.
        authority: Meta::READ.signs(),
        /// The configuration.
        config: Meta::WRITE
            .holds(ProtocolConfig::RECORD)
            .at(&ProtocolConfig::ADDRESS)
            .derived(ProtocolConfig::SEEDS),
    }
}

/// Replaces the values.
///
/// # Errors
/// InvalidParams for a default out of its range or a treasury of zeros, Unauthorized for anyone but the authority.
#[inline(always)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> ProgramResult {
    let args = Args::decode(data)?;
    let mut accounts = Accounts::load(accounts)?;
    accounts.check_fixed_pdas()?;
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
    // SAFETY: `load` has checked the account, and nothing else borrows it.
    let config = unsafe { ProtocolConfig::of(&mut accounts.config) };
    config.check_authority(accounts.authority.address())?;

    config.set(&defaults);
    config.emit_updated();
    Ok(())
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use crate::event::ConfigUpdated;
    use crate::tests::stage::{
        assert_config, assert_negotiation, associated, event, named, token_account, Call, Stage,
        AUTHORITY, BUYER, ESCROW, MINT, OFFER, SELLER, STRANGER, TREASURY,
    };

    /// Other values than the stage's, each of them.
    fn changed() -> ProtocolConfig {
        ProtocolConfig {
            treasury: STRANGER,
            default_decay_rate_bps: 321,
            default_response_window: 3_210,
            default_protocol_fee_bps: 123,
            default_max_rounds: 17,
            ..Stage::config()
        }
    }

    fn call_with(stage: &Stage, change: impl FnOnce(&mut ProtocolConfig)) -> Call {
        let mut config = Stage::config();
        change(&mut config);
        stage.update(&config)
    }

    #[test]
    fn the_authority_replaces_the_treasury_and_the_defaults() {
        let mut stage = Stage::new();
        let mut before = Stage::config();
        before.total_negotiations = 1;
        before.total_settled_volume = 2;
        before.total_fees_collected = 3;
        before.pending_authority = BUYER;
        stage.set_config(&before);
        let snapshot = stage.clone();
        let call = stage.update(&changed());
        stage.run(&call).succeeds().emitted(&[event(
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
            &stage.protocol_config(),
            &ProtocolConfig {
                total_negotiations: 1,
                total_settled_volume: 2,
                total_fees_collected: 3,
                pending_authority: BUYER,
                ..changed()
            },
        );
        stage.assert_untouched_since(&snapshot, &[ProtocolConfig::ADDRESS]);
    }

    #[test]
    fn nobody_but_the_authority_can() {
        let mut stage = Stage::new();
        // Not even who has been named to become it.
        let call = stage.propose(STRANGER);
        stage.run(&call).succeeds();
        for who in [STRANGER, TREASURY, BUYER] {
            let call = stage.update(&changed()).with("authority", who);
            stage.refuses(&call, HaggleError::Unauthorized);
        }
        let call = stage.update(&changed()).unsigned("authority");
        stage.refuses(&call, crate::error::Framework::AccountNotSigner);
    }

    #[test]
    fn each_default_is_taken_up_to_its_limits_and_not_beyond() {
        type Case = (&'static str, fn(&mut ProtocolConfig), bool);
        let cases: [Case; 16] = [
            ("decay 0", |to| to.default_decay_rate_bps = 0, true),
            ("decay 1,000", |to| to.default_decay_rate_bps = 1_000, true),
            ("decay 1,001", |to| to.default_decay_rate_bps = 1_001, false),
            ("window 59", |to| to.default_response_window = 59, false),
            ("window 60", |to| to.default_response_window = 60, true),
            (
                "window 3,600",
                |to| to.default_response_window = 3_600,
                true,
            ),
            (
                "window 3,601",
                |to| to.default_response_window = 3_601,
                false,
            ),
            (
                "window below zero",
                |to| to.default_response_window = -60,
                false,
            ),
            ("fee 0", |to| to.default_protocol_fee_bps = 0, true),
            ("fee 500", |to| to.default_protocol_fee_bps = 500, true),
            ("fee 501", |to| to.default_protocol_fee_bps = 501, false),
            ("rounds 0", |to| to.default_max_rounds = 0, false),
            ("rounds 1", |to| to.default_max_rounds = 1, true),
            ("rounds 20", |to| to.default_max_rounds = 20, true),
            ("rounds 21", |to| to.default_max_rounds = 21, false),
            (
                "no treasury",
                |to| to.treasury = Address::new_from_array([0; 32]),
                false,
            ),
        ];
        for (case, change, is_taken) in cases {
            let mut stage = Stage::new();
            let call = call_with(&stage, change);
            println!("{case}");
            if is_taken {
                stage.run(&call).succeeds();
            } else {
                stage.refuses(&call, HaggleError::InvalidParams);
                // What is asked for is looked at before who asks.
                let call = call.with("authority", STRANGER);
                stage.refuses(&call, HaggleError::InvalidParams);
            }
        }
    }

    #[test]
    fn a_configuration_elsewhere_is_not_the_one() {
        let mut stage = Stage::new();
        let copy = stage.account(&ProtocolConfig::ADDRESS);
        stage.put(named("copy"), copy);
        let call = stage.update(&changed()).with("config", named("copy"));
        stage.refuses(&call, crate::error::Framework::ConstraintSeeds);
        let call = stage.update(&changed()).read_only("config");
        stage.refuses(&call, crate::error::Framework::ConstraintMut);
    }

    #[test]
    fn a_negotiation_under_way_keeps_its_terms_and_its_fee() {
        let (mut stage, deal) = Stage::offered();
        let before = stage.negotiation(&deal);
        let call = call_with(&stage, |to| to.default_protocol_fee_bps = 500);
        stage.run(&call).succeeds();
        assert_negotiation(&stage.negotiation(&deal), &before);
        let call = stage.accept_offer(&deal, SELLER);
        stage.run(&call).succeeds();
        let fee = OFFER / 200;
        assert_eq!(stage.balance(&deal.seller_token_account), OFFER - fee);

        // The next one has the new fee.
        let mut stage = Stage::new();
        let call = call_with(&stage, |to| to.default_protocol_fee_bps = 500);
        stage.run(&call).succeeds();
        let call = stage.create(&deal, &Stage::terms());
        stage.run(&call).succeeds();
        assert_eq!({ stage.negotiation(&deal).protocol_fee_bps }, 500);
    }

    #[test]
    fn what_is_earned_goes_to_the_treasury_that_there_is_when_it_is_closed() {
        let (mut stage, deal) = Stage::settled();
        let earned = ESCROW - 4_900_000 + OFFER / 200;
        let call = call_with(&stage, |to| to.treasury = named("a new treasury"));
        stage.run(&call).succeeds();
        let new = associated(&named("a new treasury"), &MINT);
        stage.put(new, token_account(&MINT, &named("a new treasury"), 0));
        let call = stage.close(&deal, STRANGER);
        stage.refuses(&call, crate::error::Framework::ConstraintRaw);
        let call = call.with("treasury_token_account", new);
        stage.run(&call).succeeds();
        assert_eq!(stage.balance(&new), earned);
        assert_eq!(stage.balance(&associated(&TREASURY, &MINT)), 0);
    }
}
