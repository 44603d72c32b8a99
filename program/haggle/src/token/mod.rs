//! The token programs: the accounts that they write, their extensions, and the calls that move tokens.

pub mod account;
pub mod call;
pub mod extensions;
