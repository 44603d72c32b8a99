//! The ranges for negotiation terms and the defaults that the configuration proposes for them.

use super::fixture::{
    metadata_of, Call, Fixture, ARBITER, BUYER, ESCROW, FUNDS, NOW, SELLER, STRANGER, THIRDS,
};
use crate::error::HaggleError;
use crate::instructions::create_negotiation::NegotiationParams;
use crate::instructions::update_config;
use crate::schema::declare::Flag;
use crate::state::ProtocolConfig;
use pinocchio::Address;

const ZERO: Address = Address::new_from_array([0; 32]);
const DAY: i64 = 86_400;
const YEAR: i64 = 365 * DAY;

/// Terms with three milestones.
fn full_terms() -> NegotiationParams {
    Fixture::milestone_terms(&THIRDS)
}

/// Creates a negotiation on these terms, or requires that they are refused.
fn assert_accepts(terms: &NegotiationParams, is_accepted: bool) {
    let (mut fixture, deal) = (Fixture::new(), Fixture::deal());
    let call = fixture.create(&deal, terms);
    if is_accepted {
        fixture.run(&call).succeeds();
        assert!(fixture.exists(&deal.negotiation));
    } else {
        fixture.refuses(&call, HaggleError::InvalidParams);
    }
}

#[test]
fn each_number_has_its_range() {
    type Set = fn(&mut NegotiationParams, i64);
    let escrow: Set = |terms, value| terms.escrow_amount = value as u64;
    let rounds: Set = |terms, value| terms.max_rounds = value as u8;
    let decay: Set = |terms, value| terms.decay_rate_bps = value as u16;
    let window: Set = |terms, value| terms.response_window = value;
    let deadline: Set = |terms, value| terms.global_deadline = value;
    let minimum: Set = |terms, value| terms.min_offer_bps = value as u16;
    let cases: &[(Set, &[i64], &[i64])] = &[
        (escrow, &[100_000, FUNDS as i64], &[0, 99_999]),
        (rounds, &[1, 20], &[0, 21, 255]),
        (decay, &[0, 1_000], &[1_001, 65_535]),
        (
            window,
            &[60, 3_600],
            &[i64::MIN, -1, 0, 59, 3_601, i64::MAX],
        ),
        (deadline, &[NOW + 60, NOW + DAY], &[NOW + 59, NOW + DAY + 1]),
        (deadline, &[], &[i64::MIN, 0, NOW - 60, NOW, i64::MAX]),
        (minimum, &[100, 9_000], &[0, 99, 9_001, 65_535]),
    ];
    for (set, accepted, refused) in cases {
        for (values, is_accepted) in [(accepted, true), (refused, false)] {
            for value in *values {
                let mut terms = Fixture::terms();
                set(&mut terms, *value);
                assert_accepts(&terms, is_accepted);
            }
        }
    }
}

#[test]
fn metadata_is_of_a_known_kind() {
    for (metadata, is_accepted) in [
        ([0; 64], true),
        (metadata_of(0, 2), false),
        (metadata_of(1, 50), true),
        (metadata_of(1, 51), false),
        (metadata_of(2, 33), true),
        (metadata_of(2, 34), false),
        (metadata_of(3, 1), false),
    ] {
        let mut terms = Fixture::terms();
        terms.metadata = metadata;
        assert_accepts(&terms, is_accepted);
    }
}

#[test]
fn the_terms_of_milestones_are_zero_without_milestones() {
    let changes: [fn(&mut NegotiationParams); 6] = [
        |terms| terms.arbiter = ARBITER,
        |terms| terms.milestone_bps[0] = 1,
        |terms| terms.milestone_bps[0] = 10_000,
        |terms| terms.milestone_bps[7] = 1,
        |terms| terms.milestone_deadline = NOW + DAY,
        |terms| terms.review_hours = 1,
    ];
    for change in changes {
        let mut terms = Fixture::terms();
        change(&mut terms);
        assert_accepts(&terms, false);
    }
    let mut terms = full_terms();
    terms.milestone_bps = [0; 8];
    assert_accepts(&terms, false);
}

#[test]
fn the_arbiter_is_neither_party() {
    for (arbiter, is_accepted) in [
        (ARBITER, true),
        (STRANGER, true),
        (ZERO, false),
        (BUYER, false),
        (SELLER, false),
    ] {
        let mut terms = full_terms();
        terms.arbiter = arbiter;
        assert_accepts(&terms, is_accepted);
    }
}

#[test]
fn sealed_prices_require_a_bond() {
    for (zopa_enabled, bond_required, is_accepted) in [
        (Flag::ON, 0, false),
        (Flag::ON, 1, true),
        (Flag::OFF, 0, true),
        (Flag::OFF, 1, true),
    ] {
        let mut terms = Fixture::terms();
        terms.zopa_enabled = zopa_enabled;
        terms.bond_required = bond_required;
        assert_accepts(&terms, is_accepted);
    }
}

/// Shares of this many milestones, together 10,000.
fn shares(count: u8) -> [u16; 8] {
    let mut shares = [0; 8];
    shares[..usize::from(count)].fill(1);
    shares[usize::from(count) - 1] = 10_001 - u16::from(count);
    shares
}

#[test]
fn shares_have_no_gap_and_add_up_to_the_price() {
    let mut cases: Vec<_> = (1..=8).map(|count| (shares(count), true)).collect();
    cases.extend([
        ([1_250; 8], true),
        ([9_999, 0, 0, 0, 0, 0, 0, 0], false),
        ([10_001, 0, 0, 0, 0, 0, 0, 0], false),
        ([0, 10_000, 0, 0, 0, 0, 0, 0], false),
        ([5_000, 0, 5_000, 0, 0, 0, 0, 0], false),
        ([5_000, 4_999, 0, 0, 0, 0, 0, 1], false),
        ([5_000, 4_999, 0, 0, 0, 0, 0, 0], false),
        ([5_000, 5_001, 0, 0, 0, 0, 0, 0], false),
        // Together 10,000 in sixteen bits.
        ([65_535, 10_001, 0, 0, 0, 0, 0, 0], false),
    ]);
    for (milestone_bps, is_accepted) in cases {
        let terms = NegotiationParams {
            milestone_bps,
            milestone_deadline: NOW + YEAR,
            ..full_terms()
        };
        println!("{milestone_bps:?}");
        assert_accepts(&terms, is_accepted);
    }
}

#[test]
fn a_review_takes_1_to_168_hours() {
    for review_hours in 0..=u8::MAX {
        let terms = NegotiationParams {
            review_hours,
            milestone_deadline: NOW + YEAR,
            ..full_terms()
        };
        assert_accepts(&terms, (1..=168).contains(&review_hours));
    }
}

#[test]
fn milestones_have_time_for_their_reviews_and_a_year_at_most() {
    for (review_hours, global_deadline, count, earliest) in [
        (1, 3_600, 1, 3_600 + 3_660),
        (24, 3_600, 1, 3_600 + 86_460),
        (1, 60, 8, 60 + 8 * 3_660),
        (168, DAY, 8, DAY + 8 * (168 * 3_600 + 60)),
    ] {
        let earliest = NOW + earliest;
        for (milestone_deadline, is_accepted) in [
            (i64::MIN, false),
            (-1, false),
            (0, false),
            (NOW, false),
            (earliest - 1, false),
            (earliest, true),
            (earliest + 1, true),
            (NOW + YEAR, true),
            (NOW + YEAR + 1, false),
            (i64::MAX, false),
        ] {
            let terms = NegotiationParams {
                review_hours,
                global_deadline: NOW + global_deadline,
                milestone_bps: shares(count),
                milestone_deadline,
                ..full_terms()
            };
            assert_accepts(&terms, is_accepted);
        }
    }
}

#[test]
fn escrow_and_bond_fit_one_vault() {
    for (escrow_amount, bond_required, is_accepted) in [
        (ESCROW, u64::MAX - ESCROW, true),
        (ESCROW, u64::MAX - ESCROW + 1, false),
        (ESCROW, u64::MAX, false),
        (u64::MAX, 0, true),
        (u64::MAX, 1, false),
        (u64::MAX - 1, 1, true),
        (u64::MAX, u64::MAX, false),
    ] {
        let (mut fixture, deal) = (Fixture::new(), Fixture::deal());
        fixture.set_balance(&deal.buyer_token_account, escrow_amount);
        let terms = NegotiationParams {
            escrow_amount,
            bond_required,
            ..Fixture::terms()
        };
        let call = fixture.create(&deal, &terms);
        if is_accepted {
            fixture.run(&call).succeeds();
            assert_eq!(fixture.balance(&deal.escrow_vault), escrow_amount);
        } else {
            fixture.refuses(&call, HaggleError::InvalidParams);
        }
    }
}

/// The calls that set these defaults: the first configuration, and a later change.
fn configuring(config: &ProtocolConfig) -> [(Fixture, Call); 2] {
    let (unconfigured, configured) = (Fixture::unconfigured(), Fixture::new());
    let initialize = unconfigured.initialize_with(config);
    let update = configured.update(config);
    assert_eq!(update.row.name, update_config::ROW.name);
    [(unconfigured, initialize), (configured, update)]
}

#[test]
fn each_default_has_its_range() {
    type Set = fn(&mut ProtocolConfig, i64);
    let decay: Set = |config, value| config.default_decay_rate_bps = value as u16;
    let window: Set = |config, value| config.default_response_window = value;
    let fee: Set = |config, value| config.default_protocol_fee_bps = value as u16;
    let rounds: Set = |config, value| config.default_max_rounds = value as u8;
    let treasury: Set = |config, value| config.treasury = if value == 0 { ZERO } else { STRANGER };
    let cases: &[(Set, &[i64], &[i64])] = &[
        (decay, &[0, 1_000], &[1_001, 65_535]),
        (
            window,
            &[60, 3_600],
            &[i64::MIN, -60, 0, 59, 3_601, i64::MAX],
        ),
        (fee, &[0, 500], &[501, 65_535]),
        (rounds, &[1, 20], &[0, 21, 255]),
        (treasury, &[1], &[0]),
    ];
    for (set, accepted, refused) in cases {
        for (values, is_accepted) in [(accepted, true), (refused, false)] {
            for value in *values {
                let mut config = Fixture::config();
                set(&mut config, *value);
                for (mut fixture, call) in configuring(&config) {
                    if is_accepted {
                        fixture.run(&call).succeeds();
                        continue;
                    }
                    fixture.refuses(&call, HaggleError::InvalidParams);
                    // The arguments are checked before the signer.
                    let call = call.with("authority", STRANGER);
                    fixture.refuses(&call, HaggleError::InvalidParams);
                }
            }
        }
    }
}
