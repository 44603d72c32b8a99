//! Calls that would succeed at the right point.

use super::{
    args_of, associated, program_of, Call, Deal, Stage, ARBITER, AUTHORITY, STRANGER, TREASURY,
};
use crate::constants::ZOPA_DOMAIN;
use crate::instructions::create_negotiation::NegotiationParams;
use crate::instructions::{
    accept_invitation, accept_offer, claim_milestone, claim_payout, create_negotiation,
    dispute_milestone, initialize_config, propose_authority, reject_negotiation, release_milestone,
    resolve_dispute, reveal_zopa_price, set_paused, submit_offer, submit_zopa_commitment,
    update_config, INSTRUCTIONS,
};
use crate::runtime::programs;
use crate::schema::declare::Flag;
use crate::state::ProtocolConfig;
use pinocchio::Address;
use solana_instruction::AccountMeta;

impl Stage {
    /// A call with the accounts that its row and the deal name. Whoever signs is `signer`.
    pub fn call(&self, name: &str, deal: &Deal, signer: Address, args: &[u8]) -> Call {
        let row = INSTRUCTIONS
            .iter()
            .find(|row| row.name == name)
            .unwrap_or_else(|| panic!("there is no instruction {name}"));
        let accounts = row
            .accounts
            .iter()
            .map(|account| AccountMeta {
                pubkey: if account.meta.signer {
                    signer
                } else {
                    self.usual(account.name, deal, signer)
                },
                is_signer: account.meta.signer,
                is_writable: account.meta.writable,
            })
            .collect();
        Call {
            row,
            accounts,
            data: [&row.discriminator, args].concat(),
        }
    }

    fn usual(&self, account: &str, deal: &Deal, signer: Address) -> Address {
        match account {
            "buyer" => deal.buyer,
            "seller" => deal.seller,
            "negotiation" => deal.negotiation,
            "escrow_vault" => deal.escrow_vault,
            "buyer_token_account" => deal.buyer_token_account,
            "seller_token_account" => deal.seller_token_account,
            "treasury_token_account" => associated(&TREASURY, &deal.token_mint),
            "destination_token_account" => associated(&signer, &deal.token_mint),
            "token_mint" => deal.token_mint,
            "token_program" => program_of(&deal.token_mint),
            "system_program" => programs::SYSTEM,
            "config" => ProtocolConfig::ADDRESS,
            "program_data" => Self::program_data(),
            _ => panic!("nothing is known of an account {account}"),
        }
    }

    /// initialize_config with the values of [`Self::config`].
    pub fn initialize(&self) -> Call {
        let config = Self::config();
        let args = initialize_config::Args {
            treasury: config.treasury,
            default_decay_rate_bps: config.default_decay_rate_bps,
            default_response_window: config.default_response_window,
            default_protocol_fee_bps: config.default_protocol_fee_bps,
            default_max_rounds: config.default_max_rounds,
        };
        self.call(
            "initialize_config",
            &Self::deal(),
            AUTHORITY,
            args_of(&args),
        )
    }

    /// update_config to these values by the authority.
    pub fn update(&self, config: &ProtocolConfig) -> Call {
        let args = update_config::Args {
            treasury: config.treasury,
            default_decay_rate_bps: config.default_decay_rate_bps,
            default_response_window: config.default_response_window,
            default_protocol_fee_bps: config.default_protocol_fee_bps,
            default_max_rounds: config.default_max_rounds,
        };
        self.call("update_config", &Self::deal(), AUTHORITY, args_of(&args))
    }

    /// set_paused by the authority.
    pub fn set_paused(&self, paused: Flag) -> Call {
        let args = set_paused::Args { paused };
        self.call("set_paused", &Self::deal(), AUTHORITY, args_of(&args))
    }

    /// propose_authority by the authority.
    pub fn propose(&self, new_authority: Address) -> Call {
        let args = propose_authority::Args { new_authority };
        self.call(
            "propose_authority",
            &Self::deal(),
            AUTHORITY,
            args_of(&args),
        )
    }

    /// accept_authority by a successor.
    pub fn take_over(&self, successor: Address) -> Call {
        self.call("accept_authority", &Self::deal(), successor, &[])
    }

    /// create_negotiation by the buyer.
    pub fn create(&self, deal: &Deal, terms: &NegotiationParams) -> Call {
        let args = create_negotiation::Args {
            session_id: deal.session_id,
            params: *terms,
        };
        self.call("create_negotiation", deal, deal.buyer, args_of(&args))
    }

    /// accept_invitation by the seller, on the terms of the account as it is now, without the accounts for a bond.
    pub fn accept_invitation(&self, deal: &Deal) -> Call {
        let args = accept_invitation::Args {
            terms_hash: self.terms_hash(deal),
        };
        self.call("accept_invitation", deal, deal.seller, args_of(&args))
            .without("escrow_vault")
            .without("seller_token_account")
            .without("token_mint")
            .without("token_program")
    }

    /// accept_invitation by the seller with every account that a bond needs.
    pub fn accept_invitation_with_bond(&self, deal: &Deal) -> Call {
        self.accept_invitation(deal)
            .given("escrow_vault", deal.escrow_vault)
            .given("seller_token_account", deal.seller_token_account)
            .given("token_mint", deal.token_mint)
            .given("token_program", program_of(&deal.token_mint))
    }

    /// submit_zopa_commitment.
    pub fn commit(&self, deal: &Deal, agent: Address, commitment: [u8; 32]) -> Call {
        let args = submit_zopa_commitment::Args { commitment };
        self.call("submit_zopa_commitment", deal, agent, args_of(&args))
    }

    /// reveal_zopa_price without the accounts that ending takes.
    pub fn reveal(&self, deal: &Deal, agent: Address, price: u64, nonce: [u8; 32]) -> Call {
        self.reveal_and_end(deal, agent, price, nonce)
            .without("escrow_vault")
            .without("buyer_token_account")
            .without("seller_token_account")
            .without("token_mint")
            .without("token_program")
    }

    /// reveal_zopa_price with every account that ending takes.
    pub fn reveal_and_end(&self, deal: &Deal, agent: Address, price: u64, nonce: [u8; 32]) -> Call {
        let args = reveal_zopa_price::Args { price, nonce };
        self.call("reveal_zopa_price", deal, agent, args_of(&args))
    }

    /// submit_offer without metadata, in the round that the negotiation is in.
    pub fn offer(&self, deal: &Deal, offerer: Address, amount: u64) -> Call {
        self.offer_with(deal, offerer, amount, &[0; 64])
    }

    /// submit_offer in the round that the negotiation is in.
    pub fn offer_with(
        &self,
        deal: &Deal,
        offerer: Address,
        amount: u64,
        metadata: &[u8; 64],
    ) -> Call {
        let args = submit_offer::Args {
            expected_round: self.negotiation(deal).current_round,
            amount,
            deadline_extension: 0,
            metadata: *metadata,
        };
        self.call("submit_offer", deal, offerer, args_of(&args))
    }

    /// accept_offer of the offer as it is now.
    pub fn accept_offer(&self, deal: &Deal, acceptor: Address) -> Call {
        let negotiation = self.negotiation(deal);
        let args = accept_offer::Args {
            expected_round: negotiation.current_round,
            expected_amount: negotiation.current_offer_amount,
            expected_metadata: negotiation.metadata,
        };
        self.call("accept_offer", deal, acceptor, args_of(&args))
    }

    /// reject_negotiation in the round that the negotiation is in, without the account for a bond.
    pub fn reject(&self, deal: &Deal, rejector: Address) -> Call {
        let args = reject_negotiation::Args {
            expected_round: self.negotiation(deal).current_round,
        };
        self.call("reject_negotiation", deal, rejector, args_of(&args))
            .without("seller_token_account")
    }

    /// expire_negotiation, without the account for a bond.
    pub fn expire(&self, deal: &Deal) -> Call {
        self.call("expire_negotiation", deal, STRANGER, &[])
            .without("seller_token_account")
    }

    /// close_negotiation with every account it can take.
    pub fn close(&self, deal: &Deal, closer: Address) -> Call {
        self.call("close_negotiation", deal, closer, &[])
    }

    /// claim_payout to the party's associated token account.
    pub fn claim(&self, deal: &Deal, party: Address, amount: u64) -> Call {
        let args = claim_payout::Args { amount };
        self.call("claim_payout", deal, party, args_of(&args))
    }

    /// claim_milestone by the seller.
    pub fn claim_milestone(&self, deal: &Deal, index: u8) -> Call {
        let args = claim_milestone::Args { index };
        self.call("claim_milestone", deal, deal.seller, args_of(&args))
    }

    /// release_milestone to the seller's associated token account.
    pub fn release(&self, deal: &Deal, releaser: Address, index: u8) -> Call {
        let args = release_milestone::Args { index };
        self.call("release_milestone", deal, releaser, args_of(&args))
    }

    /// dispute_milestone by the buyer.
    pub fn dispute(&self, deal: &Deal, index: u8) -> Call {
        let args = dispute_milestone::Args { index };
        self.call("dispute_milestone", deal, deal.buyer, args_of(&args))
    }

    /// resolve_dispute by the arbiter.
    pub fn resolve(&self, deal: &Deal, index: u8, seller_bps: u16, forfeit_bond: Flag) -> Call {
        let args = resolve_dispute::Args {
            index,
            seller_bps,
            forfeit_bond,
        };
        self.call("resolve_dispute", deal, ARBITER, args_of(&args))
    }

    /// settle_deadline, to the parties' associated token accounts.
    pub fn settle_deadline(&self, deal: &Deal) -> Call {
        self.call("settle_deadline", deal, STRANGER, &[])
    }
}

/// What an agent commits to its reservation price with.
pub fn zopa_commitment(deal: &Deal, agent: Address, price: u64, nonce: [u8; 32]) -> [u8; 32] {
    const_crypto::sha2::Sha256::new()
        .update(ZOPA_DOMAIN.as_bytes())
        .update(deal.negotiation.as_ref())
        .update(agent.as_ref())
        .update(&price.to_le_bytes())
        .update(&nonce)
        .finalize()
}
