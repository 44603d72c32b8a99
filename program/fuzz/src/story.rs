//! A case that broke a law, for whoever has to find out why.

use crate::case::{hex, Case};
use crate::world::Worlds;
use solana_account::ReadableAccount;
use std::fmt::Write;

/// How a process ends that has found a case which breaks a law.
pub const BROKEN: i32 = 77;

/// The case in words, the law it broke, and how to see it again.
pub fn tell(worlds: &Worlds, case: &Case, law: &str) -> String {
    let mut text = String::new();
    let mut line = |part: String| writeln!(text, "{part}").expect("a string takes everything");
    let staged = case.stage(worlds);
    line(format!("A law is broken: {law}"));
    line(format!("  world     {}", staged.world.name));
    line(format!("  from      the valid call {}", staged.origin.name));
    for edit in &case.edits {
        line(format!("  changed   {edit}"));
    }
    line(format!(
        "  calls     {} with {} bytes {}",
        staged.row.map_or("nothing known", |row| row.name),
        staged.call.data.len(),
        hex(&staged.call.data)
    ));
    for (place, (at, signs, writable)) in staged.call.list.iter().enumerate() {
        let (address, account) = &staged.call.accounts[*at];
        let meant = staged.row.and_then(|row| row.accounts.get(place));
        line(format!(
            "  {place:>2} {:<26}{}{} {} ({} lamports, {} bytes, of {})",
            meant.map_or("one more", |meant| meant.name),
            if *signs { "S" } else { "-" },
            if *writable { "W" } else { "-" },
            worlds.name(address),
            account.lamports(),
            account.data().len(),
            worlds.name(account.owner()),
        ));
    }
    let chain = staged.call.chain;
    line(format!("  at        {}, rent {:?}", chain.now, chain.rent));
    line(format!(
        "  a chain can hold these accounts: {}",
        if staged.possible { "yes" } else { "no" }
    ));
    line(format!(
        "  again     make fuzz REPLAY={}",
        hex(&case.encode())
    ));
    // Amounts and addresses in a law are written out; say which addresses they are.
    for (address, name) in &worlds.names {
        if law.contains(&address.to_string()) {
            line(format!("  {address} is {name}"));
        }
    }
    text
}
