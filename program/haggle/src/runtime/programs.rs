//! The addresses of the programs that this one uses.

use pinocchio::Address;

/// The system program, which creates accounts.
pub const SYSTEM: Address = pinocchio_system::ID;

/// SPL Token.
pub const TOKEN: Address = pinocchio_token::ID;

/// Token-2022.
pub const TOKEN_2022: Address =
    Address::from_str_const("TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb");

/// Token programs that can hold an escrow.
pub const TOKENS: &[&Address] = &[&TOKEN, &TOKEN_2022];

/// The program that derives one token account for each wallet and mint.
pub const ASSOCIATED_TOKEN: Address =
    Address::from_str_const("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL");

/// The loader that stores a program's upgrade authority.
pub const UPGRADEABLE_LOADER: Address =
    Address::from_str_const("BPFLoaderUpgradeab1e11111111111111111111111");
