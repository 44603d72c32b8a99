//! Structured metadata. It holds no text, so no agent's text reaches another agent's model.

use crate::constants::{METADATA_NONE, METADATA_TERMS, METADATA_TERMS_HASH};
use crate::error::{HaggleError, Result};

/// The end of kind 1's fields: kind u8, tier u8, SLA u32, quantity u32, strategy hash, price u64.
const TERMS_END: usize = 1 + 1 + 4 + 4 + 32 + 8;

/// The end of kind 2's fields: kind u8, terms hash.
const TERMS_HASH_END: usize = 1 + 32;

/// Requires a known kind, and zeros behind the kind's fields.
///
/// # Errors
/// InvalidParams.
#[inline(always)]
pub fn check(metadata: &[u8; 64]) -> Result {
    // Word by word: 64 comparisons would cost more than everything else in an offer.
    // SAFETY: the pointer is to 64 bytes, the size of eight words; the read needs no alignment, and any bytes
    // are valid.
    let words = unsafe { metadata.as_ptr().cast::<[u64; 8]>().read_unaligned() };
    let is_padded = match metadata[0] {
        METADATA_NONE => is_zero_from(&words, 1),
        METADATA_TERMS => is_zero_from(&words, TERMS_END),
        METADATA_TERMS_HASH => is_zero_from(&words, TERMS_HASH_END),
        _ => false,
    };
    if is_padded {
        Ok(())
    } else {
        Err(HaggleError::InvalidParams.into())
    }
}

/// Reports whether all bytes from `start` on are zero.
#[inline(always)]
fn is_zero_from(words: &[u64; 8], start: usize) -> bool {
    let [first, rest @ ..] = &words[start / 8..] else {
        return true;
    };
    rest.iter()
        .fold(u64::from_le(*first) >> ((start & 7) << 3), |all, word| {
            all | word
        })
        == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_of_each_kind_is_accepted_only_where_the_kind_uses_it() {
        for kind in 0..=u8::MAX {
            // The kind's fields end here; other kinds have none.
            let end = match kind {
                METADATA_NONE => 1,
                METADATA_TERMS => 50,
                METADATA_TERMS_HASH => 33,
                _ => 0,
            };
            let mut metadata = [0; 64];
            metadata[0] = kind;
            assert_eq!(check(&metadata).is_ok(), end > 0, "kind {kind}");
            for at in 1..64 {
                for byte in [1, 0x80, 0xff] {
                    let mut metadata = metadata;
                    metadata[at] = byte;
                    let is_accepted = check(&metadata).is_ok();
                    assert_eq!(is_accepted, at < end, "kind {kind}, byte {at}");
                }
            }
        }
    }
}
