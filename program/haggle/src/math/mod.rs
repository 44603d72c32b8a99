//! Exact integer arithmetic without 128-bit operations, which the virtual machine lacks.

pub mod bps;
pub mod proportion;
