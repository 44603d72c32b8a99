//! The call with all token transfers for an instruction.
//!
//! SPL Token takes them as a batch, which saves the base cost for further calls. The library's batch repeats
//! source and authority for every transfer, and copying them would cost most of such a call; here each account
//! is listed once. Token-2022 has no batch and is called once per instruction.
//!
//! Plain transfers omit mint and decimals: every amount uses base units, the mints are checked at creation, and
//! none of the allowed extensions needs the mint.

use crate::error::{HaggleError, Result};
use crate::runtime::programs;
use core::mem::MaybeUninit;
use core::slice::from_raw_parts;
use pinocchio::address::address_eq;
use pinocchio::cpi::{invoke_signed_unchecked, CpiAccount, Signer};
use pinocchio::instruction::{InstructionAccount, InstructionView};
use pinocchio::{AccountView, Address};

/// Three transfers and closing.
const MAX_INSTRUCTIONS: usize = 4;
/// Three accounts per instruction.
const MAX_METAS: usize = MAX_INSTRUCTIONS * 3;
/// The source, the authority, three recipients, and the rent recipient.
const MAX_VIEWS: usize = 2 + 3 + 1;
/// The batch's number, a two-byte header per instruction, then the longest data: nine bytes per transfer and
/// one for closing, or 33 for an initialization and nine for a transfer.
const MAX_DATA: usize = 1 + 2 * MAX_INSTRUCTIONS + 33 + 9;

/// The frame for a batch's first instruction: the batch's number and a header.
const FRAME: usize = 1 + 2;

const TRANSFER: u8 = 3;
const CLOSE_ACCOUNT: u8 = 9;
const INITIALIZE_ACCOUNT_3: u8 = 18;
const BATCH: u8 = 255;

/// A batch of instructions that take tokens from the same account.
pub struct TokenCall<'a> {
    source: &'a AccountView,
    authority: &'a AccountView,
    instructions: usize,
    data: [u8; MAX_DATA],
    data_len: usize,
    metas: [MaybeUninit<InstructionAccount<'a>>; MAX_METAS],
    metas_len: usize,
    views: [MaybeUninit<CpiAccount<'a>>; MAX_VIEWS],
    views_len: usize,
}

// `push` checks the number of instructions, which bounds every length.
#[allow(clippy::arithmetic_side_effects)]
impl<'a> TokenCall<'a> {
    /// An empty call to the program that owns `source`.
    #[inline(always)]
    pub fn new(source: &'a AccountView, authority: &'a AccountView) -> Self {
        let mut call = Self {
            source,
            authority,
            instructions: 0,
            data: [BATCH; MAX_DATA],
            data_len: 1,
            metas: [const { MaybeUninit::uninit() }; MAX_METAS],
            metas_len: 0,
            views: [const { MaybeUninit::uninit() }; MAX_VIEWS],
            views_len: 0,
        };
        call.view(source);
        call.view(authority);
        call
    }

    /// Adds a token account's initialization. A transfer to the account must follow and list it.
    ///
    /// # Errors
    /// Overflow beyond the fourth instruction.
    #[inline(always)]
    pub fn initialize(
        &mut self,
        account: &'a AccountView,
        mint: &'a AccountView,
        owner: &Address,
    ) -> Result {
        let mut data = [INITIALIZE_ACCOUNT_3; 33];
        data[1..].copy_from_slice(owner.as_ref());
        let metas = [
            InstructionAccount::writable(account.address()),
            InstructionAccount::readonly(mint.address()),
        ];
        self.push(data, metas)?;
        self.view(mint);
        Ok(())
    }

    /// Adds a transfer of `amount` base units.
    ///
    /// # Errors
    /// Overflow beyond the fourth instruction.
    #[inline(always)]
    pub fn transfer(&mut self, to: &'a AccountView, amount: u64) -> Result {
        let mut data = [TRANSFER; 9];
        data[1..].copy_from_slice(&amount.to_le_bytes());
        let metas = [
            InstructionAccount::writable(self.source.address()),
            InstructionAccount::writable(to.address()),
            InstructionAccount::readonly_signer(self.authority.address()),
        ];
        self.push(data, metas)?;
        self.view(to);
        Ok(())
    }

    /// Adds the closing of the source, whose lamports go to the authority. The call already contains the
    /// account's view.
    ///
    /// # Errors
    /// Overflow beyond the fourth instruction.
    #[inline(always)]
    pub fn close(&mut self) -> Result {
        let metas = [
            InstructionAccount::writable(self.source.address()),
            InstructionAccount::writable(self.authority.address()),
            InstructionAccount::readonly_signer(self.authority.address()),
        ];
        self.push([CLOSE_ACCOUNT], metas)
    }

    #[inline(always)]
    fn push<const DATA: usize, const METAS: usize>(
        &mut self,
        data: [u8; DATA],
        metas: [InstructionAccount<'a>; METAS],
    ) -> Result {
        if self.instructions == MAX_INSTRUCTIONS {
            return Err(HaggleError::Overflow.into());
        }
        self.instructions += 1;
        let header = [METAS as u8, DATA as u8];
        self.data[self.data_len..self.data_len + 2].copy_from_slice(&header);
        self.data[self.data_len + 2..self.data_len + 2 + DATA].copy_from_slice(&data);
        self.data_len += 2 + DATA;
        for meta in metas {
            self.metas[self.metas_len].write(meta);
            self.metas_len += 1;
        }
        Ok(())
    }

    #[inline(always)]
    fn view(&mut self, account: &'a AccountView) {
        CpiAccount::init_from_account_view(account, &mut self.views[self.views_len]);
        self.views_len += 1;
    }

    /// Makes a deposit, whose owner signs the transaction. It is a batch even
    /// for one transfer: a cluster whose token program lacks batches fails
    /// here, before anything is in escrow, and not later with two payments.
    ///
    /// If an instruction fails, so does the whole transaction.
    #[inline(always)]
    pub fn deposit(self) {
        self.invoke(true, &[]);
    }

    /// Makes payments from a vault, with the authority's
    /// signature. A single instruction omits the batch frame.
    ///
    /// If an instruction fails, so does the whole transaction.
    #[inline(always)]
    pub fn pay(self, signer: &Signer<'_, '_>) {
        self.invoke(false, core::slice::from_ref(signer));
    }

    #[inline(always)]
    fn invoke(self, always_as_batch: bool, signers: &[Signer<'_, '_>]) {
        // SAFETY: `push` and `view` have written the first `metas_len` and `views_len` elements.
        let (metas, views) = unsafe {
            (
                from_raw_parts(self.metas.as_ptr().cast(), self.metas_len),
                from_raw_parts(self.views.as_ptr().cast(), self.views_len),
            )
        };
        if !address_eq(self.source.owner(), &programs::TOKEN) {
            let calls = SeparateCalls {
                metas,
                views,
                data: &self.data[1..self.data_len],
                signers,
            };
            return calls.invoke();
        }
        let start = if self.instructions == 1 && !always_as_batch {
            FRAME
        } else {
            0
        };
        let call = InstructionView {
            program_id: &programs::TOKEN,
            accounts: metas,
            data: &self.data[start..self.data_len],
        };
        // SAFETY: `views` covers every account in `metas`. Token programs change lamports and
        // the data of accounts they own. References to such data are only in `TokenAccount`s,
        // which are dropped by now.
        unsafe { invoke_signed_unchecked(&call, views, signers) };
    }
}

/// The batch's instructions, for programs that lack batches.
struct SeparateCalls<'a> {
    metas: &'a [InstructionAccount<'a>],
    views: &'a [CpiAccount<'a>],
    data: &'a [u8],
    signers: &'a [Signer<'a, 'a>],
}

impl SeparateCalls<'_> {
    /// Calls Token-2022 for each instruction.
    #[inline(never)]
    fn invoke(&self) {
        let mut data = self.data;
        let mut metas = self.metas;
        while let Some(([metas_len, data_len], rest)) = data.split_first_chunk() {
            let (Some((its_data, rest)), Some((its_metas, other_metas))) = (
                rest.split_at_checked(*data_len as usize),
                metas.split_at_checked(*metas_len as usize),
            ) else {
                return;
            };
            let instruction = InstructionView {
                program_id: &programs::TOKEN_2022,
                accounts: its_metas,
                data: its_data,
            };
            // SAFETY: `views` covers every account in `its_metas`, which are some of the batch's. `TokenCall::invoke`
            // keeps no reference to token accounts while running this, and only such accounts can change.
            unsafe { invoke_signed_unchecked(&instruction, self.views, self.signers) };
            data = rest;
            metas = other_metas;
        }
    }
}
