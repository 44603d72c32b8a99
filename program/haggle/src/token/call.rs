//! The call of a token program that does all of an instruction's transfers.
//!
//! SPL Token takes them as one batch. The library's batch lists the vault, the mint and the authority again for every
//! transfer; copying them is what would cost most of such a call, so here each account is listed once. Token-2022 knows no
//! batches: it is called once for each.

use crate::runtime::programs;
use crate::token::account::Mint;
use core::mem::MaybeUninit;
use core::slice::from_raw_parts;
use pinocchio::address::address_eq;
use pinocchio::cpi::{invoke_signed_unchecked, CpiAccount, Signer};
use pinocchio::error::ProgramError;
use pinocchio::instruction::{InstructionAccount, InstructionView};
use pinocchio::{AccountView, Address};

/// Three transfers and closing.
const MOST_INSTRUCTIONS: usize = 4;
/// Four accounts a transfer, three for closing.
const MOST_METAS: usize = 3 * 4 + 3;
/// The source, the mint, the authority, three recipients, and who gets the rent.
const MOST_VIEWS: usize = 3 + 3 + 1;
/// The batch's number, for each instruction a header of two bytes, and the longest: ten bytes a transfer, one for closing, or
/// 33 for making an account and one transfer.
const MOST_DATA: usize = 1 + 2 * MOST_INSTRUCTIONS + 33 + 10;

const TRANSFER_CHECKED: u8 = 12;
const CLOSE_ACCOUNT: u8 = 9;
const INITIALIZE_ACCOUNT_3: u8 = 18;
const BATCH: u8 = 255;

/// A batch of instructions, most of which take from one token account.
pub struct TokenCall<'a> {
    source: &'a AccountView,
    mint: &'a AccountView,
    authority: &'a AccountView,
    decimals: u8,
    instructions: usize,
    data: [u8; MOST_DATA],
    data_len: usize,
    metas: [MaybeUninit<InstructionAccount<'a>>; MOST_METAS],
    metas_len: usize,
    views: [MaybeUninit<CpiAccount<'a>>; MOST_VIEWS],
    views_len: usize,
}

// The lengths are bounded by the number of instructions, which `push` checks.
#[allow(clippy::arithmetic_side_effects)]
impl<'a> TokenCall<'a> {
    /// An empty call of the mint's token program.
    ///
    /// # Errors
    /// UnsupportedMint when `mint` is too short to be one.
    #[inline(always)]
    pub fn new(
        source: &'a AccountView,
        mint: &'a AccountView,
        authority: &'a AccountView,
    ) -> Result<Self, ProgramError> {
        let mut call = Self {
            source,
            mint,
            authority,
            decimals: Mint::decimals(mint)?,
            instructions: 0,
            data: [BATCH; MOST_DATA],
            data_len: 1,
            metas: [const { MaybeUninit::uninit() }; MOST_METAS],
            metas_len: 0,
            views: [const { MaybeUninit::uninit() }; MOST_VIEWS],
            views_len: 0,
        };
        call.view(source);
        call.view(mint);
        call.view(authority);
        Ok(call)
    }

    /// Adds the making of a token account that a transfer in the same call goes to.
    ///
    /// # Errors
    /// InvalidArgument beyond the fourth instruction.
    #[inline(always)]
    pub fn initialize(
        &mut self,
        account: &'a AccountView,
        owner: &Address,
    ) -> Result<(), ProgramError> {
        let mut data = [INITIALIZE_ACCOUNT_3; 33];
        data[1..].copy_from_slice(owner.as_ref());
        let metas = [
            InstructionAccount::writable(account.address()),
            InstructionAccount::readonly(self.mint.address()),
        ];
        self.push(data, metas)
    }

    /// Adds a transfer of `amount` base units.
    ///
    /// # Errors
    /// InvalidArgument beyond the fourth instruction.
    #[inline(always)]
    pub fn transfer(&mut self, to: &'a AccountView, amount: u64) -> Result<(), ProgramError> {
        let mut data = [TRANSFER_CHECKED; 10];
        data[1..9].copy_from_slice(&amount.to_le_bytes());
        data[9] = self.decimals;
        let metas = [
            InstructionAccount::writable(self.source.address()),
            InstructionAccount::readonly(self.mint.address()),
            InstructionAccount::writable(to.address()),
            InstructionAccount::readonly_signer(self.authority.address()),
        ];
        self.push(data, metas)?;
        self.view(to);
        Ok(())
    }

    /// Adds the closing of the account, whose lamports go to `rent_to`.
    ///
    /// # Errors
    /// InvalidArgument beyond the fourth instruction.
    #[inline(always)]
    pub fn close(&mut self, rent_to: &'a AccountView) -> Result<(), ProgramError> {
        let metas = [
            InstructionAccount::writable(self.source.address()),
            InstructionAccount::writable(rent_to.address()),
            InstructionAccount::readonly_signer(self.authority.address()),
        ];
        self.push([CLOSE_ACCOUNT], metas)?;
        self.view(rent_to);
        Ok(())
    }

    #[inline(always)]
    fn push<const DATA: usize, const METAS: usize>(
        &mut self,
        data: [u8; DATA],
        metas: [InstructionAccount<'a>; METAS],
    ) -> Result<(), ProgramError> {
        if self.instructions == MOST_INSTRUCTIONS {
            return Err(ProgramError::InvalidArgument);
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

    /// Calls the token program, if there is anything to do. A single instruction goes without the frame of a batch.
    ///
    /// # Safety
    /// No reference to the data of the accounts may be used while the call lasts.
    #[inline(always)]
    pub unsafe fn invoke(&self, signers: &[Signer<'_, '_>]) {
        // SAFETY: the first `metas_len` and `views_len` elements have been written.
        let (metas, views) = unsafe {
            (
                from_raw_parts(self.metas.as_ptr().cast(), self.metas_len),
                from_raw_parts(self.views.as_ptr().cast(), self.views_len),
            )
        };
        if !address_eq(self.mint.owner(), &programs::TOKEN) {
            let calls = SeparateCalls {
                metas,
                views,
                data: &self.data[1..self.data_len],
                signers,
            };
            // SAFETY: as the caller promises.
            return unsafe { calls.invoke() };
        }
        let start = match self.instructions {
            0 => return,
            1 => 3,
            _ => 0,
        };
        let batch = InstructionView {
            program_id: &programs::TOKEN,
            accounts: metas,
            data: &self.data[start..self.data_len],
        };
        // SAFETY: as the caller promises.
        unsafe { invoke_signed_unchecked(&batch, views, signers) };
    }
}

/// The instructions of a batch for a program that knows none. A type of its own, so that the batch's lengths need not be kept
/// in memory where they are not asked for.
struct SeparateCalls<'a> {
    metas: &'a [InstructionAccount<'a>],
    views: &'a [CpiAccount<'a>],
    data: &'a [u8],
    signers: &'a [Signer<'a, 'a>],
}

impl SeparateCalls<'_> {
    /// Calls Token-2022 for each.
    ///
    /// # Safety
    /// As `TokenCall::invoke`.
    #[inline(never)]
    unsafe fn invoke(&self) {
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
            // SAFETY: as the caller promises.
            unsafe { invoke_signed_unchecked(&instruction, self.views, self.signers) };
            data = rest;
            metas = other_metas;
        }
    }
}
