//! Field positions in the program's accounts and arguments.

use haggle_program::instructions::INSTRUCTIONS;
use haggle_program::schema::table::{Field, Instruction as Row, Kind, Record, Type};
use std::ops::Range;
use std::sync::OnceLock;

/// The discriminator length in bytes.
pub const DISCRIMINATOR: usize = 8;

/// A field that contains no nested fields.
#[derive(Clone, Copy)]
pub struct Leaf {
    /// The IDL name.
    pub name: &'static str,
    /// The offset of the field's start behind the discriminator.
    pub at: usize,
    /// The width in bytes.
    pub width: usize,
}

impl Leaf {
    /// The byte range behind the discriminator.
    pub fn range(&self) -> Range<usize> {
        self.at..self.at + self.width
    }
}

/// Lists a record's fields.
pub fn fields(record: &'static Record) -> Vec<Leaf> {
    match record.def.kind {
        Kind::Struct(fields) => leaves(fields),
        Kind::Enum(_) => Vec::new(),
    }
}

/// Flattens a field list. Fields that are structs are replaced by the struct's fields.
fn leaves(fields: &'static [Field]) -> Vec<Leaf> {
    let mut found = Vec::new();
    let mut at = 0;
    for field in fields {
        let width = field.ty.width();
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

/// The instruction's index in the table.
pub fn index_of(row: &Row) -> usize {
    let found = INSTRUCTIONS.iter().position(|known| known.name == row.name);
    found.expect("every row is in the table")
}

/// The instruction named in the given data.
pub fn row_of(data: &[u8]) -> Option<&'static Row> {
    let first = data.first_chunk::<DISCRIMINATOR>()?;
    let mut rows = INSTRUCTIONS.iter();
    rows.find(|row| row.discriminator == *first).copied()
}

/// The instruction's arguments.
pub fn arguments(row: &Row) -> &'static [Leaf] {
    static ARGUMENTS: OnceLock<Vec<Vec<Leaf>>> = OnceLock::new();
    let all = ARGUMENTS.get_or_init(|| INSTRUCTIONS.iter().map(|row| leaves(row.args)).collect());
    &all[index_of(row)]
}

/// An argument in an instruction's data. Returns None if the instruction has no such argument or the data is
/// too short.
pub fn argument<'a>(row: &Row, data: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let leaf = arguments(row).iter().find(|leaf| leaf.name == name)?;
    data.get(DISCRIMINATOR..)?.get(leaf.range())
}

/// An argument (up to eight bytes) as a number. Returns 0 if there is none.
pub fn number(row: &Row, data: &[u8], name: &str) -> u64 {
    let mut bytes = [0; 8];
    if let Some(found) = argument(row, data, name) {
        bytes[..found.len().min(8)].copy_from_slice(&found[..found.len().min(8)]);
    }
    u64::from_le_bytes(bytes)
}
