//! The macro that declares an instruction.

/// Declares an instruction: row, accounts, arguments and effects.
///
/// ```ignore
/// instruction! {
///     /// Rejects the negotiation.
///     pub fn reject_negotiation(
///         /// The round that the signer saw.
///         expected_round: u8,
///     );
///     accounts<'a> {
///         /// Either party.
///         rejector: Signer<'a>,
///         /// The negotiation.
///         negotiation: State<'a, Negotiation>,
///     }
///     effects {
///         result: "rejected",
///         ...
///     }
/// }
/// ```
macro_rules! instruction {
    (
        $(#[doc = $doc:literal])*
        pub fn $name:ident(
            $( $(#[doc = $argdoc:literal])* $arg:ident: $argty:ty, )*
        );
        accounts<$a:lifetime> {
            $( $(#[doc = $accdoc:literal])* $account:ident: $kind:ty, )*
        }
        effects { $($effects:tt)* }
    ) => {
        /// The row of the table.
        pub const ROW: $crate::schema::table::Instruction = $crate::schema::table::Instruction {
            name: stringify!($name),
            docs: &[$($doc),*],
            discriminator: $crate::schema::declare::discriminator("global", stringify!($name)),
            accounts: <Declaration as $crate::schema::account::Row>::ACCOUNTS,
            args: <Declaration as $crate::schema::account::Row>::ARGS,
            effects: {
                #[allow(unused_imports)]
                use $crate::schema::effects::{
                    to_buyer, to_seller, Actor, Effects, Guard, Idempotency, Money, Payment, Role,
                };
                Effects { $($effects)* }
            },
        };

        const _: () = $crate::schema::effects::check(&ROW.effects, ROW.accounts, ROW.args);

        /// The first eight bytes of the data, as dispatch compares them.
        pub const TAG: u64 = u64::from_le_bytes(ROW.discriminator);

        /// The row's accounts and arguments, for the checks.
        pub struct Declaration;

        impl $crate::schema::account::Row for Declaration {
            const ACCOUNTS: &'static [$crate::schema::table::Account] = Accounts::<'static>::ROWS;
            const ARGS: &'static [$crate::schema::table::Field] = &[
                $($crate::schema::table::Field {
                    name: stringify!($arg),
                    docs: &[$($argdoc),*],
                    ty: <$argty as $crate::schema::declare::Wire>::TYPE,
                }),*
            ];
        }

        #[allow(non_camel_case_types)]
        enum Index {
            $( $account, )*
        }

        /// The instruction's accounts.
        pub struct Accounts<$a> {
            $( $(#[doc = $accdoc])* pub $account: $kind, )*
        }

        impl<$a> Accounts<$a> {
            const ROWS: &'static [$crate::schema::table::Account] = &[
                $($crate::schema::table::Account {
                    name: stringify!($account),
                    docs: &[$($accdoc),*],
                    meta: <$kind as $crate::schema::account::Kind>::META,
                }),*
            ];
        }

        /// Decodes the arguments, takes the accounts in row order, and makes every check that the row
        /// declares. Accounts behind the row's last account are ignored, as in Anchor.
        ///
        /// # Errors
        /// 102, 3005, 3010, 2000, 3007, 3001 to 3003, 2006, 2001, 2003, 3008, in this order, each for all
        /// accounts.
        #[inline(always)]
        pub fn load<$a>(
            accounts: &$a [pinocchio::AccountView],
            data: &$a [u8],
        ) -> Result<(&$a Args, Accounts<$a>)> {
            use $crate::schema::{account::{Call, Checked, Kind}, check};
            let args = Args::decode(data)?;
            let Some(mut call) = Call::<Declaration>::new(accounts, data) else {
                return Err($crate::error::Framework::AccountNotEnoughKeys.into());
            };
            $( call.note::<{ Index::$account as usize }>(); )*
            $( check::flags::<Declaration, { Index::$account as usize }>(&call)?; )*
            $( check::owner::<Declaration, { Index::$account as usize }>(&call)?; )*
            $( check::record::<Declaration, { Index::$account as usize }>(&call)?; )*
            // SAFETY: the line above has checked the record of every account.
            let call = unsafe { Checked::new(call) };
            // Now each name holds the bump for the account's address.
            $( let $account = check::derived::<Declaration, { Index::$account as usize }>(&call)?; )*
            $( check::stored::<Declaration, { Index::$account as usize }>(&call)?; )*
            $( let $account =
                <$kind as Kind>::load::<Declaration, { Index::$account as usize }>($account, &call)?; )*
            $( check::program::<Declaration, { Index::$account as usize }>(&call)?; )*
            Ok((args, Accounts { $($account,)* }))
        }

        /// The instruction's arguments.
        #[repr(C, packed)]
        #[derive(Clone, Copy)]
        pub struct Args {
            $( $(#[doc = $argdoc])* pub $arg: $argty, )*
        }

        impl Args {
            /// Reads the arguments from the instruction's data behind the discriminator.
            ///
            /// # Errors
            /// 102 if the length is wrong, or a flag or an enum is out of range.
            #[inline(always)]
            pub fn decode(data: &[u8]) -> Result<&Self> {
                if data.len() != size_of::<Self>() {
                    return Err($crate::error::Framework::InstructionDidNotDeserialize.into());
                }
                // SAFETY: the data is as long as the struct, which is packed, so the alignment is 1; any
                // bytes are valid for each field.
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
