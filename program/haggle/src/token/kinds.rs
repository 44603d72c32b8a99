//! The token account, mint and token program kinds that instructions list.

use crate::error::{Framework, Result};
use crate::runtime::programs;
use crate::schema::account::{Checked, Kind, Row};
use crate::schema::lookup::index_of;
use crate::schema::table::Meta;
use crate::state::{Negotiation, ProtocolConfig};
use crate::token::account::{
    check_mint, check_token_account, has_decimals, Currency, TokenAccount,
};
use core::marker::PhantomData;
use pinocchio::address::address_eq;
use pinocchio::{AccountView, Address};

/// The owner of token accounts.
pub trait Owner {
    /// The address.
    fn address<'c, R: Row>(call: &'c Checked<'_, R>) -> &'c Address;

    /// The required account mint.
    #[inline(always)]
    fn mint<'c, R: Row>(call: &'c Checked<'_, R>) -> &'c Address {
        &call.record::<Negotiation>().token_mint
    }

    /// The required account currency.
    #[inline(always)]
    fn currency<'c, R: Row>(call: &'c Checked<'_, R>) -> Currency<'c> {
        Currency::of(Self::mint(call), mint_account(call))
    }
}

/// The account of the row's mint, unless it is left out.
#[inline(always)]
fn mint_account<'a, R: Row>(call: &Checked<'a, R>) -> Option<&'a AccountView> {
    call.given(const { index_of(R::ACCOUNTS, "token_mint") })
}

/// The negotiation's buyer.
pub struct Buyer;

impl Owner for Buyer {
    #[inline(always)]
    fn address<'c, R: Row>(call: &'c Checked<'_, R>) -> &'c Address {
        &call.record::<Negotiation>().buyer
    }
}

/// The negotiation's seller.
pub struct Seller;

impl Owner for Seller {
    #[inline(always)]
    fn address<'c, R: Row>(call: &'c Checked<'_, R>) -> &'c Address {
        &call.record::<Negotiation>().seller
    }
}

/// The configuration's treasury.
pub struct Treasury;

impl Owner for Treasury {
    #[inline(always)]
    fn address<'c, R: Row>(call: &'c Checked<'_, R>) -> &'c Address {
        &call.record::<ProtocolConfig>().treasury
    }
}

/// The buyer, when the negotiation does not exist yet.
pub struct Creator;

impl Owner for Creator {
    #[inline(always)]
    fn address<'c, R: Row>(call: &'c Checked<'_, R>) -> &'c Address {
        call.account(const { index_of(R::ACCOUNTS, "buyer") })
            .address()
    }

    #[inline(always)]
    fn mint<'c, R: Row>(call: &'c Checked<'_, R>) -> &'c Address {
        call.account(const { index_of(R::ACCOUNTS, "token_mint") })
            .address()
    }
}

/// The account that pays a deposit.
pub struct Source<'a, O> {
    account: &'a AccountView,
    owner: PhantomData<O>,
}

impl<'a, O: Owner> Kind<'a> for Source<'a, O> {
    const META: Meta = Meta::WRITE;

    #[inline(always)]
    fn load<R: Row, const I: usize>(_: u8, call: &Checked<'a, R>) -> Result<Self> {
        let account = call.account(I);
        check_token_account(account, &O::currency(call), O::address(call))?;
        Ok(Self {
            account,
            owner: PhantomData,
        })
    }
}

impl<'a, O> Source<'a, O> {
    /// The account.
    #[inline(always)]
    pub fn view(&self) -> &'a AccountView {
        self.account
    }
}

/// The account that the signer chose for the signer's payout. Any owner is allowed, but not the vault, whose
/// balance goes to the treasury.
pub struct Destination<'a>(&'a AccountView);

impl<'a> Kind<'a> for Destination<'a> {
    const META: Meta = Meta::WRITE;

    #[inline(always)]
    fn load<R: Row, const I: usize>(_: u8, call: &Checked<'a, R>) -> Result<Self> {
        let account = call.account(I);
        let vault = call.account(const { index_of(R::ACCOUNTS, "escrow_vault") });
        match TokenAccount::of(account, &Buyer::currency(call)) {
            Some(token)
                if token.can_receive() && !address_eq(account.address(), vault.address()) =>
            {
                Ok(Self(account))
            }
            _ => Err(Framework::ConstraintRaw.into()),
        }
    }
}

impl<'a> Destination<'a> {
    /// The account.
    #[inline(always)]
    pub fn view(&self) -> &'a AccountView {
        self.0
    }
}

/// The negotiation's escrow mint.
pub struct EscrowMint;

impl Kind<'_> for EscrowMint {
    const META: Meta = Meta::READ.stored_in("negotiation");

    #[inline(always)]
    fn load<R: Row, const I: usize>(_: u8, _: &Checked<'_, R>) -> Result<Self> {
        Ok(Self)
    }
}

/// The negotiation's escrow mint, for an instruction that reads the decimals.
pub struct ReadMint<'a>(&'a AccountView);

impl<'a> Kind<'a> for ReadMint<'a> {
    const META: Meta = EscrowMint::META;

    #[inline(always)]
    fn load<R: Row, const I: usize>(_: u8, call: &Checked<'a, R>) -> Result<Self> {
        let account = call.account(I);
        Ok(Self(account))
    }
}

impl ReadMint<'_> {
    /// Reports whether the mint uses these decimals.
    #[inline(always)]
    pub fn has_decimals(&self, decimals: u8) -> bool {
        has_decimals(self.0, decimals)
    }
}

/// A new escrow's mint.
pub struct NewMint<'a>(&'a AccountView);

impl<'a> Kind<'a> for NewMint<'a> {
    const META: Meta = Meta::READ.owned_by(programs::TOKENS);

    #[inline(always)]
    fn load<R: Row, const I: usize>(_: u8, call: &Checked<'a, R>) -> Result<Self> {
        let account = call.account(I);
        Ok(Self(account))
    }
}

impl<'a> NewMint<'a> {
    /// The account.
    #[inline(always)]
    pub fn view(&self) -> &'a AccountView {
        self.0
    }

    /// Requires a mint that can hold an escrow.
    ///
    /// # Errors
    /// UnsupportedMint.
    #[inline(always)]
    pub fn check(&self) -> Result {
        check_mint(self.0)
    }

    /// Reports whether the mint uses these decimals.
    #[inline(always)]
    pub fn has_decimals(&self, decimals: u8) -> bool {
        has_decimals(self.0, decimals)
    }
}

/// The mint's program.
pub struct TokenProgram;

impl Kind<'_> for TokenProgram {
    const META: Meta = Meta::READ.one_of(programs::TOKENS).owner_of("token_mint");

    #[inline(always)]
    fn load<R: Row, const I: usize>(_: u8, _: &Checked<'_, R>) -> Result<Self> {
        Ok(Self)
    }
}
