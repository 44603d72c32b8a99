//! Haggle: two agents bargain over a price, and escrow settles the result.
//!
//! The buyer deposits the most it could pay, invites a seller and opens; offers alternate, each round costs the escrow a
//! share, and the one that is accepted is paid from the vault. Nothing but the rules written here moves the money.
//!
//! `instructions/` has a file for each instruction with its row of the table, its rules and its tests; `state/` the
//! accounts; [`escrow`] is the only place that takes tokens out of a vault.

#![cfg_attr(any(target_os = "solana", target_arch = "bpf"), no_std)]
#![deny(clippy::arithmetic_side_effects)]

pub mod bond;
pub mod bps;
pub mod check;
pub mod constants;
pub mod declare;
pub mod error;
pub mod escrow;
pub mod event;
pub mod hash;
pub mod instructions;
pub mod metadata;
pub mod milestone;
pub mod pda;
pub mod programs;
#[cfg(any(target_os = "solana", target_arch = "bpf"))]
mod runtime;
mod security_txt;
pub mod settlement;
pub mod state;
pub mod sysvar;
pub mod table;
#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests;
pub mod token;
pub mod token_call;
pub mod token_extension;
pub mod zopa;

use pinocchio::Address;

/// The program's address. The IDL, the SDK and Anchor.toml take it from here.
pub const ID: Address = Address::from_str_const("Hag1Z1rRT8aAUR9VbjNLdDQ2iSw8nkW3rtVfAHbe4JDT");
