//! Finds row accounts, fields and arguments by name, while the program compiles.
//!
//! Using an unknown name is a compile error, so each name in a row refers to an existing item.

use crate::schema::table::{Account, Field, Kind, Record};

/// The index of the account with this name.
pub const fn index_of(accounts: &[Account], name: &str) -> usize {
    match find(accounts, name) {
        Some(index) => index,
        None => panic!("the row has no account with this name"),
    }
}

/// The index of the account with this name, if the row lists it.
pub const fn find(accounts: &[Account], name: &str) -> Option<usize> {
    let mut index = 0usize;
    while index < accounts.len() {
        if is_equal(accounts[index].name, name) {
            return Some(index);
        }
        index = index.saturating_add(1);
    }
    None
}

/// The index of the one account that holds a record of this type.
pub const fn holder_of(accounts: &[Account], record: &Record) -> usize {
    let mut found = None;
    let mut index = 0usize;
    while index < accounts.len() {
        if let Some(held) = accounts[index].meta.holds {
            if u64::from_le_bytes(held.discriminator) == u64::from_le_bytes(record.discriminator) {
                // Two handles on records of the same type could be mutable references to a single account.
                assert!(found.is_none(), "two accounts hold the same record type");
                found = Some(index);
            }
        }
        index = index.saturating_add(1);
    }
    match found {
        Some(index) => index,
        None => panic!("no account of the row holds this record type"),
    }
}

/// The index of the signer, if the row declares exactly one.
pub const fn only_signer(accounts: &[Account]) -> Option<usize> {
    let mut found = None;
    let mut index = 0usize;
    while index < accounts.len() {
        if accounts[index].meta.signer {
            if found.is_some() {
                return None;
            }
            found = Some(index);
        }
        index = index.saturating_add(1);
    }
    found
}

/// The record field's offset in the account's data, discriminator included.
pub const fn offset_in(record: &Record, field: &str) -> usize {
    match record.def.kind {
        Kind::Struct(fields) => 8usize.saturating_add(offset_of(fields, field)),
        Kind::Enum(_) => panic!("a record is a struct"),
    }
}

/// The field's offset among consecutive fields.
pub const fn offset_of(fields: &[Field], name: &str) -> usize {
    let mut offset = 0usize;
    let mut rest = fields;
    while let [field, behind @ ..] = rest {
        if is_equal(field.name, name) {
            return offset;
        }
        offset = offset.saturating_add(field.ty.width());
        rest = behind;
    }
    panic!("there is no field with this name")
}

/// The field with this name among consecutive fields.
pub const fn field_of<'a>(fields: &'a [Field], name: &str) -> &'a Field {
    match find_field(fields, name) {
        Some(field) => field,
        None => panic!("there is no field with this name"),
    }
}

/// The field with this name among consecutive fields, if there is one.
pub const fn find_field<'a>(fields: &'a [Field], name: &str) -> Option<&'a Field> {
    let mut rest = fields;
    while let [field, behind @ ..] = rest {
        if is_equal(field.name, name) {
            return Some(field);
        }
        rest = behind;
    }
    None
}

/// Reports whether two names are equal.
pub const fn is_equal(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut at = 0usize;
    while at < a.len() {
        if a[at] != b[at] {
            return false;
        }
        at = at.saturating_add(1);
    }
    true
}
