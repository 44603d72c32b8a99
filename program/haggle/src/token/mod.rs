//! The token programs: their accounts, the extensions of Token-2022, the account kinds of instructions, and
//! calls.

pub mod account;
pub mod call;
pub mod extensions;
pub mod kinds;
