//! Money out of a vault: only [`Vault::pay`] and [`Vault::pay_and_close`] take any.

use crate::constants::{NEGOTIATION_SEED, VAULT_SEED};
use crate::error::HaggleError;
use crate::event::PayoutRecorded;
use crate::schema::check;
use crate::state::bond::SettledBond;
use crate::state::{Negotiation, OfferSide};
use crate::token::account::{is_payable, Currency, TokenAccount};
use crate::token::call::TokenCall;
use pinocchio::cpi::{Seed, Signer};
use pinocchio::error::{ProgramError, ProgramResult};
use pinocchio::{AccountView, Address};

/// What identifies a negotiation as the signer of transfers from its vault.
pub struct Authority<'a> {
    buyer: &'a Address,
    seller: &'a Address,
    session_id: [u8; 8],
    bump: [u8; 1],
}

impl<'a> Authority<'a> {
    /// The negotiation's own seeds.
    #[inline(always)]
    pub fn of(negotiation: &'a Negotiation) -> Self {
        Self {
            buyer: &negotiation.buyer,
            seller: &negotiation.seller,
            session_id: { negotiation.session_id }.to_le_bytes(),
            bump: [negotiation.bump],
        }
    }

    /// The seeds in the order of the derivation.
    #[inline(always)]
    pub fn seeds(&self) -> [Seed<'_>; 5] {
        [
            Seed::from(NEGOTIATION_SEED.as_bytes()),
            Seed::from(self.buyer.as_ref()),
            Seed::from(self.seller.as_ref()),
            Seed::from(&self.session_id),
            Seed::from(&self.bump),
        ]
    }
}

/// The seeds of the vault's address.
#[inline(always)]
pub fn vault_seeds<'a>(negotiation: &'a Address, bump: &'a [u8; 1]) -> [Seed<'a>; 3] {
    [
        Seed::from(VAULT_SEED.as_bytes()),
        Seed::from(negotiation.as_ref()),
        Seed::from(bump),
    ]
}

/// A payment to one account.
#[derive(Clone, Copy)]
pub struct Payment<'a> {
    /// Where to.
    pub to: &'a AccountView,
    /// How many base units; a payment of zero is none.
    pub amount: u64,
}

/// Where a party is to be paid, and whether that account can receive.
#[derive(Clone, Copy)]
pub struct Recipient<'a> {
    /// The account.
    pub account: &'a AccountView,
    /// What `token::is_payable` says of it.
    pub payable: bool,
}

impl<'a> Recipient<'a> {
    /// A party's account, which may be unable to receive.
    ///
    /// # Errors
    /// 2003 when it can neither be paid to nor is the party's associated token account.
    #[inline(always)]
    pub fn of(
        account: &'a AccountView,
        currency: &Currency<'_>,
        party: &Address,
    ) -> Result<Self, ProgramError> {
        let payable = is_payable(account, currency, party)?;
        Ok(Self { account, payable })
    }

    /// The account of a party that is paid nothing unless there is a bond. What is given has to be right all the same.
    ///
    /// # Errors
    /// As `of`, for an account that is given.
    #[inline(always)]
    pub fn if_given(
        account: &'a AccountView,
        currency: &Currency<'_>,
        party: &Address,
    ) -> Result<Self, ProgramError> {
        match check::given(account) {
            Some(given) => Self::of(given, currency, party),
            None => Ok(Self::nobody(account)),
        }
    }

    /// Stands for a party that is paid nothing.
    #[inline(always)]
    pub fn nobody(account: &'a AccountView) -> Self {
        Self {
            account,
            payable: false,
        }
    }
}

/// A vault with what a transfer from it takes. There is none that has not been checked.
pub struct Vault<'a> {
    negotiation: &'a AccountView,
    account: &'a AccountView,
    mint: &'a AccountView,
}

impl<'a> Vault<'a> {
    /// The vault of a negotiation.
    ///
    /// # Errors
    /// 2006 when `account` is not at the vault's address, 2001 when `mint` is not the negotiation's.
    #[inline(always)]
    pub fn of(
        negotiation: &'a AccountView,
        terms: &Negotiation,
        account: &'a AccountView,
        mint: &'a AccountView,
    ) -> Result<Self, ProgramError> {
        check::pda(terms.is_vault(negotiation.address(), account.address()))?;
        check::stored(mint, &terms.token_mint)?;
        Ok(Self {
            negotiation,
            account,
            mint,
        })
    }

    /// The tokens that it holds.
    #[inline(always)]
    pub fn currency(&self) -> Currency<'a> {
        Currency::of(self.mint)
    }

    /// The token account as it is now. That of a negotiation under way always is one.
    ///
    /// # Errors
    /// Overflow when it is none.
    #[inline(always)]
    pub fn holdings(&self) -> Result<TokenAccount<'_>, ProgramError> {
        TokenAccount::of(self.account, &self.currency()).ok_or(HaggleError::Overflow.into())
    }

    /// Pays. The caller has written the negotiation's new state before.
    ///
    /// # Errors
    /// A refusal of the token program ends the transaction with its error.
    #[inline(always)]
    pub fn pay<const N: usize>(
        &self,
        payments: [Payment<'_>; N],
        authority: &Authority<'_>,
    ) -> ProgramResult {
        let mut call = TokenCall::new(self.account, self.mint, self.negotiation)?;
        add(&mut call, &payments)?;
        // SAFETY: no reference to these accounts' data is used but the authority's, to fields that the call does not change.
        unsafe { call.invoke(&[Signer::from(&authority.seeds())]) };
        Ok(())
    }

    /// Pays, then closes the vault, whose lamports go to `rent_to`. The caller has written the negotiation's new state before.
    ///
    /// # Errors
    /// A refusal of the token program ends the transaction with its error.
    #[inline(always)]
    pub fn pay_and_close<const N: usize>(
        &self,
        payments: [Payment<'_>; N],
        rent_to: &AccountView,
        authority: &Authority<'_>,
    ) -> ProgramResult {
        let mut call = TokenCall::new(self.account, self.mint, self.negotiation)?;
        add(&mut call, &payments)?;
        call.close(rent_to)?;
        // SAFETY: no reference to these accounts' data is used but the authority's, to fields that the call does not change.
        unsafe { call.invoke(&[Signer::from(&authority.seeds())]) };
        Ok(())
    }
}

/// Adds the transfers of those payments that are any.
#[inline(always)]
fn add<'a, const N: usize>(call: &mut TokenCall<'a>, payments: &[Payment<'a>; N]) -> ProgramResult {
    for payment in payments {
        if payment.amount > 0 {
            call.transfer(payment.to, payment.amount)?;
        }
    }
    Ok(())
}

/// What each party gets now, in base units.
pub struct Division {
    /// To the buyer.
    pub buyer: u64,
    /// To the seller, fee already taken off.
    pub seller: u64,
}

impl Division {
    /// Everything that is left of the escrow goes back to the buyer.
    #[inline(always)]
    pub fn refund(negotiation: &Negotiation) -> Self {
        Self {
            buyer: negotiation.effective_escrow,
            seller: 0,
        }
    }

    /// With the bond, in the same transfer as the rest.
    ///
    /// # Errors
    /// Overflow beyond 2^64, more than any mint can have.
    #[inline(always)]
    pub fn with(mut self, bond: SettledBond) -> Result<Self, ProgramError> {
        let side = if bond.side == OfferSide::Buyer {
            &mut self.buyer
        } else {
            &mut self.seller
        };
        *side = side.checked_add(bond.amount).ok_or(HaggleError::Overflow)?;
        Ok(self)
    }

    /// The payments that can be made now, buyer's first. What cannot be delivered is recorded in the negotiation: because the
    /// party's account cannot receive, because the vault is frozen, or because it holds too little, which a vault of wrapped
    /// SOL can after the rent has risen. So ending a negotiation never depends on whether somebody can be paid.
    ///
    /// `owed` is what the vault owed before the instruction changed anything.
    ///
    /// # Errors
    /// Overflow if what was owed were not what is owed now and what is paid.
    #[inline(always)]
    pub fn deliver<'a>(
        &self,
        owed: u64,
        vault: &Vault<'_>,
        negotiation: &mut Negotiation,
        buyer: Recipient<'a>,
        seller: Recipient<'a>,
        now: i64,
    ) -> Result<[Payment<'a>; 2], ProgramError> {
        let due = self
            .buyer
            .checked_add(self.seller)
            .ok_or(HaggleError::Overflow)?;
        if negotiation.owed()?.checked_add(due) != Some(owed) {
            return Err(HaggleError::Overflow.into());
        }
        let holdings = vault.holdings()?;
        let vault_pays = !holdings.is_frozen() && holdings.amount() >= due;

        let to_buyer = Payment {
            to: buyer.account,
            amount: if vault_pays && buyer.payable {
                self.buyer
            } else {
                0
            },
        };
        let to_seller = Payment {
            to: seller.account,
            amount: if vault_pays && seller.payable {
                self.seller
            } else {
                0
            },
        };
        let id = vault.negotiation.address();
        if to_buyer.amount != self.buyer {
            negotiation.claimable_buyer = { negotiation.claimable_buyer }
                .checked_add(self.buyer)
                .ok_or(HaggleError::Overflow)?;
            record(id, negotiation.buyer, self.buyer, now);
        }
        if to_seller.amount != self.seller {
            negotiation.claimable_seller = { negotiation.claimable_seller }
                .checked_add(self.seller)
                .ok_or(HaggleError::Overflow)?;
            record(id, negotiation.seller, self.seller, now);
        }
        Ok([to_buyer, to_seller])
    }
}

#[inline(always)]
fn record(negotiation_id: &Address, party: Address, amount: u64, timestamp: i64) {
    PayoutRecorded {
        negotiation_id: *negotiation_id,
        party,
        amount,
        timestamp,
    }
    .emit();
}
