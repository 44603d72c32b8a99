//! The addresses of the programs that this one works with.

use pinocchio::Address;

/// Creates accounts.
pub const SYSTEM: Address = pinocchio_system::ID;

/// SPL Token.
pub const TOKEN: Address = pinocchio_token::ID;

/// Token-2022.
pub const TOKEN_2022: Address =
    Address::from_str_const("TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb");

/// The programs that an escrow can be held with.
pub const TOKENS: &[&Address] = &[&TOKEN, &TOKEN_2022];

/// Derives the one token account per wallet and mint that anyone can pay to.
pub const ASSOCIATED_TOKEN: Address =
    Address::from_str_const("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL");

/// The loader that keeps a program's upgrade authority.
pub const UPGRADEABLE_LOADER: Address =
    Address::from_str_const("BPFLoaderUpgradeab1e11111111111111111111111");
