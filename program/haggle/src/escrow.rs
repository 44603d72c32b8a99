//! Money out of a vault. Whatever leaves a vault leaves it through [`Vault::pay`].

use crate::constants::{NEGOTIATION_SEED, VAULT_SEED};
use crate::error::{Framework, HaggleError};
use crate::event::PayoutRecorded;
use crate::state::Negotiation;
use crate::{check, programs};
use core::mem::MaybeUninit;
use pinocchio::cpi::{CpiAccount, Seed, Signer};
use pinocchio::error::{ProgramError, ProgramResult};
use pinocchio::instruction::InstructionAccount;
use pinocchio::{AccountView, Address};
use pinocchio_token::instructions::{Batch, CloseAccount, IntoBatch, TransferChecked};

/// The parts of a token account that decide whether it can be paid to.
///
/// Both token programs lay the first 165 bytes out alike.
pub struct TokenAccount<'a>(&'a [u8; TokenAccount::SIZE]);

impl<'a> TokenAccount<'a> {
    /// The size of an SPL token account in bytes.
    pub const SIZE: usize = 165;
    const INITIALIZED: u8 = 1;
    const FROZEN: u8 = 2;

    /// The token account in `account`, if the token program says that it is one.
    #[inline(always)]
    pub fn of(account: &'a AccountView) -> Option<Self> {
        if account.owned_by(&programs::TOKEN) && account.data_len() == Self::SIZE {
            // SAFETY: the length is right; the reference is gone before another program is called.
            Some(Self(unsafe { &*account.data_ptr().cast() }))
        } else {
            None
        }
    }

    /// Whether it holds tokens of `mint` for `owner`.
    #[inline(always)]
    pub fn is_of(&self, mint: &Address, owner: &Address) -> bool {
        self.0[..32] == *mint.as_array() && self.0[32..64] == *owner.as_array()
    }

    /// Whether it holds tokens of `mint`.
    #[inline(always)]
    pub fn is_for(&self, mint: &Address) -> bool {
        self.0[..32] == *mint.as_array()
    }

    /// Whether it can receive tokens.
    #[inline(always)]
    pub fn can_receive(&self) -> bool {
        self.0[108] == Self::INITIALIZED
    }

    /// Whether the mint's freeze authority has frozen it.
    #[inline(always)]
    pub fn is_frozen(&self) -> bool {
        self.0[108] == Self::FROZEN
    }

    /// How many base units it holds.
    #[inline(always)]
    pub fn amount(&self) -> u64 {
        let mut amount = [0; 8];
        amount.copy_from_slice(&self.0[64..72]);
        u64::from_le_bytes(amount)
    }
}

/// Whether tokens can be taken from, or paid to, an account of `owner`.
///
/// # Errors
/// 2003 when it is not a token account of this mint and this owner.
#[inline(always)]
pub fn check_token_account(
    account: &AccountView,
    mint: &Address,
    owner: &Address,
) -> Result<(), ProgramError> {
    match TokenAccount::of(account) {
        Some(token) if token.is_of(mint, owner) => Ok(()),
        _ => Err(Framework::ConstraintRaw.into()),
    }
}

/// Whether a party's account can be paid to at the end of a negotiation. If it cannot, no one is held up: the payment is
/// recorded instead, provided the account is the one that everyone can derive from the party's wallet.
///
/// # Errors
/// 2003 when it can neither be paid to nor is the party's associated token account.
#[inline(always)]
pub fn is_payable(
    account: &AccountView,
    mint: &Address,
    party: &Address,
) -> Result<bool, ProgramError> {
    match TokenAccount::of(account) {
        Some(token) if token.is_of(mint, party) && token.can_receive() => Ok(true),
        _ if is_associated(account, mint, party) => Ok(false),
        _ => Err(Framework::ConstraintRaw.into()),
    }
}

#[inline(always)]
fn is_associated(account: &AccountView, mint: &Address, wallet: &Address) -> bool {
    let seeds: [&[u8]; 3] = [wallet.as_ref(), programs::TOKEN.as_ref(), mint.as_ref()];
    match Address::derive_program_address(&seeds, &programs::ASSOCIATED_TOKEN) {
        Some((address, _)) => address == *account.address(),
        None => false,
    }
}

/// What identifies a negotiation as the signer of transfers from its vault.
pub struct Authority {
    buyer: Address,
    seller: Address,
    session_id: [u8; 8],
    bump: [u8; 1],
}

impl Authority {
    /// The negotiation's own seeds.
    #[inline(always)]
    pub fn of(negotiation: &Negotiation) -> Self {
        Self {
            buyer: negotiation.buyer,
            seller: negotiation.seller,
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

/// A vault with what a transfer from it takes.
pub struct Vault<'a> {
    /// The negotiation, which signs.
    pub negotiation: &'a AccountView,
    /// The token account of the escrow.
    pub account: &'a AccountView,
    /// The mint of the escrow.
    pub mint: &'a AccountView,
}

/// The treasury, the buyer and the seller.
const MOST_PAYMENTS: usize = 3;
/// Four accounts a transfer, three for closing.
const MOST_ACCOUNTS: usize = MOST_PAYMENTS * 4 + 3;
/// A discriminator, for each transfer a header of two bytes and ten bytes of data, for closing a header and one byte.
const MOST_DATA: usize = 1 + MOST_PAYMENTS * (2 + 10) + (2 + 1);

impl Vault<'_> {
    /// Whether the mint's freeze authority has frozen the vault, so that nothing can leave it.
    #[inline(always)]
    pub fn is_frozen(&self) -> bool {
        match TokenAccount::of(self.account) {
            Some(token) => token.is_frozen(),
            None => true,
        }
    }

    /// How many base units the vault holds.
    #[inline(always)]
    pub fn balance(&self) -> u64 {
        match TokenAccount::of(self.account) {
            Some(token) => token.amount(),
            None => 0,
        }
    }

    #[inline(always)]
    fn decimals(&self) -> u8 {
        // SAFETY: the mint was checked when the negotiation was created, and mints of SPL Token cannot be closed.
        unsafe { *self.mint.data_ptr().add(44) }
    }

    /// Pays. The caller has written the negotiation's new state before.
    ///
    /// # Errors
    /// Whatever the token program answers.
    #[inline(always)]
    pub fn pay<const N: usize>(
        &self,
        payments: [Payment<'_>; N],
        authority: &Authority,
    ) -> ProgramResult {
        let seeds = authority.seeds();
        let signer = [Signer::from(&seeds)];
        let mut due = payments.iter().filter(|payment| payment.amount > 0);
        match (due.next(), due.next()) {
            (None, _) => Ok(()),
            // A single transfer is cheaper without the frame of a batch.
            (Some(payment), None) => self.transfer(*payment).invoke_signed(&signer),
            _ => self.call(payments, None, &signer),
        }
    }

    /// Pays, then closes the vault, whose lamports go to `rent_to`. The caller has written the negotiation's new state before.
    ///
    /// # Errors
    /// Whatever the token program answers.
    #[inline(always)]
    pub fn pay_and_close<const N: usize>(
        &self,
        payments: [Payment<'_>; N],
        rent_to: &AccountView,
        authority: &Authority,
    ) -> ProgramResult {
        let seeds = authority.seeds();
        self.call(payments, Some(rent_to), &[Signer::from(&seeds)])
    }

    /// Everything in one call of the token program.
    #[inline(always)]
    fn call<const N: usize>(
        &self,
        payments: [Payment<'_>; N],
        rent_to: Option<&AccountView>,
        signer: &[Signer<'_, '_>],
    ) -> ProgramResult {
        const { assert!(N <= MOST_PAYMENTS) };
        let mut data = [const { MaybeUninit::<u8>::uninit() }; MOST_DATA];
        let mut metas = [const { MaybeUninit::<InstructionAccount<'_>>::uninit() }; MOST_ACCOUNTS];
        let mut views = [const { MaybeUninit::<CpiAccount<'_>>::uninit() }; MOST_ACCOUNTS];
        let mut batch = Batch::new(&mut data, &mut metas, &mut views)?;
        for payment in payments {
            if payment.amount > 0 {
                self.transfer(payment).into_batch(&mut batch)?;
            }
        }
        if let Some(rent_to) = rent_to {
            CloseAccount::new(self.account, rent_to, self.negotiation).into_batch(&mut batch)?;
        }
        // SAFETY: no reference to the data of these accounts is used after this.
        unsafe { batch.invoke_signed_unchecked(signer) }
    }

    #[inline(always)]
    fn transfer<'b>(&'b self, payment: Payment<'b>) -> TransferChecked<'b, 'b, &'b AccountView> {
        TransferChecked::new(
            self.account,
            self.mint,
            payment.to,
            self.negotiation,
            payment.amount,
            self.decimals(),
        )
    }
}

/// What is left of the escrow when a negotiation ends, and whether each part can be delivered.
pub struct Division {
    /// To the buyer.
    pub buyer: u64,
    /// To the seller, fee already taken off.
    pub seller: u64,
}

impl Division {
    /// Everything that is left goes back to the buyer.
    #[inline(always)]
    pub fn refund(negotiation: &Negotiation) -> Self {
        Self {
            buyer: negotiation.effective_escrow,
            seller: 0,
        }
    }
}

/// Divides what leaves the vault at the end of a negotiation: delivers what can be delivered and records the rest. The
/// negotiation's other fields have been written before; the transfers are the last thing that happens.
///
/// # Errors
/// Overflow if the parts, the fee and the decay were not the escrow; otherwise what the token program answers.
#[inline(always)]
pub fn divide(
    vault: &Vault<'_>,
    negotiation: &mut Negotiation,
    division: &Division,
    buyer_account: (&AccountView, bool),
    seller_account: Option<(&AccountView, bool)>,
    now: i64,
) -> ProgramResult {
    check_conservation(negotiation, division)?;
    let frozen = vault.is_frozen();
    let id = vault.negotiation.address();

    let to_buyer = Payment {
        to: buyer_account.0,
        amount: if buyer_account.1 && !frozen {
            division.buyer
        } else {
            0
        },
    };
    if to_buyer.amount != division.buyer {
        negotiation.claimable_buyer = division.buyer;
        record(id, &{ negotiation.buyer }, division.buyer, now);
    }

    let authority = Authority::of(negotiation);
    let Some((account, payable)) = seller_account else {
        return vault.pay([to_buyer], &authority);
    };
    let to_seller = Payment {
        to: account,
        amount: if payable && !frozen {
            division.seller
        } else {
            0
        },
    };
    if to_seller.amount != division.seller {
        negotiation.claimable_seller = division.seller;
        record(id, &{ negotiation.seller }, division.seller, now);
    }
    vault.pay([to_seller, to_buyer], &authority)
}

#[inline(always)]
fn record(negotiation_id: &Address, party: &Address, amount: u64, timestamp: i64) {
    PayoutRecorded {
        negotiation_id: *negotiation_id,
        party: *party,
        amount,
        timestamp,
    }
    .emit();
}

/// Money is conserved to the unit: what the parties get, the fee and the decay are the escrow.
///
/// # Errors
/// Overflow.
#[inline(always)]
fn check_conservation(negotiation: &Negotiation, division: &Division) -> ProgramResult {
    let escrow = negotiation.escrow_amount;
    let fee = negotiation.fee_on(negotiation.paid_gross);
    let decay = escrow.checked_sub(negotiation.effective_escrow);
    let sum = decay
        .and_then(|decay| decay.checked_add(fee))
        .and_then(|sum| sum.checked_add(division.seller))
        .and_then(|sum| sum.checked_add(division.buyer));
    if sum == Some(escrow) {
        Ok(())
    } else {
        Err(HaggleError::Overflow.into())
    }
}

/// The accounts that every payment from a vault takes, checked against the negotiation.
///
/// # Errors
/// 2006 for the vault, 2001 for the mint.
#[inline(always)]
pub fn check_vault(vault: &Vault<'_>, negotiation: &Negotiation) -> ProgramResult {
    check::pda(negotiation.is_vault(vault.negotiation.address(), vault.account.address()))?;
    check::stored(vault.mint, &{ negotiation.token_mint })
}
