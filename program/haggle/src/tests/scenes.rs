//! For every row of the table, the calls that succeed, each in a world full of accounts that could be confused with the
//! right ones.

use super::stage::{
    associated, currency, named, owned, program_of, token_account, under_both_token_programs,
    wallet, zopa_commitment, Call, Deal, Stage, AUTHORITY, BUYER, BUYER_PRICE, ESCROW, FUNDS,
    LAMPORTS, MILESTONE_DEADLINE, OFFER, OTHER_MINT, REVIEW, SELLER, SELLER_PRICE, STRANGER,
    THIRDS, TOO_MUCH, TREASURY,
};
use crate::instructions::create_negotiation::NegotiationParams;
use crate::instructions::INSTRUCTIONS;
use crate::schema::declare::Flag;
use crate::state::ProtocolConfig;
use pinocchio::Address;

/// A call that succeeds, and the world it does in.
pub struct Scene {
    /// Which way of calling the instruction it is.
    pub name: &'static str,
    /// The world before the call.
    pub stage: Stage,
    /// The call.
    pub call: Call,
    /// What the call is about.
    pub deal: Deal,
}

/// Another configuration of the program's, at an address that is not the one.
pub const SECOND_CONFIG: Address = named("a second configuration");
/// The configuration's bytes in an account of another program.
pub const FOREIGN_CONFIG: Address = named("another program's configuration");
/// The loader's account of another program that has the same upgrade authority.
pub const OTHER_PROGRAM_DATA: Address = named("another program's data");
/// A token account of the buyer's beside the associated one, frozen.
pub const FROZEN_ACCOUNT: Address = named("a frozen account of the buyer's");

/// The negotiation that the calls are about, and its doubles: the same pair's next session, the same terms between others,
/// the same pair in another mint.
pub fn deals() -> [Deal; 4] {
    [
        Stage::deal(),
        Deal::between(BUYER, SELLER, 2, currency()),
        Deal::between(STRANGER, TREASURY, 1, currency()),
        Deal::between(BUYER, SELLER, 3, OTHER_MINT),
    ]
}

/// A world in which all four deals have come the same way.
fn world(path: impl Fn(&mut Stage, &Deal)) -> Stage {
    let mut stage = Stage::new();
    let mint = currency();
    stage.put(
        associated(&STRANGER, &mint),
        token_account(&mint, &STRANGER, FUNDS),
    );
    let config = stage.account(&ProtocolConfig::ADDRESS);
    stage.put(SECOND_CONFIG, config.clone());
    stage.put(FOREIGN_CONFIG, owned(named("another program"), config.data));
    let program_data = stage.account(&Stage::program_data());
    stage.put(OTHER_PROGRAM_DATA, program_data);
    stage.put(FROZEN_ACCOUNT, token_account(&mint, &BUYER, 0));
    stage.freeze(&FROZEN_ACCOUNT);
    for deal in deals() {
        path(&mut stage, &deal);
    }
    stage
}

fn run(stage: &mut Stage, call: &Call) {
    stage.run(call).succeeds();
}

fn created(stage: &mut Stage, deal: &Deal) {
    created_with(stage, deal, &Stage::terms());
}

fn created_with(stage: &mut Stage, deal: &Deal, terms: &NegotiationParams) {
    let call = stage.create(deal, terms);
    run(stage, &call);
    stage.donate(&deal.seller_token_account, terms.bond_required);
}

/// What an agent seals its price with: another one in each negotiation, so that nothing is gained by showing it elsewhere.
fn nonce(deal: &Deal, agent: Address) -> [u8; 32] {
    const_crypto::sha2::Sha256::new()
        .update(deal.negotiation.as_ref())
        .update(agent.as_ref())
        .finalize()
}

fn commit(stage: &Stage, deal: &Deal, agent: Address, price: u64) -> Call {
    let commitment = zopa_commitment(deal, agent, price, nonce(deal, agent));
    stage.commit(deal, agent, commitment)
}

fn reveal(stage: &Stage, deal: &Deal, agent: Address, price: u64) -> Call {
    stage.reveal_and_end(deal, agent, price, nonce(deal, agent))
}

/// The seller takes part with a bond, and the prices are compared under seal first.
fn sealed(stage: &mut Stage, deal: &Deal) {
    bonded_with(stage, deal, &Stage::sealed_terms());
}

fn bonded_with(stage: &mut Stage, deal: &Deal, terms: &NegotiationParams) {
    created_with(stage, deal, terms);
    let call = stage.accept_invitation_with_bond(deal);
    run(stage, &call);
}

fn both_committed_to(stage: &mut Stage, deal: &Deal, sellers: u64) {
    sealed(stage, deal);
    let call = commit(stage, deal, deal.buyer, BUYER_PRICE);
    run(stage, &call);
    let call = commit(stage, deal, deal.seller, sellers);
    run(stage, &call);
}

fn buyer_revealed(stage: &mut Stage, deal: &Deal, sellers: u64) {
    both_committed_to(stage, deal, sellers);
    let call = reveal(stage, deal, deal.buyer, BUYER_PRICE);
    run(stage, &call);
}

/// With a bond and milestones.
fn offered_in_tranches(stage: &mut Stage, deal: &Deal) {
    bonded_with(stage, deal, &Stage::milestone_terms(&THIRDS));
    let call = stage.offer(deal, deal.buyer, OFFER);
    run(stage, &call);
}

fn accepted(stage: &mut Stage, deal: &Deal) {
    offered_in_tranches(stage, deal);
    let call = stage.accept_offer(deal, deal.seller);
    run(stage, &call);
}

fn claimed(stage: &mut Stage, deal: &Deal) {
    accepted(stage, deal);
    stage.claims(deal, 0);
}

fn disputed(stage: &mut Stage, deal: &Deal) {
    accepted(stage, deal);
    stage.claims_and_disputes(deal, 0);
}

fn invited(stage: &mut Stage, deal: &Deal) {
    created(stage, deal);
    let call = stage.accept_invitation(deal);
    run(stage, &call);
}

fn offered(stage: &mut Stage, deal: &Deal) {
    invited(stage, deal);
    let call = stage.offer(deal, deal.buyer, OFFER);
    run(stage, &call);
}

fn settled(stage: &mut Stage, deal: &Deal) {
    offered(stage, deal);
    let call = stage.accept_offer(deal, deal.seller);
    run(stage, &call);
}

fn kept(stage: &mut Stage, deal: &Deal) {
    offered(stage, deal);
    stage.freeze(&deal.buyer_token_account);
    stage.freeze(&deal.seller_token_account);
    let call = stage.accept_offer(deal, deal.seller);
    run(stage, &call);
    stage.thaw(&deal.buyer_token_account);
    stage.thaw(&deal.seller_token_account);
}

/// Every way of calling every instruction, in the mint of [`currency`]. A row of the table that has none fails the test that
/// asks.
pub fn scenes() -> Vec<Scene> {
    let deal = Stage::deal();
    let mut scenes = Vec::new();
    let mut add = |name, stage: Stage, call| {
        scenes.push(Scene {
            name,
            stage,
            call,
            deal,
        });
    };
    for row in INSTRUCTIONS {
        match row.name {
            "initialize_config" => {
                let mut stage = world(invited);
                stage.accounts.remove(&ProtocolConfig::ADDRESS);
                let call = stage.initialize();
                add("initialize_config", stage, call);
            }
            "update_config" => {
                let stage = world(invited);
                let mut config = Stage::config();
                config.default_protocol_fee_bps = 100;
                let call = stage.update(&config);
                add("update_config", stage, call);
            }
            "set_paused" => {
                let stage = world(invited);
                let call = stage.set_paused(Flag::ON);
                add("set_paused", stage, call);
            }
            "propose_authority" => {
                let stage = world(invited);
                let call = stage.propose(STRANGER);
                add("propose_authority", stage, call);
            }
            "accept_authority" => {
                let mut stage = world(invited);
                let call = stage.propose(STRANGER);
                run(&mut stage, &call);
                let call = stage.take_over(STRANGER);
                add("accept_authority", stage, call);
            }
            "create_negotiation" => {
                let mut stage = world(created);
                let (before, empty) = (Stage::new(), wallet(0));
                stage.put(deal.negotiation, empty.clone());
                stage.put(deal.escrow_vault, empty);
                stage.put(BUYER, before.account(&BUYER));
                stage.donate(&deal.buyer_token_account, ESCROW);
                let call = stage.create(&deal, &Stage::terms());
                add("create_negotiation", stage, call);
            }
            "accept_invitation" => {
                let stage = world(created);
                let call = stage.accept_invitation(&deal);
                add("accept_invitation", stage.clone(), call.clone());
                let call = call
                    .given("escrow_vault", deal.escrow_vault)
                    .given("seller_token_account", deal.seller_token_account)
                    .given("token_mint", deal.token_mint)
                    .given("token_program", program_of(&deal.token_mint));
                add("accept_invitation with all accounts", stage, call);
                let stage = world(|stage, deal| created_with(stage, deal, &Stage::bonded_terms()));
                let call = stage.accept_invitation_with_bond(&deal);
                add("accept_invitation with a bond", stage, call);
            }
            "submit_zopa_commitment" => {
                let stage = world(sealed);
                let call = commit(&stage, &deal, BUYER, BUYER_PRICE);
                add("submit_zopa_commitment of the buyer's", stage, call);
                let stage = world(|stage, deal| {
                    sealed(stage, deal);
                    let call = commit(stage, deal, deal.buyer, BUYER_PRICE);
                    run(stage, &call);
                });
                let call = commit(&stage, &deal, SELLER, SELLER_PRICE);
                add("submit_zopa_commitment of the seller's", stage, call);
            }
            "reveal_zopa_price" => {
                let stage = world(|stage, deal| both_committed_to(stage, deal, SELLER_PRICE));
                let call = stage.reveal(&deal, BUYER, BUYER_PRICE, nonce(&deal, BUYER));
                add("reveal_zopa_price of the buyer's", stage, call);
                let stage = world(|stage, deal| buyer_revealed(stage, deal, SELLER_PRICE));
                let call = reveal(&stage, &deal, SELLER, SELLER_PRICE);
                add("reveal_zopa_price with a zone", stage, call);
                let stage = world(|stage, deal| buyer_revealed(stage, deal, TOO_MUCH));
                let call = reveal(&stage, &deal, SELLER, TOO_MUCH);
                add("reveal_zopa_price without a zone", stage, call);
            }
            "submit_offer" => {
                let stage = world(invited);
                let call = stage.offer(&deal, BUYER, OFFER);
                add("submit_offer", stage, call);
            }
            "accept_offer" => {
                let stage = world(offered);
                let call = stage.accept_offer(&deal, SELLER);
                add("accept_offer", stage, call);
                let stage = world(offered_in_tranches);
                let call = stage.accept_offer(&deal, SELLER);
                add("accept_offer that is paid in tranches", stage, call);
                let stage = world(|stage, deal| {
                    buyer_revealed(stage, deal, SELLER_PRICE);
                    let call = reveal(stage, deal, deal.seller, SELLER_PRICE);
                    run(stage, &call);
                });
                let call = stage.accept_offer(&deal, BUYER);
                add("accept_offer of the midpoint", stage, call);
            }
            "reject_negotiation" => {
                let stage = world(offered);
                let call = stage.reject(&deal, SELLER);
                add("reject_negotiation", stage.clone(), call.clone());
                let call = call.given("seller_token_account", deal.seller_token_account);
                add("reject_negotiation with all accounts", stage, call);
                let stage = world(offered_in_tranches);
                let call = stage
                    .reject(&deal, SELLER)
                    .given("seller_token_account", deal.seller_token_account);
                add("reject_negotiation with a bond", stage, call);
            }
            "expire_negotiation" => {
                let mut stage = world(offered);
                stage.now = stage.negotiation(&deal).turn_deadline;
                let call = stage.expire(&deal);
                add("expire_negotiation", stage.clone(), call.clone());
                let call = call.given("seller_token_account", deal.seller_token_account);
                add("expire_negotiation with all accounts", stage, call);
                let mut stage = world(offered_in_tranches);
                stage.now = stage.negotiation(&deal).turn_deadline;
                let call = stage
                    .expire(&deal)
                    .given("seller_token_account", deal.seller_token_account);
                add("expire_negotiation with a bond", stage, call);
            }
            "close_negotiation" => {
                let stage = world(settled);
                let call = stage.close(&deal, AUTHORITY);
                add("close_negotiation", stage, call);
                let stage = world(kept);
                let call = stage.close(&deal, AUTHORITY);
                add("close_negotiation of what is kept", stage, call);
            }
            "claim_payout" => {
                let stage = world(kept);
                let amount = stage.negotiation(&deal).claimable_seller;
                let call = stage.claim(&deal, SELLER, amount);
                add("claim_payout", stage, call);
            }
            "claim_milestone" => {
                let stage = world(accepted);
                let call = stage.claim_milestone(&deal, 0);
                add("claim_milestone", stage, call);
            }
            "release_milestone" => {
                let stage = world(claimed);
                let call = stage.release(&deal, BUYER, 0);
                add("release_milestone by the buyer", stage, call);
                let mut stage = world(claimed);
                stage.now = stage.negotiation(&deal).turn_deadline;
                let call = stage.release(&deal, AUTHORITY, 0);
                add("release_milestone after silence", stage, call);
            }
            "dispute_milestone" => {
                let stage = world(claimed);
                let call = stage.dispute(&deal, 0);
                add("dispute_milestone", stage, call);
            }
            "resolve_dispute" => {
                let stage = world(disputed);
                let call = stage.resolve(&deal, 0, 5_000, Flag::ON);
                add("resolve_dispute", stage, call);
            }
            "settle_deadline" => {
                let mut stage = world(disputed);
                stage.now = MILESTONE_DEADLINE + REVIEW;
                let call = stage.settle_deadline(&deal);
                add("settle_deadline", stage, call);
            }
            name => panic!("no scene shows {name} succeed"),
        }
    }
    scenes
}

#[test]
fn every_scene_succeeds_under_both_token_programs_and_no_instruction_is_without_one() {
    under_both_token_programs(|| {
        let scenes = scenes();
        for row in INSTRUCTIONS {
            assert!(
                scenes.iter().any(|scene| scene.call.row.name == row.name),
                "{}",
                row.name
            );
        }
        for mut scene in scenes {
            scene.stage.run(&scene.call).succeeds();
            assert!(scene.stage.lamports(&BUYER) <= LAMPORTS);
        }
    });
}
