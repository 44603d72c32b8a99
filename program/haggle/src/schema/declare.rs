//! The macros that declare structs, accounts, events and enums, along with their table rows.
//!
//! Every type in a row has a fixed width and accepts any bytes: flags and enums are byte newtypes, which
//! `Args::decode` checks. Accounts, events and instruction arguments are therefore packed structs over bytes,
//! and no decoder could differ from the declaration.

use crate::schema::table::{Field, Kind, Type, TypeDef};
use const_crypto::sha2::Sha256;
use pinocchio::Address;

/// A type for packed struct fields.
///
/// # Safety
/// Every sequence of `size_of::<Self>()` bytes must be a valid value, and the type must not have padding.
pub unsafe trait Wire: Copy {
    /// The IDL type.
    const TYPE: Type;

    /// Reports whether the value is in range: 0 or 1 for a flag, a variant for an enum.
    #[inline(always)]
    fn in_range(&self) -> bool {
        true
    }
}

macro_rules! wire {
    ($($rust:ty => $wire:expr),* $(,)?) => {$(
        // SAFETY: the type is an integer, an array of integers or an address (an array of bytes): any bytes
        // are valid, and there is no padding.
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

/// A flag: one byte, 0 or 1.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Flag(pub u8);

impl Flag {
    /// Not set.
    pub const OFF: Self = Self(0);
    /// Set.
    pub const ON: Self = Self(1);
}

// SAFETY: the type is a transparent u8: any byte is valid, and there is no padding.
unsafe impl Wire for Flag {
    const TYPE: Type = Type::Bool;

    #[inline(always)]
    fn in_range(&self) -> bool {
        self.0 <= 1
    }
}

/// The first eight bytes of SHA-256 over namespace, colon and name: Anchor's discriminators.
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

/// The value's bytes.
#[inline(always)]
pub fn bytes_of<T: Wire>(value: &T) -> &[u8] {
    // SAFETY: a Wire type contains no padding, so each byte is initialized.
    unsafe { core::slice::from_raw_parts((value as *const T).cast(), size_of::<T>()) }
}

/// Defines a struct from the given parts.
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

/// Declares a packed struct along with the definition.
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

        // SAFETY: the struct is packed, so no padding exists, and each field is Wire, so any bytes are valid.
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

/// Declares an account type: eight bytes of discriminator, then the fields. Behind the struct follow items of
/// [`crate::schema::account::AccountType`] and, as `const VERSION`, the layout's version.
macro_rules! account {
    (
        $(#[doc = $doc:literal])*
        pub struct $name:ident { $($body:tt)* }
        version: $version:expr;
        $($item:item)*
    ) => {
        $crate::schema::declare::packed! {
            $(#[doc = $doc])*
            pub struct $name { $($body)* }
        }

        impl $crate::schema::account::AccountType for $name {
            const RECORD: &'static $crate::schema::table::Record = Self::RECORD;
            $($item)*
        }

        impl $name {
            /// The row of the table.
            pub const RECORD: &'static $crate::schema::table::Record = &$crate::schema::table::Record {
                discriminator: $crate::schema::declare::discriminator("account", stringify!($name)),
                def: Self::DEF,
                size: Self::SIZE,
                version: $version,
            };
            /// The size of the account in bytes, discriminator included.
            pub const SIZE: usize = 8 + size_of::<Self>();
        }
    };
}
pub(crate) use account;

/// Declares an event: one line logged in the transaction. Clients find it using the discriminator.
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
                version: None,
            };

            /// Logs the event.
            #[inline(always)]
            pub fn emit(self) {
                $crate::event::log(Self::RECORD.discriminator, self);
            }
        }
    };
}
pub(crate) use event;

/// Declares a one-byte enum.
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

        // The IDL gives each variant an index, so the values above must be the indices.
        const _: () = {
            let mut index = 0u8;
            $( assert!($value == index); index += 1; )*
            assert!(index > 0);
        };

        // SAFETY: the type is a transparent u8: any byte is valid, and there is no padding.
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
