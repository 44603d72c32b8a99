//! The conditions that combine in a search: token accounts, amounts and milestones.

use super::super::fixture::{
    currency, program_of, token_account_2022, Deal, Fixture, ARBITER, NATIVE_MINT, STRANGER,
};
use crate::instructions::create_negotiation::NegotiationParams;
use crate::runtime::programs;
use crate::state::{BondState, Negotiation};
use pinocchio::Address;

/// The condition of an account receiving payments.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Condition {
    /// A plain account.
    Plain,
    /// Frozen by the mint's freeze authority.
    Frozen,
    /// With a delegate.
    Delegated,
    /// With every extension that allows payments; only under Token-2022.
    Extended,
    /// With every extension that allows payments, and a delegate; only under Token-2022.
    ExtendedAndDelegated,
    /// As Extended, with the CPI guard off.
    Unguarded,
    /// As ExtendedAndDelegated, with the CPI guard off.
    UnguardedAndDelegated,
}

impl Condition {
    /// The conditions of the current mint's token program.
    pub fn all() -> &'static [Self] {
        if program_of(&currency()) == programs::TOKEN {
            &[Self::Plain, Self::Frozen, Self::Delegated]
        } else {
            &[
                Self::Plain,
                Self::Frozen,
                Self::Delegated,
                Self::Extended,
                Self::ExtendedAndDelegated,
            ]
        }
    }

    /// The conditions of the deposit source. A freeze or an active CPI guard stops a deposit.
    pub fn sources() -> &'static [Self] {
        if program_of(&currency()) == programs::TOKEN {
            &[Self::Plain, Self::Delegated]
        } else {
            &[
                Self::Plain,
                Self::Delegated,
                Self::Unguarded,
                Self::UnguardedAndDelegated,
            ]
        }
    }

    /// Every pair of conditions.
    pub fn pairs() -> Vec<[Self; 2]> {
        let all = Self::all();
        all.iter()
            .flat_map(|first| all.iter().map(|second| [*first, *second]))
            .collect()
    }

    /// Sets the token account's condition.
    pub fn apply(self, fixture: &mut Fixture, account: &Address) {
        let guard = match self {
            Self::Extended | Self::ExtendedAndDelegated => Some(1),
            Self::Unguarded | Self::UnguardedAndDelegated => Some(0),
            Self::Plain | Self::Frozen | Self::Delegated => None,
        };
        if let Some(guard) = guard {
            let before = fixture.account(account);
            let owner =
                Address::new_from_array(before.data[32..64].try_into().expect("an address"));
            let amount = fixture.balance(account);
            let extensions = [(7, vec![]), (8, vec![0]), (11, vec![guard])];
            fixture.put(
                *account,
                token_account_2022(&currency(), &owner, amount, &extensions),
            );
        }
        match self {
            Self::Frozen => fixture.freeze(account),
            Self::Delegated | Self::ExtendedAndDelegated | Self::UnguardedAndDelegated => fixture
                .change(account, |account| {
                    account.data[72] = 1;
                    account.data[76..108].copy_from_slice(STRANGER.as_ref());
                }),
            Self::Plain | Self::Extended | Self::Unguarded => {}
        }
    }
}

/// Sets the parties' token account conditions.
pub fn with_recipients(
    fixture: &Fixture,
    deal: &Deal,
    [buyers, sellers]: [Condition; 2],
) -> Fixture {
    let mut fixture = fixture.clone();
    buyers.apply(&mut fixture, &deal.buyer_token_account);
    sellers.apply(&mut fixture, &deal.seller_token_account);
    fixture
}

/// An amount above 2^32. The bond share then needs the longer calculation.
pub const HUGE: u64 = (1 << 62) - 1;

/// Sets every nonzero negotiation amount to [`HUGE`], as [`with_amounts`] does.
pub fn with_huge_amounts(fixture: &mut Fixture, deal: &Deal) {
    with_amounts(fixture, deal, HUGE, HUGE);
}

/// Sets any existing bond and every other nonzero negotiation amount to the given values, and the balance of
/// the vault to their sum.
pub fn with_amounts(fixture: &mut Fixture, deal: &Deal, amount: u64, bond: u64) {
    let before = fixture.negotiation(deal);
    let scaled = |before: u64, after: u64| if before == 0 { 0 } else { after };
    let negotiation = Negotiation {
        escrow_amount: amount,
        effective_escrow: amount,
        current_offer_amount: scaled(before.current_offer_amount, amount),
        settled_amount: scaled(before.settled_amount, amount),
        bond_required: scaled(before.bond_required, bond),
        ..before
    };
    fixture.set_negotiation(deal, &negotiation);
    let held = fixture.balance(&deal.escrow_vault);
    fixture.set_balance(&deal.escrow_vault, amount + bond);
    if currency() == NATIVE_MINT {
        let added = amount + bond - held;
        fixture.change(&deal.escrow_vault, |account| account.lamports += added);
    }
}

/// An accepted negotiation's milestones.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Milestones {
    /// The number of milestones, 1 to 8.
    pub count: u8,
    /// The decided milestones.
    pub decided: u8,
    /// The claimed milestones, including decided and disputed ones.
    pub claimed: u8,
    /// The undecided disputed milestones.
    pub disputed: u8,
    /// True for decided milestones refunded to the buyer by the arbiter; false when released by the buyer.
    pub refunded: bool,
    /// True if a bond is held.
    pub bond: bool,
    /// True if the amounts are above 2^32.
    pub huge: bool,
}

impl Milestones {
    /// The terms with this number of equal milestones.
    pub fn terms(count: u8, bond: bool) -> NegotiationParams {
        let mut milestone_bps = [0; 8];
        milestone_bps[..usize::from(count)].fill(10_000 / u16::from(count));
        milestone_bps[usize::from(count) - 1] += 10_000 % u16::from(count);
        NegotiationParams {
            milestone_bps,
            arbiter: ARBITER,
            bond_required: if bond { super::super::fixture::BOND } else { 0 },
            ..Fixture::milestone_terms(&[10_000])
        }
    }

    /// The bits of all milestones.
    pub fn all(&self) -> u8 {
        ((1u16 << self.count) - 1) as u8
    }

    /// An accepted negotiation with milestones in this state. `accepted` contains as many milestones, and a
    /// bond.
    pub fn apply(&self, accepted: &Fixture, deal: &Deal) -> Fixture {
        let mut fixture = accepted.clone();
        if self.huge {
            with_huge_amounts(&mut fixture, deal);
        }
        let before = fixture.negotiation(deal);
        let mut negotiation = Negotiation {
            milestones_decided: self.decided,
            milestones_claimed: self.claimed,
            milestones_disputed: self.disputed | if self.refunded { self.decided } else { 0 },
            turn_deadline: fixture.now + 1,
            ..before
        };
        if !self.bond {
            negotiation.bond_required = 0;
            negotiation.bond_state = BondState::None;
        }
        if !self.refunded {
            negotiation.paid_gross = negotiation.sum_of(self.decided);
        }
        fixture.set_negotiation(deal, &negotiation);
        fixture
    }
}
