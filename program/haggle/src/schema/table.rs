//! What a row of the program's one table is made of.
//!
//! Instructions, accounts, events, errors, types and constants are declared once, in the file of the thing itself, with
//! the macros of [`crate::declare`]. The program decodes, checks and dispatches by these declarations and the host tool
//! `program/idl` renders the same ones as the Anchor IDL, so that the two cannot disagree.

use pinocchio::Address;

/// A type that has a fixed width on the wire. All are Borsh's: little endian, packed, no padding.
#[derive(Clone, Copy)]
pub enum Type {
    /// One byte, 0 or 1.
    Bool,
    /// One byte.
    U8,
    /// Two bytes.
    U16,
    /// Four bytes.
    U32,
    /// Eight bytes.
    U64,
    /// Eight bytes, two's complement.
    I64,
    /// An address of 32 bytes.
    Pubkey,
    /// A number of elements of one type, without a length in front.
    Array(&'static Type, usize),
    /// A type that has a definition of its own.
    Defined(&'static TypeDef),
}

/// The definition of a named type.
pub struct TypeDef {
    /// Its name in the IDL.
    pub name: &'static str,
    /// Its documentation, line by line.
    pub docs: &'static [&'static str],
    /// What it consists of.
    pub kind: Kind,
}

/// What a named type consists of.
pub enum Kind {
    /// Fields, one after the other.
    Struct(&'static [Field]),
    /// One byte, the index of a variant.
    Enum(&'static [Variant]),
}

/// A field of a struct, or an argument of an instruction.
pub struct Field {
    /// Its name in the IDL.
    pub name: &'static str,
    /// Its documentation, line by line.
    pub docs: &'static [&'static str],
    /// Its type.
    pub ty: Type,
}

/// A variant of an enum.
pub struct Variant {
    /// Its name in the IDL.
    pub name: &'static str,
    /// Its documentation, line by line.
    pub docs: &'static [&'static str],
}

/// An account type or an event: a struct behind eight bytes that name it.
pub struct Record {
    /// The first eight bytes of SHA-256("account:Name") or SHA-256("event:Name").
    pub discriminator: [u8; 8],
    /// The fields behind the discriminator.
    pub def: &'static TypeDef,
    /// How many bytes the discriminator and the fields take.
    pub size: usize,
}

/// An instruction.
pub struct Instruction {
    /// Its name in the IDL.
    pub name: &'static str,
    /// Its documentation, line by line.
    pub docs: &'static [&'static str],
    /// The first eight bytes of SHA-256("global:name").
    pub discriminator: [u8; 8],
    /// The accounts, in order.
    pub accounts: &'static [Account],
    /// The arguments behind the discriminator, in order.
    pub args: &'static [Field],
}

/// An account that an instruction takes.
pub struct Account {
    /// Its name in the IDL.
    pub name: &'static str,
    /// Its documentation, line by line.
    pub docs: &'static [&'static str],
    /// What is asked of it.
    pub meta: Meta,
}

/// What an instruction asks of an account, as far as it can be told without looking at another one's data.
///
/// Addresses stand behind references so that a check that compares one does not keep the row, with its documentation, in
/// the program's file.
#[derive(Clone, Copy)]
pub struct Meta {
    /// Must be writable, or the instruction answers 2000.
    pub writable: bool,
    /// Must have signed, or the instruction answers 3010.
    pub signer: bool,
    /// The program's own address in this place stands for no account.
    pub optional: bool,
    /// The programs of which one must own it, or the instruction answers 3007; none where it does not matter.
    pub owners: &'static [&'static Address],
    /// The account type that it must hold, or the instruction answers 3001 to 3003.
    pub holds: Option<&'static Record>,
    /// The only address that is taken; another one is answered with 3008, or with 2006 where it is a PDA's.
    pub address: Option<&'static Address>,
    /// The only addresses that are taken, where there are several; another one is answered with 3008.
    pub one_of: &'static [&'static Address],
    /// The seeds of its address.
    pub seeds: &'static [Seed],
    /// The program whose PDA it is, where that is another one.
    pub seeds_program: Option<&'static Address>,
    /// The account whose field of the same name holds its address.
    pub stored_in: Option<&'static str>,
}

/// A part that an address is derived from.
#[derive(Clone, Copy)]
pub enum Seed {
    /// Bytes that never change.
    Const(&'static [u8]),
    /// The address of another account of the instruction.
    Account(&'static str),
    /// An argument of the instruction.
    Arg(&'static str),
}

impl Meta {
    /// An account that is only read and whose address nothing is known of.
    pub const READ: Self = Self {
        writable: false,
        signer: false,
        optional: false,
        owners: &[],
        holds: None,
        address: None,
        one_of: &[],
        seeds: &[],
        seeds_program: None,
        stored_in: None,
    };

    /// The account is written to.
    pub const WRITE: Self = Self {
        writable: true,
        ..Self::READ
    };

    /// The account signs.
    #[must_use]
    pub const fn signs(mut self) -> Self {
        self.signer = true;
        self
    }

    /// The account may be left out.
    #[must_use]
    pub const fn optional(mut self) -> Self {
        self.optional = true;
        self
    }

    /// The account belongs to one of these programs.
    #[must_use]
    pub const fn owned_by(mut self, programs: &'static [&'static Address]) -> Self {
        self.owners = programs;
        self
    }

    /// The account belongs to this program and holds a record of this type.
    #[must_use]
    pub const fn holds(mut self, record: &'static Record) -> Self {
        self.owners = &[&crate::ID];
        self.holds = Some(record);
        self
    }

    /// The account is always the same one.
    #[must_use]
    pub const fn at(mut self, address: &'static Address) -> Self {
        self.address = Some(address);
        self
    }

    /// The account is one of several programs.
    #[must_use]
    pub const fn one_of(mut self, programs: &'static [&'static Address]) -> Self {
        self.one_of = programs;
        self
    }

    /// The account's address is derived from these seeds.
    #[must_use]
    pub const fn derived(mut self, seeds: &'static [Seed]) -> Self {
        self.seeds = seeds;
        self
    }

    /// The account's address is derived from the seeds for another program than this one.
    #[must_use]
    pub const fn derived_for(mut self, program: &'static Address, seeds: &'static [Seed]) -> Self {
        self.seeds_program = Some(program);
        self.seeds = seeds;
        self
    }

    /// The account's address stands in a field of another account, under the same name.
    #[must_use]
    pub const fn stored_in(mut self, account: &'static str) -> Self {
        self.stored_in = Some(account);
        self
    }
}

/// A constant of the protocol.
pub struct Constant {
    /// Its name in the IDL.
    pub name: &'static str,
    /// Its documentation, line by line.
    pub docs: &'static [&'static str],
    /// Its value.
    pub value: Value,
}

/// The value of a constant.
pub enum Value {
    /// One byte.
    U8(u8),
    /// Two bytes.
    U16(u16),
    /// Eight bytes.
    U64(u64),
    /// Eight bytes with a sign.
    I64(i64),
    /// Text, which on the wire is its bytes without a length.
    Text(&'static str),
}

/// An error of the program's own.
pub struct ErrorRow {
    /// Its number, from 6000.
    pub code: u32,
    /// Its name in the IDL.
    pub name: &'static str,
    /// What a user is told.
    pub message: &'static str,
}
