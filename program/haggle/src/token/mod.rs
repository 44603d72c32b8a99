//! Token programs: their accounts, Token-2022 extensions, the account kinds for
//! instructions, and calls.

pub mod account;
pub mod call;
pub mod extensions;
pub mod kinds;
