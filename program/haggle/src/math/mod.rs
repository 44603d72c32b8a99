//! Exact integer arithmetic without 128-bit operations, which the virtual machine does not have.

pub mod bps;
pub mod proportion;
