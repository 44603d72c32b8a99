//! For every row of the table, the calls that succeed, each in a world full of accounts that could be confused with the
//! right ones.

use super::stage::{
    associated, named, owned, token_account, wallet, Call, Deal, Stage, AUTHORITY, BUYER, ESCROW,
    FUNDS, LAMPORTS, MINT, OFFER, OTHER_MINT, SELLER, STRANGER, TREASURY,
};
use crate::instructions::INSTRUCTIONS;
use crate::programs;
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
        Deal::between(BUYER, SELLER, 2, MINT),
        Deal::between(STRANGER, TREASURY, 1, MINT),
        Deal::between(BUYER, SELLER, 3, OTHER_MINT),
    ]
}

/// A world in which all four deals have come the same way.
fn world(path: impl Fn(&mut Stage, &Deal)) -> Stage {
    let mut stage = Stage::new();
    stage.put(
        associated(&STRANGER, &MINT),
        token_account(&MINT, &STRANGER, FUNDS),
    );
    let config = stage.account(&ProtocolConfig::ADDRESS);
    stage.put(SECOND_CONFIG, config.clone());
    stage.put(FOREIGN_CONFIG, owned(named("another program"), config.data));
    let program_data = stage.account(&Stage::program_data());
    stage.put(OTHER_PROGRAM_DATA, program_data);
    stage.put(FROZEN_ACCOUNT, token_account(&MINT, &BUYER, 0));
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
    let call = stage.create(deal, &Stage::terms());
    run(stage, &call);
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

/// Every way of calling every instruction. A row of the table that has none fails the test that asks.
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
                    .given("token_program", programs::TOKEN);
                add("accept_invitation with all accounts", stage, call);
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
            }
            "reject_negotiation" => {
                let stage = world(offered);
                let call = stage.reject(&deal, SELLER);
                add("reject_negotiation", stage.clone(), call.clone());
                let call = call.given("seller_token_account", deal.seller_token_account);
                add("reject_negotiation with all accounts", stage, call);
            }
            "expire_negotiation" => {
                let mut stage = world(offered);
                stage.now = stage.negotiation(&deal).turn_deadline;
                let call = stage.expire(&deal);
                add("expire_negotiation", stage.clone(), call.clone());
                let call = call.given("seller_token_account", deal.seller_token_account);
                add("expire_negotiation with all accounts", stage, call);
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
            name => panic!("no scene shows {name} succeed"),
        }
    }
    scenes
}

#[test]
fn every_scene_succeeds_and_no_instruction_is_without_one() {
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
}
