//! Calls suggested by a negotiation's state: the instructions allowed in the current status, each signed by
//! the right party, with arguments that fit. So random moves lead through whole lives of negotiations,
//! closing and re-creation included.

use crate::accounts::ADVERSARY;
use crate::chain::Chain;
use crate::environment::ValidCall;
use crate::fields::arguments;
use crate::fixtures::fixture::{
    args_of, program_of, zopa_commitment, Deal, Fixture, BUYER_PRICE, COMPLAINT, DECIMALS, ESCROW,
    EVIDENCE, SELLER_PRICE, TOO_MUCH,
};
use crate::runtime::programs;
use crate::ID;
use const_crypto::sha2::Sha256;
use haggle_program::instructions::create_negotiation::{Args, NegotiationParams};
use haggle_program::instructions::INSTRUCTIONS;
use haggle_program::schema::table::Instruction as Row;
use haggle_program::state::milestones::earliest_milestone_deadline;
use haggle_program::state::zopa::Step;
use haggle_program::state::{Negotiation, NegotiationStatus as Status, OfferSide, ProtocolConfig};
use pinocchio::Address;
use solana_account::ReadableAccount;

/// Shares in basis points that moves choose from.
const SHARES: [u16; 8] = [0, 10_000, 5_000, 3_333, 1, 9_999, 2_500, 7_777];

/// A move: the call, and the time that it waits for.
pub struct Move {
    /// The call.
    pub call: ValidCall,
    /// The clock at the time of the call, not before the chain's.
    pub now: i64,
}

/// A move under construction.
struct Builder<'a> {
    chain: &'a Chain<'a>,
    deal: &'a Deal,
    treasury: &'a Address,
    negotiation: Option<Negotiation>,
    row: &'static Row,
    variant: u8,
    now: i64,
}

/// The case's move: `deal` and `choice` select the negotiation and the instruction, modulo their numbers;
/// `variant` selects among signers, terms and amounts; `wait` is the time before the call (see
/// [`Builder::wait`]).
pub fn build(chain: &Chain<'_>, deal: u8, choice: u8, variant: u8, wait: u8) -> Move {
    let environment = chain.environment;
    let at = usize::from(deal) % environment.deals.len();
    let deal = &environment.deals[at];
    let negotiation = chain.negotiation(&deal.negotiation);
    let names = suggestions(negotiation.as_ref());
    let name = names[usize::from(choice) % names.len()];
    let mut rows = INSTRUCTIONS.iter();
    let row = rows.find(|row| row.name == name);
    let mut builder = Builder {
        chain,
        deal,
        treasury: &environment.treasury_accounts[at],
        negotiation,
        row: row.expect("suggestions are in the table"),
        variant,
        now: chain.sysvars.now,
    };
    builder.wait(wait);
    Move {
        call: builder.call(),
        now: builder.now,
    }
}

/// The instructions suggested by a negotiation's state. Repeated names are more likely.
fn suggestions(negotiation: Option<&Negotiation>) -> Vec<&'static str> {
    let Some(negotiation) = negotiation else {
        return vec!["create_negotiation"];
    };
    let mut names = match negotiation.status {
        Status::Created => vec!["accept_invitation", "accept_invitation"],
        Status::Proposed | Status::Countered => match negotiation.zopa_step() {
            Ok(Step::Commit(_)) => vec!["submit_zopa_commitment", "submit_zopa_commitment"],
            Ok(Step::Reveal(_)) => vec!["reveal_zopa_price", "reveal_zopa_price"],
            Err(_) if negotiation.has_offer() => vec!["submit_offer", "accept_offer"],
            Err(_) => vec!["submit_offer", "submit_offer"],
        },
        Status::Accepted => {
            let mut names = vec!["settle_deadline", "settle_by_agreement"];
            if negotiation.milestone_under_review() != 0 {
                names.extend(["release_milestone", "dispute_milestone"]);
            } else if negotiation.milestones_claimed != negotiation.all_milestones() {
                names.extend(["claim_milestone", "claim_milestone"]);
            }
            if negotiation.open_disputes() != 0 {
                names.extend(["resolve_dispute", "resolve_dispute"]);
            }
            names
        }
        _ => vec!["close_negotiation", "close_negotiation"],
    };
    if negotiation.is_open() {
        names.extend(["reject_negotiation", "expire_negotiation"]);
    }
    if negotiation.claimable_buyer != 0 || negotiation.claimable_seller != 0 {
        names.push("claim_payout");
    }
    names
}

impl Builder<'_> {
    /// Moves the clock forward. 0 waits until the instruction is possible, 1 to 7 add no waiting, 8 to 15
    /// wait for a second, a deadline, or the second before a deadline.
    fn wait(&mut self, wait: u8) {
        let Some(negotiation) = &self.negotiation else {
            if wait % 16 >= 8 {
                self.now = self.now.saturating_add(1);
            }
            return;
        };
        let settlement = if negotiation.open_disputes() == 0 {
            negotiation.milestone_deadline
        } else {
            negotiation.arbitration_deadline()
        };
        let until = match (wait % 16, self.row.name) {
            (0, "expire_negotiation") => negotiation.turn_deadline,
            (0, "settle_deadline") => settlement,
            (0..=7, _) => self.now,
            (8, _) => self.now.saturating_add(1),
            (9, _) => negotiation.turn_deadline,
            (10, _) => { negotiation.turn_deadline }.saturating_sub(1),
            (11, _) => negotiation.milestone_deadline,
            (12, _) => negotiation.arbitration_deadline(),
            (13, _) => negotiation.arbitration_deadline().saturating_sub(1),
            (14, _) => negotiation.global_deadline,
            _ => self.now.saturating_add(60),
        };
        self.now = self.now.max(until);
    }

    fn call(&self) -> ValidCall {
        let signer = self.signer();
        let list = self.row.accounts.iter().map(|account| {
            let meta = &account.meta;
            let address = self.address(account.name, meta.signer, &signer);
            (address, meta.signer, meta.writable && address != ID)
        });
        let mut data = self.row.discriminator.to_vec();
        if self.row.name == "create_negotiation" {
            let args = Args {
                session_id: self.deal.session_id,
                params: self.terms(),
            };
            data.extend(args_of(&args));
        } else {
            for leaf in arguments(self.row) {
                let mut value = self.argument(leaf.name, &signer);
                value.resize(leaf.width, 0);
                data.extend(value);
            }
        }
        ValidCall {
            name: self.row.name.to_owned(),
            row: self.row,
            list: list.collect(),
            data,
        }
    }

    fn bit(&self, number: u8) -> bool {
        self.variant & (1 << number) != 0
    }

    fn party(&self, side: OfferSide) -> Address {
        if side == OfferSide::Buyer {
            self.deal.buyer
        } else {
            self.deal.seller
        }
    }

    /// The instruction's signer, if any.
    fn signer(&self) -> Address {
        let Some(negotiation) = &self.negotiation else {
            return self.deal.buyer;
        };
        let either = if self.bit(0) {
            self.deal.buyer
        } else {
            self.deal.seller
        };
        match self.row.name {
            "accept_invitation" | "claim_milestone" => self.deal.seller,
            "dispute_milestone" => self.deal.buyer,
            "resolve_dispute" => negotiation.arbiter,
            "submit_offer" => self.party(negotiation.turn()),
            "accept_offer" if negotiation.has_midpoint(&self.deal.negotiation) => either,
            "accept_offer" if negotiation.offer_side == OfferSide::Buyer => self.deal.seller,
            "accept_offer" => self.deal.buyer,
            "submit_zopa_commitment" | "reveal_zopa_price" => match negotiation.zopa_step() {
                Ok(Step::Commit(side) | Step::Reveal(side)) => self.party(side),
                Err(_) => either,
            },
            "reject_negotiation" => either,
            "release_milestone" if self.now < negotiation.turn_deadline => self.deal.buyer,
            "claim_payout" if negotiation.claimable_buyer == 0 => self.deal.seller,
            "claim_payout" if negotiation.claimable_seller == 0 => self.deal.buyer,
            "claim_payout" => either,
            _ => ADVERSARY,
        }
    }

    fn address(&self, account: &str, signs: bool, signer: &Address) -> Address {
        let deal = self.deal;
        match account {
            "buyer" => deal.buyer,
            "seller" => deal.seller,
            _ if signs => *signer,
            "negotiation" => deal.negotiation,
            "escrow_vault" => deal.escrow_vault,
            "seller_token_account" if self.leaves_seller_out(signer) => ID,
            "buyer_token_account" => deal.buyer_token_account,
            "seller_token_account" => deal.seller_token_account,
            "treasury_token_account" => *self.treasury,
            "destination_token_account" if *signer == deal.buyer => deal.buyer_token_account,
            "destination_token_account" => deal.seller_token_account,
            "token_mint" => deal.token_mint,
            "token_program" => program_of(&deal.token_mint),
            "system_program" => programs::SYSTEM,
            "config" => ProtocolConfig::ADDRESS,
            _ => panic!("{} has an unknown account {account}", self.row.name),
        }
    }

    /// Reports whether the seller agrees to forfeit the bond, by leaving the account out.
    fn leaves_seller_out(&self, signer: &Address) -> bool {
        let forfeits = |negotiation: &Negotiation| negotiation.rejection_forfeits_bond();
        self.row.name == "reject_negotiation"
            && *signer == self.deal.seller
            && self.negotiation.as_ref().is_some_and(forfeits) != self.bit(6)
    }

    fn argument(&self, name: &str, signer: &Address) -> Vec<u8> {
        let Some(negotiation) = &self.negotiation else {
            return Vec::new();
        };
        let side = if *signer == self.deal.buyer {
            OfferSide::Buyer
        } else {
            OfferSide::Seller
        };
        let share = SHARES[usize::from(self.variant) % SHARES.len()].to_le_bytes();
        match name {
            "created_at" => { negotiation.created_at }.to_le_bytes().into(),
            "expected_round" => vec![negotiation.current_round],
            "expected_amount" => { negotiation.current_offer_amount }.to_le_bytes().into(),
            "expected_metadata" => negotiation.metadata.into(),
            "expected_decided" => vec![negotiation.milestones_decided],
            "terms_hash" => self.terms_hash().into(),
            "decimals" => vec![DECIMALS],
            "amount" if self.row.name == "claim_payout" => {
                negotiation.claimable(side).to_le_bytes().into()
            }
            "amount" => self.offer(negotiation).to_le_bytes().into(),
            "deadline_extension" if self.variant % 8 == 7 => 600u32.to_le_bytes().into(),
            "metadata" if self.bit(5) => vec![2, 0xaa, 0xbb],
            "index" => vec![self.milestone(negotiation)],
            "evidence" if self.row.name == "claim_milestone" => EVIDENCE.into(),
            "evidence" => COMPLAINT.into(),
            "seller_bps" => share.into(),
            "bond_to_buyer_bps" if negotiation.held_bond() > 0 => SHARES
                [usize::from(self.variant / 8) % SHARES.len()]
            .to_le_bytes()
            .into(),
            "valid_until" => self.now.saturating_add(60).to_le_bytes().into(),
            "commitment" => {
                let price = match side {
                    OfferSide::Buyer => BUYER_PRICE,
                    _ if self.bit(0) => TOO_MUCH,
                    _ => SELLER_PRICE,
                };
                self.commitment(negotiation, signer, price).into()
            }
            "price" => self
                .committed_price(negotiation, signer)
                .to_le_bytes()
                .into(),
            "nonce" => self.nonce(signer).into(),
            _ => Vec::new(),
        }
    }

    /// An offer between the minimum and the next round's effective escrow.
    fn offer(&self, negotiation: &Negotiation) -> u64 {
        let escrow = negotiation.escrow_after_round().unwrap_or(0);
        let least = u128::from(escrow) * u128::from(negotiation.min_offer_bps) / 10_000;
        let room = u128::from(escrow).saturating_sub(least);
        (least + room * u128::from(self.variant) / 255) as u64
    }

    /// A milestone that the instruction can be about.
    fn milestone(&self, negotiation: &Negotiation) -> u8 {
        let mask = match self.row.name {
            "claim_milestone" => negotiation.all_milestones() & !negotiation.milestones_claimed,
            "resolve_dispute" => negotiation.open_disputes(),
            _ => negotiation.milestone_under_review(),
        };
        let eligible: Vec<u8> = (0..8).filter(|index| mask & (1 << index) != 0).collect();
        let at = usize::from(self.variant / 32).checked_rem(eligible.len());
        at.map_or(0, |at| eligible[at])
    }

    fn terms_hash(&self) -> [u8; 32] {
        let account = self.chain.account(&self.deal.negotiation);
        Sha256::new()
            .update(self.deal.negotiation.as_ref())
            .update(account.data())
            .finalize()
    }

    /// The agent's nonce, as chosen in the program test scenes.
    fn nonce(&self, agent: &Address) -> [u8; 32] {
        Sha256::new()
            .update(self.deal.negotiation.as_ref())
            .update(agent.as_ref())
            .finalize()
    }

    fn commitment(&self, negotiation: &Negotiation, agent: &Address, price: u64) -> [u8; 32] {
        let nonce = self.nonce(agent);
        zopa_commitment(self.deal, negotiation.created_at, *agent, price, nonce)
    }

    /// The price committed to by the agent, if a scene or a move chose it.
    fn committed_price(&self, negotiation: &Negotiation, agent: &Address) -> u64 {
        let committed = if *agent == self.deal.buyer {
            negotiation.buyer_commitment
        } else {
            negotiation.seller_commitment
        };
        [SELLER_PRICE, TOO_MUCH]
            .into_iter()
            .find(|price| self.commitment(negotiation, agent, *price) == committed)
            .unwrap_or(BUYER_PRICE)
    }

    /// Terms of all kinds: plain, with a bond, with sealed prices, with milestones.
    fn terms(&self) -> NegotiationParams {
        let mut terms = match self.variant % 8 {
            0 | 1 => Fixture::terms(),
            2 => Fixture::bonded_terms(),
            3 | 4 => Fixture::sealed_terms(),
            5 => Fixture::milestone_terms(&[10_000]),
            6 => Fixture::milestone_terms(&[5_000, 5_000]),
            _ => Fixture::milestone_terms(&[1_250; 8]),
        };
        terms.escrow_amount = ESCROW * [1, 2][usize::from(self.bit(3))];
        terms.max_rounds = [6, 1][usize::from(self.bit(4))];
        terms.decay_rate_bps = [200, 0][usize::from(self.bit(5))];
        terms.max_fee_bps = 500;
        terms.global_deadline = self.now.saturating_add(3_600);
        let shares = terms.milestone_bps;
        let count = shares.iter().filter(|share| **share != 0).count() as u8;
        if count > 0 {
            let hours = [1, 48][usize::from(self.bit(6))];
            terms.review_hours = hours;
            terms.milestone_deadline =
                earliest_milestone_deadline(terms.global_deadline, count, hours);
            terms.bond_required = if self.bit(7) { 0 } else { terms.bond_required };
        }
        terms
    }
}
