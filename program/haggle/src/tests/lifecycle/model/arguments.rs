//! The arguments of an instruction.

use solana_address::Address;

/// Reads the arguments from left to right.
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl Reader<'_> {
    pub(super) fn take<const N: usize>(&mut self) -> [u8; N] {
        let (taken, rest) = self.0.split_first_chunk::<N>().unwrap();
        self.0 = rest;
        *taken
    }

    pub(super) fn u8(&mut self) -> u8 {
        self.take::<1>()[0]
    }

    pub(super) fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.take())
    }

    pub(super) fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }

    pub(super) fn i64(&mut self) -> i64 {
        i64::from_le_bytes(self.take())
    }

    pub(super) fn address(&mut self) -> Address {
        Address::new_from_array(self.take())
    }
}

/// Kind 0 is all zero; kind 1 has 50 bytes, then zeros.
pub(super) fn is_metadata(metadata: &[u8; 64]) -> bool {
    match metadata[0] {
        0 => *metadata == [0; 64],
        1 => metadata[50..] == [0; 14],
        _ => false,
    }
}
