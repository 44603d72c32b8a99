//! How a case becomes another one: by changes that a program's author would try, and by libFuzzer's own on raw bytes.

use crate::case::{Bytes, Case, Edit, MOST_EDITS};
use crate::chance::Chance;
use crate::layout::{fields, leaves, Leaf};
use crate::staging::OWNERS;
use crate::tokens;
use crate::world::{config, negotiation, World, Worlds};
use haggle_program::instructions::INSTRUCTIONS;
use haggle_program::state::{Negotiation, ProtocolConfig};
use solana_account::{AccountSharedData, ReadableAccount};

/// How long a discriminator is.
const DISCRIMINATOR: Leaf = Leaf {
    name: "discriminator",
    at: 0,
    width: 8,
};

/// The fields of a token account and of a mint, and behind them the account type and the first extension.
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

/// Changes a case once or a few times. `raw` changes bytes in any way and returns at most as many as it is allowed.
pub fn mutate(
    case: &mut Case,
    worlds: &Worlds,
    chance: &mut Chance,
    raw: &mut dyn FnMut(Vec<u8>, usize) -> Vec<u8>,
) {
    for _ in 0..1 + chance.below(3) {
        match chance.below(16) {
            0 => case.world = chance.any() as u8,
            // Back to a valid call, with the changes on top.
            1 | 2 => {
                let scene = chance.below(worlds.calls.len()) as u8;
                (case.world, case.call) = (scene, scene);
            }
            3 => case.call = chance.below(worlds.calls.len()) as u8,
            4 | 5 if !case.edits.is_empty() => {
                let at = chance.below(case.edits.len());
                case.edits.remove(at);
            }
            6 if !case.edits.is_empty() => {
                let bytes = case.encode();
                let most = bytes.len() + 32;
                *case = Case::decode(&raw(bytes, most));
            }
            7 | 8 if !case.edits.is_empty() => {
                let at = chance.below(case.edits.len());
                change(&mut case.edits[at], chance, raw);
            }
            _ if case.edits.len() < MOST_EDITS => {
                let edit = edit(case, worlds, chance);
                let at = chance.below(case.edits.len() + 1);
                case.edits.insert(at, edit);
            }
            _ => {
                let length = chance.below(MOST_EDITS / 2);
                case.edits.truncate(length);
            }
        }
    }
}

/// Puts the changes of two cases together.
pub fn cross(one: &Case, other: &Case, chance: &mut Chance) -> Case {
    let mut case = one.clone();
    case.edits.truncate(chance.below(one.edits.len() + 1));
    let from = chance.below(other.edits.len() + 1);
    case.edits.extend_from_slice(&other.edits[from..]);
    case.edits.truncate(MOST_EDITS);
    case
}

/// A change that means something to the case's call.
fn edit(case: &Case, worlds: &Worlds, chance: &mut Chance) -> Edit {
    let (world, call) = case.origin(worlds);
    let place = chance.below(call.list.len().max(1)) as u8;
    let account = chance.below(world.pool.len()) as u16;
    match chance.below(20) {
        0..=5 => {
            let mut places: Vec<_> = leaves(call.row.args);
            places.iter_mut().for_each(|leaf| leaf.at += 8);
            places.push(DISCRIMINATOR);
            let leaf = *chance.one_of(&places);
            let now = call.data.get(leaf.range()).unwrap_or_default();
            Edit::Data {
                at: leaf.at as u16,
                bytes: Bytes(value(leaf.width, now, world, chance)),
            }
        }
        6 => Edit::Cut {
            length: chance.below(call.data.len() + 1) as u16,
        },
        7 => Edit::Append {
            bytes: Bytes(chance.bytes(64)),
        },
        8 => Edit::Discriminator {
            row: chance.below(INSTRUCTIONS.len()) as u8,
        },
        9 => Edit::Put { place, account },
        10 => Edit::Near {
            place,
            byte: chance.any() as u8,
        },
        // The same account twice.
        11 => {
            let twin = chance.one_of(&call.list).0;
            let twin = world.pool.iter().position(|(address, _)| *address == twin);
            Edit::Put {
                place,
                account: twin.map_or(account, |at| at as u16),
            }
        }
        12 => Edit::Insert {
            place: chance.any() as u8,
            account,
            flags: chance.any() as u8,
        },
        13 => Edit::Remove { place },
        14 => Edit::Flags {
            place,
            flags: chance.any() as u8,
        },
        15 | 16 => content(place, call.list[usize::from(place)].0, world, chance),
        17 => match chance.below(3) {
            0 => Edit::Size {
                place,
                size: *chance.one_of(&[0, 7, 8, 82, 143, 164, 165, 166, 170, 355, 511, 512, 513]),
            },
            1 => Edit::Owner {
                place,
                owner: chance.below(OWNERS.len()) as u8,
                byte: if chance.once_in(2) {
                    0
                } else {
                    chance.any() as u8
                },
            },
            _ => Edit::Lamports {
                place,
                lamports: integer(chance, world),
            },
        },
        18 => Edit::Clock {
            now: moment(world, chance),
        },
        _ => Edit::Rent {
            price: integer(chance, world) >> chance.below(64),
            factor: chance.any() as u8,
        },
    }
}

/// A change of a field in an account.
fn content(place: u8, address: pinocchio::Address, world: &World, chance: &mut Chance) -> Edit {
    let account = world.account(&address);
    let places = places_in(&account, chance);
    let (at, width) = *chance.one_of(&places);
    let now = account.data().get(at..at + width).unwrap_or_default();
    Edit::Content {
        place,
        at: at as u16,
        bytes: Bytes(value(width, now, world, chance)),
    }
}

fn places_in(account: &AccountSharedData, chance: &mut Chance) -> Vec<(usize, usize)> {
    let record = if negotiation(account).is_some() {
        Negotiation::RECORD
    } else if config(account).is_some() {
        ProtocolConfig::RECORD
    } else if tokens::Tokens::of(account).is_some() || tokens::is_mint(account) {
        return TOKEN_FIELDS.to_vec();
    } else {
        let size = account.data().len().max(1);
        return vec![(chance.below(size), 1 + chance.below(8))];
    };
    let fields = fields(record);
    let mut places: Vec<_> = fields
        .iter()
        .map(|leaf| (leaf.at + 8, leaf.width))
        .collect();
    places.push((0, 8));
    places
}

/// A value for a field of this width that holds `now`.
fn value(width: usize, now: &[u8], world: &World, chance: &mut Chance) -> Vec<u8> {
    match (width, chance.below(4)) {
        (_, 0) => (0..width).map(|_| chance.any() as u8).collect(),
        (32, 1 | 2) => chance.one_of(&world.pool).0.as_ref().to_vec(),
        (1..=8, 1) => {
            let mut bytes = [0; 8];
            bytes[..now.len().min(8)].copy_from_slice(&now[..now.len().min(8)]);
            let near = u64::from_le_bytes(bytes)
                .wrapping_add(chance.below(5) as u64)
                .wrapping_sub(2);
            near.to_le_bytes()[..width].to_vec()
        }
        (1..=8, _) => {
            let number = match chance.below(3) {
                0 => moment(world, chance) as u64,
                _ => integer(chance, world),
            };
            number.to_le_bytes()[..width].to_vec()
        }
        (_, 1) => vec![0; width],
        _ => {
            let mut bytes = now.to_vec();
            bytes.resize(width, 0);
            if !bytes.is_empty() {
                let at = chance.below(bytes.len());
                bytes[at] = chance.any() as u8;
            }
            bytes
        }
    }
}

/// A number that stands somewhere in the world, or is at the edge of something, or one next to it.
fn integer(chance: &mut Chance, world: &World) -> u64 {
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
    let number = if chance.once_in(2) {
        *chance.one_of(&EDGES)
    } else {
        let (_, account) = chance.one_of(&world.pool);
        let width = if chance.once_in(2) { 8 } else { 2 };
        let places = places_in(account, chance);
        let (at, _) = *chance.one_of(&places);
        let mut bytes = [0; 8];
        if let Some(found) = account.data().get(at..at + width) {
            bytes[..width].copy_from_slice(found);
        }
        u64::from_le_bytes(bytes)
    };
    number.wrapping_add(chance.below(3) as u64).wrapping_sub(1)
}

/// A time at which something changes, or a second before or after.
fn moment(world: &World, chance: &mut Chance) -> i64 {
    let negotiations: Vec<_> = world.negotiations().collect();
    let edge = match chance.below(6) {
        0 => world.chain.now,
        1 => *chance.one_of(&[i64::MIN, -1, 0, i64::MAX]),
        _ if negotiations.is_empty() => world.chain.now,
        kind => {
            let (_, negotiation) = chance.one_of(&negotiations);
            match kind {
                2 => negotiation.turn_deadline,
                3 => negotiation.global_deadline,
                4 => negotiation.milestone_deadline,
                _ => negotiation.created_at,
            }
        }
    };
    let aside = [-3_600, -300, -1, 0, 0, 1, 300, 3_600];
    edge.wrapping_add(*chance.one_of(&aside))
}

/// Changes an edit's numbers or bytes.
fn change(edit: &mut Edit, chance: &mut Chance, raw: &mut dyn FnMut(Vec<u8>, usize) -> Vec<u8>) {
    match edit {
        Edit::Data { at, bytes } | Edit::Content { at, bytes, .. } => {
            if chance.once_in(4) {
                *at = at.wrapping_add(chance.below(17) as u16).wrapping_sub(8);
            } else {
                bytes.0 = raw(std::mem::take(&mut bytes.0), 64);
            }
        }
        Edit::Append { bytes } => bytes.0 = raw(std::mem::take(&mut bytes.0), 64),
        Edit::Cut { length: number } | Edit::Size { size: number, .. } => {
            *number = number.wrapping_add(chance.below(5) as u16).wrapping_sub(2);
        }
        Edit::Discriminator { row: number } | Edit::Remove { place: number } => {
            *number = chance.any() as u8;
        }
        Edit::Put { place, account } | Edit::Insert { place, account, .. } => {
            if chance.once_in(2) {
                *place = chance.any() as u8;
            } else {
                *account = chance.any() as u16;
            }
        }
        Edit::Flags {
            place,
            flags: number,
        }
        | Edit::Near {
            place,
            byte: number,
        }
        | Edit::Owner {
            place,
            byte: number,
            ..
        } => {
            if chance.once_in(2) {
                *place = chance.any() as u8;
            } else {
                *number = chance.any() as u8;
            }
        }
        Edit::Lamports {
            lamports: number, ..
        }
        | Edit::Rent { price: number, .. } => {
            *number = number.wrapping_add(1 << chance.below(64));
        }
        Edit::Clock { now } => *now = now.wrapping_add(chance.below(7) as i64 - 3),
    }
}
