//! The rules of an offer's metadata: structured, so that no text of one agent ever reaches the other.

use crate::constants::{METADATA_NONE, METADATA_TERMS};
use crate::error::HaggleError;
use pinocchio::error::ProgramError;

/// Where the fields of [`METADATA_TERMS`] end: kind u8, tier u8, SLA u32, quantity u32, strategy hash, price u64.
const TERMS_END: usize = 1 + 1 + 4 + 4 + 32 + 8;

/// Refuses metadata of a kind that is not known, and bytes that its kind does not use.
///
/// # Errors
/// InvalidParams.
#[inline(always)]
pub fn check(metadata: &[u8; 64]) -> Result<(), ProgramError> {
    // Word by word: sixty-four comparisons would cost more than the rest of an offer.
    // SAFETY: eight words are 64 bytes, and any bytes are words.
    let words = unsafe { metadata.as_ptr().cast::<[u64; 8]>().read_unaligned() };
    let is_known = match metadata[0] {
        METADATA_NONE => words.iter().fold(0, |all, word| all | word) == 0,
        METADATA_TERMS => {
            u64::from_le(words[TERMS_END / 8]) >> (TERMS_END % 8 * 8) == 0 && words[7] == 0
        }
        _ => false,
    };
    if is_known {
        Ok(())
    } else {
        Err(HaggleError::InvalidParams.into())
    }
}

// The two words that the check of the padding looks at.
const _: () = assert!(TERMS_END / 8 == 6);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_of_each_kind_is_accepted_only_where_the_kind_uses_it() {
        for kind in 0..=u8::MAX {
            let mut metadata = [0; 64];
            metadata[0] = kind;
            assert_eq!(check(&metadata).is_ok(), kind <= METADATA_TERMS);
            for at in 1..64 {
                let mut metadata = metadata;
                metadata[at] = 0xff;
                let used = kind == METADATA_TERMS && at < TERMS_END;
                assert_eq!(check(&metadata).is_ok(), used, "kind {kind}, byte {at}");
            }
        }
    }
}
