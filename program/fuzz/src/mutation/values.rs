//! Values for fields: numbers and addresses of the environment, limits of ranges, and times near deadlines.

use crate::environment::{config, negotiation, Environment};
use crate::fields::fields;
use crate::rng::Rng;
use crate::tokens;
use haggle_program::state::{Negotiation, ProtocolConfig};
use solana_account::{AccountSharedData, ReadableAccount};

/// Token account and mint fields, then the account type and the first extension, as offset and width.
const TOKEN_FIELDS: [(usize, usize); 18] = [
    (0, 32),
    (32, 32),
    (64, 8),
    (72, 4),
    (76, 32),
    (108, 1),
    (109, 4),
    (113, 8),
    (121, 8),
    (129, 4),
    (133, 32),
    (36, 8),
    (44, 1),
    (45, 1),
    (165, 1),
    (166, 2),
    (168, 2),
    (170, 1),
];

/// The account's fields as offset and width. The contents determine the account type.
pub fn places_in(account: &AccountSharedData, rng: &mut Rng) -> Vec<(usize, usize)> {
    let record = if negotiation(account).is_some() {
        Negotiation::RECORD
    } else if config(account).is_some() {
        ProtocolConfig::RECORD
    } else if tokens::Tokens::of(account).is_some() || tokens::is_mint(account) {
        return TOKEN_FIELDS.to_vec();
    } else {
        let size = account.data().len().max(1);
        return vec![(rng.below(size), 1 + rng.below(8))];
    };
    let fields = fields(record);
    let mut places: Vec<_> = fields
        .iter()
        .map(|leaf| (leaf.at + 8, leaf.width))
        .collect();
    places.push((0, 8));
    places
}

/// A value for a field of this width whose present value is `now`.
pub fn value(width: usize, now: &[u8], environment: &Environment, rng: &mut Rng) -> Vec<u8> {
    match (width, rng.below(4)) {
        (_, 0) => (0..width).map(|_| rng.any() as u8).collect(),
        (32, 1 | 2) => rng.one_of(&environment.pool).0.as_ref().to_vec(),
        (1..=8, 1) => {
            let mut bytes = [0; 8];
            bytes[..now.len().min(8)].copy_from_slice(&now[..now.len().min(8)]);
            let near = u64::from_le_bytes(bytes)
                .wrapping_add(rng.below(5) as u64)
                .wrapping_sub(2);
            near.to_le_bytes()[..width].to_vec()
        }
        (1..=8, _) => {
            let number = match rng.below(3) {
                0 => moment(environment, rng) as u64,
                _ => integer(environment, rng),
            };
            number.to_le_bytes()[..width].to_vec()
        }
        (_, 1) => vec![0; width],
        _ => {
            let mut bytes = now.to_vec();
            bytes.resize(width, 0);
            if !bytes.is_empty() {
                let at = rng.below(bytes.len());
                bytes[at] = rng.any() as u8;
            }
            bytes
        }
    }
}

/// A number that the environment contains, or a range limit, or a number beside these.
pub fn integer(environment: &Environment, rng: &mut Rng) -> u64 {
    const EDGES: [u64; 16] = [
        0,
        1,
        2,
        20,
        60,
        255,
        256,
        3_600,
        10_000,
        86_400,
        100_000,
        31_536_000,
        1 << 32,
        i64::MAX as u64,
        i64::MAX as u64 + 1,
        u64::MAX,
    ];
    let number = if rng.once_in(2) {
        *rng.one_of(&EDGES)
    } else {
        let (_, account) = rng.one_of(&environment.pool);
        let width = if rng.once_in(2) { 8 } else { 2 };
        let places = places_in(account, rng);
        let (at, _) = *rng.one_of(&places);
        let mut bytes = [0; 8];
        if let Some(found) = account.data().get(at..at + width) {
            bytes[..width].copy_from_slice(found);
        }
        u64::from_le_bytes(bytes)
    };
    number.wrapping_add(rng.below(3) as u64).wrapping_sub(1)
}

/// A deadline, or a time near one.
pub fn moment(environment: &Environment, rng: &mut Rng) -> i64 {
    let negotiations: Vec<_> = environment.negotiations().collect();
    let edge = match rng.below(6) {
        0 => environment.sysvars.now,
        1 => *rng.one_of(&[i64::MIN, -1, 0, i64::MAX]),
        _ if negotiations.is_empty() => environment.sysvars.now,
        kind => {
            let (_, negotiation) = rng.one_of(&negotiations);
            match kind {
                2 => negotiation.turn_deadline,
                3 => negotiation.global_deadline,
                4 => negotiation.milestone_deadline,
                _ => negotiation.created_at,
            }
        }
    };
    let aside = [-3_600, -300, -1, 0, 0, 1, 300, 3_600];
    edge.wrapping_add(*rng.one_of(&aside))
}
