//! The program's one table, and the macros that declare its rows.

pub mod check;
pub mod declare;
pub mod table;
