//! The configuration, and a negotiation's beginning.

use super::super::stage::{rent, wallet, Stage, STRANGER};
use super::ceilings::DEPOSITING_A_BOND;
use super::meter::Meter;
use super::meter::Weight::{Apart, Other, Typical};
use super::points::{after, deal_with_bumps, metadata, Points};
use crate::instructions::create_negotiation::NegotiationParams;
use crate::schema::declare::Flag;
use crate::state::{Negotiation, ProtocolConfig};
use crate::token::account::TokenAccount;

/// initialize_config.
pub fn initialize_config(meter: &mut Meter) {
    let mut stage = Stage::unconfigured();
    let call = stage.initialize();
    meter.measure(Typical, "once", &stage, &call);
    stage.put(ProtocolConfig::ADDRESS, wallet(1));
    meter.measure(Apart(None), "lamports sent ahead", &stage, &call);
}

/// create_negotiation.
pub fn create_negotiation(meter: &mut Meter, points: &Points) {
    let (stage, deal) = (&points.new, &points.deal);
    let call = stage.create(deal, &Stage::terms());
    meter.measure(Typical, "without metadata", stage, &call);
    let terms = NegotiationParams {
        metadata: metadata(),
        ..Stage::terms()
    };
    meter.measure(Other, "with metadata", stage, &stage.create(deal, &terms));

    for (case, bump, vault_bump) in [
        ("second bump of the negotiation", u8::MAX - 1, u8::MAX),
        ("second bump of the vault", u8::MAX, u8::MAX - 1),
    ] {
        let deal = deal_with_bumps(deal.buyer, deal.seller, bump, vault_bump);
        meter.measure(
            Apart(None),
            case,
            stage,
            &stage.create(&deal, &Stage::terms()),
        );
    }
    for (case, for_negotiation, for_vault) in [
        ("a lamport sent ahead to both", 1, 1),
        (
            "all rent sent ahead to both",
            rent(Negotiation::SIZE),
            rent(TokenAccount::SIZE),
        ),
    ] {
        let mut stage = stage.clone();
        stage.put(deal.negotiation, wallet(for_negotiation));
        stage.put(deal.escrow_vault, wallet(for_vault));
        meter.measure(Apart(None), case, &stage, &call);
    }
}

/// What the authority does to the configuration.
pub fn administration(meter: &mut Meter) {
    let stage = Stage::new();
    let call = stage.update(&Stage::config());
    meter.measure(Typical, "as it is", &stage, &call);
    meter.measure(Typical, "pausing", &stage, &stage.set_paused(Flag::ON));
    let propose = stage.propose(STRANGER);
    meter.measure(Typical, "as it is", &stage, &propose);
    let stage = after(&stage, &propose);
    meter.measure(Typical, "as it is", &stage, &stage.take_over(STRANGER));
}

/// accept_invitation.
pub fn accept_invitation(meter: &mut Meter, points: &Points) {
    let (stage, deal) = (&points.created, &points.deal);
    let call = stage.accept_invitation(deal);
    meter.measure(Typical, "as it is", stage, &call);
    let call = stage.accept_invitation_with_bond(deal);
    let case = "with the accounts of a bond and none asked for";
    meter.measure(Apart(Some(DEPOSITING_A_BOND)), case, stage, &call);
    let call = points.new.create(deal, &Stage::bonded_terms());
    let stage = after(&points.new, &call);
    let call = stage.accept_invitation_with_bond(deal);
    let case = "with a bond";
    meter.measure(Apart(Some(DEPOSITING_A_BOND)), case, &stage, &call);
}
