//! Every error that the program answers with.

use crate::schema::table::ErrorRow;
use pinocchio::error::ProgramError;

macro_rules! errors {
    ($( $(#[doc = $doc:literal])* $name:ident = $code:literal: $message:literal, )*) => {
        /// The protocol's own errors.
        #[repr(u32)]
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum HaggleError {
            $( $(#[doc = $doc])* $name = $code, )*
        }

        /// The rows of the table.
        pub const ERRORS: &[ErrorRow] = &[
            $( ErrorRow { code: $code, name: stringify!($name), message: $message }, )*
        ];
    };
}

errors! {
    /// The negotiation's status, or the point it has reached, does not allow this.
    InvalidState = 6000: "Invalid negotiation state for this operation",
    /// The signer is not one who may do this.
    Unauthorized = 6001: "Not authorized to perform this action",
    /// The other side has to move.
    NotYourTurn = 6002: "Not your turn to make an offer",
    /// The global deadline has passed.
    Expired = 6003: "Negotiation has expired",
    /// The time to answer has passed.
    ResponseWindowExpired = 6004: "Response window has expired",
    /// The offer is below the negotiation's minimum.
    OfferTooLow = 6005: "Offer amount too low",
    /// The offer could not be paid from what the escrow is worth after this round.
    OfferExceedsEscrow = 6006: "Offer exceeds effective escrow",
    /// All rounds have been used.
    MaxRoundsReached = 6007: "Maximum rounds reached",
    /// An argument is out of its range.
    InvalidParams = 6008: "Invalid parameters",
    /// No negotiation can be created while the protocol is paused.
    Paused = 6009: "Protocol is paused",
    /// What was revealed is not what was committed to.
    ZopaCommitmentMismatch = 6010: "ZOPA commitment mismatch",
    /// The reservation prices leave no room for a deal.
    NoZopa = 6011: "No ZOPA exists: the buyer's maximum is below the seller's minimum",
    /// A sum does not fit, or money would not be conserved.
    Overflow = 6012: "Arithmetic overflow",
    /// The negotiation is not the one, or not at the point, that the signer saw.
    StaleState = 6013: "The negotiation has changed since the transaction was built",
    /// The account is not a mint that escrow can be held in.
    UnsupportedMint = 6014: "The mint is not one that escrow can be held in",
    /// Money that is owed cannot be delivered now.
    PayoutPending = 6015: "A payout is still owed and cannot be delivered to the account given",
}

/// Anchor's errors for what its framework checks, with Anchor's numbers, so that any Anchor client names them.
#[repr(u32)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Framework {
    /// The data is shorter than a discriminator.
    InstructionMissing = 100,
    /// No instruction has this discriminator.
    InstructionFallbackNotFound = 101,
    /// The arguments have the wrong length, or a flag or enum out of range.
    InstructionDidNotDeserialize = 102,
    /// The account must be writable.
    ConstraintMut = 2000,
    /// The account is not the one whose address the negotiation stores.
    ConstraintHasOne = 2001,
    /// The account is not one that tokens can be taken from, or paid to, in this place.
    ConstraintRaw = 2003,
    /// The account is not the PDA that belongs here.
    ConstraintSeeds = 2006,
    /// The account has no discriminator.
    AccountDiscriminatorNotFound = 3001,
    /// The account is of another type.
    AccountDiscriminatorMismatch = 3002,
    /// The account has the right discriminator and the wrong length, or a version that this program does not know.
    AccountDidNotDeserialize = 3003,
    /// There are fewer accounts than the instruction takes, or an optional one is missing that this call needs.
    AccountNotEnoughKeys = 3005,
    /// Another program than the right one owns the account.
    AccountOwnedByWrongProgram = 3007,
    /// The account is not the program that belongs here.
    InvalidProgramId = 3008,
    /// The account has not signed.
    AccountNotSigner = 3010,
    /// The program has been deployed at another address than the one it was built for.
    DeclaredProgramIdMismatch = 4100,
}

impl From<HaggleError> for ProgramError {
    #[inline(always)]
    fn from(error: HaggleError) -> Self {
        Self::Custom(error as u32)
    }
}

impl From<Framework> for ProgramError {
    #[inline(always)]
    fn from(error: Framework) -> Self {
        Self::Custom(error as u32)
    }
}
