//! The addresses of the programs that this one works with.

use pinocchio::Address;

/// Creates accounts.
pub const SYSTEM: Address = pinocchio_system::ID;

/// SPL Token, which holds the escrow.
pub const TOKEN: Address = pinocchio_token::ID;

/// Derives the one token account per wallet and mint that anyone can pay to.
pub const ASSOCIATED_TOKEN: Address =
    Address::from_str_const("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL");

/// The loader that keeps a program's upgrade authority.
pub const UPGRADEABLE_LOADER: Address =
    Address::from_str_const("BPFLoaderUpgradeab1e11111111111111111111111");
