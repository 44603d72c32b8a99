//! SHA-256, by a syscall of the virtual machine, and the comparison of hashes.

/// SHA-256 of the concatenated parts.
#[inline(always)]
pub fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    #[cfg(any(target_os = "solana", target_arch = "bpf"))]
    {
        let mut hash = core::mem::MaybeUninit::<[u8; 32]>::uninit();
        // SAFETY: each slice consists of pointer and length, as the syscall expects, and the syscall writes
        // all 32 bytes.
        unsafe {
            pinocchio::syscalls::sol_sha256(
                parts.as_ptr().cast(),
                parts.len() as u64,
                hash.as_mut_ptr().cast(),
            );
            hash.assume_init()
        }
    }
    #[cfg(not(any(target_os = "solana", target_arch = "bpf")))]
    panic!("only the virtual machine hashes {parts:?}")
}

/// Compares two hashes word by word. `==` calls the virtual machine's memcmp, which costs three times as
/// much.
#[inline(always)]
pub fn is_equal(a: &[u8; 32], b: &[u8; 32]) -> bool {
    // SAFETY: the pointer is to 32 bytes, the size of four words; the read needs no alignment, and any bytes
    // are valid.
    let [a, b] = [a, b].map(|hash| unsafe { hash.as_ptr().cast::<[u64; 4]>().read_unaligned() });
    a.iter().zip(&b).all(|(a, b)| a == b)
}
