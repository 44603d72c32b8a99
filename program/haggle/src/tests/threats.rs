//! Attacks that are not aimed at one instruction: on the vault past the program, on what is closed, on the moment between the
//! program and the token program, and on other people's negotiations. docs/SECURITY_MODEL.md has the whole list.

use super::scenes::{scenes, Scene};
use super::stage::{
    associated, currency, named, program_of, under_both_token_programs, wallet, Deal, Stage,
    AUTHORITY, BUYER, BUYER_PRICE, ESCROW, LAMPORTS, OFFER, SELLER, STRANGER, TREASURY,
};
use super::virtual_machine::machine;
use crate::error::{Framework, HaggleError};
use crate::instructions::INSTRUCTIONS;
use crate::runtime::programs;
use crate::ID;
use mollusk_svm::program::loader_keys::NATIVE_LOADER;
use mollusk_svm::program::Builtin;
use mollusk_svm::result::ProgramResult;
use pinocchio::Address;
use solana_account::{Account, ReadableAccount};
use solana_instruction::{AccountMeta, Instruction};
use solana_program_runtime::declare_process_instruction;
use solana_program_runtime::solana_sbpf::program::BuiltinFunctionDefinition;
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

/// What both token programs can do that takes from an account or gives power over it: its name, its data, and the accounts
/// between the account and whoever signs.
fn takings(mint: &Address, thief: &Address) -> Vec<(&'static str, Vec<u8>, Vec<Address>)> {
    let loot = associated(thief, mint);
    let amount = 1u64.to_le_bytes();
    let owner_of = |kind: u8| [&[6, kind, 1], thief.as_ref()].concat();
    vec![
        ("transfer", [&[3], &amount[..]].concat(), vec![loot]),
        ("approve", [&[4], &amount[..]].concat(), vec![*thief]),
        ("a new owner", owner_of(2), vec![]),
        ("a new close authority", owner_of(3), vec![]),
        ("burn", [&[8], &amount[..]].concat(), vec![*mint]),
        ("close", vec![9], vec![*thief]),
        (
            "a checked transfer",
            [&[12], &amount[..], &[6]].concat(),
            vec![*mint, loot],
        ),
    ]
}

/// A vault at each of these points, with the stage around it.
fn vaults() -> Vec<(&'static str, Stage, Deal)> {
    let (created, deal) = Stage::created();
    let (settled, _) = Stage::settled_with_both_kept();
    let (accepted, _) = Stage::accepted(&[10_000]);
    vec![
        ("created", created, deal),
        ("settled", settled, deal),
        ("accepted, with a bond", accepted, deal),
    ]
}

#[test]
fn a_vault_obeys_nobody_but_the_program() {
    under_both_token_programs(|| {
        for (point, mut stage, deal) in vaults() {
            let vault = stage.account(&deal.escrow_vault);
            assert_eq!(vault.data[32..64], *deal.negotiation.as_ref(), "{point}");
            assert_eq!(vault.data[72..76], [0; 4], "{point}: a delegate");
            assert_eq!(vault.data[129..133], [0; 4], "{point}: a close authority");
            let mint = deal.token_mint;
            for thief in [BUYER, SELLER, STRANGER, AUTHORITY, TREASURY] {
                for (what, data, between) in takings(&mint, &thief) {
                    // In its own name, and in the negotiation's, whose signature nobody has.
                    for (authority, signs) in [(thief, true), (deal.negotiation, false)] {
                        let mut accounts = vec![AccountMeta::new(deal.escrow_vault, false)];
                        accounts.extend(between.iter().map(|to| AccountMeta::new(*to, false)));
                        accounts.push(AccountMeta::new_readonly(authority, signs));
                        let instruction = Instruction {
                            program_id: program_of(&mint),
                            accounts,
                            data: data.clone(),
                        };
                        let before = stage.accounts.clone();
                        let outcome = stage.run_instruction(&instruction, what);
                        assert_ne!(
                            outcome.result,
                            ProgramResult::Success,
                            "{point}: {what} by {thief}"
                        );
                        assert!(stage.accounts == before, "{point}: {what} by {thief}");
                    }
                }
            }
        }
    });
}

/// Closes a negotiation and gives its addresses lamports again before the transaction is over, so that they stay.
fn closed_and_fed(stage: &mut Stage, deal: &Deal) {
    let close = stage.close(deal, STRANGER);
    let mut instructions = vec![Instruction {
        program_id: ID,
        accounts: close.accounts,
        data: close.data,
    }];
    for address in [deal.negotiation, deal.escrow_vault] {
        instructions.push(Instruction {
            program_id: programs::SYSTEM,
            accounts: vec![
                AccountMeta::new(STRANGER, true),
                AccountMeta::new(address, false),
            ],
            data: [&[2, 0, 0, 0], &10_000_000u64.to_le_bytes()[..]].concat(),
        });
    }
    let accounts: Vec<(Address, Account)> = stage
        .accounts
        .iter()
        .map(|(address, account)| (*address, account.clone()))
        .collect();
    let mut machine = machine();
    machine.sysvars.clock.unix_timestamp = stage.now;
    let result = machine.process_instruction_chain(&instructions, &accounts);
    assert_eq!(result.program_result, ProgramResult::Success);
    for (address, account) in result.resulting_accounts {
        stage.put(address, account);
    }
}

#[test]
fn lamports_sent_back_before_the_transaction_ends_revive_nothing() {
    under_both_token_programs(|| {
        let (mut stage, deal) = Stage::settled();
        let before = stage.clone();
        closed_and_fed(&mut stage, &deal);
        for address in [deal.negotiation, deal.escrow_vault] {
            let account = stage.account(&address);
            assert_eq!(account, wallet(10_000_000), "nothing but lamports is left");
        }
        for call in [
            before.claim(&deal, SELLER, 1),
            before.accept_offer(&deal, SELLER),
            before.offer(&deal, SELLER, OFFER),
            before.reject(&deal, BUYER),
            before.expire(&deal),
            before.settle_deadline(&deal),
            before.close(&deal, BUYER),
        ] {
            stage.refuses(&call, Framework::AccountOwnedByWrongProgram);
        }
        // Nor do they keep the parties from another negotiation at the same address.
        let create = stage.create(&deal, &Stage::terms());
        stage.run(&create).succeeds();
        assert_eq!(stage.balance(&deal.escrow_vault), ESCROW);
    });
}

thread_local! {
    static WATCHED: Cell<Address> = const { Cell::new(ID) };
    static WITNESSED: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

// Stands in a token program's place, does nothing, and remembers what was in the negotiation's account when it was called.
declare_process_instruction!(Witness, 100, |invoke_context| {
    let context = &invoke_context.transaction_context;
    let place = context
        .find_index_of_account(&WATCHED.get())
        .expect("the negotiation takes part");
    let data = context.accounts().try_borrow(place)?.data().to_vec();
    WITNESSED.with_borrow_mut(|witnessed| witnessed.push(data));
    Ok(())
});

/// What the token program sees in the negotiation's account each time it is called, and what is there in the end.
fn witnessed(scene: &Scene) -> (Vec<Vec<u8>>, Vec<u8>) {
    let mut machine = machine();
    for program_id in [programs::TOKEN, programs::TOKEN_2022] {
        machine.program_cache.add_builtin(Builtin {
            program_id,
            name: "witness",
            register_fn: Witness::register,
        });
    }
    machine.sysvars.clock.unix_timestamp = scene.stage.now;
    let mut accounts: Vec<(Address, Account)> = Vec::new();
    for meta in &scene.call.accounts {
        if accounts.iter().all(|(address, _)| *address != meta.pubkey) {
            let mut account = scene.stage.account(&meta.pubkey);
            if programs::TOKENS.contains(&&meta.pubkey) {
                account.owner = NATIVE_LOADER;
            }
            accounts.push((meta.pubkey, account));
        }
    }
    WATCHED.set(scene.deal.negotiation);
    let instruction = Instruction {
        program_id: ID,
        accounts: scene.call.accounts.clone(),
        data: scene.call.data.clone(),
    };
    let result = machine.process_instruction(&instruction, &accounts);
    assert_eq!(
        result.program_result,
        ProgramResult::Success,
        "{}",
        scene.name
    );
    let left = result
        .get_account(&scene.deal.negotiation)
        .map_or_else(Vec::new, |account| account.data.clone());
    (WITNESSED.take(), left)
}

#[test]
fn the_new_state_is_written_before_a_token_moves() {
    under_both_token_programs(|| {
        let mut paying = BTreeSet::new();
        for scene in scenes() {
            let moves_tokens = scene
                .call
                .row
                .accounts
                .iter()
                .any(|row| row.name == "token_program");
            if !moves_tokens {
                continue;
            }
            let (seen, left) = witnessed(&scene);
            for data in seen {
                paying.insert(scene.call.row.name);
                if scene.call.row.name != "close_negotiation" {
                    assert!(data == left, "{}: the state changes afterwards", scene.name);
                    continue;
                }
                let mut stage = scene.stage.clone();
                stage.change(&scene.deal.negotiation, |account| account.data = data);
                let negotiation = stage.negotiation(&scene.deal);
                let kept = (negotiation.claimable_buyer, negotiation.claimable_seller);
                assert_eq!(
                    kept,
                    (0, 0),
                    "{}: what is delivered is still kept",
                    scene.name
                );
            }
        }
        assert_eq!(
            paying,
            BTreeSet::from([
                "accept_invitation",
                "accept_offer",
                "claim_payout",
                "close_negotiation",
                "create_negotiation",
                "expire_negotiation",
                "reject_negotiation",
                "release_milestone",
                "resolve_dispute",
                "reveal_zopa_price",
                "settle_deadline",
            ])
        );
    });
}

/// What two negotiations of different parties may both write to: only when one is closed, or the protocol administered.
const COMMON: [&str; 6] = [
    "initialize_config",
    "update_config",
    "set_paused",
    "propose_authority",
    "accept_authority",
    "close_negotiation",
];

#[test]
fn before_closing_nothing_is_written_that_another_negotiation_needs() {
    under_both_token_programs(|| {
        let mut seen = BTreeSet::new();
        for scene in scenes() {
            if COMMON.contains(&scene.call.row.name) {
                continue;
            }
            seen.insert(scene.call.row.name);
            let deal = scene.deal;
            let own = [
                deal.negotiation,
                deal.escrow_vault,
                deal.buyer,
                deal.seller,
                deal.buyer_token_account,
                deal.seller_token_account,
            ];
            for meta in &scene.call.accounts {
                let is_own = own.contains(&meta.pubkey) || meta.pubkey == ID;
                assert!(
                    is_own || !meta.is_writable,
                    "{}: {} is locked for everybody",
                    scene.name,
                    meta.pubkey
                );
            }
        }
        assert_eq!(seen.len(), INSTRUCTIONS.len() - COMMON.len());
    });
}

#[test]
fn exchanged_roles_and_other_sessions_are_other_negotiations() {
    under_both_token_programs(|| {
        let deals = [
            Deal::between(BUYER, SELLER, 1, currency()),
            Deal::between(SELLER, BUYER, 1, currency()),
            Deal::between(BUYER, SELLER, 1 << 8, currency()),
            Deal::between(BUYER, SELLER, u64::MAX, currency()),
        ];
        let mut stage = Stage::new();
        stage.donate(&associated(&SELLER, &currency()), ESCROW);
        for deal in &deals {
            let create = stage.create(deal, &Stage::terms());
            stage.run(&create).succeeds();
            let accept = stage.accept_invitation(deal);
            stage.run(&accept).succeeds();
        }
        let addresses: BTreeSet<_> = deals
            .iter()
            .flat_map(|deal| [deal.negotiation, deal.escrow_vault])
            .collect();
        assert_eq!(addresses.len(), 2 * deals.len());
        // Whoever buys in one and sells in the other opens only where it buys.
        let offer = stage.offer(&deals[1], BUYER, OFFER);
        stage.refuses(&offer, HaggleError::NotYourTurn);
        for deal in &deals {
            let before = stage.clone();
            let offer = stage.offer(deal, deal.buyer, OFFER);
            stage.run(&offer).succeeds();
            assert_eq!(stage.changed_since(&before), [deal.negotiation]);
        }
        // The vault of one is no vault of another's.
        let reject = stage
            .reject(&deals[0], BUYER)
            .with("escrow_vault", deals[2].escrow_vault);
        stage.refuses(&reject, Framework::ConstraintSeeds);
    });
}

#[test]
fn who_has_no_part_in_a_negotiation_can_only_do_what_anyone_may() {
    let nobody = named("somebody else");
    let anyone = [
        "expire_negotiation",
        "release_milestone",
        "settle_deadline",
        "close_negotiation",
    ];
    for scene in scenes() {
        let row = scene.call.row;
        if anyone.contains(&row.name) {
            continue;
        }
        let mut stage = scene.stage.clone();
        stage.put(nobody, wallet(LAMPORTS));
        let mut call = scene.call.clone();
        let mut signers = 0;
        for (meta, row) in call.accounts.iter_mut().zip(row.accounts) {
            if row.meta.signer {
                meta.pubkey = nobody;
                signers += 1;
            }
        }
        assert_eq!(signers, 1, "{}", scene.name);
        let before = stage.accounts.clone();
        let outcome = stage.run(&call);
        assert_ne!(outcome.result, ProgramResult::Success, "{}", scene.name);
        assert!(stage.accounts == before, "{}", scene.name);
    }
}

/// The seller walks away while that costs nothing; if the buyer's reveal comes first, the same signature must not cost the bond.
#[test]
fn a_rejection_on_its_way_does_not_cost_the_bond_because_the_buyer_reveals_first() {
    let (mut stage, deal) = Stage::both_committed();
    let rejection = stage
        .reject(&deal, SELLER)
        .given("seller_token_account", deal.seller_token_account);
    stage.reveals(&deal, BUYER, BUYER_PRICE);
    stage.refuses(&rejection, HaggleError::StaleState);
}

/// A buyer's wallet can become a program's account, whose lamports the runtime shows to no caller.
#[test]
fn a_buyer_that_becomes_a_program_cannot_stop_closing() {
    let (mut stage, deal) = Stage::settled();
    stage.change(&BUYER, |account| {
        account.executable = true;
        account.owner = programs::UPGRADEABLE_LOADER;
        account.data = vec![2; 36];
    });
    let lamports = stage.account(&BUYER).lamports
        + stage.account(&deal.negotiation).lamports
        + stage.account(&deal.escrow_vault).lamports;
    let call = stage.close(&deal, STRANGER);
    stage.run(&call).succeeds();
    assert_eq!(stage.account(&BUYER).lamports, lamports);
}
