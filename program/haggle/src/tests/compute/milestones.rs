//! The search over milestones. It visits all masks of claimed, disputed and decided milestones, combining
//! every bond, kind of decision and amount size. It visits every pair of recipients in the worst states.

use super::super::fixture::{Call, Deal, Fixture, ARBITRATION, MILESTONE_DEADLINE};
use super::combinations::{with_recipients, Condition, Milestones};
use super::search::{further_bumps, Worst};
use super::start::Start;
use std::ops::RangeInclusive;

/// A milestone state, and an instruction to run there.
type Build = dyn Fn(&Fixture, &Deal, &Milestones) -> Vec<(String, Fixture, Call)>;

/// The searches of the milestones' instructions, in table order. With `eight`, they visit only states of
/// eight milestones with refunds, a bond and huge amounts: the mint's cost does not depend on the milestones.
pub fn all(start: &Start, eight: bool) -> Vec<Worst> {
    let accepted: Vec<Fixture> = (1..=8)
        .map(|count| start.accepted(&Milestones::terms(count, true)))
        .collect();
    vec![
        search(start, &accepted, eight, "claim_milestone", 0, &claim),
        search(start, &accepted, eight, "release_milestone", 2, &release),
        search(start, &accepted, eight, "dispute_milestone", 0, &dispute),
        search(start, &accepted, eight, "resolve_dispute", 2, &resolve),
        search(
            start,
            &accepted,
            eight,
            "settle_deadline",
            2,
            &settle_deadline,
        ),
        search(start, &accepted, eight, "settle_by_agreement", 2, &agree),
    ]
}

/// Every state for the given milestone counts. Each milestone is decided, disputed or unclaimed, with no more
/// than one under review.
fn states(counts: RangeInclusive<u8>) -> Vec<Milestones> {
    let mut states = Vec::new();
    for count in counts {
        for decided in 0..1u16 << count {
            let decided = decided as u8;
            // The cost depends only on the number of runs of disputed milestones, and on whether the last
            // milestone is disputed. So none, all, or every second of the undecided milestones are disputed.
            let undecided = !decided & ((1u16 << count) - 1) as u8;
            for disputed in [0, undecided, undecided & 0x55, undecided & 0xaa] {
                for under_review in [None, Some(0), Some(count / 2), Some(count - 1)] {
                    let review = under_review.map_or(0, |index| 1 << index) & undecided & !disputed;
                    if under_review.is_some() && review == 0 {
                        continue;
                    }
                    states.push(Milestones {
                        count,
                        decided,
                        claimed: decided | disputed | review,
                        disputed,
                        refunded: false,
                        bond: true,
                        huge: false,
                    });
                }
            }
        }
    }
    states
}

fn search(
    start: &Start,
    accepted: &[Fixture],
    eight: bool,
    instruction: &'static str,
    recipients: usize,
    build: &Build,
) -> Worst {
    let deal = &start.deal;
    let mut worst = Worst::of(instruction);
    let mut worst_states: Vec<(u64, Milestones)> = Vec::new();
    let kinds: &[(bool, bool, bool)] = if eight {
        &[(true, true, true)]
    } else {
        &[
            (true, true, true),
            (true, false, true),
            (true, true, false),
            (false, true, false),
        ]
    };
    let counts = if eight { 8..=8 } else { 1..=8 };
    for state in states(counts) {
        for (bond, refunded, huge) in kinds.iter().copied() {
            let state = Milestones {
                refunded,
                bond,
                huge,
                ..state
            };
            let before = worst.units;
            for (what, fixture, call) in
                build(&accepted[usize::from(state.count) - 1], deal, &state)
            {
                worst.visit(&fixture, &call, || format!("{what}, {}", described(&state)));
            }
            if worst.units > before {
                worst_states.push((worst.units, state));
            }
        }
    }
    // The cost of the recipients does not depend on the milestones, so sampling the worst states is enough.
    let mut bumped = None;
    for (_, state) in worst_states.iter().rev().take(4) {
        let fixtures = build(&accepted[usize::from(state.count) - 1], deal, state);
        for (what, fixture, call) in fixtures {
            for conditions in Condition::pairs() {
                let fixture = with_recipients(&fixture, deal, conditions);
                worst.visit(&fixture, &call, || {
                    format!("{what}, {}, {conditions:?}", described(state))
                });
            }
        }
        bumped.get_or_insert(*state);
    }
    if recipients == 0 {
        return worst;
    }
    let state = bumped.expect("some state is the worst");
    let bumps = further_bumps(|start| {
        let accepted = start.accepted(&Milestones::terms(state.count, true));
        let (_, fixture, call) = build(&accepted, &start.deal, &state)
            .pop()
            .expect("the state allows the instruction");
        (fixture, call)
    });
    worst.with_bumps(bumps[0], bumps[1], recipients)
}

fn described(state: &Milestones) -> String {
    format!(
        "{} milestones, decided {:08b}{}, disputed {:08b}, {}{}",
        state.count,
        state.decided,
        if state.refunded { " for the buyer" } else { "" },
        state.disputed,
        if state.bond { "a bond" } else { "no bond" },
        if state.huge {
            ", amounts beyond 2^32"
        } else {
            ""
        },
    )
}

/// The first and the last milestone in the mask.
fn ends(mask: u8) -> Vec<u8> {
    let mut ends: Vec<u8> = (0..8).filter(|index| mask & (1 << index) != 0).collect();
    if ends.len() > 2 {
        ends = vec![ends[0], ends[ends.len() - 1]];
    }
    ends
}

fn claim(accepted: &Fixture, deal: &Deal, state: &Milestones) -> Vec<(String, Fixture, Call)> {
    let fixture = state.apply(accepted, deal);
    if fixture.negotiation(deal).milestone_under_review() != 0 {
        return Vec::new();
    }
    ends(state.all() & !state.claimed)
        .into_iter()
        .map(|index| {
            let call = fixture.claim_milestone(deal, index);
            (format!("milestone {index}"), fixture.clone(), call)
        })
        .collect()
}

/// The state during the milestone's review.
fn under_review(accepted: &Fixture, deal: &Deal, state: &Milestones) -> Option<(Fixture, u8)> {
    let fixture = state.apply(accepted, deal);
    let review = fixture.negotiation(deal).milestone_under_review();
    (review != 0).then(|| (fixture, review.trailing_zeros() as u8))
}

fn release(accepted: &Fixture, deal: &Deal, state: &Milestones) -> Vec<(String, Fixture, Call)> {
    let Some((fixture, index)) = under_review(accepted, deal, state) else {
        return Vec::new();
    };
    let call = fixture
        .release(deal, deal.buyer, index)
        .given("buyer_token_account", deal.buyer_token_account);
    vec![(format!("milestone {index}, all accounts"), fixture, call)]
}

fn dispute(accepted: &Fixture, deal: &Deal, state: &Milestones) -> Vec<(String, Fixture, Call)> {
    let Some((fixture, index)) = under_review(accepted, deal, state) else {
        return Vec::new();
    };
    let call = fixture.dispute(deal, index);
    vec![(format!("milestone {index}"), fixture, call)]
}

fn resolve(accepted: &Fixture, deal: &Deal, state: &Milestones) -> Vec<(String, Fixture, Call)> {
    let mut built = Vec::new();
    for index in ends(state.disputed) {
        for seller_bps in [5_000, 0, 10_000] {
            let fixture = state.apply(accepted, deal);
            let call = fixture.resolve(deal, index, seller_bps);
            built.push((format!("milestone {index} at {seller_bps}"), fixture, call));
        }
    }
    built
}

fn settle_deadline(
    accepted: &Fixture,
    deal: &Deal,
    state: &Milestones,
) -> Vec<(String, Fixture, Call)> {
    if state.decided == state.all() {
        return Vec::new();
    }
    let fixture = state
        .apply(accepted, deal)
        .at(MILESTONE_DEADLINE + ARBITRATION);
    let call = fixture.settle_deadline(deal);
    vec![("after the deadline".to_owned(), fixture, call)]
}

fn agree(accepted: &Fixture, deal: &Deal, state: &Milestones) -> Vec<(String, Fixture, Call)> {
    if state.decided == state.all() {
        return Vec::new();
    }
    let fixture = state.apply(accepted, deal);
    let bond_bps = if state.bond { 2_500 } else { 0 };
    let call = fixture.settle_by_agreement(deal, 5_000, bond_bps);
    vec![("half and half".to_owned(), fixture, call)]
}
