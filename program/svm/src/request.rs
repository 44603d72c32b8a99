//! Requests and their encoding.

use solana_account::Account;
use solana_address::Address;
use solana_instruction::{AccountMeta, Instruction};

/// A request. The first byte is the variant number, then the fields follow.
#[derive(Debug, PartialEq)]
pub enum Request {
    /// 0: load an ELF file as a program. Address, then the file.
    Load(Address, Vec<u8>),
    /// 1: delete all accounts and set these. Accounts.
    Begin(Vec<(Address, Account)>),
    /// 2: set these accounts. Accounts.
    Set(Vec<(Address, Account)>),
    /// 3: return these accounts. A u16 count, then addresses.
    Get(Vec<Address>),
    /// 4: set the chain's clock. Unix seconds as i64.
    Clock(i64),
    /// 5: return the lamports that make an account of this size rent exempt. The size is in bytes (u32).
    Rent(u32),
    /// 6: run an instruction. The program, a u16 account count, for each account the address and a byte of
    /// flags (1 signer, 2 writable), then the data.
    Run(Instruction),
    /// 7: return the instruction's outcome and discard all changes. As above.
    Probe(Instruction),
    /// 8: return the program's ELF file. Address.
    Elf(Address),
}

impl Request {
    /// Decodes a request.
    ///
    /// # Errors
    /// The text naming the problem.
    pub fn parse(frame: &[u8]) -> Result<Self, String> {
        let mut rest = Reader(frame);
        let request = match rest.byte()? {
            0 => Self::Load(rest.address()?, rest.all()),
            1 => Self::Begin(rest.accounts()?),
            2 => Self::Set(rest.accounts()?),
            3 => Self::Get(rest.many(Reader::address)?),
            4 => Self::Clock(i64::from_le_bytes(rest.take()?)),
            5 => Self::Rent(u32::from_le_bytes(rest.take()?)),
            6 => Self::Run(rest.instruction()?),
            7 => Self::Probe(rest.instruction()?),
            8 => Self::Elf(rest.address()?),
            other => return Err(format!("unknown request {other}")),
        };
        match rest.0.len() {
            0 => Ok(request),
            more => Err(format!("request: {more} bytes too many")),
        }
    }
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let (taken, rest) = self.0.split_first_chunk().ok_or("request: too short")?;
        self.0 = rest;
        Ok(*taken)
    }

    fn byte(&mut self) -> Result<u8, String> {
        Ok(self.take::<1>()?[0])
    }

    fn address(&mut self) -> Result<Address, String> {
        Ok(Address::new_from_array(self.take()?))
    }

    fn all(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.0).to_vec()
    }

    fn many<T>(&mut self, one: impl Fn(&mut Self) -> Result<T, String>) -> Result<Vec<T>, String> {
        let count = u16::from_le_bytes(self.take()?);
        (0..count).map(|_| one(self)).collect()
    }

    fn instruction(&mut self) -> Result<Instruction, String> {
        Ok(Instruction {
            program_id: self.address()?,
            accounts: self.many(Self::meta)?,
            data: self.all(),
        })
    }

    fn meta(&mut self) -> Result<AccountMeta, String> {
        let pubkey = self.address()?;
        match self.byte()? {
            flags @ 0..=3 => Ok(AccountMeta {
                pubkey,
                is_signer: flags & 1 != 0,
                is_writable: flags & 2 != 0,
            }),
            flags => Err(format!("account: unknown flags {flags}")),
        }
    }

    /// A u16 count, then each account as address, lamports u64, owner, executable u8, size u32, data.
    fn accounts(&mut self) -> Result<Vec<(Address, Account)>, String> {
        self.many(|rest| {
            let address = rest.address()?;
            let lamports = u64::from_le_bytes(rest.take()?);
            let owner = rest.address()?;
            let executable = rest.byte()? != 0;
            let size = u32::from_le_bytes(rest.take()?) as usize;
            let (data, after) = rest
                .0
                .split_at_checked(size)
                .ok_or("account: data too short")?;
            rest.0 = after;
            let account = Account {
                lamports,
                data: data.to_vec(),
                owner,
                executable,
                ..Account::default()
            };
            Ok((address, account))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::response;

    const ADDRESS: Address = Address::new_from_array([7; 32]);

    #[test]
    fn requests_decode_accounts_as_responses_encode_them() {
        let account = Account {
            lamports: 5,
            data: vec![1, 2, 3],
            owner: ADDRESS,
            executable: true,
            ..Account::default()
        };
        let mut frame = vec![2];
        response::put_accounts(&mut frame, &[(ADDRESS, account.clone())]);
        assert_eq!(
            Request::parse(&frame),
            Ok(Request::Set(vec![(ADDRESS, account)]))
        );
    }

    #[test]
    fn an_instruction_has_a_program_accounts_and_data() {
        let mut frame = vec![6];
        frame.extend(ADDRESS.as_ref());
        frame.extend([1, 0]);
        frame.extend(ADDRESS.as_ref());
        frame.extend([2, 9, 8]);
        let expected = Instruction {
            program_id: ADDRESS,
            accounts: vec![AccountMeta::new(ADDRESS, false)],
            data: vec![9, 8],
        };
        assert_eq!(Request::parse(&frame), Ok(Request::Run(expected)));
    }

    #[test]
    fn malformed_requests_are_refused() {
        let huge = [vec![2, 1, 0], vec![0; 73], vec![255; 4]].concat();
        for frame in [
            &[][..],
            &[99],
            &[4, 0],
            &[5, 0, 0, 0, 0, 0],
            &[3, 9, 0],
            &huge,
        ] {
            assert!(Request::parse(frame).is_err(), "{frame:?}");
        }
    }
}
