//! What each instruction may cost under SPL Token: the design's figures, and those that had to be corrected.

use super::meter::Weight::{self, Apart, Other, Typical};

/// An instruction's ceiling in compute units, and what was estimated before the program was written.
pub struct Budget {
    /// The instruction's name.
    pub instruction: &'static str,
    /// What it may cost.
    pub ceiling: u64,
    /// What was estimated.
    pub estimate: &'static str,
}

const fn budget(instruction: &'static str, ceiling: u64, estimate: &'static str) -> Budget {
    Budget {
        instruction,
        ceiling,
        estimate,
    }
}

/// The budgets in the order of the page.
pub const BUDGETS: [Budget; 20] = [
    budget("initialize_config", 2_100, "none"),
    budget("update_config", 1_500, "none"),
    budget("set_paused", 1_500, "none"),
    budget("propose_authority", 1_500, "none"),
    budget("accept_authority", 1_500, "none"),
    budget("create_negotiation", 9_500, "50,000 to 80,000"),
    budget("accept_invitation", 1_200, "10,000 to 20,000"),
    budget("submit_zopa_commitment", 700, "none"),
    budget("reveal_zopa_price", 1_200, "none"),
    budget("submit_offer", 900, "15,000 to 30,000"),
    budget("accept_offer", 3_700, "50,000 to 80,000"),
    budget("reject_negotiation", 2_600, "40,000 to 60,000"),
    budget("expire_negotiation", 2_500, "40,000 to 60,000"),
    budget("close_negotiation", 3_200, "5,000 to 10,000"),
    budget("claim_payout", 2_300, "none"),
    budget("claim_milestone", 600, "none"),
    budget("release_milestone", 3_000, "none"),
    budget("dispute_milestone", 600, "none"),
    budget("resolve_dispute", 3_400, "none"),
    budget("settle_deadline", 4_700, "none"),
];

/// What a payment that has to be recorded may cost more.
pub const RECORDING: u64 = 1_700;
/// What delivering to one party, and to both, may cost more when a negotiation is closed.
pub const DELIVERING: u64 = 600;
/// As `DELIVERING`, to both.
pub const DELIVERING_TO_BOTH: u64 = 1_200;
/// What a bond may cost more in accept_invitation.
pub const DEPOSITING_A_BOND: u64 = 1_600;
/// What a bond may cost more at an end without an agreement.
pub const A_BOND: u64 = 800;
/// What revealing may cost more when it ends the negotiation.
pub const ENDING: u64 = 2_800;

/// What a case of an instruction may cost; nothing where no figure is asked.
pub fn ceiling(instruction: &str, weight: Weight) -> Option<u64> {
    let budget = BUDGETS
        .iter()
        .find(|budget| budget.instruction == instruction);
    let ceiling = budget.expect("each instruction has a budget").ceiling;
    match weight {
        Typical | Other => Some(ceiling),
        Apart(more) => more.map(|more| ceiling + more),
    }
}
