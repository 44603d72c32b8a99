//! The nine instructions: their names, their arguments, and the accounts that they take.

/// The nine instructions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    Initialize,
    Create,
    AcceptInvitation,
    Offer,
    AcceptOffer,
    Reject,
    Expire,
    Close,
    Claim,
}

pub const KINDS: [Kind; 9] = [
    Kind::Initialize,
    Kind::Create,
    Kind::AcceptInvitation,
    Kind::Offer,
    Kind::AcceptOffer,
    Kind::Reject,
    Kind::Expire,
    Kind::Close,
    Kind::Claim,
];

/// Who must own an account, and what must be in it.
#[derive(Clone, Copy, PartialEq)]
pub enum Must {
    /// Anything: the address decides, or nothing does.
    Be,
    BeNegotiation,
    BeConfig,
    BeNew,
    BeTokens,
    BeLoaders,
}
use Must::{Be, BeConfig, BeLoaders, BeNegotiation, BeNew, BeTokens};

/// An account's place in an instruction: s signs, w is written to, ? may be left out.
pub type Place = (&'static str, Must);

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Initialize => "initialize_config",
            Self::Create => "create_negotiation",
            Self::AcceptInvitation => "accept_invitation",
            Self::Offer => "submit_offer",
            Self::AcceptOffer => "accept_offer",
            Self::Reject => "reject_negotiation",
            Self::Expire => "expire_negotiation",
            Self::Close => "close_negotiation",
            Self::Claim => "claim_payout",
        }
    }

    pub fn discriminator(self) -> [u8; 8] {
        const fn of(name: &str) -> [u8; 8] {
            crate::declare::discriminator("global", name)
        }
        match self {
            Self::Initialize => const { of("initialize_config") },
            Self::Create => const { of("create_negotiation") },
            Self::AcceptInvitation => const { of("accept_invitation") },
            Self::Offer => const { of("submit_offer") },
            Self::AcceptOffer => const { of("accept_offer") },
            Self::Reject => const { of("reject_negotiation") },
            Self::Expire => const { of("expire_negotiation") },
            Self::Close => const { of("close_negotiation") },
            Self::Claim => const { of("claim_payout") },
        }
    }

    /// The arguments' length in bytes.
    pub fn arguments(self) -> usize {
        match self {
            Self::Initialize => 32 + 2 + 8 + 2 + 1,
            Self::Create => 8 + (8 + 32 + 1 + 2 + 8 + 8 + 2 + 1 + 8 + 32 + 1 + 16 + 8 + 64),
            Self::AcceptInvitation => 32,
            Self::Offer => 1 + 8 + 4 + 64,
            Self::AcceptOffer => 1 + 8 + 64,
            Self::Reject => 1,
            Self::Expire | Self::Close => 0,
            Self::Claim => 8,
        }
    }

    #[rustfmt::skip]
    pub fn places(self) -> &'static [Place] {
        match self {
            Self::Initialize => &[("sw", Be), ("w", BeNew), ("", BeLoaders), ("", Be)],
            Self::Create => &[
                ("sw", Be), ("", Be), ("w", BeNew), ("w", BeNew), ("w", Be), ("", BeTokens), ("", BeConfig), ("", Be), ("", Be),
            ],
            Self::AcceptInvitation => &[("s", Be), ("w", BeNegotiation), ("w?", Be), ("w?", Be), ("?", Be), ("?", Be)],
            Self::Offer => &[("s", Be), ("w", BeNegotiation)],
            Self::AcceptOffer => &[("s", Be), ("w", BeNegotiation), ("w", Be), ("w", Be), ("w", Be), ("", Be), ("", Be)],
            Self::Reject => &[("s", Be), ("w", BeNegotiation), ("w", Be), ("w", Be), ("w?", Be), ("", Be), ("", Be)],
            Self::Expire => &[("w", BeNegotiation), ("w", Be), ("w", Be), ("w?", Be), ("", Be), ("", Be)],
            Self::Close => &[
                ("s", Be), ("w", BeNegotiation), ("w", Be), ("w", BeConfig), ("w", Be), ("w?", Be), ("w?", Be), ("w?", Be),
                ("", Be), ("", Be),
            ],
            Self::Claim => &[("s", Be), ("w", BeNegotiation), ("w", Be), ("w", Be), ("", Be), ("", Be)],
        }
    }
}
