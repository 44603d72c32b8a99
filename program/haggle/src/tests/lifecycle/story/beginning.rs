//! What there is when a story begins: people, tokens, programs, and accounts that are none of these.

use super::super::chance::Chance;
use super::super::deal::{NEGOTIATION, NEGOTIATION_SIZE};
use super::super::ledger::{
    associated, mint, rent, token_account, wallet, Ledger, LOADER, SYSTEM, TOKEN, WRAPPED_SOL,
};
use super::super::model::World;
use super::{Cast, Desk, Slot, Story};
use crate::ID;
use mollusk_svm::program::loader_keys::{LOADER_V2, LOADER_V3, NATIVE_LOADER};
use solana_account::Account;
use solana_address::Address;
use std::collections::BTreeMap;

fn address(chance: &mut Chance) -> Address {
    Address::new_from_array(chance.bytes())
}

impl<'a> Story<'a> {
    pub(super) fn begin(seed: u64, desk: Desk<'a>) -> Self {
        let mut chance = Chance::from_seed(seed);
        let [buyer, seller, stranger, deployer] = [(); 4].map(|()| address(&mut chance));
        let is_wrapped = chance.percent(20);
        let token_mint = if is_wrapped {
            WRAPPED_SOL
        } else {
            address(&mut chance)
        };
        let treasury = match chance.between(0, 19) {
            0 => buyer,
            1 => seller,
            _ => address(&mut chance),
        };
        let other_mint = address(&mut chance);
        let funds = match chance.between(0, 19) {
            0 if !is_wrapped => u64::MAX - 10_000_000,
            1..=5 => 1_000_000_000_000_000,
            _ => 20_000_000,
        };

        let mut ledger = Ledger::default();
        for person in [buyer, seller, stranger, deployer, treasury] {
            ledger.set(person, wallet(1_000_000_000_000));
        }
        ledger.set(token_mint, mint(true));
        ledger.set(other_mint, mint(true));
        let mut tokens = BTreeMap::new();
        for (party, amounts) in [(buyer, [funds, 0]), (seller, [0, 1_000_000])] {
            let accounts = [associated(&party, &token_mint), address(&mut chance)];
            for (account, amount) in accounts.into_iter().zip(amounts) {
                ledger.set(account, token_account(&token_mint, &party, amount));
            }
            ledger.set(
                address(&mut chance),
                token_account(&other_mint, &party, 1_000_000),
            );
            tokens.insert(party, accounts);
        }
        let [strangers_tokens, treasury_tokens, blank_mint, blank_tokens] =
            [(); 4].map(|()| address(&mut chance));
        ledger.set(strangers_tokens, token_account(&token_mint, &stranger, 500));
        ledger.set(treasury_tokens, token_account(&token_mint, &treasury, 0));
        ledger.set(blank_mint, mint(false));
        ledger.set(blank_tokens, token_account(&blank_mint, &buyer, 1_000_000));

        for (program, owner) in [(SYSTEM, NATIVE_LOADER), (TOKEN, LOADER_V2), (ID, LOADER_V3)] {
            ledger.set(
                program,
                Account {
                    lamports: 1,
                    owner,
                    executable: true,
                    ..Account::default()
                },
            );
        }
        let mut loaders = vec![3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
        loaders.extend(deployer.as_ref());
        let loaders = Account {
            lamports: rent(loaders.len()),
            data: loaders,
            owner: LOADER,
            ..Account::default()
        };
        ledger.set(desk.fixed.program_data, loaders);
        let oddities = oddities(&mut chance, &mut ledger, &desk.fixed.config);

        let now = match chance.between(0, 49) {
            0 | 1 => i64::MAX - chance.between_i64(100, 8_000),
            2 => -chance.between_i64(1, 1_000_000),
            _ => chance.between_i64(1_700_000_000, 1_900_000_000),
        };
        let session_id = chance.word();
        let mut slots = vec![Slot::new([buyer, seller], session_id)];
        if chance.percent(25) {
            slots.push(match chance.percent(50) {
                true => Slot::new([buyer, seller], session_id.wrapping_add(1)),
                false => Slot::new([seller, buyer], session_id),
            });
        }
        for slot in &slots {
            for account in [slot.negotiation, slot.vault] {
                if chance.percent(15) {
                    ledger.set(
                        account,
                        wallet(chance.between(1, 2 * rent(NEGOTIATION_SIZE))),
                    );
                }
            }
        }

        let supply = ledger.supply(&token_mint);
        let lamports = ledger.lamports();
        let world = World {
            now,
            ledger,
            deals: BTreeMap::new(),
            config: None,
            deployer,
        };
        let cast = Cast {
            buyer,
            stranger,
            deployer,
            mint: token_mint,
            tokens,
            strangers_tokens,
            treasury_tokens,
            blank_mint,
            blank_tokens,
            oddities,
        };
        Self {
            chance,
            world,
            cast,
            slots,
            desk,
            supply,
            lamports,
            funds,
            reached_an_end: false,
        }
        .with_treasury(treasury)
    }

    /// The treasury is decided on before the configuration exists.
    fn with_treasury(mut self, treasury: Address) -> Self {
        self.world.config = None;
        self.cast
            .tokens
            .entry(treasury)
            .or_insert([self.cast.treasury_tokens; 2]);
        self
    }
}

/// Accounts that look like others and are not, and the configuration, which is none of the accounts that it is put in place of.
fn oddities(chance: &mut Chance, ledger: &mut Ledger, config: &Address) -> [Address; 5] {
    let foreign = address(chance);
    let mut negotiation = vec![0; NEGOTIATION_SIZE];
    negotiation[..8].copy_from_slice(&NEGOTIATION);
    let [hollow, short, copied, tokens] = [
        (ID, vec![0; 4]),
        (ID, negotiation[..NEGOTIATION_SIZE - 1].to_vec()),
        (foreign, negotiation),
        (foreign, token_account(&foreign, &foreign, 1).data),
    ]
    .map(|(owner, data)| {
        let place = address(chance);
        let account = Account {
            lamports: rent(data.len()),
            data,
            owner,
            ..Account::default()
        };
        ledger.set(place, account);
        place
    });
    [hollow, short, copied, tokens, *config]
}
