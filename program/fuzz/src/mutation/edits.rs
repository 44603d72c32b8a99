//! Changes to a single call.

use super::values::{integer, moment, places_in, value};
use super::Raw;
use crate::accounts::WALLETS;
use crate::call::OWNERS;
use crate::case::{Bytes, Op};
use crate::environment::{Environment, ValidCall};
use crate::fields::{arguments, Leaf, DISCRIMINATOR};
use crate::rng::Rng;
use crate::tokens::Power;
use haggle_program::instructions::INSTRUCTIONS;
use pinocchio::Address;
use solana_account::ReadableAccount;

/// Account sizes that the program distinguishes, and sizes beside them.
const SIZES: [u16; 13] = [0, 7, 8, 82, 143, 164, 165, 166, 170, 355, 511, 512, 513];

/// A change that fits a call. `given` is the valid call that the change is for, unless the call is a move or
/// a repetition.
pub fn edit(environment: &Environment, given: Option<&ValidCall>, rng: &mut Rng) -> Op {
    let count = given.map_or(10, |call| call.list.len().max(1));
    let place = rng.below(count) as u8;
    let account = rng.below(environment.pool.len()) as u16;
    match rng.below(22) {
        0..=5 => data(environment, given, rng),
        6 => Op::Cut {
            length: rng.below(given.map_or(64, |call| call.data.len()) + 1) as u16,
        },
        7 => Op::Append {
            bytes: Bytes(rng.bytes(64)),
        },
        8 => Op::Discriminator {
            row: rng.below(INSTRUCTIONS.len()) as u8,
        },
        9 => Op::Put { place, account },
        10 => Op::Near {
            place,
            byte: rng.byte(),
        },
        // The same account twice.
        11 => Op::Put {
            place,
            account: twin(environment, given, rng).unwrap_or(account),
        },
        12 => Op::Insert {
            place: rng.byte(),
            account,
            flags: rng.byte(),
        },
        13 => Op::Remove { place },
        14 => Op::Flags {
            place,
            flags: rng.byte(),
        },
        15 | 16 => match given {
            Some(call) => content(environment, place, &call.list[usize::from(place)].0, rng),
            None => power(rng),
        },
        17 => match rng.below(3) {
            0 => Op::Size {
                place,
                size: *rng.one_of(&SIZES),
            },
            1 => Op::Owner {
                place,
                owner: rng.below(OWNERS.len()) as u8,
                byte: if rng.once_in(2) { 0 } else { rng.byte() },
            },
            _ => Op::Lamports {
                place,
                lamports: integer(environment, rng),
            },
        },
        18 => Op::Clock {
            now: moment(environment, rng),
        },
        19 => Op::Rent {
            price: integer(environment, rng) >> rng.below(64),
            factor: rng.byte(),
        },
        20 => recipient(rng),
        _ => power(rng),
    }
}

/// The adversary's power over one of the call's token accounts.
pub fn power(rng: &mut Rng) -> Op {
    Op::Power {
        place: rng.below(10) as u8,
        kind: rng.below(Power::ALL.len()) as u8,
        amount: *rng.one_of(&[0, 1, 1_000_000, u64::MAX]),
    }
}

/// Another signer, usually in the first place.
pub fn signer(rng: &mut Rng) -> Op {
    Op::Signer {
        place: if rng.once_in(4) { rng.byte() } else { 0 },
        wallet: rng.below(WALLETS.len()) as u8,
    }
}

/// Another token account of the same owner.
pub fn recipient(rng: &mut Rng) -> Op {
    Op::Recipient {
        place: rng.below(10) as u8,
        choice: rng.byte(),
    }
}

fn data(environment: &Environment, given: Option<&ValidCall>, rng: &mut Rng) -> Op {
    let row = given.map_or_else(|| *rng.one_of(INSTRUCTIONS), |call| call.row);
    let mut places: Vec<_> = arguments(row).to_vec();
    places.iter_mut().for_each(|leaf| leaf.at += DISCRIMINATOR);
    places.push(Leaf {
        name: "discriminator",
        at: 0,
        width: DISCRIMINATOR,
    });
    let leaf = *rng.one_of(&places);
    let now = given.and_then(|call| call.data.get(leaf.range()));
    Op::Data {
        at: leaf.at as u16,
        bytes: Bytes(value(leaf.width, now.unwrap_or_default(), environment, rng)),
    }
}

/// The index of another account of the call.
fn twin(environment: &Environment, given: Option<&ValidCall>, rng: &mut Rng) -> Option<u16> {
    let twin = rng.one_of(&given?.list).0;
    let mut pool = environment.pool.iter();
    let at = pool.position(|(address, _)| *address == twin)?;
    Some(at as u16)
}

/// Changes an account field.
fn content(environment: &Environment, place: u8, address: &Address, rng: &mut Rng) -> Op {
    let account = environment.account(address);
    let places = places_in(&account, rng);
    let (at, width) = *rng.one_of(&places);
    let now = account.data().get(at..at + width).unwrap_or_default();
    Op::Content {
        place,
        at: at as u16,
        bytes: Bytes(value(width, now, environment, rng)),
    }
}

/// Changes an operation's numbers or bytes.
pub fn change(op: &mut Op, rng: &mut Rng, raw: &mut Raw<'_>) {
    match op {
        Op::Data { at, bytes } | Op::Content { at, bytes, .. } => {
            if rng.once_in(4) {
                *at = at.wrapping_add(rng.below(17) as u16).wrapping_sub(8);
            } else {
                bytes.0 = raw(std::mem::take(&mut bytes.0), 64);
            }
        }
        Op::Append { bytes } => bytes.0 = raw(std::mem::take(&mut bytes.0), 64),
        Op::Cut { length: number } | Op::Size { size: number, .. } => {
            *number = number.wrapping_add(rng.below(5) as u16).wrapping_sub(2);
        }
        Op::Withhold {} => {}
        Op::Discriminator { row: number }
        | Op::Remove { place: number }
        | Op::Given { call: number }
        | Op::Repeat { earlier: number } => *number = rng.byte(),
        Op::Move {
            deal,
            choice,
            variant,
            wait,
        } => *rng_field(rng, [deal, choice, variant, wait]) = rng.byte(),
        Op::Put { place, account } | Op::Insert { place, account, .. } => {
            if rng.once_in(2) {
                *place = rng.byte();
            } else {
                *account = rng.any() as u16;
            }
        }
        Op::Flags {
            place,
            flags: number,
        }
        | Op::Near {
            place,
            byte: number,
        }
        | Op::Owner {
            place,
            byte: number,
            ..
        }
        | Op::Recipient {
            place,
            choice: number,
        }
        | Op::Signer {
            place,
            wallet: number,
        }
        | Op::Power {
            place,
            kind: number,
            ..
        } => *rng_field(rng, [place, number]) = rng.byte(),
        Op::Lamports {
            lamports: number, ..
        }
        | Op::Rent { price: number, .. } => {
            *number = number.wrapping_add(1 << rng.below(64));
        }
        Op::Clock { now } => *now = now.wrapping_add(rng.below(7) as i64 - 3),
    }
}

/// One of the fields.
fn rng_field<'a, const N: usize>(rng: &mut Rng, fields: [&'a mut u8; N]) -> &'a mut u8 {
    let at = rng.below(N);
    let mut fields = fields.into_iter();
    fields.nth(at).expect("the index is below the length")
}
