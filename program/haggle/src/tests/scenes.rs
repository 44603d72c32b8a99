//! Successful calls for every instruction, with accounts that attackers could pass instead of the right
//! accounts.

use super::fixture::{
    associated, currency, named, owned, program_of, token_account, under_both_token_programs,
    wallet, zopa_commitment, Call, Deal, Fixture, ARBITRATION, AUTHORITY, BUYER, BUYER_PRICE,
    CREATED, ESCROW, FUNDS, LAMPORTS, MILESTONE_DEADLINE, NOW, OFFER, OTHER_MINT, SELLER,
    SELLER_PRICE, STRANGER, THIRDS, TOO_MUCH, TREASURY,
};
use crate::instructions::create_negotiation::NegotiationParams;
use crate::instructions::INSTRUCTIONS;
use crate::schema::declare::Flag;
use crate::state::ProtocolConfig;
use pinocchio::Address;

/// A successful call and the environment for it.
pub struct Scene {
    /// The name of the call.
    pub name: &'static str,
    /// The accounts before the call.
    pub fixture: Fixture,
    /// The call.
    pub call: Call,
    /// The negotiation of the call.
    pub deal: Deal,
}

/// A copy of the configuration at another address.
pub const SECOND_CONFIG: Address = named("a second configuration");
/// An account of another program with the configuration's data.
pub const FOREIGN_CONFIG: Address = named("another program's configuration");
/// The loader's account for another program under the same upgrade authority.
pub const OTHER_PROGRAM_DATA: Address = named("another program's data");
/// Another buyer token account besides the associated account, frozen.
pub const FROZEN_ACCOUNT: Address = named("a frozen account of the buyer's");

/// The negotiation of the calls, and three similar ones: the same pair's next session, another pair's with
/// the same terms, and the same pair's in another mint.
pub fn deals() -> [Deal; 4] {
    [
        Fixture::deal(),
        Deal::between(BUYER, SELLER, 2, currency()),
        Deal::between(STRANGER, TREASURY, 1, currency()),
        Deal::between(BUYER, SELLER, 3, OTHER_MINT),
    ]
}

/// An environment in which all four negotiations have reached the same point.
fn environment(path: impl Fn(&mut Fixture, &Deal)) -> Fixture {
    let mut fixture = Fixture::new();
    let mint = currency();
    fixture.put(
        associated(&STRANGER, &mint),
        token_account(&mint, &STRANGER, FUNDS),
    );
    let config = fixture.account(&ProtocolConfig::ADDRESS);
    fixture.put(SECOND_CONFIG, config.clone());
    fixture.put(FOREIGN_CONFIG, owned(named("another program"), config.data));
    let program_data = fixture.account(&Fixture::program_data());
    fixture.put(OTHER_PROGRAM_DATA, program_data);
    fixture.put(FROZEN_ACCOUNT, token_account(&mint, &BUYER, 0));
    fixture.freeze(&FROZEN_ACCOUNT);
    for deal in deals() {
        path(&mut fixture, &deal);
    }
    fixture
}

fn run(fixture: &mut Fixture, call: &Call) {
    fixture.run(call).succeeds();
}

fn created(fixture: &mut Fixture, deal: &Deal) {
    created_with(fixture, deal, &Fixture::terms());
}

fn created_with(fixture: &mut Fixture, deal: &Deal, terms: &NegotiationParams) {
    fixture.now = CREATED;
    let call = fixture.create(deal, terms);
    run(fixture, &call);
    fixture.now = NOW;
    fixture.donate(&deal.seller_token_account, terms.bond_required);
}

/// The nonce for an agent's commitment. It differs in each negotiation, so no commitment opens elsewhere.
fn nonce(deal: &Deal, agent: Address) -> [u8; 32] {
    const_crypto::sha2::Sha256::new()
        .update(deal.negotiation.as_ref())
        .update(agent.as_ref())
        .finalize()
}

fn commit(fixture: &Fixture, deal: &Deal, agent: Address, price: u64) -> Call {
    let commitment = zopa_commitment(
        deal,
        fixture.created_at(deal),
        agent,
        price,
        nonce(deal, agent),
    );
    fixture.commit(deal, agent, commitment)
}

fn reveal(fixture: &Fixture, deal: &Deal, agent: Address, price: u64) -> Call {
    fixture.reveal_and_end(deal, agent, price, nonce(deal, agent))
}

/// The seller has accepted an invitation with a bond and sealed prices.
fn sealed(fixture: &mut Fixture, deal: &Deal) {
    bonded_with(fixture, deal, &Fixture::sealed_terms());
}

fn bonded_with(fixture: &mut Fixture, deal: &Deal, terms: &NegotiationParams) {
    created_with(fixture, deal, terms);
    let call = fixture.accept_invitation_with_bond(deal);
    run(fixture, &call);
}

fn both_committed_to(fixture: &mut Fixture, deal: &Deal, sellers: u64) {
    sealed(fixture, deal);
    let call = commit(fixture, deal, deal.buyer, BUYER_PRICE);
    run(fixture, &call);
    let call = commit(fixture, deal, deal.seller, sellers);
    run(fixture, &call);
}

fn buyer_revealed(fixture: &mut Fixture, deal: &Deal, sellers: u64) {
    both_committed_to(fixture, deal, sellers);
    let call = reveal(fixture, deal, deal.buyer, BUYER_PRICE);
    run(fixture, &call);
}

/// The buyer has offered, on terms with a bond and milestones.
fn offered_in_tranches(fixture: &mut Fixture, deal: &Deal) {
    bonded_with(fixture, deal, &Fixture::milestone_terms(&THIRDS));
    let call = fixture.offer(deal, deal.buyer, OFFER);
    run(fixture, &call);
}

fn accepted(fixture: &mut Fixture, deal: &Deal) {
    offered_in_tranches(fixture, deal);
    let call = fixture.accept_offer(deal, deal.seller);
    run(fixture, &call);
}

fn claimed(fixture: &mut Fixture, deal: &Deal) {
    accepted(fixture, deal);
    fixture.claims(deal, 0);
}

fn disputed(fixture: &mut Fixture, deal: &Deal) {
    accepted(fixture, deal);
    fixture.claims_and_disputes(deal, 0);
}

/// The arbiter has refunded the first milestone out of two, and the second is claimed.
fn one_left_after_a_refund(fixture: &mut Fixture, deal: &Deal) {
    bonded_with(fixture, deal, &Fixture::milestone_terms(&[5_000, 5_000]));
    let call = fixture.offer(deal, deal.buyer, OFFER);
    run(fixture, &call);
    let call = fixture.accept_offer(deal, deal.seller);
    run(fixture, &call);
    fixture.claims_and_disputes(deal, 0);
    let call = fixture.resolve(deal, 0, 0);
    run(fixture, &call);
    fixture.claims(deal, 1);
}

fn invited(fixture: &mut Fixture, deal: &Deal) {
    created(fixture, deal);
    let call = fixture.accept_invitation(deal);
    run(fixture, &call);
}

fn offered(fixture: &mut Fixture, deal: &Deal) {
    invited(fixture, deal);
    let call = fixture.offer(deal, deal.buyer, OFFER);
    run(fixture, &call);
}

fn settled(fixture: &mut Fixture, deal: &Deal) {
    offered(fixture, deal);
    let call = fixture.accept_offer(deal, deal.seller);
    run(fixture, &call);
}

fn kept(fixture: &mut Fixture, deal: &Deal) {
    offered(fixture, deal);
    fixture.freeze(&deal.buyer_token_account);
    fixture.freeze(&deal.seller_token_account);
    let call = fixture.accept_offer(deal, deal.seller);
    run(fixture, &call);
    fixture.thaw(&deal.buyer_token_account);
    fixture.thaw(&deal.seller_token_account);
}

/// All scenes, in the mint of [`currency`].
///
/// # Panics
/// If an instruction has no scene.
pub fn scenes() -> Vec<Scene> {
    let deal = Fixture::deal();
    let mut scenes = Vec::new();
    let mut add = |name, fixture: Fixture, call| {
        scenes.push(Scene {
            name,
            fixture,
            call,
            deal,
        });
    };
    for row in INSTRUCTIONS {
        match row.name {
            "initialize_config" => {
                let mut fixture = environment(invited);
                fixture.accounts.remove(&ProtocolConfig::ADDRESS);
                let call = fixture.initialize();
                add("initialize_config", fixture, call);
            }
            "update_config" => {
                let fixture = environment(invited);
                let mut config = Fixture::config();
                config.default_protocol_fee_bps = 100;
                let call = fixture.update(&config);
                add("update_config", fixture, call);
            }
            "set_paused" => {
                let fixture = environment(invited);
                let call = fixture.set_paused(Flag::ON);
                add("set_paused", fixture, call);
            }
            "propose_authority" => {
                let fixture = environment(invited);
                let call = fixture.propose(STRANGER);
                add("propose_authority", fixture, call);
            }
            "accept_authority" => {
                let mut fixture = environment(invited);
                let call = fixture.propose(STRANGER);
                run(&mut fixture, &call);
                let call = fixture.accept_authority(STRANGER);
                add("accept_authority", fixture, call);
            }
            "create_negotiation" => {
                let mut fixture = environment(created);
                let (before, empty) = (Fixture::new(), wallet(0));
                fixture.put(deal.negotiation, empty.clone());
                fixture.put(deal.escrow_vault, empty);
                fixture.put(BUYER, before.account(&BUYER));
                fixture.donate(&deal.buyer_token_account, ESCROW);
                let call = fixture.create(&deal, &Fixture::terms());
                add("create_negotiation", fixture, call);
            }
            "accept_invitation" => {
                let fixture = environment(created);
                let call = fixture.accept_invitation(&deal);
                add("accept_invitation", fixture.clone(), call.clone());
                let call = call
                    .given("escrow_vault", deal.escrow_vault)
                    .given("seller_token_account", deal.seller_token_account)
                    .given("token_program", program_of(&deal.token_mint));
                add("accept_invitation with all accounts", fixture, call);
                let fixture = environment(|fixture, deal| {
                    created_with(fixture, deal, &Fixture::bonded_terms())
                });
                let call = fixture.accept_invitation_with_bond(&deal);
                add("accept_invitation with a bond", fixture, call);
            }
            "submit_zopa_commitment" => {
                let fixture = environment(sealed);
                let call = commit(&fixture, &deal, BUYER, BUYER_PRICE);
                add("submit_zopa_commitment of the buyer's", fixture, call);
                let fixture = environment(|fixture, deal| {
                    sealed(fixture, deal);
                    let call = commit(fixture, deal, deal.buyer, BUYER_PRICE);
                    run(fixture, &call);
                });
                let call = commit(&fixture, &deal, SELLER, SELLER_PRICE);
                add("submit_zopa_commitment of the seller's", fixture, call);
            }
            "reveal_zopa_price" => {
                let fixture =
                    environment(|fixture, deal| both_committed_to(fixture, deal, SELLER_PRICE));
                let call = fixture.reveal(&deal, BUYER, BUYER_PRICE, nonce(&deal, BUYER));
                add("reveal_zopa_price of the buyer's", fixture, call);
                let fixture =
                    environment(|fixture, deal| buyer_revealed(fixture, deal, SELLER_PRICE));
                let call = reveal(&fixture, &deal, SELLER, SELLER_PRICE);
                add("reveal_zopa_price with a zone", fixture, call);
                let fixture = environment(|fixture, deal| buyer_revealed(fixture, deal, TOO_MUCH));
                let call = reveal(&fixture, &deal, SELLER, TOO_MUCH);
                add("reveal_zopa_price without a zone", fixture, call);
            }
            "submit_offer" => {
                let fixture = environment(invited);
                let call = fixture.offer(&deal, BUYER, OFFER);
                add("submit_offer", fixture, call);
            }
            "accept_offer" => {
                let fixture = environment(offered);
                let call = fixture.accept_offer(&deal, SELLER);
                add("accept_offer", fixture, call);
                let fixture = environment(offered_in_tranches);
                let call = fixture.accept_offer(&deal, SELLER);
                add("accept_offer that is paid in tranches", fixture, call);
                let fixture = environment(|fixture, deal| {
                    buyer_revealed(fixture, deal, SELLER_PRICE);
                    let call = reveal(fixture, deal, deal.seller, SELLER_PRICE);
                    run(fixture, &call);
                });
                let call = fixture.accept_offer(&deal, BUYER);
                add("accept_offer of the midpoint", fixture, call);
            }
            "reject_negotiation" => {
                let fixture = environment(offered);
                let call = fixture.reject(&deal, SELLER);
                add("reject_negotiation", fixture.clone(), call.clone());
                let call = call.given("seller_token_account", deal.seller_token_account);
                add("reject_negotiation with all accounts", fixture, call);
                let fixture = environment(offered_in_tranches);
                let call = fixture
                    .reject(&deal, SELLER)
                    .given("seller_token_account", deal.seller_token_account);
                add("reject_negotiation with a bond", fixture, call);
            }
            "expire_negotiation" => {
                let mut fixture = environment(offered);
                fixture.now = fixture.negotiation(&deal).turn_deadline;
                let call = fixture.expire(&deal);
                add("expire_negotiation", fixture.clone(), call.clone());
                let call = call.given("seller_token_account", deal.seller_token_account);
                add("expire_negotiation with all accounts", fixture, call);
                let mut fixture = environment(offered_in_tranches);
                fixture.now = fixture.negotiation(&deal).turn_deadline;
                let call = fixture
                    .expire(&deal)
                    .given("seller_token_account", deal.seller_token_account);
                add("expire_negotiation with a bond", fixture, call);
            }
            "close_negotiation" => {
                let fixture = environment(settled);
                let call = fixture.close(&deal, AUTHORITY);
                add("close_negotiation", fixture, call);
                let fixture = environment(kept);
                let call = fixture.close(&deal, AUTHORITY);
                add("close_negotiation with recorded payouts", fixture, call);
            }
            "claim_payout" => {
                let fixture = environment(kept);
                let amount = fixture.negotiation(&deal).claimable_seller;
                let call = fixture.claim(&deal, SELLER, amount);
                add("claim_payout", fixture, call);
            }
            "claim_milestone" => {
                let fixture = environment(accepted);
                let call = fixture.claim_milestone(&deal, 0);
                add("claim_milestone", fixture, call);
            }
            "release_milestone" => {
                let fixture = environment(claimed);
                let call = fixture.release(&deal, BUYER, 0);
                add("release_milestone by the buyer", fixture, call);
                let mut fixture = environment(claimed);
                fixture.now = fixture.negotiation(&deal).turn_deadline;
                let call = fixture.release(&deal, AUTHORITY, 0);
                add("release_milestone after silence", fixture, call);
                let fixture = environment(one_left_after_a_refund);
                let call = fixture
                    .release(&deal, BUYER, 1)
                    .given("buyer_token_account", deal.buyer_token_account);
                add(
                    "release_milestone that forfeits a part of the bond",
                    fixture,
                    call,
                );
            }
            "dispute_milestone" => {
                let fixture = environment(claimed);
                let call = fixture.dispute(&deal, 0);
                add("dispute_milestone", fixture, call);
            }
            "resolve_dispute" => {
                let fixture = environment(disputed);
                let call = fixture.resolve(&deal, 0, 5_000);
                add("resolve_dispute", fixture, call);
            }
            "settle_deadline" => {
                let mut fixture = environment(disputed);
                fixture.now = MILESTONE_DEADLINE + ARBITRATION;
                let call = fixture.settle_deadline(&deal);
                add("settle_deadline", fixture, call);
            }
            "settle_by_agreement" => {
                let fixture = environment(disputed);
                let call = fixture.settle_by_agreement(&deal, 5_000, 2_500);
                add("settle_by_agreement", fixture, call);
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
            scene.fixture.run(&scene.call).succeeds();
            assert!(scene.fixture.lamports(&BUYER) <= LAMPORTS);
        }
    });
}
