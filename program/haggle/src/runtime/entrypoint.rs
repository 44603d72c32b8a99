//! The entry point, and the other items that a program without the standard library must define: a panic
//! handler, no allocator, and, for upstream's BPF target, the memory functions that the compiler calls.

use crate::instructions::dispatch;
use core::mem::MaybeUninit;
use core::slice::from_raw_parts;
use pinocchio::entrypoint::deserialize;

/// The maximum number of accounts that are read, above that of every row. `deserialize` skips later ones.
const MAX_ACCOUNTS: usize = 16;

pinocchio::no_allocator!();
pinocchio::nostd_panic_handler!();

/// Runs an instruction and returns the runtime's code of its result.
///
/// # Safety
/// `input` must point to the input that the loader serialises for a program.
#[no_mangle]
pub unsafe extern "C" fn entrypoint(input: *mut u8) -> u64 {
    let mut accounts = [const { MaybeUninit::uninit() }; MAX_ACCOUNTS];
    // SAFETY: the caller promises that `input` is in the loader's format, which `deserialize` requires.
    let (program_id, count, data) = unsafe { deserialize(input, &mut accounts) };
    // SAFETY: `deserialize` has written the first `count` accounts.
    let accounts = unsafe { from_raw_parts(accounts.as_ptr().cast(), count) };
    match dispatch(program_id, accounts, data) {
        Ok(()) => 0,
        Err(error) => error.report(),
    }
}

#[cfg(target_arch = "bpf")]
mod memory {
    use pinocchio::syscalls;

    /// # Safety
    /// As C's memcpy.
    #[no_mangle]
    unsafe extern "C" fn memcpy(to: *mut u8, from: *const u8, n: usize) -> *mut u8 {
        // SAFETY: the caller promises that both ranges are valid and do not overlap, which the syscall
        // requires.
        unsafe { syscalls::sol_memcpy_(to, from, n as u64) };
        to
    }

    /// # Safety
    /// As C's memmove.
    #[no_mangle]
    unsafe extern "C" fn memmove(to: *mut u8, from: *const u8, n: usize) -> *mut u8 {
        // SAFETY: the caller promises that both ranges are valid; the syscall allows them to overlap.
        unsafe { syscalls::sol_memmove_(to, from, n as u64) };
        to
    }

    /// # Safety
    /// As C's memset.
    #[no_mangle]
    unsafe extern "C" fn memset(to: *mut u8, byte: i32, n: usize) -> *mut u8 {
        // SAFETY: the caller promises that the range is valid.
        unsafe { syscalls::sol_memset_(to, byte as u8, n as u64) };
        to
    }

    /// # Safety
    /// As C's memcmp.
    #[no_mangle]
    unsafe extern "C" fn memcmp(a: *const u8, b: *const u8, n: usize) -> i32 {
        let mut order = 0;
        // SAFETY: the caller promises that both ranges are valid; `order` outlives the syscall.
        unsafe { syscalls::sol_memcmp_(a, b, n as u64, &mut order) };
        order
    }

    /// # Safety
    /// As BSD's bcmp.
    #[no_mangle]
    unsafe extern "C" fn bcmp(a: *const u8, b: *const u8, n: usize) -> i32 {
        // SAFETY: the caller promises that both ranges are valid, which `memcmp` requires.
        unsafe { memcmp(a, b, n) }
    }
}
