//! The rows of the program's one table.
//!
//! The macros of [`crate::schema::declare`] and [`crate::schema::instruction`] declare each instruction,
//! account, event, error, type and constant once, beside its code. The program decodes, checks and
//! dispatches by these rows, and the host tool `program/idl` renders the same rows as the Anchor IDL and the
//! table of effects.

use crate::schema::effects::Effects;
use pinocchio::Address;

/// A type with a fixed width. The encoding is Borsh's: little endian, packed, no padding.
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
    /// A 32-byte address.
    Pubkey,
    /// A fixed number of elements sharing a type, with no length prefix.
    Array(&'static Type, usize),
    /// A type with a separate definition.
    Defined(&'static TypeDef),
}

impl Type {
    /// The width in bytes.
    pub const fn width(&self) -> usize {
        match self {
            Self::Bool | Self::U8 => 1,
            Self::U16 => 2,
            Self::U32 => 4,
            Self::U64 | Self::I64 => 8,
            Self::Pubkey => 32,
            Self::Array(element, length) => element.width().saturating_mul(*length),
            Self::Defined(def) => match def.kind {
                Kind::Enum(_) => 1,
                Kind::Struct(fields) => width(fields),
            },
        }
    }
}

/// The width of consecutive fields in bytes.
pub const fn width(fields: &[Field]) -> usize {
    let mut sum = 0usize;
    let mut rest = fields;
    while let [field, behind @ ..] = rest {
        sum = sum.saturating_add(field.ty.width());
        rest = behind;
    }
    sum
}

/// Defines a named type.
pub struct TypeDef {
    /// The IDL name.
    pub name: &'static str,
    /// The documentation, line by line.
    pub docs: &'static [&'static str],
    /// The contents.
    pub kind: Kind,
}

/// A named type's contents.
pub enum Kind {
    /// Consecutive fields.
    Struct(&'static [Field]),
    /// One byte, the variant index.
    Enum(&'static [Variant]),
}

/// A struct field, or an instruction argument.
pub struct Field {
    /// The IDL name.
    pub name: &'static str,
    /// The documentation, line by line.
    pub docs: &'static [&'static str],
    /// The type.
    pub ty: Type,
}

/// An enum variant.
pub struct Variant {
    /// The IDL name.
    pub name: &'static str,
    /// The documentation, line by line.
    pub docs: &'static [&'static str],
}

/// An account type or an event: eight bytes that name it, then a struct.
pub struct Record {
    /// The first eight bytes of SHA-256("account:Name") or SHA-256("event:Name").
    pub discriminator: [u8; 8],
    /// The fields behind the discriminator.
    pub def: &'static TypeDef,
    /// The size of discriminator and fields in bytes.
    pub size: usize,
    /// A byte that must have one value, for account types with a version.
    pub version: Option<Version>,
}

/// A record's layout version.
pub struct Version {
    /// The field that holds it, one byte.
    pub field: &'static str,
    /// The only value that this program reads.
    pub value: u8,
}

/// An instruction.
pub struct Instruction {
    /// The IDL name.
    pub name: &'static str,
    /// The documentation, line by line.
    pub docs: &'static [&'static str],
    /// The first eight bytes of SHA-256("global:name").
    pub discriminator: [u8; 8],
    /// The accounts, in order.
    pub accounts: &'static [Account],
    /// The arguments behind the discriminator, in order.
    pub args: &'static [Field],
    /// The signers, the guards and the payments.
    pub effects: Effects,
}

/// An instruction account.
pub struct Account {
    /// The IDL name.
    pub name: &'static str,
    /// The documentation, line by line.
    pub docs: &'static [&'static str],
    /// The requirements.
    pub meta: Meta,
}

/// The requirements on an account. The instruction's generated `load` checks them all.
///
/// Addresses are references, so comparing them does not keep the whole
/// documented row in the ELF.
#[derive(Clone, Copy)]
pub struct Meta {
    /// It must be writable, otherwise 2000.
    pub writable: bool,
    /// It must sign, otherwise 3010.
    pub signer: bool,
    /// The program's own address in this position means that the account is left out.
    pub optional: bool,
    /// The owner must be among these programs, otherwise 3007. Empty: any owner.
    pub owners: &'static [&'static Address],
    /// It must hold this account type, otherwise 3001 to 3003.
    pub holds: Option<&'static Record>,
    /// The only allowed address, otherwise 3008, or 2006 if it is a PDA.
    pub address: Option<&'static Address>,
    /// The allowed addresses, otherwise 3008. Empty: any address.
    pub one_of: &'static [&'static Address],
    /// It must be the program owning this account of the instruction, if given; otherwise 3008.
    pub owner_of: Option<&'static str>,
    /// The address seeds, otherwise 2006.
    pub seeds: &'static [Seed],
    /// The address bump.
    pub bump: Bump,
    /// The program used for the address derivation, if not this program.
    pub seeds_program: Option<&'static Address>,
    /// The account holding this address in a field of the same name, otherwise 2001.
    pub stored_in: Option<&'static str>,
}

/// An address seed.
#[derive(Clone, Copy)]
pub enum Seed {
    /// Constant bytes.
    Const(&'static [u8]),
    /// Another instruction account's address.
    Account(&'static str),
    /// An argument of the instruction.
    Arg(&'static str),
}

/// The source for a derived address's bump.
#[derive(Clone, Copy)]
pub enum Bump {
    /// The canonical bump: the highest value yielding an address.
    Canonical,
    /// A record field held in another instruction account. The program stored it when creating the address
    /// with the canonical bump.
    Stored {
        /// The account.
        account: &'static str,
        /// The field, one byte.
        field: &'static str,
    },
}

impl Meta {
    /// A read-only account with any address.
    pub const READ: Self = Self {
        writable: false,
        signer: false,
        optional: false,
        owners: &[],
        holds: None,
        address: None,
        one_of: &[],
        owner_of: None,
        seeds: &[],
        bump: Bump::Canonical,
        seeds_program: None,
        stored_in: None,
    };

    /// A writable account.
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

    /// The account can be left out.
    #[must_use]
    pub const fn optional(mut self) -> Self {
        self.optional = true;
        self
    }

    /// One of these programs owns the account.
    #[must_use]
    pub const fn owned_by(mut self, programs: &'static [&'static Address]) -> Self {
        self.owners = programs;
        self
    }

    /// This program owns the account, and it holds a record of this type.
    #[must_use]
    pub const fn holds(mut self, record: &'static Record) -> Self {
        self.owners = &[&crate::ID];
        self.holds = Some(record);
        self
    }

    /// The account has this address.
    #[must_use]
    pub const fn at(mut self, address: &'static Address) -> Self {
        self.address = Some(address);
        self
    }

    /// The account is one of these programs.
    #[must_use]
    pub const fn one_of(mut self, programs: &'static [&'static Address]) -> Self {
        self.one_of = programs;
        self
    }

    /// The account is the program that owns another account of the instruction.
    #[must_use]
    pub const fn owner_of(mut self, account: &'static str) -> Self {
        self.owner_of = Some(account);
        self
    }

    /// The account's address uses these seeds and the canonical bump.
    #[must_use]
    pub const fn derived(mut self, seeds: &'static [Seed]) -> Self {
        self.seeds = seeds;
        self
    }

    /// The account's address uses these seeds, for another program.
    #[must_use]
    pub const fn derived_for(mut self, program: &'static Address, seeds: &'static [Seed]) -> Self {
        self.seeds_program = Some(program);
        self.seeds = seeds;
        self
    }

    /// The bump for the account's address is a record field.
    #[must_use]
    pub const fn bump_in(mut self, account: &'static str, field: &'static str) -> Self {
        self.bump = Bump::Stored { account, field };
        self
    }

    /// A field of another account, with the same name, holds the account's address.
    #[must_use]
    pub const fn stored_in(mut self, account: &'static str) -> Self {
        self.stored_in = Some(account);
        self
    }
}

/// A constant of the protocol.
pub struct Constant {
    /// The IDL name.
    pub name: &'static str,
    /// The documentation, line by line.
    pub docs: &'static [&'static str],
    /// The value.
    pub value: Value,
}

/// A constant's value.
pub enum Value {
    /// One byte.
    U8(u8),
    /// Two bytes.
    U16(u16),
    /// Eight bytes.
    U64(u64),
    /// Eight bytes with a sign.
    I64(i64),
    /// Text.
    Text(&'static str),
}

/// An error of the program.
pub struct ErrorRow {
    /// The number, from 6000.
    pub code: u32,
    /// The IDL name.
    pub name: &'static str,
    /// The IDL message.
    pub message: &'static str,
}
