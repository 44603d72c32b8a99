//! Tests of the whole program. They run the file that is deployed, in the virtual machine of a validator.

mod answer;
mod arithmetic;
mod compute;
mod data;
mod ended;
mod scenes;
pub mod stage;
mod swaps;
mod threats;
mod token_programs;
pub mod virtual_machine;
