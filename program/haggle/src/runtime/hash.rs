//! SHA-256, which the virtual machine has a syscall for.

/// SHA-256 of the parts, one after the other.
#[inline(always)]
pub fn sha256<const N: usize>(parts: &[&[u8]; N]) -> [u8; 32] {
    #[cfg(any(target_os = "solana", target_arch = "bpf"))]
    {
        let mut hash = core::mem::MaybeUninit::<[u8; 32]>::uninit();
        // SAFETY: the syscall reads N slices and writes the 32 bytes.
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
