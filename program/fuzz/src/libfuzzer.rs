//! The interface to libFuzzer, which chooses the cases and mutates them.

use std::ffi::{c_char, c_int, CString};
use std::sync::OnceLock;

/// The functions that libFuzzer calls.
pub trait Target: Send + Sync {
    /// Runs a case.
    fn run(&self, case: &[u8]);
    /// Returns a mutated case, up to `most` bytes.
    fn mutate(&self, case: &[u8], most: usize, seed: u32) -> Vec<u8>;
    /// Returns a case that joins two cases, up to `most` bytes.
    fn cross(&self, one: &[u8], other: &[u8], most: usize, seed: u32) -> Vec<u8>;
    /// Runs before libFuzzer ends the process.
    fn end(&self);
}

static TARGET: OnceLock<Box<dyn Target>> = OnceLock::new();

extern "C" {
    fn LLVMFuzzerRunDriver(
        argc: *mut c_int,
        argv: *mut *mut *mut c_char,
        callback: extern "C" fn(*const u8, usize) -> c_int,
    ) -> c_int;
    fn atexit(callback: extern "C" fn()) -> c_int;
    fn _exit(status: c_int) -> !;
}

/// Starts libFuzzer on a target with the given arguments. libFuzzer ends the process.
///
/// # Panics
/// If it is called twice.
pub fn drive(target: Box<dyn Target>, arguments: &[String]) -> ! {
    assert!(TARGET.set(target).is_ok(), "libFuzzer starts once");
    let mut arguments: Vec<_> = arguments
        .iter()
        .map(|argument| CString::new(argument.as_str()).expect("arguments hold no zero"))
        .map(CString::into_raw)
        .collect();
    let mut count = arguments.len() as c_int;
    arguments.push(std::ptr::null_mut());
    let mut list = arguments.as_mut_ptr();
    // SAFETY: the list holds `count` strings and ends with a null pointer; neither is freed before the
    // process ends.
    unsafe {
        atexit(end);
        LLVMFuzzerRunDriver(&mut count, &mut list, run);
    }
    std::process::exit(0)
}

/// libFuzzer's own mutation of bytes. It returns at most `most` bytes.
pub fn mutate_raw(mut bytes: Vec<u8>, most: usize) -> Vec<u8> {
    let most = most.max(1);
    let size = bytes.len().min(most);
    bytes.resize(most, 0);
    let size = libfuzzer_sys::fuzzer_mutate(&mut bytes, size, most);
    bytes.truncate(size);
    bytes
}

/// Ends the process without libFuzzer's exit handlers.
pub fn leave(status: i32) -> ! {
    // SAFETY: the function does not return, and the kernel frees all resources.
    unsafe { _exit(status) }
}

fn target() -> &'static dyn Target {
    TARGET.get().expect("set before libFuzzer runs").as_ref()
}

/// # Safety
/// `data` points to `size` bytes, unless `size` is 0.
unsafe fn slice<'a>(data: *const u8, size: usize) -> &'a [u8] {
    if size == 0 {
        &[]
    } else {
        // SAFETY: the caller guarantees `size` bytes.
        unsafe { std::slice::from_raw_parts(data, size) }
    }
}

fn put(bytes: &[u8], out: *mut u8, most: usize) -> usize {
    let size = bytes.len().min(most);
    // SAFETY: libFuzzer's buffer has room for `most` bytes.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), out, size) };
    size
}

extern "C" fn run(data: *const u8, size: usize) -> c_int {
    // SAFETY: libFuzzer passes `size` bytes.
    rust_fuzzer_test_input(unsafe { slice(data, size) })
}

/// libfuzzer-sys calls the target by this name.
#[allow(improper_ctypes_definitions)]
#[no_mangle]
extern "C" fn rust_fuzzer_test_input(case: &[u8]) -> c_int {
    target().run(case);
    0
}

extern "C" fn end() {
    target().end();
}

#[no_mangle]
extern "C" fn LLVMFuzzerCustomMutator(data: *mut u8, size: usize, most: usize, seed: u32) -> usize {
    // SAFETY: libFuzzer passes `size` bytes.
    let made = target().mutate(unsafe { slice(data, size) }, most, seed);
    put(&made, data, most)
}

#[no_mangle]
extern "C" fn LLVMFuzzerCustomCrossOver(
    one: *const u8,
    one_size: usize,
    other: *const u8,
    other_size: usize,
    out: *mut u8,
    most: usize,
    seed: u32,
) -> usize {
    // SAFETY: libFuzzer passes these numbers of bytes.
    let (one, other) = unsafe { (slice(one, one_size), slice(other, other_size)) };
    put(&target().cross(one, other, most, seed), out, most)
}
