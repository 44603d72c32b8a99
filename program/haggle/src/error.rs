//! The program errors, each with a log line that names it to Anchor clients.

use crate::schema::table::ErrorRow;
use core::num::NonZeroU64;
use pinocchio::error::ProgramError;

/// The line logged to name an error to Anchor clients.
macro_rules! anchor_line {
    ($name:ident, $code:literal, $message:literal) => {
        concat!(
            "AnchorError occurred. Error Code: ",
            stringify!($name),
            ". Error Number: ",
            $code,
            ". Error Message: ",
            $message,
            "."
        )
    };
}

macro_rules! errors {
    (
        program {
            $( $(#[doc = $doc:literal])* $name:ident = $code:literal: $message:literal, )*
        }
        framework {
            $( $(#[doc = $fdoc:literal])* $fname:ident = $fcode:literal: $fmessage:literal, )*
        }
    ) => {
        /// The protocol's errors.
        #[repr(u32)]
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum HaggleError {
            $( $(#[doc = $doc])* $name = $code, )*
        }

        /// The Anchor framework's errors for its checks, with Anchor's numbers and messages, so that Anchor
        /// clients name them.
        #[repr(u32)]
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Framework {
            $( $(#[doc = $fdoc])* $fname = $fcode, )*
        }

        /// The table rows.
        pub const ERRORS: &[ErrorRow] = &[
            $( ErrorRow { code: $code, name: stringify!($name), message: $message }, )*
        ];

        /// The line logged for a program error, in Anchor's format; none for other programs' errors.
        const fn anchor_line(code: u64) -> Option<&'static str> {
            match code {
                $( $code => Some(anchor_line!($name, $code, $message)), )*
                $( $fcode => Some(anchor_line!($fname, $fcode, $fmessage)), )*
                _ => None,
            }
        }
    };
}

errors! {
    program {
        /// The negotiation's status or phase does not allow the instruction.
        InvalidState = 6000: "Invalid negotiation state for this operation",
        /// The signer is not allowed to call this instruction.
        Unauthorized = 6001: "Not authorized to perform this action",
        /// The turn belongs to the opposite side.
        NotYourTurn = 6002: "Not your turn to make an offer",
        /// A deadline passed.
        Expired = 6003: "Negotiation has expired",
        /// The response or review window passed, or does not fit before the deadline.
        ResponseWindowExpired = 6004: "Response window has expired",
        /// The offer is less than the negotiation's minimum.
        OfferTooLow = 6005: "Offer amount too low",
        /// The offer exceeds the effective escrow after this round.
        OfferExceedsEscrow = 6006: "Offer exceeds effective escrow",
        /// All rounds are used.
        MaxRoundsReached = 6007: "Maximum rounds reached",
        /// An argument is out of range.
        InvalidParams = 6008: "Invalid parameters",
        /// The protocol is paused, which stops only the creation of negotiations.
        Paused = 6009: "Protocol is paused",
        /// The revealed price and nonce do not match the commitment.
        ZopaCommitmentMismatch = 6010: "ZOPA commitment mismatch",
        /// The reservation prices left no zone of possible agreement.
        NoZopa = 6011: "No ZOPA exists: the buyer's maximum is below the seller's minimum",
        /// A sum exceeds 64 bits, or money would not be conserved.
        Overflow = 6012: "Arithmetic overflow",
        /// The negotiation differs from the signer's snapshot: another deal, round, offer or amount.
        StaleState = 6013: "The negotiation has changed since the transaction was built",
        /// The mint cannot hold an escrow.
        UnsupportedMint = 6014: "The mint cannot hold an escrow",
        /// A payout cannot be delivered now.
        PayoutPending = 6015: "A payout cannot be delivered to the given account",
    }
    framework {
        /// The data is shorter than a discriminator.
        InstructionMissing = 100: "Instruction discriminator not provided",
        /// No instruction uses this discriminator.
        InstructionFallbackNotFound = 101: "Fallback functions are not supported",
        /// The arguments have the wrong length, or a flag or enum is out of range.
        InstructionDidNotDeserialize = 102: "The program could not deserialize the given instruction",
        /// The account must be writable.
        ConstraintMut = 2000: "A mut constraint was violated",
        /// The account's address differs from the one in a record.
        ConstraintHasOne = 2001: "A has one constraint was violated",
        /// The token account is not allowed in this position.
        ConstraintRaw = 2003: "A raw constraint was violated",
        /// The account is not the required PDA.
        ConstraintSeeds = 2006: "A seeds constraint was violated",
        /// The account lacks a discriminator.
        AccountDiscriminatorNotFound = 3001: "No discriminator was found on the account",
        /// The account is of another type.
        AccountDiscriminatorMismatch = 3002: "Account discriminator did not match what was expected",
        /// The account is of another length or version.
        AccountDidNotDeserialize = 3003: "Failed to deserialize the account",
        /// An account is missing, perhaps an optional account that this call needs.
        AccountNotEnoughKeys = 3005: "Not enough account keys given to the instruction",
        /// Another program owns the account.
        AccountOwnedByWrongProgram = 3007: "The given account is owned by a different program than expected",
        /// The account is not the required program.
        InvalidProgramId = 3008: "Program ID was not as expected",
        /// The account did not sign.
        AccountNotSigner = 3010: "The given account did not sign",
        /// The program runs at an unexpected address.
        DeclaredProgramIdMismatch = 4100: "The declared program id does not match the actual program id",
    }
}

/// An error as the runtime encodes it: never zero, so an empty [`Result`] fits into a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Error(NonZeroU64);

/// The result type for instructions and their parts.
pub type Result<T = ()> = core::result::Result<T, Error>;

impl Error {
    /// The error's runtime code. Logs the error in Anchor's format, so that Anchor clients name it.
    #[cold]
    #[inline(never)]
    pub fn report(self) -> u64 {
        let code = self.0.get();
        if let Some(line) = anchor_line(code) {
            #[cfg(any(target_os = "solana", target_arch = "bpf"))]
            // SAFETY: the syscall reads only a constant string's bytes.
            unsafe {
                pinocchio::syscalls::sol_log_(line.as_ptr(), line.len() as u64);
            }
            #[cfg(not(any(target_os = "solana", target_arch = "bpf")))]
            core::hint::black_box(line);
        }
        code
    }

    const fn of(code: u32) -> Self {
        match NonZeroU64::new(code as u64) {
            Some(code) => Self(code),
            None => panic!("no error has the code zero"),
        }
    }
}

impl From<HaggleError> for Error {
    #[inline(always)]
    fn from(error: HaggleError) -> Self {
        Self::of(error as u32)
    }
}

impl From<Framework> for Error {
    #[inline(always)]
    fn from(error: Framework) -> Self {
        Self::of(error as u32)
    }
}

impl From<ProgramError> for Error {
    #[cold]
    #[inline(never)]
    fn from(error: ProgramError) -> Self {
        // The library encodes every error as a nonzero code.
        NonZeroU64::new(error.into()).map_or(Self::of(HaggleError::Overflow as u32), Self)
    }
}

impl From<HaggleError> for ProgramError {
    fn from(error: HaggleError) -> Self {
        Self::Custom(error as u32)
    }
}

impl From<Framework> for ProgramError {
    fn from(error: Framework) -> Self {
        Self::Custom(error as u32)
    }
}
