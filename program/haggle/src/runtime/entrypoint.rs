//! The entry point, plus everything else that programs must define without the standard library: a panic
//! handler, no allocator, and for upstream's BPF target the memory functions that the compiler calls.

use crate::instructions::dispatch;
use core::mem::MaybeUninit;
use core::slice::from_raw_parts;
use pinocchio::entrypoint::deserialize;

/// The maximum number of accounts that are read, more than any row lists. `deserialize` skips later ones.
const MAX_ACCOUNTS: usize = 16;

pinocchio::no_allocator!();
pinocchio::nostd_panic_handler!();

/// Runs an instruction and returns the runtime's code for the result.
///
/// # Safety
/// `input` must point to the input that the loader serializes for a program.
#[no_mangle]
pub unsafe extern "C" fn entrypoint(input: *mut u8) -> u64 {
    let mut accounts = [const { MaybeUninit::uninit() }; MAX_ACCOUNTS];
    // SAFETY: the caller promises that `input` is in the loader's format, which `deserialize` requires.
    let (program_id, count, data) = unsafe { deserialize(input, &mut accounts) };
    // SAFETY: `deserialize` initialized the first `count` accounts.
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
        // SAFETY: the caller promises valid ranges that do not overlap, as
        // the syscall requires.
        unsafe { syscalls::sol_memcpy_(to, from, n as u64) };
        to
    }

    /// # Safety
    /// As C's memmove.
    #[no_mangle]
    unsafe extern "C" fn memmove(to: *mut u8, from: *const u8, n: usize) -> *mut u8 {
        // SAFETY: the caller promises valid ranges; the syscall allows them to overlap.
        unsafe { syscalls::sol_memmove_(to, from, n as u64) };
        to
    }

    /// # Safety
    /// As C's memset.
    #[no_mangle]
    unsafe extern "C" fn memset(to: *mut u8, byte: i32, n: usize) -> *mut u8 {
        // SAFETY: the caller promises a valid range.
        unsafe { syscalls::sol_memset_(to, byte as u8, n as u64) };
        to
    }

    /// # Safety
    /// As C's memcmp.
    #[no_mangle]
    unsafe extern "C" fn memcmp(a: *const u8, b: *const u8, n: usize) -> i32 {
        let mut order = 0;
        // SAFETY: the caller promises valid ranges; `order` outlives the syscall.
        unsafe { syscalls::sol_memcmp_(a, b, n as u64, &mut order) };
        order
    }

    /// # Safety
    /// As BSD's bcmp.
    #[no_mangle]
    unsafe extern "C" fn bcmp(a: *const u8, b: *const u8, n: usize) -> i32 {
        // SAFETY: the caller promises valid ranges, as `memcmp` requires.
        unsafe { memcmp(a, b, n) }
    }
}
