//! Payments from a vault. Only [`Delivery::deliver`], [`pay`] and [`pay_and_close`] take tokens out.

use crate::constants::{NEGOTIATION_SEED, VAULT_SEED};
use crate::error::{Framework, HaggleError, Result};
use crate::event::PayoutRecorded;
use crate::runtime::sysvar::Rent;
use crate::runtime::{pda, programs};
use crate::schema::account::{Checked, Kind, Payer, Row, State};
use crate::schema::table::Meta;
use crate::state::bond::SettledBond;
use crate::state::{Negotiation, OfferSide};
use crate::token::account::{is_payable, TokenAccount};
use crate::token::call::TokenCall;
use crate::token::kinds::{Buyer, NewMint, Owner, Seller, Source};
use core::marker::PhantomData;
use pinocchio::cpi::{Seed, Signer};
use pinocchio::{AccountView, Address};

/// The negotiation PDA's seeds. They sign for transfers from the vault.
pub struct Authority<'a> {
    buyer: &'a Address,
    seller: &'a Address,
    session_id: [u8; 8],
    bump: [u8; 1],
}

impl<'a> Authority<'a> {
    /// The seeds of this negotiation.
    #[inline(always)]
    pub fn of(negotiation: &'a Negotiation) -> Self {
        Self {
            buyer: &negotiation.buyer,
            seller: &negotiation.seller,
            session_id: { negotiation.session_id }.to_le_bytes(),
            bump: [negotiation.bump],
        }
    }

    /// The seeds in derivation order.
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

/// The negotiation's vault, recognized by the address derived from the stored bump.
pub struct Vault<'a>(&'a AccountView);

impl<'a> Kind<'a> for Vault<'a> {
    const META: Meta = Meta::WRITE
        .derived(Negotiation::VAULT_SEEDS)
        .bump_in("negotiation", "vault_bump");

    #[inline(always)]
    fn load<R: Row, const I: usize>(_: u8, call: &Checked<'a, R>) -> Result<Self> {
        let account = call.account(I);
        Ok(Self(account))
    }
}

impl<'a> Vault<'a> {
    /// The account.
    #[inline(always)]
    pub fn view(&self) -> &'a AccountView {
        self.0
    }

    /// The vault's token account.
    ///
    /// # Errors
    /// Overflow if the account is not a token account; the vault always is for an existing negotiation.
    #[inline(always)]
    pub fn holdings(&self) -> Result<TokenAccount<'_>> {
        TokenAccount::read(self.0).ok_or(HaggleError::Overflow.into())
    }
}

/// A vault to create.
pub struct NewVault<'a> {
    account: &'a AccountView,
    bump: u8,
}

impl<'a> Kind<'a> for NewVault<'a> {
    const META: Meta = Meta::WRITE
        .owned_by(&[&programs::SYSTEM])
        .derived(Negotiation::VAULT_SEEDS);

    #[inline(always)]
    fn load<R: Row, const I: usize>(bump: u8, call: &Checked<'a, R>) -> Result<Self> {
        let account = call.account(I);
        Ok(Self { account, bump })
    }
}

impl<'a> NewVault<'a> {
    /// The vault's bump.
    #[inline(always)]
    pub fn bump(&self) -> u8 {
        self.bump
    }

    /// Creates the vault of `negotiation` and moves the escrow to it. Both happen in a single token program
    /// call, so a program without batches, such as SPL Token before p-token, fails before anything is
    /// deposited.
    ///
    /// # Errors
    /// The system program's errors; a token program error ends the transaction.
    #[inline(always)]
    pub fn open<O>(
        &self,
        negotiation: &Address,
        mint: &NewMint<'a>,
        payer: &Payer<'a>,
        source: &Source<'a, O>,
        amount: u64,
        rent: &Rent,
    ) -> Result {
        let bump = [self.bump];
        let seeds = [
            Seed::from(VAULT_SEED.as_bytes()),
            Seed::from(negotiation.as_ref()),
            Seed::from(&bump),
        ];
        let mint = mint.view();
        pda::create(
            self.account,
            &seeds,
            TokenAccount::SIZE,
            mint.owner(),
            payer.view(),
            rent,
        )?;
        let mut call = TokenCall::new(source.view(), payer.view());
        call.initialize(self.account, mint, negotiation)?;
        call.transfer(self.account, amount)?;
        call.deposit();
        Ok(())
    }
}

/// The account for a payment to a party: any payable token account of the party, or the associated token
/// account if the payment is recorded in the negotiation instead.
pub struct Recipient<'a, O> {
    account: &'a AccountView,
    payable: bool,
    owner: PhantomData<O>,
}

impl<'a, O: Owner> Kind<'a> for Recipient<'a, O> {
    const META: Meta = Meta::WRITE;

    #[inline(always)]
    fn load<R: Row, const I: usize>(_: u8, call: &Checked<'a, R>) -> Result<Self> {
        let account = call.account(I);
        let party = O::address(call);
        let payable = is_payable(account, &O::currency(call), party, || {
            call.is_chosen_by(party)
        })?;
        Ok(Self {
            account,
            payable,
            owner: PhantomData,
        })
    }
}

/// The account for a payment to a party or the treasury by close_negotiation. Closing cannot record a
/// payment, so an unpayable account is an error only if a payment is due.
pub struct ClosingRecipient<'a, O> {
    account: &'a AccountView,
    payable: bool,
    owner: PhantomData<O>,
}

impl<'a, O: Owner> Kind<'a> for ClosingRecipient<'a, O> {
    const META: Meta = Meta::WRITE;

    #[inline(always)]
    fn load<R: Row, const I: usize>(_: u8, call: &Checked<'a, R>) -> Result<Self> {
        let account = call.account(I);
        let owner = O::address(call);
        let payable = match TokenAccount::of(account, &O::currency(call)) {
            Some(token) if token.is_of(owner) => {
                // close_negotiation has no created_at, so the closer may have signed it for an earlier deal.
                // The signature does not show that the closer chose this account.
                token.can_receive() && !token.has_other_authority()
            }
            _ => return Err(Framework::ConstraintRaw.into()),
        };
        Ok(Self {
            account,
            payable,
            owner: PhantomData,
        })
    }
}

impl<'a, O> ClosingRecipient<'a, O> {
    /// The payment of `amount` to an optional recipient.
    ///
    /// # Errors
    /// PayoutPending if something is due but the account is left out or cannot be paid.
    #[inline(always)]
    pub fn payment(recipient: &Option<Self>, amount: u64) -> Result<Option<Payment<'a>>> {
        match recipient {
            _ if amount == 0 => Ok(None),
            Some(recipient) if recipient.payable => Ok(Some(Payment {
                to: recipient.account,
                amount,
            })),
            _ => Err(HaggleError::PayoutPending.into()),
        }
    }
}

/// A payment from the vault.
#[derive(Clone, Copy)]
pub struct Payment<'a> {
    /// The recipient's token account.
    pub to: &'a AccountView,
    /// The nonzero amount in base units.
    pub amount: u64,
}

/// Closes the vault after paying the treasury and these recorded payouts; the vault's lamports go to the
/// negotiation. The caller has already written the negotiation's new state.
///
/// # Errors
/// A token program error ends the transaction.
#[inline(always)]
pub fn pay_and_close(
    negotiation: &State<'_, Negotiation>,
    vault: &Vault<'_>,
    treasury: Option<Payment<'_>>,
    recorded: [Option<Payment<'_>>; 2],
) -> Result {
    match (treasury, recorded) {
        (Some(payment), [None, None]) => {
            let mut call = TokenCall::new(vault.view(), negotiation.view());
            call.transfer(payment.to, payment.amount)?;
            call.close()?;
            sign_and_invoke(call, negotiation);
            Ok(())
        }
        (treasury, [buyer, seller]) => {
            pay_all_and_close(negotiation, vault, &[treasury, buyer, seller])
        }
    }
}

#[cold]
#[inline(never)]
fn pay_all_and_close(
    negotiation: &State<'_, Negotiation>,
    vault: &Vault<'_>,
    payments: &[Option<Payment<'_>>; 3],
) -> Result {
    let mut call = TokenCall::new(vault.view(), negotiation.view());
    for payment in payments.iter().flatten() {
        call.transfer(payment.to, payment.amount)?;
    }
    call.close()?;
    sign_and_invoke(call, negotiation);
    Ok(())
}

/// Calls the mint's token program with the negotiation's signature.
#[inline(always)]
fn sign_and_invoke(call: TokenCall<'_>, negotiation: &Negotiation) {
    let authority = Authority::of(negotiation);
    call.pay(&Signer::from(&authority.seeds()));
}

/// Makes one payment from the vault. The caller has already written the negotiation's new state.
///
/// # Errors
/// A token program error ends the transaction.
#[inline(never)]
pub fn pay(
    negotiation: &State<'_, Negotiation>,
    vault: &Vault<'_>,
    payment: &Payment<'_>,
) -> Result {
    let mut call = TokenCall::new(vault.view(), negotiation.view());
    call.transfer(payment.to, payment.amount)?;
    sign_and_invoke(call, negotiation);
    Ok(())
}

#[inline(never)]
fn pay_both(
    negotiation: &State<'_, Negotiation>,
    vault: &Vault<'_>,
    first: &Payment<'_>,
    second: &Payment<'_>,
) -> Result {
    let mut call = TokenCall::new(vault.view(), negotiation.view());
    call.transfer(first.to, first.amount)?;
    call.transfer(second.to, second.amount)?;
    sign_and_invoke(call, negotiation);
    Ok(())
}

/// The amounts that the parties get now, in base units.
#[derive(Clone, Copy)]
pub struct Division {
    /// The buyer's amount.
    pub buyer: u64,
    /// The seller's amount, after the fee.
    pub seller: u64,
}

impl Division {
    /// The remaining escrow, for the buyer.
    #[inline(always)]
    pub fn refund(negotiation: &Negotiation) -> Self {
        Self {
            buyer: negotiation.effective_escrow,
            seller: 0,
        }
    }

    /// Adds the bond, so that each party gets one transfer.
    ///
    /// # Errors
    /// Overflow beyond 64 bits. No mint's supply exceeds 64 bits.
    #[inline(always)]
    pub fn with(self, bond: SettledBond) -> Result<Self> {
        Ok(Self {
            buyer: self
                .buyer
                .checked_add(bond.to_buyer)
                .ok_or(HaggleError::Overflow)?,
            seller: self
                .seller
                .checked_add(bond.to_seller)
                .ok_or(HaggleError::Overflow)?,
        })
    }
}

/// A division, with the accounts and the time for delivery.
pub struct Delivery<'x, 'a> {
    /// The parties' amounts.
    pub division: Division,
    /// The sum that the vault owed before the instruction changed anything.
    pub owed: u64,
    /// The negotiation in the new state, without recorded payouts.
    pub negotiation: &'x mut State<'a, Negotiation>,
    /// The vault.
    pub vault: &'x Vault<'a>,
    /// The buyer's account.
    pub buyer: Option<&'x Recipient<'a, Buyer>>,
    /// The seller's account.
    pub seller: Option<&'x Recipient<'a, Seller>>,
    /// The time, in Unix seconds.
    pub now: i64,
}

impl Delivery<'_, '_> {
    /// Pays both parties. It records an amount in the negotiation instead if the party's account cannot be
    /// paid, if the vault is frozen, or if the vault holds too little, which a rent increase can cause in
    /// wrapped SOL. Therefore accounts cannot prevent a negotiation's end.
    ///
    /// # Errors
    /// Overflow unless `owed` is the sum of the vault's new obligations and
    /// the payments; 3005 if the call lacks an account for a party's payment.
    #[inline(never)]
    pub fn deliver(self) -> Result {
        let Division { buyer, seller } = self.division;
        let due = buyer.checked_add(seller).ok_or(HaggleError::Overflow)?;
        if self.negotiation.owed()?.checked_add(due) != Some(self.owed) {
            return Err(HaggleError::Overflow.into());
        }
        let holdings = self.vault.holdings()?;
        let vault_pays = !holdings.is_frozen() && holdings.amount() >= due;

        let to_buyer = payment(self.buyer, buyer, vault_pays)?;
        if to_buyer.is_none() && buyer > 0 {
            self.negotiation.record(OfferSide::Buyer, buyer)?;
            emit_recorded(self.negotiation, OfferSide::Buyer, buyer, self.now);
        }
        let to_seller = payment(self.seller, seller, vault_pays)?;
        if to_seller.is_none() && seller > 0 {
            self.negotiation.record(OfferSide::Seller, seller)?;
            emit_recorded(self.negotiation, OfferSide::Seller, seller, self.now);
        }
        match (to_buyer, to_seller) {
            (Some(to_buyer), Some(to_seller)) => {
                pay_both(self.negotiation, self.vault, &to_buyer, &to_seller)
            }
            (Some(payment), None) | (None, Some(payment)) => {
                pay(self.negotiation, self.vault, &payment)
            }
            (None, None) => Ok(()),
        }
    }
}

/// The payment to a party, if something is due and it can be delivered.
///
/// # Errors
/// 3005 if something is due but the account is left out.
#[inline(always)]
fn payment<'a, O>(
    recipient: Option<&Recipient<'a, O>>,
    amount: u64,
    vault_pays: bool,
) -> Result<Option<Payment<'a>>> {
    if amount == 0 {
        return Ok(None);
    }
    let recipient = recipient.ok_or(Framework::AccountNotEnoughKeys)?;
    Ok(if vault_pays && recipient.payable {
        Some(Payment {
            to: recipient.account,
            amount,
        })
    } else {
        None
    })
}

#[cold]
#[inline(never)]
fn emit_recorded(
    negotiation: &State<'_, Negotiation>,
    side: OfferSide,
    amount: u64,
    timestamp: i64,
) {
    PayoutRecorded {
        negotiation_id: *negotiation.address(),
        party: *negotiation.party(side),
        amount,
        timestamp,
    }
    .emit();
}
