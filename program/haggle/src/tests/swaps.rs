//! Every account of every instruction, exchanged for every wrong account. The cases are enumerated: every
//! account in every table row is replaced by every account in the scene, and [`super::oracle`] gives the
//! expected result. Each exchange that succeeds must be listed in [`LEGITIMATE`] with the reason.

use super::fixture::{
    associated, named, owned, token_account, wallet, Call, Fixture, AUTHORITY, BUYER, MINT,
    MINT_2022, NATIVE_MINT, OTHER_MINT, SELLER, STRANGER, TREASURY,
};
use super::oracle::{expected_result, RUNTIME_ERROR};
use super::scenes::{
    deals, scenes, Scene, FOREIGN_CONFIG, FROZEN_ACCOUNT, OTHER_PROGRAM_DATA, SECOND_CONFIG,
};
use crate::error::Framework;
use crate::instructions::INSTRUCTIONS;
use crate::runtime::programs;
use crate::schema::table::Seed;
use crate::state::ProtocolConfig;
use crate::ID;
use mollusk_svm::result::ProgramResult;
use pinocchio::error::ProgramError;
use pinocchio::Address;
use std::collections::{BTreeMap, BTreeSet};

/// An exchange that succeeds.
struct Legitimate {
    rows: &'static [&'static str],
    account: &'static str,
    /// The replacements, given as prefixes of case replacements.
    replacement: &'static [&'static str],
    reason: &'static str,
}

/// The instructions that pay the parties.
const PAYING: &[&str] = &[
    "reveal_zopa_price",
    "accept_offer",
    "reject_negotiation",
    "expire_negotiation",
    "release_milestone",
    "resolve_dispute",
    "settle_deadline",
    "settle_by_agreement",
];

const LEGITIMATE: &[Legitimate] = &[
    Legitimate {
        rows: &["initialize_config"],
        account: "program_data",
        replacement: &["the same with"],
        reason: "the loader's account has the program's file after the authority",
    },
    Legitimate {
        rows: &["create_negotiation"],
        account: "buyer_token_account",
        replacement: &["a copy"],
        reason: "the buyer pays from any account of its own",
    },
    Legitimate {
        rows: &["accept_invitation"],
        account: "escrow_vault",
        replacement: &["the deal's vault", "the program itself", "the same"],
        reason: "optional; without a bond the instruction checks only its address",
    },
    Legitimate {
        rows: &["accept_invitation"],
        account: "seller_token_account",
        replacement: &["the seller's token account", "the program itself", "a copy"],
        reason: "optional; a bond would come from any account of the seller's",
    },
    Legitimate {
        rows: &["accept_invitation"],
        account: "token_program",
        replacement: &["the token program", "Token-2022", "the program itself"],
        reason: "optional",
    },
    Legitimate {
        rows: &["submit_offer"],
        account: "negotiation",
        replacement: &["the next session's negotiation", "another mint's negotiation"],
        reason: "this account selects the negotiation, and it is the signer's turn in that one as well",
    },
    Legitimate {
        rows: &["submit_offer"],
        account: "negotiation",
        replacement: &["a copy"],
        reason: "the owner shows that the program created the account, and it does so only at the canonical address",
    },
    Legitimate {
        rows: PAYING,
        account: "buyer_token_account",
        replacement: &["a copy"],
        reason: "the buyer is paid to any account of its own",
    },
    Legitimate {
        rows: PAYING,
        account: "seller_token_account",
        replacement: &["a copy"],
        reason: "the seller is paid to any account of its own",
    },
    Legitimate {
        rows: PAYING,
        account: "buyer_token_account",
        replacement: &["the same"],
        reason: "the payment to an associated account that cannot receive is recorded",
    },
    Legitimate {
        rows: PAYING,
        account: "seller_token_account",
        replacement: &["the same"],
        reason: "the payment to an associated account that cannot receive is recorded",
    },
    Legitimate {
        rows: &["create_negotiation"],
        account: "buyer_token_account",
        replacement: &["a shared copy", "its own account, shared"],
        reason: "the owner signs the deposit",
    },
    Legitimate {
        rows: &["accept_invitation"],
        account: "seller_token_account",
        replacement: &["a shared copy", "its own account, shared"],
        reason: "the owner signs the deposit",
    },
    Legitimate {
        rows: PAYING,
        account: "buyer_token_account",
        replacement: &["a shared copy"],
        reason: "the buyer signs, so it has chosen the account",
    },
    Legitimate {
        rows: PAYING,
        account: "seller_token_account",
        replacement: &["a shared copy"],
        reason: "the seller signs, so it has chosen the account",
    },
    Legitimate {
        rows: PAYING,
        account: "buyer_token_account",
        replacement: &["its own account, shared"],
        reason: "the buyer signs, or the payment is recorded",
    },
    Legitimate {
        rows: PAYING,
        account: "seller_token_account",
        replacement: &["its own account, shared"],
        reason: "the seller signs, or the payment is recorded",
    },
    Legitimate {
        rows: &["close_negotiation"],
        account: "buyer_token_account",
        replacement: &["a shared copy", "its own account, shared"],
        reason: "the buyer has no recorded payout",
    },
    Legitimate {
        rows: &["close_negotiation"],
        account: "seller_token_account",
        replacement: &["a shared copy", "its own account, shared"],
        reason: "the seller has no recorded payout",
    },
    Legitimate {
        rows: &["claim_payout"],
        account: "destination_token_account",
        replacement: &["a shared copy", "its own account, shared"],
        reason: "the party signs, so it has chosen the account",
    },
    Legitimate {
        rows: &["release_milestone"],
        account: "buyer_token_account",
        replacement: &["the buyer's token account"],
        reason: "optional unless the buyer gets a part of the bond",
    },
    Legitimate {
        rows: &["reject_negotiation"],
        account: "rejector",
        replacement: &["the buyer's wallet"],
        reason: "either party may reject",
    },
    Legitimate {
        rows: &["reject_negotiation", "expire_negotiation"],
        account: "seller_token_account",
        replacement: &["the seller's token account", "the program itself"],
        reason: "optional as long as there is no bond",
    },
    Legitimate {
        rows: &[
            "submit_zopa_commitment",
            "claim_milestone",
            "dispute_milestone",
        ],
        account: "negotiation",
        replacement: &["the next session's negotiation", "another mint's negotiation"],
        reason: "this account selects the negotiation, and the signer has the same role in that one, at the same point",
    },
    Legitimate {
        rows: &[
            "submit_zopa_commitment",
            "claim_milestone",
            "dispute_milestone",
        ],
        account: "negotiation",
        replacement: &["a copy"],
        reason: "the owner shows that the program created the account, and it does so only at the canonical address",
    },
    Legitimate {
        rows: &["reveal_zopa_price"],
        account: "escrow_vault",
        replacement: &["the deal's vault", "the program itself", "the same"],
        reason: "optional; with a zone the instruction checks only its address",
    },
    Legitimate {
        rows: &["reveal_zopa_price"],
        account: "buyer_token_account",
        replacement: &["the buyer's token account", "the program itself"],
        reason: "optional unless the prices leave no zone",
    },
    Legitimate {
        rows: &["reveal_zopa_price"],
        account: "seller_token_account",
        replacement: &["the seller's token account", "the program itself"],
        reason: "optional unless the prices leave no zone",
    },
    Legitimate {
        rows: &["reveal_zopa_price"],
        account: "token_mint",
        replacement: &["the mint", "the program itself"],
        reason: "optional unless the prices leave no zone",
    },
    Legitimate {
        rows: &["reveal_zopa_price"],
        account: "token_program",
        replacement: &["the token program", "Token-2022", "the program itself"],
        reason: "optional unless the prices leave no zone",
    },
    Legitimate {
        rows: &["accept_offer"],
        account: "acceptor",
        replacement: &["the seller's wallet"],
        reason: "either party may accept the price in the middle of the zone",
    },
    Legitimate {
        rows: &["release_milestone"],
        account: "releaser",
        replacement: &[""],
        reason: "after the review window anyone may release",
    },
    Legitimate {
        rows: &["close_negotiation"],
        account: "closer",
        replacement: &[""],
        reason: "anyone may close",
    },
    Legitimate {
        rows: &["close_negotiation"],
        account: "buyer_token_account",
        replacement: &["the program itself", "a frozen token account"],
        reason: "the buyer has no recorded payout",
    },
    Legitimate {
        rows: &["close_negotiation"],
        account: "seller_token_account",
        replacement: &["the program itself"],
        reason: "the seller has no recorded payout",
    },
    Legitimate {
        rows: &["close_negotiation"],
        account: "buyer_token_account",
        replacement: &["a copy"],
        reason: "a recorded payout goes to any account of the party",
    },
    Legitimate {
        rows: &["close_negotiation"],
        account: "seller_token_account",
        replacement: &["a copy"],
        reason: "a recorded payout goes to any account of the party",
    },
    Legitimate {
        rows: &["close_negotiation"],
        account: "treasury_token_account",
        replacement: &["a copy"],
        reason: "the treasury is paid to any account of its own",
    },
    Legitimate {
        rows: &["claim_payout"],
        account: "destination_token_account",
        replacement: &[
            "the next session's vault",
            "another pair's vault",
            "the buyer's token account",
            "a stranger's token account",
            "the treasury's token account",
            "the authority's token account",
            "a copy",
        ],
        reason: "the party names any account that can receive this mint",
    },
];

/// A call with one exchange.
struct Case {
    place: &'static str,
    replacement: String,
    fixture: Fixture,
    call: Call,
}

/// The name and address for every account in the scene.
fn named_addresses(scene: &Scene) -> Vec<(String, Address)> {
    let mut named_addresses: Vec<(String, Address)> = Vec::new();
    let mut add = |name: &str, address: Address| named_addresses.push((name.to_owned(), address));
    let deal_names = [
        "the deal's",
        "the next session's",
        "another pair's",
        "another mint's",
    ];
    for (name, deal) in deal_names.iter().zip(deals()) {
        add(&format!("{name} negotiation"), deal.negotiation);
        add(&format!("{name} vault"), deal.escrow_vault);
    }
    let wallets = [
        ("the buyer's", BUYER),
        ("the seller's", SELLER),
        ("a stranger's", STRANGER),
        ("the treasury's", TREASURY),
        ("the authority's", AUTHORITY),
    ];
    for (name, address) in wallets {
        add(&format!("{name} wallet"), address);
        add(
            &format!("{name} token account"),
            associated(&address, &MINT),
        );
        add(
            &format!("{name} token account of another mint"),
            associated(&address, &OTHER_MINT),
        );
        add(
            &format!("{name} token account of a mint of Token-2022"),
            associated(&address, &MINT_2022),
        );
    }
    add("a frozen token account of the buyer's", FROZEN_ACCOUNT);
    add("the mint", MINT);
    add("another mint", OTHER_MINT);
    add("the mint of Token-2022", MINT_2022);
    add("the mint of wrapped SOL", NATIVE_MINT);
    add("the configuration", ProtocolConfig::ADDRESS);
    add("a second configuration", SECOND_CONFIG);
    add("another program's configuration", FOREIGN_CONFIG);
    add("the program's data", Fixture::program_data());
    add("another program's data", OTHER_PROGRAM_DATA);
    add("the system program", programs::SYSTEM);
    add("the token program", programs::TOKEN);
    add("Token-2022", programs::TOKEN_2022);
    add(
        "the program of associated accounts",
        programs::ASSOCIATED_TOKEN,
    );
    add("the program itself", ID);
    add("nothing", named("nothing"));
    for address in scene.fixture.accounts.keys() {
        assert!(
            named_addresses.iter().any(|(_, known)| known == address),
            "an account of the scene has no name: {address}"
        );
    }
    named_addresses
}

/// Each account of the row replaced by each account of the scene.
fn exchanged(scene: &Scene, cases: &mut Vec<Case>) {
    for (place, account) in scene.call.row.accounts.iter().enumerate() {
        for (name, address) in named_addresses(scene) {
            if scene.call.accounts[place].pubkey == address {
                continue;
            }
            let mut call = scene.call.clone();
            call.accounts[place].pubkey = address;
            call.accounts[place].is_writable = account.meta.writable;
            cases.push(Case {
                place: account.name,
                replacement: name,
                fixture: scene.fixture.clone(),
                call,
            });
        }
    }
}

/// Each account replaced by exact and by altered copies, at another address or in place.
fn copied(scene: &Scene, cases: &mut Vec<Case>) {
    for (place, row) in scene.call.row.accounts.iter().enumerate() {
        let address = scene.call.accounts[place].pubkey;
        let original = scene.fixture.account(&address);
        if original.executable || address == ID {
            continue;
        }
        let mut add = |what: &str, at: Address, account| {
            let mut fixture = scene.fixture.clone();
            fixture.put(at, account);
            cases.push(Case {
                place: row.name,
                replacement: what.to_owned(),
                fixture,
                call: scene.call.clone().with(row.name, at),
            });
        };
        let copy = named("a copy");
        if !original.data.is_empty() {
            add("a copy", copy, original.clone());
            add(
                "a copy of another program's",
                copy,
                owned(named("another program"), original.data.clone()),
            );
        }
        if row.name.ends_with("token_account") && original.data.len() == 165 {
            for (what, at) in [("a delegate", 72), ("a close authority", 129)] {
                let mut shared = original.clone();
                shared.data[at] = 1;
                shared.data[at + 4..at + 36].copy_from_slice(STRANGER.as_ref());
                add(&format!("a shared copy with {what}"), copy, shared.clone());
                add(
                    &format!("its own account, shared with {what}"),
                    address,
                    shared,
                );
            }
        }
        // Copies at the account's own address are cases only if the row requires anything besides the
        // address.
        if !row.meta.owners.is_empty()
            || row.name.ends_with("token_account")
            || row.name == "escrow_vault"
        {
            let mut foreign = original.clone();
            foreign.lamports = foreign.lamports.max(1);
            foreign.owner = named("another program");
            add("the same of another program's", address, foreign);
        }
        if original.data.is_empty()
            || row.name == "token_mint" && scene.call.row.name != "create_negotiation"
        {
            continue;
        }
        for length in [
            0,
            1,
            7,
            8,
            44,
            original.data.len() - 1,
            original.data.len() + 1,
            original.data.len() + 8,
        ] {
            let mut cut = original.clone();
            cut.data.resize(length, 0);
            add(&format!("the same with {length} bytes"), address, cut);
        }
    }
}

/// Each PDA replaced by a PDA with equal seeds and another bump, once empty, once with equal contents.
fn of_another_bump(scene: &Scene, cases: &mut Vec<Case>) {
    for (place, row) in scene.call.row.accounts.iter().enumerate() {
        if scene.call.accounts[place].pubkey == ID {
            continue;
        }
        let mut seeds: Vec<Vec<u8>> = row
            .meta
            .seeds
            .iter()
            .map(|seed| match seed {
                Seed::Const(bytes) => bytes.to_vec(),
                Seed::Account(name) => scene.call.address_of(name).as_ref().to_vec(),
                Seed::Arg(_) => scene.deal.session_id.to_le_bytes().to_vec(),
            })
            .collect();
        if row.meta.holds.is_some() && row.name == "negotiation" {
            seeds = vec![
                b"negotiation".to_vec(),
                BUYER.as_ref().to_vec(),
                SELLER.as_ref().to_vec(),
                scene.deal.session_id.to_le_bytes().to_vec(),
            ];
        }
        if seeds.is_empty() {
            continue;
        }
        let program = row.meta.seeds_program.unwrap_or(&ID);
        let plain: Vec<&[u8]> = seeds.iter().map(Vec::as_slice).collect();
        let (canonical, bump) = Address::find_program_address(&plain, program);
        let original = scene.fixture.account(&canonical);
        let others: Vec<Address> = (0..bump)
            .rev()
            .filter_map(|bump| {
                let bump = [bump];
                let seeds = [&plain[..], &[&bump[..]]].concat();
                Address::create_program_address(&seeds, program).ok()
            })
            .take(2)
            .collect();
        for address in others {
            for (what, account) in [
                ("empty", wallet(0)),
                ("with the same contents", original.clone()),
            ] {
                if row.name == "negotiation" && row.meta.holds.is_some() && what != "empty" {
                    // The program creates this account only at the canonical address.
                    continue;
                }
                let mut fixture = scene.fixture.clone();
                fixture.put(address, account);
                cases.push(Case {
                    place: row.name,
                    replacement: format!("of another bump, {what}"),
                    fixture,
                    call: scene.call.clone().with(row.name, address),
                });
            }
        }
    }
}

/// Each required flag removed.
fn unflagged(scene: &Scene, cases: &mut Vec<Case>) {
    for row in scene.call.row.accounts {
        let mut add = |what: &str, call| {
            cases.push(Case {
                place: row.name,
                replacement: what.to_owned(),
                fixture: scene.fixture.clone(),
                call,
            });
        };
        if row.meta.signer {
            add("unsigned", scene.call.clone().unsigned(row.name));
        }
        if row.meta.writable && scene.call.address_of(row.name) != ID {
            add("read-only", scene.call.clone().read_only(row.name));
        }
    }
}

/// Each pair of accounts exchanged.
fn transposed(scene: &Scene, cases: &mut Vec<Case>) {
    let count = scene.call.row.accounts.len();
    for first in 0..count {
        for second in first + 1..count {
            let mut call = scene.call.clone();
            let addresses = (call.accounts[first].pubkey, call.accounts[second].pubkey);
            if addresses.0 == addresses.1 {
                continue;
            }
            call.accounts[first].pubkey = addresses.1;
            call.accounts[second].pubkey = addresses.0;
            for place in [first, second] {
                call.accounts[place].is_writable = call.row.accounts[place].meta.writable;
            }
            cases.push(Case {
                place: call.row.accounts[first].name,
                replacement: format!("changed places with {}", call.row.accounts[second].name),
                fixture: scene.fixture.clone(),
                call,
            });
        }
    }
}

fn legitimate(row: &str, case: &Case) -> Option<usize> {
    LEGITIMATE.iter().position(|exchange| {
        exchange.rows.contains(&row)
            && exchange.account == case.place
            && exchange
                .replacement
                .iter()
                .any(|what| case.replacement.starts_with(what))
    })
}

/// The sum of all balances in the mint.
fn supply(fixture: &Fixture, mint: &Address) -> u64 {
    fixture
        .accounts
        .values()
        .filter(|account| account.owner == programs::TOKEN && account.data.len() == 165)
        .filter(|account| account.data[..32] == *mint.as_array())
        .map(|account| u64::from_le_bytes(account.data[64..72].try_into().expect("eight bytes")))
        .sum()
}

fn lamports(fixture: &Fixture) -> u64 {
    fixture
        .accounts
        .values()
        .map(|account| account.lamports)
        .sum()
}

#[test]
fn every_account_exchanged_for_every_wrong_one_is_refused() {
    let mut refused: BTreeMap<u32, usize> = BTreeMap::new();
    let mut by_row: BTreeMap<&str, usize> = BTreeMap::new();
    let mut reasons_used = BTreeSet::new();
    let mut accepted = 0;
    let mut wrong = Vec::new();
    for scene in scenes() {
        let mut cases = Vec::new();
        exchanged(&scene, &mut cases);
        copied(&scene, &mut cases);
        of_another_bump(&scene, &mut cases);
        unflagged(&scene, &mut cases);
        transposed(&scene, &mut cases);
        let row = scene.call.row.name;
        *by_row.entry(row).or_default() += cases.len();
        for mut case in cases {
            let name = format!("{}: {} <- {}", scene.name, case.place, case.replacement);
            let before = case.fixture.clone();
            let expected = expected_result(&case.fixture, &case.call);
            let outcome = case.fixture.run(&case.call);
            match (&expected, &outcome.result) {
                (Ok(()), ProgramResult::Success) => {
                    match legitimate(row, &case) {
                        Some(reason) => {
                            reasons_used.insert(reason);
                        }
                        None => wrong.push(format!("{name}: succeeds, and no reason is listed")),
                    }
                    for mint in [MINT, OTHER_MINT] {
                        assert_eq!(
                            supply(&case.fixture, &mint),
                            supply(&before, &mint),
                            "{name}"
                        );
                    }
                    assert_eq!(lamports(&case.fixture), lamports(&before), "{name}");
                    accepted += 1;
                }
                (Err(expected), ProgramResult::Failure(found)) if expected == found => {
                    assert!(
                        case.fixture.accounts == before.accounts,
                        "{name}: accounts have changed"
                    );
                    *refused
                        .entry(outcome.error_code().unwrap_or(0))
                        .or_default() += 1;
                }
                // Token programs can also detect that another program owns an account.
                (
                    Err(expected),
                    ProgramResult::UnknownError(_)
                    | ProgramResult::Failure(ProgramError::IncorrectProgramId),
                ) if *expected == RUNTIME_ERROR => {
                    assert!(
                        case.fixture.accounts == before.accounts,
                        "{name}: accounts have changed"
                    );
                }
                (expected, found) => {
                    wrong.push(format!("{name}: {found:?} instead of {expected:?}"))
                }
            }
        }
    }
    let total = by_row.values().sum::<usize>();
    println!("{total} cases, {accepted} of them legitimate");
    println!("by instruction: {by_row:?}");
    println!("refused by error: {refused:?}");
    assert!(
        wrong.is_empty(),
        "{} of {total}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    for (at, exchange) in LEGITIMATE.iter().enumerate() {
        let name = (exchange.rows, exchange.account, exchange.reason);
        assert!(reasons_used.contains(&at), "no case needs {name:?}");
    }
    for row in INSTRUCTIONS {
        let least = row.accounts.len() * 30;
        assert!(
            by_row[row.name] >= least,
            "{}: {}",
            row.name,
            by_row[row.name]
        );
    }
    assert!(total >= 9_600, "only {total} cases");
    for error in [
        2000, 2001, 2003, 2006, 3001, 3002, 3003, 3005, 3007, 3008, 3010, 6001, 6002, 6010, 6013,
        6014, 6015,
    ] {
        assert!(
            refused.contains_key(&error),
            "no case is refused with {error}"
        );
    }
}

#[test]
fn a_list_that_is_too_short_is_refused() {
    let mut cases = 0;
    for mut scene in scenes() {
        for length in 0..scene.call.row.accounts.len() {
            let mut call = scene.call.clone();
            call.accounts.truncate(length);
            scene
                .fixture
                .refuses(&call, Framework::AccountNotEnoughKeys);
            cases += 1;
        }
    }
    assert!(
        cases
            >= INSTRUCTIONS
                .iter()
                .map(|row| row.accounts.len())
                .sum::<usize>()
    );
}

#[test]
fn accounts_after_the_last_are_ignored() {
    for scene in scenes() {
        for more in [1, 6, 20] {
            let mut fixture = scene.fixture.clone();
            let mut call = scene.call.clone();
            for number in 0..more {
                let address = named(&format!("one more, {number}"));
                fixture.put(address, token_account(&MINT, &BUYER, 0));
                let mut meta = call.accounts[0].clone();
                meta.pubkey = address;
                call.accounts.push(meta);
            }
            fixture.run(&call).succeeds();
        }
    }
}
