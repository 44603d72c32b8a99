//! Where the fields of the program's accounts and arguments lie.

use crate::worlds::stage::width;
use haggle_program::schema::table::{Field, Kind, Record, Type};
use std::ops::Range;

/// A field that has no fields of its own.
#[derive(Clone, Copy)]
pub struct Leaf {
    /// Its name in the IDL.
    pub name: &'static str,
    /// Its first byte, counted from that of the record or of the arguments, without a discriminator.
    pub at: usize,
    /// How many bytes it takes.
    pub width: usize,
}

impl Leaf {
    /// Its bytes.
    pub fn range(&self) -> Range<usize> {
        self.at..self.at + self.width
    }
}

/// The fields of a record.
pub fn fields(record: &'static Record) -> Vec<Leaf> {
    match record.def.kind {
        Kind::Struct(fields) => leaves(fields),
        Kind::Enum(_) => Vec::new(),
    }
}

/// The fields of a list, those of structs in it one by one.
pub fn leaves(fields: &'static [Field]) -> Vec<Leaf> {
    let mut found = Vec::new();
    let mut at = 0;
    for field in fields {
        let width = width(&field.ty);
        let inner = match field.ty {
            Type::Defined(def) => match def.kind {
                Kind::Struct(fields) => leaves(fields),
                Kind::Enum(_) => Vec::new(),
            },
            _ => Vec::new(),
        };
        if inner.is_empty() {
            let name = field.name;
            found.push(Leaf { name, at, width });
        }
        found.extend(inner.into_iter().map(|leaf| Leaf {
            at: leaf.at + at,
            ..leaf
        }));
        at += width;
    }
    found
}
