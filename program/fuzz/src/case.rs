//! What is fuzzed: one call of the program, as a valid call in a world of valid accounts, and what is changed of both.

use std::fmt;

/// How many changes a case can have.
pub const MOST_EDITS: usize = 16;

/// One call of the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Case {
    /// The world that it is made in, as an index that is taken modulo their number.
    pub world: u8,
    /// The valid call that it starts from, of this or another world, as an index that is taken modulo their number.
    pub call: u8,
    /// What is changed, in order.
    pub edits: Vec<Edit>,
}

macro_rules! edits {
    ($( $(#[doc = $doc:literal])* $name:ident { $( $field:ident: $ty:ty ),* } )*) => {
        /// A change of a call, of an account in it, or of the chain. A `place` is a position in the call's list of accounts, taken
        /// modulo its length; an `account` an index into the world's, taken modulo their number.
        #[derive(Clone, PartialEq, Eq, Debug)]
        pub enum Edit {
            $( $(#[doc = $doc])* $name { $( $field: $ty ),* }, )*
        }

        #[allow(non_camel_case_types)]
        enum Kind { $($name),* }

        const KINDS: u8 = [$(stringify!($name)),*].len() as u8;

        impl Edit {
            fn write(&self, out: &mut Vec<u8>) {
                match self {
                    $( Self::$name { $($field),* } => {
                        out.push(Kind::$name as u8);
                        $( $field.write(out); )*
                    } )*
                }
            }

            fn read(from: &mut &[u8]) -> Option<Self> {
                let kind = u8::read(from)? % KINDS;
                $( if kind == Kind::$name as u8 {
                    return Some(Self::$name { $( $field: <$ty>::read(from)? ),* });
                } )*
                None
            }
        }

        impl fmt::Display for Edit {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $( Self::$name { $($field),* } => {
                        write!(f, stringify!($name))?;
                        $( write!(f, concat!(" ", stringify!($field), " "))?; $field.show(f)?; )*
                        Ok(())
                    } )*
                }
            }
        }
    };
}

edits! {
    /// Overwrites bytes of the instruction's data, which does not get longer by it.
    Data { at: u16, bytes: Bytes }
    /// Cuts the instruction's data off.
    Cut { length: u16 }
    /// Adds to the instruction's data.
    Append { bytes: Bytes }
    /// Puts the discriminator of another instruction in front.
    Discriminator { row: u8 }
    /// Gives another account.
    Put { place: u8, account: u16 }
    /// Gives an account at another address that differs in one byte, with everything that is in the account.
    Near { place: u8, byte: u8 }
    /// Gives an account more; the lowest bit of the flags says that it signs, the next that it is writable.
    Insert { place: u8, account: u16, flags: u8 }
    /// Leaves an account out, so that those behind it move up.
    Remove { place: u8 }
    /// Says that an account signs (lowest bit) and that it is writable (next bit), or that it does not.
    Flags { place: u8, flags: u8 }
    /// Overwrites bytes of an account, which does not get longer by it.
    Content { place: u8, at: u16, bytes: Bytes }
    /// Makes an account longer, with zeros, or shorter.
    Size { place: u8, size: u16 }
    /// Gives an account to another program, or to one whose address differs in one byte.
    Owner { place: u8, owner: u8, byte: u8 }
    /// Sets an account's lamports.
    Lamports { place: u8, lamports: u64 }
    /// Sets the chain's clock.
    Clock { now: i64 }
    /// Sets the chain's rent.
    Rent { price: u64, factor: u8 }
}

/// Up to 255 bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bytes(pub Vec<u8>);

/// A part of a case as bytes. Any bytes are a case; what is missing at the end is not there.
trait Part: Sized {
    fn write(&self, out: &mut Vec<u8>);
    fn read(from: &mut &[u8]) -> Option<Self>;
    fn show(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;
}

macro_rules! integers {
    ($($ty:ty),*) => {$(
        impl Part for $ty {
            fn write(&self, out: &mut Vec<u8>) {
                out.extend(self.to_le_bytes());
            }

            fn read(from: &mut &[u8]) -> Option<Self> {
                let (bytes, rest) = from.split_first_chunk()?;
                *from = rest;
                Some(Self::from_le_bytes(*bytes))
            }

            fn show(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{self}")
            }
        }
    )*};
}

integers!(u8, u16, u64, i64);

impl Part for Bytes {
    fn write(&self, out: &mut Vec<u8>) {
        let length = self.0.len().min(u8::MAX.into());
        out.push(length as u8);
        out.extend(&self.0[..length]);
    }

    fn read(from: &mut &[u8]) -> Option<Self> {
        let length = usize::from(u8::read(from)?).min(from.len());
        let (bytes, rest) = from.split_at(length);
        *from = rest;
        Some(Self(bytes.to_vec()))
    }

    fn show(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl Case {
    /// The case in any bytes.
    pub fn decode(mut bytes: &[u8]) -> Self {
        let from = &mut bytes;
        let mut case = Self {
            world: u8::read(from).unwrap_or(0),
            call: u8::read(from).unwrap_or(0),
            edits: Vec::new(),
        };
        while case.edits.len() < MOST_EDITS {
            let Some(edit) = Edit::read(from) else { break };
            case.edits.push(edit);
        }
        case
    }

    /// The bytes of the case.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = vec![self.world, self.call];
        for edit in &self.edits {
            edit.write(&mut out);
        }
        out
    }
}

/// Bytes as lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes that hexadecimal digits stand for.
pub fn from_hex(digits: &str) -> Option<Vec<u8>> {
    if !digits.len().is_multiple_of(2) || !digits.is_ascii() {
        return None;
    }
    (0..digits.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::Chance;

    #[test]
    fn any_bytes_are_a_case_that_reads_back_the_same() {
        let mut chance = Chance::new(1);
        for _ in 0..100_000 {
            let bytes = chance.bytes(64);
            let case = Case::decode(&bytes);
            assert_eq!(Case::decode(&case.encode()), case, "{}", hex(&bytes));
        }
    }

    #[test]
    fn hexadecimal_digits_read_back_the_same() {
        let bytes: Vec<u8> = (0..=255).collect();
        assert_eq!(from_hex(&hex(&bytes)), Some(bytes));
        assert_eq!(from_hex("0"), None);
        assert_eq!(from_hex("xy"), None);
    }
}
