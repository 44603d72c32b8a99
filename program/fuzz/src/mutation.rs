//! Case mutations: operations that are likely to matter, and libFuzzer's own mutations of raw bytes.
//!
//! The case's adversary owns the delegates and close authorities that [`Op::Power`] sets, keeps every signed
//! call ([`Op::Withhold`]), sends it late ([`delay`]), and sends it again once a session was ended, closed
//! and created again with other terms ([`recreation`]).

mod edits;
mod values;

use crate::case::{Case, Op, MAX_OPS};
use crate::environment::{Environments, ValidCall};
use crate::rng::Rng;
use edits::{change, edit, power, recipient, signer};

/// libFuzzer's mutation of bytes. It returns at most as many bytes as the second argument.
pub type Raw<'a> = dyn FnMut(Vec<u8>, usize) -> Vec<u8> + 'a;

/// Mutates a case once or a few times.
pub fn mutate(case: &mut Case, environments: &Environments, rng: &mut Rng, raw: &mut Raw<'_>) {
    for _ in 0..1 + rng.below(3) {
        mutate_once(case, environments, rng, raw);
        case.ops.truncate(MAX_OPS);
    }
}

fn mutate_once(case: &mut Case, environments: &Environments, rng: &mut Rng, raw: &mut Raw<'_>) {
    let at = rng.below(case.ops.len() + 1);
    match rng.below(32) {
        0 => case.environment = rng.byte(),
        // A valid call in the matching environment, with the same operations behind it.
        1 => {
            let valid = rng.below(environments.calls.len()) as u8;
            case.environment = valid;
            match case
                .ops
                .iter_mut()
                .find(|op| matches!(op, Op::Given { .. }))
            {
                Some(op) => *op = Op::Given { call: valid },
                None => case.ops.insert(0, Op::Given { call: valid }),
            }
        }
        2 => case.ops.insert(at, Op::Given { call: rng.byte() }),
        3..=5 if at < case.ops.len() => {
            case.ops.remove(at);
        }
        6 => {
            let bytes = case.encode();
            let most = bytes.len() + 32;
            *case = Case::decode(&raw(bytes, most));
        }
        7..=9 if at < case.ops.len() => change(&mut case.ops[at], rng, raw),
        10..=12 => case.ops.insert(at, a_move(rng)),
        13 | 14 => case.ops.push(a_move(rng)),
        15 | 26 | 27 => delay(case, rng),
        16 => case.ops.push(Op::Repeat {
            earlier: rng.byte(),
        }),
        17 => recreation(case, rng),
        18 | 19 => case.ops.insert(at, power(rng)),
        20 | 21 => case.ops.insert(at, recipient(rng)),
        22 => case.ops.insert(at, signer(rng)),
        _ => {
            let given = given_before(case, at, environments);
            let op = edit(environments.environment(case.environment), given, rng);
            case.ops.insert(at, op);
        }
    }
}

/// The valid call affected by changes at this position.
fn given_before<'a>(
    case: &Case,
    at: usize,
    environments: &'a Environments,
) -> Option<&'a ValidCall> {
    let start = case.ops[..at].iter().rev().find(|op| op.starts_call())?;
    match start {
        Op::Given { call } => Some(environments.call(*call)),
        _ => None,
    }
}

/// A move. Most moves concern the first deal, and most wait no longer than necessary.
fn a_move(rng: &mut Rng) -> Op {
    Op::Move {
        deal: if rng.once_in(8) { rng.byte() } else { 0 },
        choice: rng.byte(),
        variant: rng.byte(),
        wait: if rng.once_in(4) { rng.byte() } else { 0 },
    }
}

/// Withholds a call, or a new move, and sends it some calls later.
fn delay(case: &mut Case, rng: &mut Rng) {
    let starts = |ops: &[Op]| ops.iter().filter(|op| op.starts_call()).count();
    let mut at = rng.below(case.ops.len() + 1);
    while at < case.ops.len() && !case.ops[at].starts_call() {
        at += 1;
    }
    let number = starts(&case.ops[..at]);
    if at == case.ops.len() || rng.once_in(2) {
        case.ops.insert(at, a_move(rng));
    }
    case.ops.insert(at + 1, Op::Withhold {});
    let mut others = 1 + rng.below(3);
    let mut end = at + 2;
    while others > 0 {
        match case.ops.get(end) {
            Some(op) => others -= usize::from(op.starts_call()),
            None => {
                case.ops.push(a_move(rng));
                others -= 1;
            }
        }
        end += 1;
    }
    while case.ops.get(end).is_some_and(|op| !op.starts_call()) {
        end += 1;
    }
    let earlier = number as u8;
    case.ops.insert(end, Op::Repeat { earlier });
}

/// Ends and closes the deal, creates another deal at this address, and sends earlier calls again.
fn recreation(case: &mut Case, rng: &mut Rng) {
    let moves = 3 + rng.below(5);
    case.ops.extend((0..moves).map(|_| a_move(rng)));
    let repeats = 1 + rng.below(4);
    case.ops.extend((0..repeats).map(|_| Op::Repeat {
        earlier: rng.byte(),
    }));
}

/// Joins one case's start with another case's end.
pub fn cross(one: &Case, other: &Case, rng: &mut Rng) -> Case {
    let mut case = one.clone();
    case.ops.truncate(rng.below(one.ops.len() + 1));
    let from = rng.below(other.ops.len() + 1);
    case.ops.extend_from_slice(&other.ops[from..]);
    case.ops.truncate(MAX_OPS);
    case
}
