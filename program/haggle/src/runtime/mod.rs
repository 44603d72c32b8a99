//! Solana's runtime: the entry point, syscalls, derived addresses and well-known program addresses.

#[cfg(any(target_os = "solana", target_arch = "bpf"))]
mod entrypoint;
pub mod hash;
pub mod pda;
pub mod programs;
pub mod sysvar;
