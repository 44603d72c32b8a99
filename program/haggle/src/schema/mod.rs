//! The program's table, and the macros that declare the rows.
//!
//! [`table`] defines the rows. [`declare`] defines the macros for accounts, events, enums and structs,
//! [`instruction`] the macro for instructions. [`account`] defines the account kinds that any instruction can
//! list, [`program_data`] the kind for the loader's account, [`check`] the checks that follow from a row,
//! [`effects`] the row's payments and guards, and [`lookup`] finds names in rows at compile time.

pub mod account;
pub mod check;
pub mod declare;
pub mod effects;
pub mod instruction;
pub mod lookup;
pub mod program_data;
pub mod table;
