//! The program's one table, and the macros that declare its rows.
//!
//! [`table`] defines the rows. [`declare`] has the macros for accounts, events, enums and structs,
//! [`instruction`] the macro for instructions. [`account`] has the account kinds that any instruction can
//! list, [`program_data`] that of the loader's account, [`check`] the checks that follow from a row,
//! [`effects`] the payments and guards of a row, and [`lookup`] finds names in rows at compile time.

pub mod account;
pub mod check;
pub mod declare;
pub mod effects;
pub mod instruction;
pub mod lookup;
pub mod program_data;
pub mod table;
