//! What the virtual machine needs from a program without a standard library: the entry point, a panic handler, no
//! allocator, and, where upstream's BPF target builds it, the memory functions that the compiler calls.

use crate::instructions;

// The longest account list has eleven entries; what comes after the sixteenth account is not even parsed.
pinocchio::program_entrypoint!(instructions::dispatch, 16);
pinocchio::no_allocator!();
pinocchio::nostd_panic_handler!();

#[cfg(target_arch = "bpf")]
mod memory {
    use pinocchio::syscalls;

    /// # Safety
    /// As C's memcpy.
    #[no_mangle]
    unsafe extern "C" fn memcpy(to: *mut u8, from: *const u8, n: usize) -> *mut u8 {
        unsafe { syscalls::sol_memcpy_(to, from, n as u64) };
        to
    }

    /// # Safety
    /// As C's memmove.
    #[no_mangle]
    unsafe extern "C" fn memmove(to: *mut u8, from: *const u8, n: usize) -> *mut u8 {
        unsafe { syscalls::sol_memmove_(to, from, n as u64) };
        to
    }

    /// # Safety
    /// As C's memset.
    #[no_mangle]
    unsafe extern "C" fn memset(to: *mut u8, byte: i32, n: usize) -> *mut u8 {
        unsafe { syscalls::sol_memset_(to, byte as u8, n as u64) };
        to
    }

    /// # Safety
    /// As C's memcmp.
    #[no_mangle]
    unsafe extern "C" fn memcmp(a: *const u8, b: *const u8, n: usize) -> i32 {
        let mut order = 0;
        unsafe { syscalls::sol_memcmp_(a, b, n as u64, &mut order) };
        order
    }

    /// # Safety
    /// As BSD's bcmp.
    #[no_mangle]
    unsafe extern "C" fn bcmp(a: *const u8, b: *const u8, n: usize) -> i32 {
        unsafe { memcmp(a, b, n) }
    }
}
