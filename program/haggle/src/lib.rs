//! Haggle: two agents bargain over a price, and escrow settles it.
//!
//! The buyer deposits an escrow, invites a seller and makes the first offer. Offers alternate, each round
//! reduces the escrow by the decay, and the program pays the accepted offer from the vault. Only the rules in
//! this crate move the money.
//!
//! [`instructions`] contains one file per instruction, with its table row, rules and
//! tests. [`schema`] defines the table, [`state`] the accounts and their rules.
//! [`escrow`] is the only place that takes tokens out of vaults, and [`settlement`]
//! counts price payments. [`token`], [`math`] and [`runtime`] form the lower layers.

#![cfg_attr(any(target_os = "solana", target_arch = "bpf"), no_std)]
#![deny(clippy::arithmetic_side_effects)]

pub mod constants;
pub mod error;
pub mod escrow;
pub mod event;
pub mod instructions;
pub mod math;
pub mod runtime;
pub mod schema;
mod security_txt;
pub mod settlement;
pub mod state;
#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests;
pub mod token;

use pinocchio::Address;

/// The program ID, which the IDL, the SDK and Anchor.toml take from here.
pub const ID: Address = Address::from_str_const("Hag1Z1rRT8aAUR9VbjNLdDQ2iSw8nkW3rtVfAHbe4JDT");
