//! Haggle: two agents bargain over a price, and escrow settles the result.
//!
//! The buyer deposits the most it could pay, invites a seller and opens; offers alternate, each round costs the escrow a
//! share, and the one that is accepted is paid from the vault. Nothing but the rules written here moves the money.
//!
//! `instructions/` has a file for each instruction with its row of the table, its rules and its tests; `state/` the
//! accounts; [`escrow`] is the only place that takes tokens out of a vault.

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

/// The program's address. The IDL, the SDK and Anchor.toml take it from here.
pub const ID: Address = Address::from_str_const("Hag1Z1rRT8aAUR9VbjNLdDQ2iSw8nkW3rtVfAHbe4JDT");
