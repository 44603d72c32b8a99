//! The fields of accounts and events, one by one.

use crate::schema::declare::bytes_of;
use crate::schema::table::{Kind, Record, Type};
use crate::state::{Negotiation, ProtocolConfig};

/// How many bytes a value of a type takes.
pub fn width(ty: &Type) -> usize {
    match ty {
        Type::Bool | Type::U8 => 1,
        Type::U16 => 2,
        Type::U32 => 4,
        Type::U64 | Type::I64 => 8,
        Type::Pubkey => 32,
        Type::Array(element, length) => width(element) * length,
        Type::Defined(def) => match def.kind {
            Kind::Enum(_) => 1,
            Kind::Struct(fields) => fields.iter().map(|field| width(&field.ty)).sum(),
        },
    }
}

/// The fields of a record in which two of them differ, each with both values.
pub fn differing_fields(record: &Record, found: &[u8], expected: &[u8]) -> Vec<String> {
    let Kind::Struct(fields) = record.def.kind else {
        unreachable!("records are structs");
    };
    let mut at = 0;
    let mut differing = Vec::new();
    for field in fields {
        let end = at + width(&field.ty);
        if found[at..end] != expected[at..end] {
            differing.push(format!(
                "{}: {} instead of {}",
                field.name,
                shown(&found[at..end]),
                shown(&expected[at..end])
            ));
        }
        at = end;
    }
    assert_eq!(
        (found.len(), expected.len()),
        (at, at),
        "{}",
        record.def.name
    );
    differing
}

fn shown(bytes: &[u8]) -> String {
    if bytes.len() > 8 {
        return format!("{bytes:02x?}");
    }
    let mut number = [0; 8];
    number[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(number).to_string()
}

/// Fails the test unless two negotiations agree in each field.
#[track_caller]
pub fn assert_negotiation(found: &Negotiation, expected: &Negotiation) {
    let differing = differing_fields(Negotiation::RECORD, bytes_of(found), bytes_of(expected));
    assert!(differing.is_empty(), "{differing:#?}");
}

/// Fails the test unless two configurations agree in each field.
#[track_caller]
pub fn assert_config(found: &ProtocolConfig, expected: &ProtocolConfig) {
    let differing = differing_fields(ProtocolConfig::RECORD, bytes_of(found), bytes_of(expected));
    assert!(differing.is_empty(), "{differing:#?}");
}
