//! The macros that declare rows of the table (see [`crate::table`]) together with the Rust items made from them.
//!
//! Every wire type has a fixed width and takes any bytes (flags and enums are newtypes around a byte that are checked
//! where they come in), so an account, an event or an instruction's arguments are a packed struct laid over bytes: there
//! is no decoder that could differ from the declaration.

use crate::schema::table::{Field, Kind, Type, TypeDef};
use const_crypto::sha2::Sha256;
use pinocchio::Address;

/// A type that may stand in a packed struct.
///
/// # Safety
/// Every sequence of `size_of::<Self>()` bytes must be a valid value, and the type must not have padding.
pub unsafe trait Wire: Copy {
    /// How the IDL names it.
    const TYPE: Type;

    /// Whether the value is one that an honest client can have sent: flags are 0 or 1, enums one of their variants.
    #[inline(always)]
    fn in_range(&self) -> bool {
        true
    }
}

macro_rules! wire {
    ($($rust:ty => $wire:expr),* $(,)?) => {$(
        // SAFETY: integers and arrays of them take any bytes and have no padding.
        unsafe impl Wire for $rust {
            const TYPE: Type = $wire;
        }
    )*};
}

wire! {
    u8 => Type::U8,
    u16 => Type::U16,
    u32 => Type::U32,
    u64 => Type::U64,
    i64 => Type::I64,
    Address => Type::Pubkey,
    [u8; 32] => Type::Array(&Type::U8, 32),
    [u8; 64] => Type::Array(&Type::U8, 64),
    [u16; 8] => Type::Array(&Type::U16, 8),
}

/// A flag: one byte that is 0 or 1.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Flag(pub u8);

impl Flag {
    /// Not set.
    pub const OFF: Self = Self(0);
    /// Set.
    pub const ON: Self = Self(1);
}

// SAFETY: a transparent byte.
unsafe impl Wire for Flag {
    const TYPE: Type = Type::Bool;

    #[inline(always)]
    fn in_range(&self) -> bool {
        self.0 <= 1
    }
}

/// The first eight bytes of SHA-256 of a namespace, a colon and a name: Anchor's discriminators.
pub const fn discriminator(namespace: &str, name: &str) -> [u8; 8] {
    let hash = Sha256::new()
        .update(namespace.as_bytes())
        .update(b":")
        .update(name.as_bytes())
        .finalize();
    [
        hash[0], hash[1], hash[2], hash[3], hash[4], hash[5], hash[6], hash[7],
    ]
}

/// A struct's bytes.
#[inline(always)]
pub fn bytes_of<T: Wire>(value: &T) -> &[u8] {
    // SAFETY: a Wire type has no padding, so each of its bytes is initialised.
    unsafe { core::slice::from_raw_parts((value as *const T).cast(), size_of::<T>()) }
}

/// The definition of a struct, from its parts.
pub const fn struct_def(
    name: &'static str,
    docs: &'static [&'static str],
    fields: &'static [Field],
) -> TypeDef {
    TypeDef {
        name,
        docs,
        kind: Kind::Struct(fields),
    }
}

/// Declares a packed struct and its definition.
macro_rules! packed {
    (
        $(#[doc = $doc:literal])*
        pub struct $name:ident {
            $( $(#[doc = $fdoc:literal])* pub $field:ident: $ty:ty, )*
        }
    ) => {
        $(#[doc = $doc])*
        #[repr(C, packed)]
        #[derive(Clone, Copy)]
        pub struct $name {
            $( $(#[doc = $fdoc])* pub $field: $ty, )*
        }

        impl $name {
            /// The definition that the IDL shows.
            pub const DEF: &'static $crate::schema::table::TypeDef = &$crate::schema::declare::struct_def(
                stringify!($name),
                &[$($doc),*],
                &[$($crate::schema::table::Field {
                    name: stringify!($field),
                    docs: &[$($fdoc),*],
                    ty: <$ty as $crate::schema::declare::Wire>::TYPE,
                }),*],
            );
        }

        // SAFETY: packed, and each field is Wire.
        unsafe impl $crate::schema::declare::Wire for $name {
            const TYPE: $crate::schema::table::Type = $crate::schema::table::Type::Defined(Self::DEF);

            #[inline(always)]
            fn in_range(&self) -> bool {
                $( $crate::schema::declare::Wire::in_range(&{ self.$field }) )&&*
            }
        }
    };
}
pub(crate) use packed;

/// Declares an account type: eight bytes of discriminator, then the fields.
macro_rules! account {
    (
        $(#[doc = $doc:literal])*
        pub struct $name:ident { $($body:tt)* }
    ) => {
        $crate::schema::declare::packed! {
            $(#[doc = $doc])*
            pub struct $name { $($body)* }
        }

        impl $name {
            /// The row of the table.
            pub const RECORD: &'static $crate::schema::table::Record = &$crate::schema::table::Record {
                discriminator: $crate::schema::declare::discriminator("account", stringify!($name)),
                def: Self::DEF,
                size: Self::SIZE,
            };
            /// The size of the account in bytes, discriminator included.
            pub const SIZE: usize = 8 + size_of::<Self>();
        }
    };
}
pub(crate) use account;

/// Declares an event: one line of the transaction's log that clients find by its discriminator.
macro_rules! event {
    (
        $(#[doc = $doc:literal])*
        pub struct $name:ident { $($body:tt)* }
    ) => {
        $crate::schema::declare::packed! {
            $(#[doc = $doc])*
            pub struct $name { $($body)* }
        }

        impl $name {
            /// The row of the table.
            pub const RECORD: &'static $crate::schema::table::Record = &$crate::schema::table::Record {
                discriminator: $crate::schema::declare::discriminator("event", stringify!($name)),
                def: Self::DEF,
                size: 8 + size_of::<Self>(),
            };

            /// Writes the event to the log.
            #[inline(always)]
            pub fn emit(self) {
                $crate::event::log(Self::RECORD.discriminator, self);
            }
        }
    };
}
pub(crate) use event;

/// Declares an enum of one byte.
macro_rules! wire_enum {
    (
        $(#[doc = $doc:literal])*
        pub enum $name:ident {
            $( $(#[doc = $vdoc:literal])* $variant:ident = $value:literal, )*
        }
    ) => {
        $(#[doc = $doc])*
        #[repr(transparent)]
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub struct $name(pub u8);

        #[allow(non_upper_case_globals)]
        impl $name {
            $( $(#[doc = $vdoc])* pub const $variant: Self = Self($value); )*

            /// The definition that the IDL shows.
            pub const DEF: &'static $crate::schema::table::TypeDef = &$crate::schema::table::TypeDef {
                name: stringify!($name),
                docs: &[$($doc),*],
                kind: $crate::schema::table::Kind::Enum(&[$($crate::schema::table::Variant {
                    name: stringify!($variant),
                    docs: &[$($vdoc),*],
                }),*]),
            };
        }

        // The IDL gives a variant its index, so the values written above must be the indices.
        const _: () = {
            let mut index = 0u8;
            $( assert!($value == index); index += 1; )*
            assert!(index > 0);
        };

        // SAFETY: a transparent byte.
        unsafe impl $crate::schema::declare::Wire for $name {
            const TYPE: $crate::schema::table::Type = $crate::schema::table::Type::Defined(Self::DEF);

            #[inline(always)]
            fn in_range(&self) -> bool {
                $( self.0 == $value )||*
            }
        }
    };
}
pub(crate) use wire_enum;

/// Declares an instruction: its row, a struct of its accounts and a struct of its arguments.
macro_rules! instruction {
    (
        $(#[doc = $doc:literal])*
        pub fn $name:ident(
            $( $(#[doc = $argdoc:literal])* $arg:ident: $argty:ty, )*
        );
        accounts {
            $( $(#[doc = $accdoc:literal])* $account:ident: $meta:expr, )*
        }
    ) => {
        /// The row of the table.
        pub const ROW: $crate::schema::table::Instruction = $crate::schema::table::Instruction {
            name: stringify!($name),
            docs: &[$($doc),*],
            discriminator: $crate::schema::declare::discriminator("global", stringify!($name)),
            accounts: &[$($crate::schema::table::Account {
                name: stringify!($account),
                docs: &[$($accdoc),*],
                meta: $meta,
            }),*],
            args: &[$($crate::schema::table::Field {
                name: stringify!($arg),
                docs: &[$($argdoc),*],
                ty: <$argty as $crate::schema::declare::Wire>::TYPE,
            }),*],
        };

        /// What dispatch compares the first eight bytes of the data with.
        pub const TAG: u64 = u64::from_le_bytes(ROW.discriminator);

        /// The instruction's accounts.
        pub struct Accounts {
            $( $(#[doc = $accdoc])* pub $account: pinocchio::AccountView, )*
        }

        impl Accounts {
            /// Takes the accounts in the order of the table and checks what the table says of each: how many there are,
            /// then all signer and writable flags, then all owners, then all discriminators. Accounts that come after
            /// the last one of the table are not looked at, as in Anchor.
            ///
            /// # Errors
            /// 3005, 3010, 2000, 3007, 3001 to 3003.
            #[inline(always)]
            pub fn load(accounts: &[pinocchio::AccountView]) -> Result<Self, pinocchio::error::ProgramError> {
                let [$($account,)* ..] = accounts else {
                    return Err($crate::error::Framework::AccountNotEnoughKeys.into());
                };
                $( $crate::schema::check::flags($account, const { &{ $meta } })?; )*
                $( $crate::schema::check::owner($account, const { &{ $meta } })?; )*
                $( $crate::schema::check::record($account, const { &{ $meta } })?; )*
                Ok(Self { $($account: *$account,)* })
            }

            /// Checks the PDAs whose addresses never change.
            ///
            /// # Errors
            /// 2006.
            #[inline(always)]
            pub fn check_fixed_pdas(&self) -> Result<(), pinocchio::error::ProgramError> {
                $( $crate::schema::check::fixed_pda(&self.$account, const { &{ $meta } })?; )*
                Ok(())
            }

            /// Checks the programs, whose addresses never change.
            ///
            /// # Errors
            /// 3008.
            #[inline(always)]
            pub fn check_programs(&self) -> Result<(), pinocchio::error::ProgramError> {
                $( $crate::schema::check::program(&self.$account, const { &{ $meta } })?; )*
                Ok(())
            }
        }

        /// The instruction's arguments.
        #[repr(C, packed)]
        #[derive(Clone, Copy)]
        pub struct Args {
            $( $(#[doc = $argdoc])* pub $arg: $argty, )*
        }

        impl Args {
            /// Lays the arguments over the instruction's data (without the discriminator).
            ///
            /// # Errors
            /// 102 when there is a byte too many or too few, or a flag or an enum is out of its range.
            #[inline(always)]
            pub fn decode(data: &[u8]) -> Result<&Self, pinocchio::error::ProgramError> {
                if data.len() != size_of::<Self>() {
                    return Err($crate::error::Framework::InstructionDidNotDeserialize.into());
                }
                // SAFETY: the length is right, the struct is packed and each field takes any bytes.
                let args = unsafe { &*data.as_ptr().cast::<Self>() };
                let in_range: bool = true $( && $crate::schema::declare::Wire::in_range(&{ args.$arg }) )*;
                if !in_range {
                    return Err($crate::error::Framework::InstructionDidNotDeserialize.into());
                }
                Ok(args)
            }
        }
    };
}
pub(crate) use instruction;
