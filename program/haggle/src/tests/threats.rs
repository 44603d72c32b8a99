//! Attacks on more than one instruction: on the vault through SPL Token and Token-2022, on closed accounts,
//! on the state during transfers, and on other parties' negotiations. docs/SECURITY_MODEL.md contains the
//! whole list.

use super::fixture::{
    associated, currency, named, program_of, under_both_token_programs, wallet, Deal, Fixture,
    AUTHORITY, BUYER, BUYER_PRICE, ESCROW, LAMPORTS, OFFER, SELLER, STRANGER, TREASURY,
};
use super::scenes::{scenes, Scene};
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

/// The token-program instructions that take tokens from an account or give rights to it, as name, data, and
/// the accounts between the account and the signer.
fn theft_instructions(
    mint: &Address,
    thief: &Address,
) -> Vec<(&'static str, Vec<u8>, Vec<Address>)> {
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

/// A vault at each of these points, with the fixture around it.
fn vaults() -> Vec<(&'static str, Fixture, Deal)> {
    let (created, deal) = Fixture::created();
    let (settled, _) = Fixture::settled_with_recorded_payouts();
    let (accepted, _) = Fixture::accepted(&[10_000]);
    vec![
        ("created", created, deal),
        ("settled", settled, deal),
        ("accepted, with a bond", accepted, deal),
    ]
}

#[test]
fn only_the_program_moves_tokens_out_of_a_vault() {
    under_both_token_programs(|| {
        for (point, mut fixture, deal) in vaults() {
            let vault = fixture.account(&deal.escrow_vault);
            assert_eq!(vault.data[32..64], *deal.negotiation.as_ref(), "{point}");
            assert_eq!(vault.data[72..76], [0; 4], "{point}: a delegate");
            assert_eq!(vault.data[129..133], [0; 4], "{point}: a close authority");
            let mint = deal.token_mint;
            for thief in [BUYER, SELLER, STRANGER, AUTHORITY, TREASURY] {
                for (what, data, between) in theft_instructions(&mint, &thief) {
                    // The authority is the thief, or the negotiation. No transaction can sign for the
                    // negotiation.
                    for (authority, signs) in [(thief, true), (deal.negotiation, false)] {
                        let mut accounts = vec![AccountMeta::new(deal.escrow_vault, false)];
                        accounts.extend(between.iter().map(|to| AccountMeta::new(*to, false)));
                        accounts.push(AccountMeta::new_readonly(authority, signs));
                        let instruction = Instruction {
                            program_id: program_of(&mint),
                            accounts,
                            data: data.clone(),
                        };
                        let before = fixture.accounts.clone();
                        let outcome = fixture.run_instruction(&instruction, what);
                        assert_ne!(
                            outcome.result,
                            ProgramResult::Success,
                            "{point}: {what} by {thief}"
                        );
                        assert!(fixture.accounts == before, "{point}: {what} by {thief}");
                    }
                }
            }
        }
    });
}

/// Closes a negotiation and sends lamports to the addresses in the same transaction, to keep the runtime from
/// deleting the accounts.
fn close_and_fund(fixture: &mut Fixture, deal: &Deal) {
    let close = fixture.close(deal, STRANGER);
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
    let accounts: Vec<(Address, Account)> = fixture
        .accounts
        .iter()
        .map(|(address, account)| (*address, account.clone()))
        .collect();
    let mut machine = machine();
    machine.sysvars.clock.unix_timestamp = fixture.now;
    let result = machine.process_instruction_chain(&instructions, &accounts);
    assert_eq!(result.program_result, ProgramResult::Success);
    for (address, account) in result.resulting_accounts {
        fixture.put(address, account);
    }
}

#[test]
fn lamports_returned_in_the_same_transaction_reopen_nothing() {
    under_both_token_programs(|| {
        let (mut fixture, deal) = Fixture::settled();
        let before = fixture.clone();
        close_and_fund(&mut fixture, &deal);
        for address in [deal.negotiation, deal.escrow_vault] {
            let account = fixture.account(&address);
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
            fixture.refuses(&call, Framework::AccountOwnedByWrongProgram);
        }
        // The lamports do not prevent another negotiation using this address.
        let create = fixture.create(&deal, &Fixture::terms());
        fixture.run(&create).succeeds();
        assert_eq!(fixture.balance(&deal.escrow_vault), ESCROW);
    });
}

thread_local! {
    static OBSERVED_ACCOUNT: Cell<Address> = const { Cell::new(ID) };
    static OBSERVED_DATA: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

// Replaces the mint's token program and records the negotiation's account data at each call.
declare_process_instruction!(Observer, 100, |invoke_context| {
    let context = &invoke_context.transaction_context;
    let place = context
        .find_index_of_account(&OBSERVED_ACCOUNT.get())
        .expect("the negotiation takes part");
    let data = context.accounts().try_borrow(place)?.data().to_vec();
    OBSERVED_DATA.with_borrow_mut(|observed_data| observed_data.push(data));
    Ok(())
});

/// The negotiation's account data at each token program call, plus the final data.
fn observed_data(scene: &Scene) -> (Vec<Vec<u8>>, Vec<u8>) {
    let mut machine = machine();
    for program_id in [programs::TOKEN, programs::TOKEN_2022] {
        machine.program_cache.add_builtin(Builtin {
            program_id,
            name: "observer",
            register_fn: Observer::register,
        });
    }
    machine.sysvars.clock.unix_timestamp = scene.fixture.now;
    let mut accounts: Vec<(Address, Account)> = Vec::new();
    for meta in &scene.call.accounts {
        if accounts.iter().all(|(address, _)| *address != meta.pubkey) {
            let mut account = scene.fixture.account(&meta.pubkey);
            if programs::TOKENS.contains(&&meta.pubkey) {
                account.owner = NATIVE_LOADER;
            }
            accounts.push((meta.pubkey, account));
        }
    }
    OBSERVED_ACCOUNT.set(scene.deal.negotiation);
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
    (OBSERVED_DATA.take(), left)
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
            let (seen, left) = observed_data(&scene);
            for data in seen {
                paying.insert(scene.call.row.name);
                if scene.call.row.name != "close_negotiation" {
                    assert!(data == left, "{}: the state changes afterwards", scene.name);
                    continue;
                }
                let mut fixture = scene.fixture.clone();
                fixture.change(&scene.deal.negotiation, |account| account.data = data);
                let negotiation = fixture.negotiation(&scene.deal);
                let kept = (negotiation.claimable_buyer, negotiation.claimable_seller);
                assert_eq!(
                    kept,
                    (0, 0),
                    "{}: a delivered payout is still recorded",
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
                "settle_by_agreement",
                "settle_deadline",
            ])
        );
    });
}

/// The instructions that write to accounts which negotiations of different parties share.
const SHARING: [&str; 6] = [
    "initialize_config",
    "update_config",
    "set_paused",
    "propose_authority",
    "accept_authority",
    "close_negotiation",
];

#[test]
fn negotiations_share_no_written_account_before_the_close() {
    under_both_token_programs(|| {
        let mut seen = BTreeSet::new();
        for scene in scenes() {
            if SHARING.contains(&scene.call.row.name) {
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
        assert_eq!(seen.len(), INSTRUCTIONS.len() - SHARING.len());
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
        let mut fixture = Fixture::new();
        fixture.donate(&associated(&SELLER, &currency()), ESCROW);
        for deal in &deals {
            let create = fixture.create(deal, &Fixture::terms());
            fixture.run(&create).succeeds();
            let accept = fixture.accept_invitation(deal);
            fixture.run(&accept).succeeds();
        }
        let addresses: BTreeSet<_> = deals
            .iter()
            .flat_map(|deal| [deal.negotiation, deal.escrow_vault])
            .collect();
        assert_eq!(addresses.len(), 2 * deals.len());
        // A party buying in the first negotiation and selling in the second opens only the first.
        let offer = fixture.offer(&deals[1], BUYER, OFFER);
        fixture.refuses(&offer, HaggleError::NotYourTurn);
        for deal in &deals {
            let before = fixture.clone();
            let offer = fixture.offer(deal, deal.buyer, OFFER);
            fixture.run(&offer).succeeds();
            assert_eq!(fixture.changed_since(&before), [deal.negotiation]);
        }
        // A negotiation does not accept the vault of another one.
        let reject = fixture
            .reject(&deals[0], BUYER)
            .with("escrow_vault", deals[2].escrow_vault);
        fixture.refuses(&reject, Framework::ConstraintSeeds);
    });
}

#[test]
fn a_stranger_can_only_send_permissionless_instructions() {
    let outsider = named("an outsider");
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
        let mut fixture = scene.fixture.clone();
        fixture.put(outsider, wallet(LAMPORTS));
        let mut call = scene.call.clone();
        let mut signers = 0;
        for (meta, row) in call.accounts.iter_mut().zip(row.accounts) {
            if row.meta.signer {
                meta.pubkey = outsider;
                signers += 1;
            }
        }
        assert!(signers > 0, "{}", scene.name);
        let before = fixture.accounts.clone();
        let outcome = fixture.run(&call);
        assert_ne!(outcome.result, ProgramResult::Success, "{}", scene.name);
        assert!(fixture.accounts == before, "{}", scene.name);
    }
}

/// The seller signs a rejection that forfeits nothing. After the buyer's reveal, the same signature must not
/// forfeit the bond.
#[test]
fn a_rejection_signed_before_the_buyer_revealed_does_not_cost_the_bond() {
    let (mut fixture, deal) = Fixture::created_with_bond(&Fixture::sealed_terms());
    let rejection = fixture
        .reject(&deal, SELLER)
        .given("seller_token_account", deal.seller_token_account);
    let without_account = fixture.reject(&deal, SELLER);
    // A rejection with no account agrees to the forfeiture, so it is refused before the buyer's reveal.
    fixture.refuses(&without_account, Framework::AccountNotEnoughKeys);
    let invitation = fixture.accept_invitation_with_bond(&deal);
    fixture.run(&invitation).succeeds();
    fixture.commits(&deal, BUYER, BUYER_PRICE);
    fixture.refuses(&without_account, Framework::AccountNotEnoughKeys);
    fixture.commits(&deal, SELLER, BUYER_PRICE);
    fixture.refuses(&without_account, Framework::AccountNotEnoughKeys);
    fixture.reveals(&deal, BUYER, BUYER_PRICE);
    fixture.refuses(&rejection, HaggleError::StaleState);
}

/// A buyer's wallet can become an executable account. A caller does not see lamports paid by a called program
/// to executable accounts.
#[test]
fn an_executable_buyer_account_does_not_stop_the_close() {
    let (mut fixture, deal) = Fixture::settled();
    fixture.change(&BUYER, |account| {
        account.executable = true;
        account.owner = programs::UPGRADEABLE_LOADER;
        account.data = vec![2; 36];
    });
    let lamports = fixture.account(&BUYER).lamports
        + fixture.account(&deal.negotiation).lamports
        + fixture.account(&deal.escrow_vault).lamports;
    let call = fixture.close(&deal, STRANGER);
    fixture.run(&call).succeeds();
    assert_eq!(fixture.account(&BUYER).lamports, lamports);
}
