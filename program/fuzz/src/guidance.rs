//! Guidance towards money: case features that libFuzzer counts as coverage, besides the program's branches.
//!
//! libFuzzer keeps a case if it reaches a new feature, and prefers to change cases with rare features. The
//! features here are about value and state, so a case moving money in a new way is kept even if it takes no
//! new branch:
//!
//! - each instruction's result, separately for calls repeated in the same deal or from an earlier deal;
//! - for each instruction, whose balance changed (buyer, seller, treasury, adversary, anyone else), in which
//!   kind of account (only the owner's, shared with a delegate or close authority, recorded payout, vault),
//!   in which direction, and the magnitude of the amount;
//! - the status, the bond state and the phase of sealed prices reached in a call, the number of claimed,
//!   disputed and decided milestones, and how often the address had been used before;
//! - pairs of consecutively succeeding instructions, and for a repeated call the previously succeeding
//!   instruction, with the repeated call's result: a delayed signature;
//! - the calls that the adversary withholds, with the negotiation state at the time of signing.
//!
//! Only possible states count. Forged accounts would otherwise fill the corpus with amounts that mean
//! nothing.

use crate::accounts::ADVERSARY;
use crate::call::Prepared;
use crate::chain::Chain;
use crate::fields::index_of;
use crate::invariants::effect::{Change, Effect};
use crate::invariants::{Outcome, FRAMEWORK};
use crate::tokens::Tokens;
use haggle_program::error::ERRORS;
use haggle_program::instructions::INSTRUCTIONS;
use haggle_program::state::Negotiation;
use pinocchio::Address;
use std::sync::atomic::{AtomicU8, Ordering};

/// The number of counters per feature group.
const GROUP: usize = 1 << 12;
const GROUPS: usize = 5;

/// libFuzzer reads this section as coverage, and clears it before every run.
#[link_section = "__libfuzzer_extra_counters"]
static FEATURES: [AtomicU8; GROUP * GROUPS] = [const { AtomicU8::new(0) }; GROUP * GROUPS];

/// The groups of features.
#[derive(Clone, Copy)]
enum Group {
    Answers,
    Balances,
    States,
    Sequences,
    Repeats,
}

/// Counts a feature. libFuzzer distinguishes eight magnitudes of `value`, which is not 0.
fn count(group: Group, feature: usize, value: u8) {
    let counter = &FEATURES[group as usize * GROUP + feature % GROUP];
    counter.fetch_max(value, Ordering::Relaxed);
}

/// A number with digits in these bases.
fn index(digits: &[(usize, usize)]) -> usize {
    digits.iter().fold(0, |index, (digit, base)| {
        index * base + digit.min(&(base - 1))
    })
}

/// Counts the call's result.
///
/// `previous` is the case's previously succeeding instruction.
pub fn count_answer(
    prepared: &Prepared,
    outcome: Outcome,
    of_earlier_deal: bool,
    previous: Option<usize>,
) {
    const ANSWERS: usize = 48;
    let row = prepared.row.map_or(INSTRUCTIONS.len(), index_of);
    let own = ERRORS.iter().map(|row| row.code);
    let mut errors = own.chain(FRAMEWORK);
    let answer = match outcome {
        Outcome::Succeeded => 0,
        Outcome::Refused => 1,
        Outcome::Impossible => 2,
        Outcome::Returned(code) => 3 + errors.position(|known| known == code).unwrap_or(0),
    };
    let kind = match prepared.repeats {
        None => 0,
        Some(_) if of_earlier_deal => 1,
        Some(_) => 2,
    };
    let rows = INSTRUCTIONS.len() + 1;
    if let (Some(previous), Some(_)) = (previous, prepared.repeats) {
        let repeated = index(&[
            (kind - 1, 2),
            (row, rows),
            (previous, rows),
            (usize::from(outcome == Outcome::Succeeded), 2),
        ]);
        count(Group::Repeats, repeated, 1);
    }
    count(
        Group::Answers,
        index(&[(kind, 3), (row, rows), (answer, ANSWERS)]),
        1,
    );
}

/// Counts a successful call's features. `previous` is the case's previously succeeding instruction.
pub fn count_effect(effect: &Effect<'_>, chain: &Chain<'_>, previous: Option<usize>) {
    let row = index_of(effect.row);
    let rows = INSTRUCTIONS.len();
    if let Some(previous) = previous {
        count(Group::Sequences, index(&[(previous, rows), (row, rows)]), 1);
    }
    for change in &effect.changes {
        count_balance(effect, change, row);
    }
    let Some(deal) = &effect.deal else {
        return;
    };
    if let Some(after) = &deal.after {
        count_recorded(deal.before.as_ref(), after, row);
        count_state(after, chain.deal(deal.address).number);
    }
}

/// Counts a withheld call that would succeed, with the call's negotiation state.
pub fn count_withheld(effect: &Effect<'_>) {
    let Some(before) = effect.deal.as_ref().and_then(|deal| deal.before) else {
        return;
    };
    let kept = index(&[
        (index_of(effect.row), INSTRUCTIONS.len()),
        (before.status.0.into(), 7),
        (before.zopa_phase.0.into(), 5),
        (usize::from(before.buyer_price != 0), 2),
    ]);
    count(Group::Repeats, GROUP / 2 + kept, 1);
}

/// Counts an account whose balance changed.
fn count_balance(effect: &Effect<'_>, change: &Change<'_>, row: usize) {
    let (before, after) = (Tokens::of(change.before), Tokens::of(change.after));
    let Some(tokens) = after.as_ref().or(before.as_ref()) else {
        return;
    };
    let amount = |tokens: &Option<Tokens>| tokens.as_ref().map_or(0, |tokens| tokens.amount);
    let (was, is) = (amount(&before), amount(&after));
    if was == is {
        return;
    }
    let deal = effect.deal.as_ref();
    let is_vault = deal.is_some_and(|deal| *deal.address == tokens.owner);
    let account = match (is_vault, tokens.shared) {
        (true, _) => 0,
        (_, false) => 1,
        _ => 2,
    };
    count_money(
        row,
        role(effect, &tokens.owner),
        account,
        is > was,
        was.abs_diff(is),
    );
}

/// Counts recorded payouts that changed.
fn count_recorded(before: Option<&Negotiation>, after: &Negotiation, row: usize) {
    let amounts =
        |negotiation: &Negotiation| (negotiation.claimable_buyer, negotiation.claimable_seller);
    let (buyer, seller) = before.map_or((0, 0), amounts);
    let (buyer_now, seller_now) = amounts(after);
    for (role, was, is) in [(0, buyer, buyer_now), (1, seller, seller_now)] {
        if was != is {
            count_money(row, role, 3, is > was, was.abs_diff(is));
        }
    }
}

fn count_money(row: usize, role: usize, account: usize, gains: bool, amount: u64) {
    let magnitude = (u64::BITS - amount.leading_zeros()) as u8;
    let feature = index(&[
        (row, INSTRUCTIONS.len()),
        (role, 5),
        (account, 4),
        (gains.into(), 2),
    ]);
    count(Group::Balances, feature, magnitude);
}

fn role(effect: &Effect<'_>, owner: &Address) -> usize {
    let terms = effect
        .deal
        .as_ref()
        .and_then(|deal| deal.before.or(deal.after));
    match terms {
        Some(terms) if terms.buyer == *owner => 0,
        Some(terms) if terms.seller == *owner => 1,
        _ if effect.treasury() == Some(*owner) => 2,
        _ if *owner == ADVERSARY => 3,
        _ => 4,
    }
}

/// Counts the negotiation's reached state.
fn count_state(after: &Negotiation, number: u32) {
    let status = usize::from(after.status.0);
    let number = number.saturating_sub(1) as usize;
    count(
        Group::States,
        index(&[
            (status, 7),
            (after.bond_state.0.into(), 5),
            (after.zopa_phase.0.into(), 5),
            (number, 3),
        ]),
        1 + after.current_round,
    );
    if after.has_milestones() {
        let bits = |mask: u8| (mask.count_ones() as usize, 4);
        let milestones = [
            (usize::from(status == 4), 2),
            bits(after.milestones_claimed),
            bits(after.milestones_disputed),
            bits(after.milestones_decided),
            (after.bond_state.0.into(), 5),
        ];
        count(Group::States, GROUP / 2 + index(&milestones), 1);
    }
}
