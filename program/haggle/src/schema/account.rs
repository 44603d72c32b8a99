//! The account kinds that any instruction can list, and the trait of all kinds.
//!
//! A kind is a type in an instruction's account list. It declares requirements, checked by the generated
//! `load`, and the handler works with it. Kinds for tokens are in [`crate::escrow`] and
//! [`crate::token::kinds`].

use crate::error::{HaggleError, Result};
use crate::runtime::pda;
use crate::runtime::programs;
use crate::runtime::sysvar::Rent;
use crate::schema::declare::Wire;
use crate::schema::lookup::{holder_of, only_signer};
use crate::schema::table::{Account, Field, Meta, Record, Seed};
use crate::ID;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};
use pinocchio::address::address_eq;
use pinocchio::cpi::Seed as SignerSeed;
use pinocchio::{AccountView, Address};

/// An instruction's declaration. The macro [`crate::schema::instruction`] implements it.
pub trait Row {
    /// The accounts, in order.
    const ACCOUNTS: &'static [Account];
    /// The arguments, in order.
    const ARGS: &'static [Field];
}

/// The accounts and arguments for calling instruction `R`.
pub struct Call<'a, R> {
    accounts: &'a [AccountView],
    args: &'a [u8],
    /// The accounts that are left out, a bit each.
    left_out: u32,
    row: PhantomData<R>,
}

impl<'a, R: Row> Call<'a, R> {
    /// A call, if the account count is no less than the row's.
    #[inline(always)]
    pub fn new(accounts: &'a [AccountView], args: &'a [u8]) -> Option<Self> {
        const { assert!(R::ACCOUNTS.len() <= u32::BITS as usize) };
        if accounts.len() < R::ACCOUNTS.len() {
            return None;
        }
        Some(Self {
            accounts,
            args,
            left_out: 0,
            row: PhantomData,
        })
    }

    /// Notes whether optional account `I` is left out: the program's own address replaces it.
    #[inline(always)]
    pub fn note<const I: usize>(&mut self) {
        let is_optional = const { R::ACCOUNTS[I].meta.optional };
        if is_optional && address_eq(self.account(I).address(), &ID) {
            self.left_out |= 1 << I;
        }
    }

    /// Reports whether account `I` is left out.
    #[inline(always)]
    pub fn is_left_out<const I: usize>(&self) -> bool {
        let is_optional = const { R::ACCOUNTS[I].meta.optional };
        is_optional && self.left_out & (1 << I) != 0
    }

    /// The account with this index.
    #[inline(always)]
    pub fn account(&self, index: usize) -> &'a AccountView {
        // Every index is a constant of the row (`lookup`), so the assertion costs nothing.
        assert!(index < R::ACCOUNTS.len());
        // SAFETY: the index is less than the row's length, and `new` has checked
        // for as many accounts.
        unsafe { self.accounts.get_unchecked(index) }
    }

    /// The account with this index, unless it is left out.
    #[inline(always)]
    pub fn given(&self, index: usize) -> Option<&'a AccountView> {
        if self.left_out & (1 << (index & 31)) != 0 {
            None
        } else {
            Some(self.account(index))
        }
    }

    /// An argument's bytes; empty for arguments that are too short.
    #[inline(always)]
    pub fn args(&self, offset: usize, width: usize) -> &'a [u8] {
        self.args
            .get(offset..offset.saturating_add(width))
            .unwrap_or(&[])
    }
}

/// A call whose accounts [`crate::schema::check::record`] has passed: each holds the record declared in the
/// row.
pub struct Checked<'a, R>(Call<'a, R>);

impl<'a, R: Row> Checked<'a, R> {
    /// The call, after checking the records.
    ///
    /// # Safety
    /// `check::record` has passed for every account of the row.
    #[inline(always)]
    pub unsafe fn new(call: Call<'a, R>) -> Self {
        Self(call)
    }

    /// The record of type `T` held in some account. Kinds read it while they are loaded.
    #[inline(always)]
    pub fn record<T: AccountType>(&self) -> &T {
        let holder = self.account(const { holder_of(R::ACCOUNTS, T::RECORD) });
        // SAFETY: the account holds a `T` (`new`); the reference cannot outlive the borrow of this call,
        // which ends before the handler can change the record.
        unsafe { &*holder.data_ptr().add(8).cast::<T>() }
    }

    /// Reports whether `party` signs the instruction alone, and so has chosen the remaining accounts. Of two
    /// signers either may have chosen them.
    #[cold]
    #[inline(never)]
    pub fn is_chosen_by(&self, party: &Address) -> bool {
        match const { only_signer(R::ACCOUNTS) } {
            Some(index) => address_eq(self.account(index).address(), party),
            None => false,
        }
    }
}

impl<'a, R> Deref for Checked<'a, R> {
    type Target = Call<'a, R>;

    #[inline(always)]
    fn deref(&self) -> &Call<'a, R> {
        &self.0
    }
}

/// A kind of account.
pub trait Kind<'a>: Sized {
    /// The requirements that `load` checks and the IDL shows.
    const META: Meta;

    /// The account, after flags, owner, discriminator and address have been checked. `bump` belongs to the
    /// account's address, if the requirements name seeds.
    ///
    /// # Errors
    /// 2003 for token accounts that the kind does not accept, otherwise none.
    fn load<R: Row, const I: usize>(bump: u8, call: &Checked<'a, R>) -> Result<Self>;
}

/// An optional account.
impl<'a, K: Kind<'a>> Kind<'a> for Option<K> {
    const META: Meta = K::META.optional();

    #[inline(always)]
    fn load<R: Row, const I: usize>(bump: u8, call: &Checked<'a, R>) -> Result<Self> {
        if call.is_left_out::<I>() {
            Ok(None)
        } else {
            K::load::<R, I>(bump, call).map(Some)
        }
    }
}

macro_rules! plain_kinds {
    ($( $(#[doc = $doc:literal])* $name:ident: $meta:expr; )*) => {$(
        $(#[doc = $doc])*
        pub struct $name<'a>(&'a AccountView);

        impl<'a> Kind<'a> for $name<'a> {
            const META: Meta = $meta;

            #[inline(always)]
            fn load<R: Row, const I: usize>(_: u8, call: &Checked<'a, R>) -> Result<Self> {
                let account = call.account(I);
                Ok(Self(account))
            }
        }

        impl<'a> $name<'a> {
            /// The address.
            #[inline(always)]
            pub fn address(&self) -> &'a Address {
                self.0.address()
            }

            /// The account.
            #[inline(always)]
            pub fn view(&self) -> &'a AccountView {
                self.0
            }
        }
    )*};
}

plain_kinds! {
    /// A signer.
    Signer: Meta::READ.signs();
    /// A signer that pays lamports.
    Payer: Meta::WRITE.signs();
    /// A signer that the negotiation names in a field of the same name.
    Party: Meta::READ.signs().stored_in("negotiation");
    /// An account that gets the rent. The negotiation names it in a field of the same name.
    RentRecipient: Meta::WRITE.stored_in("negotiation");
    /// A wallet. Instructions use only the address.
    Wallet: Meta::READ;
    /// The system program.
    SystemProgram: Meta::READ.at(&programs::SYSTEM);
}

/// An account type that the program writes. The macro `account` implements it.
pub trait AccountType: Wire {
    /// The row of the table.
    const RECORD: &'static Record;
    /// The address seeds.
    const SEEDS: &'static [Seed];
    /// The address and bump, if only a single account of this type exists.
    const FIXED: Option<(&'static Address, u8)> = None;
}

/// The requirements on addresses for type `T`.
const fn addressed<T: AccountType>(meta: Meta) -> Meta {
    match T::FIXED {
        Some((address, _)) => meta.at(address).derived(T::SEEDS),
        None => meta,
    }
}

/// An account of type `T`. The instruction can change it.
pub struct State<'a, T> {
    view: &'a AccountView,
    record: PhantomData<T>,
}

impl<'a, T: AccountType> Kind<'a> for State<'a, T> {
    const META: Meta = addressed::<T>(Meta::WRITE.holds(T::RECORD));

    #[inline(always)]
    fn load<R: Row, const I: usize>(_: u8, call: &Checked<'a, R>) -> Result<Self> {
        let view = call.account(I);
        Ok(Self {
            view,
            record: PhantomData,
        })
    }
}

impl<'a, T> State<'a, T> {
    /// The account's address.
    #[inline(always)]
    pub fn address(&self) -> &'a Address {
        self.view.address()
    }

    /// The account. Cross-program calls take it; no called program can change data
    /// belonging to this program.
    #[inline(always)]
    pub fn view(&self) -> &'a AccountView {
        self.view
    }

    /// The account's data, discriminator included.
    #[inline(always)]
    pub fn data(&self) -> &[u8] {
        // SAFETY: a mutable reference to the data needs a mutable borrow of this handle, which this borrow
        // excludes.
        unsafe { self.view.borrow_unchecked() }
    }

    /// Closes the account and moves the lamports to `recipient`.
    ///
    /// # Errors
    /// Overflow if the sum exceeds 64 bits.
    #[inline(always)]
    pub fn close(self, recipient: &AccountView) -> Result {
        let lamports = recipient
            .lamports()
            .checked_add(self.view.lamports())
            .ok_or(HaggleError::Overflow)?;
        let (mut recipient, mut closed) = (*recipient, *self.view);
        recipient.set_lamports(lamports);
        Ok(closed.close()?)
    }
}

impl<T: AccountType> Deref for State<'_, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: `check::record` has found a `T` behind the discriminator. The row lists a single account of
        // this type (`lookup::holder_of`), so this handle is the only source of references to it.
        unsafe { &*self.view.data_ptr().add(8).cast::<T>() }
    }
}

impl<T: AccountType> DerefMut for State<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: `check::record` has found a `T` behind the discriminator, in an account that is writable.
        // This handle is the only source of references to it, and the handle's mutable borrow excludes them.
        unsafe { &mut *self.view.data_ptr().cast_mut().add(8).cast::<T>() }
    }
}

/// An account of type `T`. The instruction only reads it.
pub struct ReadOnly<'a, T>(State<'a, T>);

impl<'a, T: AccountType> Kind<'a> for ReadOnly<'a, T> {
    const META: Meta = addressed::<T>(Meta::READ.holds(T::RECORD));

    #[inline(always)]
    fn load<R: Row, const I: usize>(bump: u8, call: &Checked<'a, R>) -> Result<Self> {
        State::load::<R, I>(bump, call).map(Self)
    }
}

impl<T: AccountType> Deref for ReadOnly<'_, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.0
    }
}

/// An address where the instruction creates an account of type `T`. The address may already have lamports.
pub struct New<'a, T> {
    view: &'a AccountView,
    bump: u8,
    record: PhantomData<T>,
}

impl<'a, T: AccountType> Kind<'a> for New<'a, T> {
    const META: Meta = match T::FIXED {
        Some((address, _)) => Meta::WRITE
            .owned_by(&[&programs::SYSTEM])
            .at(address)
            .derived(T::SEEDS),
        None => Meta::WRITE.owned_by(&[&programs::SYSTEM]).derived(T::SEEDS),
    };

    #[inline(always)]
    fn load<R: Row, const I: usize>(bump: u8, call: &Checked<'a, R>) -> Result<Self> {
        let view = call.account(I);
        Ok(Self {
            view,
            bump: match T::FIXED {
                Some((_, bump)) => bump,
                None => bump,
            },
            record: PhantomData,
        })
    }
}

impl<'a, T: AccountType> New<'a, T> {
    /// The account's address.
    #[inline(always)]
    pub fn address(&self) -> &'a Address {
        self.view.address()
    }

    /// The bump of the address.
    #[inline(always)]
    pub fn bump(&self) -> u8 {
        self.bump
    }

    /// Creates the account with this record. `seeds` are those of the address, bump included.
    ///
    /// # Errors
    /// The system program's errors, if the payer's balance is too low or the account exists.
    #[inline(always)]
    pub fn create(
        self,
        record: &T,
        seeds: &[SignerSeed<'_>],
        payer: &Payer<'a>,
        rent: &Rent,
    ) -> Result<State<'a, T>> {
        pda::create(self.view, seeds, T::RECORD.size, &ID, payer.view(), rent)?;
        // SAFETY: the system program just made the account `size` bytes long and gave it to this program.
        // References to the data do not exist yet.
        unsafe {
            let data = self.view.data_ptr().cast_mut();
            data.cast::<[u8; 8]>().write(T::RECORD.discriminator);
            data.add(8).cast::<T>().write_unaligned(*record);
        }
        Ok(State {
            view: self.view,
            record: PhantomData,
        })
    }
}
