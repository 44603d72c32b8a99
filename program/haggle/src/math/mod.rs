//! Exact integer arithmetic that the virtual machine can do.

pub mod bps;
