//! A test case: an environment, and a list of operations.
//!
//! An operation starts a call, or changes the call started earlier. A call runs when another call starts or
//! the case ends, on the accounts left by earlier calls. Each case is therefore a scenario with up to
//! [`MAX_CALLS`] calls.

use std::fmt;

/// The maximum number of operations in a case.
pub const MAX_OPS: usize = 48;
/// The maximum number of calls in a case.
pub const MAX_CALLS: usize = 14;

/// A test case.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Case {
    /// The index of the environment, modulo the number of environments.
    pub environment: u8,
    /// The operations, in order. Changes preceding the initial call have no effect.
    pub ops: Vec<Op>,
}

macro_rules! ops {
    ($( $(#[doc = $doc:literal])* $name:ident { $( $field:ident: $ty:ty ),* } )*) => {
        /// An operation. A `place` is a position in the call's account list, modulo the list length; an
        /// `account` is an index into the environment's accounts, modulo the account count.
        #[derive(Clone, PartialEq, Eq, Debug)]
        pub enum Op {
            $( $(#[doc = $doc])* $name { $($field: $ty),* }, )*
        }

        #[allow(non_camel_case_types)]
        enum Kind { $($name),* }

        const KINDS: u8 = [$(stringify!($name)),*].len() as u8;

        impl Op {
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

        impl fmt::Display for Op {
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

ops! {
    /// Starts the valid call with this index, modulo their number.
    Given { call: u8 }
    /// Starts a call suggested by a negotiation's state; see [`crate::moves`].
    Move { deal: u8, choice: u8, variant: u8, wait: u8 }
    /// Starts an earlier call of the case again, with the same signatures, data and accounts.
    Repeat { earlier: u8 }
    /// Signs the call for later. The case can send it with Repeat.
    Withhold { }
    /// Overwrites bytes of the instruction's data. The length does not change.
    Data { at: u16, bytes: Bytes }
    /// Truncates the instruction's data.
    Cut { length: u16 }
    /// Appends bytes to the instruction's data.
    Append { bytes: Bytes }
    /// Replaces the discriminator by another instruction's discriminator.
    Discriminator { row: u8 }
    /// Replaces an account.
    Put { place: u8, account: u16 }
    /// Replaces a token account by another with equal owner and mint.
    Recipient { place: u8, choice: u8 }
    /// Replaces an account by a copy. The copy's address differs in a single byte.
    Near { place: u8, byte: u8 }
    /// Inserts an account. Bit 0 of the flags: it signs; bit 1: it is writable.
    Insert { place: u8, account: u16, flags: u8 }
    /// Removes an account.
    Remove { place: u8 }
    /// Sets an account's flags. Bit 0: it signs; bit 1: it is writable.
    Flags { place: u8, flags: u8 }
    /// Replaces an account by one of the participants' wallets, which signs.
    Signer { place: u8, wallet: u8 }
    /// Gives the adversary power over an account, takes it away, freezes or thaws the account; see
    /// [`crate::tokens::Power`].
    Power { place: u8, kind: u8, amount: u64 }
    /// Overwrites account data bytes. The length does not change.
    Content { place: u8, at: u16, bytes: Bytes }
    /// Extends an account's data by zeros, or truncates it.
    Size { place: u8, size: u16 }
    /// Sets an account's owner, or an owner address differing in a single byte.
    Owner { place: u8, owner: u8, byte: u8 }
    /// Sets an account's lamports.
    Lamports { place: u8, lamports: u64 }
    /// Sets the chain's clock, in Unix seconds.
    Clock { now: i64 }
    /// Sets the chain's rent.
    Rent { price: u64, factor: u8 }
}

impl Op {
    /// Reports whether the operation starts a call.
    pub fn starts_call(&self) -> bool {
        matches!(
            self,
            Self::Given { .. } | Self::Move { .. } | Self::Repeat { .. }
        )
    }
}

/// Up to 255 bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bytes(pub Vec<u8>);

/// Part of the case as bytes. Any bytes are a case: an operation that is cut off at the end is dropped.
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
    /// A case with a single valid call in the matching environment.
    pub fn of_valid_call(number: u8) -> Self {
        Self {
            environment: number,
            ops: vec![Op::Given { call: number }],
        }
    }

    /// The case in any bytes.
    pub fn decode(mut bytes: &[u8]) -> Self {
        let from = &mut bytes;
        let mut case = Self {
            environment: u8::read(from).unwrap_or(0),
            ops: Vec::new(),
        };
        while case.ops.len() < MAX_OPS {
            let Some(op) = Op::read(from) else { break };
            case.ops.push(op);
        }
        case
    }

    /// The bytes of the case.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = vec![self.environment];
        for op in &self.ops {
            op.write(&mut out);
        }
        out
    }

    /// The calls, each as the operation that starts it and the changes behind it.
    pub fn calls(&self) -> Vec<&[Op]> {
        let starts: Vec<_> = (0..self.ops.len())
            .filter(|at| self.ops[*at].starts_call())
            .chain([self.ops.len()])
            .collect();
        let calls = starts.windows(2).map(|pair| &self.ops[pair[0]..pair[1]]);
        calls.take(MAX_CALLS).collect()
    }
}

/// Bytes as lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes that hexadecimal digits encode. Returns None for other text.
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
    use crate::rng::Rng;

    #[test]
    fn any_bytes_are_a_case_that_reads_back_the_same() {
        let mut rng = Rng::new(1);
        for _ in 0..100_000 {
            let bytes = rng.bytes(64);
            let case = Case::decode(&bytes);
            assert_eq!(Case::decode(&case.encode()), case, "{}", hex(&bytes));
        }
    }

    #[test]
    fn a_case_is_split_into_calls_with_their_changes() {
        let (given, again) = (Op::Given { call: 3 }, Op::Repeat { earlier: 0 });
        let cut = Op::Cut { length: 1 };
        let case = Case {
            environment: 0,
            ops: vec![
                cut.clone(),
                given.clone(),
                cut.clone(),
                again.clone(),
                again.clone(),
            ],
        };
        let expected: [&[Op]; 3] = [
            &[given, cut],
            std::slice::from_ref(&again),
            std::slice::from_ref(&again),
        ];
        assert_eq!(case.calls(), expected);
        let empty = Case {
            environment: 0,
            ops: Vec::new(),
        };
        assert!(empty.calls().is_empty());
    }

    #[test]
    fn hexadecimal_digits_read_back_the_same() {
        let bytes: Vec<u8> = (0..=255).collect();
        assert_eq!(from_hex(&hex(&bytes)), Some(bytes));
        assert_eq!(from_hex("0"), None);
        assert_eq!(from_hex("xy"), None);
    }
}
