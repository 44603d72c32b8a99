//! Tests of the whole program. They run the file that is deployed, in the virtual machine of a validator.

mod answer;
mod compute;
mod data;
mod ended;
mod lifecycle;
mod scenes;
pub mod stage;
mod swaps;
pub mod virtual_machine;
