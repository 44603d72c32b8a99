//! What creates: initialize_config and create_negotiation.

use super::super::deal::{Config, Deal, CREATED};
use super::super::ledger::{
    rent, token_account, Ledger, FROZEN, MINT_SIZE, SYSTEM, TOKEN, TOKEN_ACCOUNT_SIZE, WRAPPED_SOL,
};
use super::arguments::{is_metadata, Reader};
use super::errors::{
    ACCOUNT_FROZEN, INVALID_PARAMS, PAUSED, TOO_LITTLE, UNAUTHORIZED, UNSUPPORTED_MINT,
};
use super::rule_order::{refuse, WrongAddresses};
use super::{negotiation_address, vault_address, Case, Next};
use crate::ID;
use solana_address::Address;

impl Case<'_> {
    pub(super) fn initialize(&self, mut arguments: Reader) -> Result<Next, u32> {
        let [authority, config, program_data, system, ..] = *self.keys else {
            unreachable!()
        };
        let mut wrong = WrongAddresses::default();
        wrong.when(config != self.fixed.config, 2006);
        wrong.when(program_data != self.fixed.program_data, 2006);
        wrong.when(system != SYSTEM, 3008);
        wrong.worst()?;

        let treasury = arguments.address();
        let decay_bps = arguments.u16();
        let window = arguments.i64();
        let fee_bps = arguments.u16();
        let max_rounds = arguments.u8();
        let in_range = treasury != Address::default()
            && decay_bps <= 1_000
            && (60..=3_600).contains(&window)
            && fee_bps <= 500
            && (1..=20).contains(&max_rounds);
        refuse(!in_range, INVALID_PARAMS)?;
        refuse(authority != self.world.deployer, UNAUTHORIZED)?;

        let mut world = self.world.clone();
        let made = Config {
            authority,
            treasury,
            decay_bps,
            window,
            fee_bps,
            max_rounds,
            closed: 0,
            volume: 0,
            fees: 0,
            paused: false,
            bump: self.fixed.config_bump,
        };
        make(&mut world.ledger, &authority, &config, ID, made.bytes())?;
        world.config = Some(made);
        Ok(Next {
            world,
            outcomes: vec!["configured".into()],
        })
    }

    pub(super) fn create(&self, mut arguments: Reader) -> Result<Next, u32> {
        let [buyer, seller, negotiation, vault, tokens, mint, config, token_program, system, ..] =
            *self.keys
        else {
            unreachable!()
        };
        let parties = [buyer, seller];
        let session_id = arguments.u64();
        let (address, bump) = negotiation_address(&parties, session_id);
        let (vault_pda, vault_bump) = vault_address(&negotiation);
        let held = self.world.ledger.held(&tokens);
        let mut wrong = WrongAddresses::default();
        wrong.when(
            negotiation != address || vault != vault_pda || config != self.fixed.config,
            2006,
        );
        wrong.when(
            held.is_none_or(|held| held.mint != mint || held.owner != buyer),
            2003,
        );
        wrong.when(token_program != TOKEN || system != SYSTEM, 3008);
        wrong.worst()?;
        let mint_account = self.world.ledger.get(&mint);
        refuse(
            mint_account.data.len() != MINT_SIZE || mint_account.data[45] != 1,
            UNSUPPORTED_MINT,
        )?;

        let now = self.world.now;
        let rules = self.world.config.as_ref().unwrap();
        let deal = Deal {
            parties,
            session_id,
            status: CREATED,
            round: 0,
            offer: 0,
            offer_by: None,
            escrow: arguments.u64(),
            service_hash: arguments.take(),
            max_rounds: arguments.u8(),
            decay_bps: arguments.u16(),
            window: arguments.i64(),
            deadline: arguments.i64(),
            min_offer_bps: arguments.u16(),
            effective: 0,
            mint,
            fee_bps: rules.fee_bps,
            created_at: now,
            last_offer_at: 0,
            settled_at: 0,
            metadata: [0; 64],
            bump,
            vault,
            vault_bump,
            turn_deadline: 0,
            claimable: [0; 2],
            paid: 0,
        };
        let ahead = i128::from(deal.deadline) - i128::from(now);
        let sealed_bond_milestones = arguments.take::<{ 1 + 8 + 32 + 1 + 16 + 8 }>();
        let metadata = arguments.take();
        let in_range = buyer != seller
            && deal.escrow >= 100_000
            && (1..=20).contains(&deal.max_rounds)
            && deal.decay_bps <= 1_000
            && (60..=3_600).contains(&deal.window)
            && (60..=86_400).contains(&ahead)
            && (100..=9_000).contains(&deal.min_offer_bps)
            && sealed_bond_milestones == [0; 66]
            && is_metadata(&metadata);
        refuse(!in_range, INVALID_PARAMS)?;
        refuse(rules.paused, PAUSED)?;

        let deal = Deal {
            metadata,
            effective: deal.escrow,
            turn_deadline: deal.deadline,
            ..deal
        };
        let mut world = self.world.clone();
        make(&mut world.ledger, &buyer, &negotiation, ID, deal.bytes())?;
        let empty = token_account(&mint, &negotiation, 0).data;
        make(&mut world.ledger, &buyer, &vault, TOKEN, empty)?;
        if mint == WRAPPED_SOL {
            // Lamports that were there before and are not needed as rent count as tokens.
            let account = world.ledger.change(&vault);
            let excess = account.lamports - rent(TOKEN_ACCOUNT_SIZE);
            account.data[64..72].copy_from_slice(&excess.to_le_bytes());
        }
        let held = held.unwrap();
        refuse(held.state == FROZEN, ACCOUNT_FROZEN)?;
        refuse(held.amount < deal.escrow, TOO_LITTLE)?;
        world.ledger.transfer(&tokens, &vault, deal.escrow);
        world.deals.insert(negotiation, deal);
        Ok(Next {
            world,
            outcomes: vec!["created".into()],
        })
    }
}

/// Creates an account, whatever lamports have been sent ahead to its address.
fn make(
    ledger: &mut Ledger,
    payer: &Address,
    address: &Address,
    owner: Address,
    data: Vec<u8>,
) -> Result<(), u32> {
    let missing = rent(data.len()).saturating_sub(ledger.get(address).lamports);
    refuse(ledger.get(payer).lamports < missing, TOO_LITTLE)?;
    ledger.move_lamports(payer, address, missing);
    let account = ledger.change(address);
    account.owner = owner;
    account.data = data;
    Ok(())
}
