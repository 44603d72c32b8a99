//! The ceilings of the compute units.

/// An instruction's ceilings.
pub struct Ceiling {
    /// The instruction's name.
    pub instruction: &'static str,
    /// The typical case under SPL Token.
    pub typical: u64,
    /// The worst combination under SPL Token and under Token-2022, at first bumps.
    pub worst: [u64; 2],
}

const fn ceiling(instruction: &'static str, typical: u64, worst: [u64; 2]) -> Ceiling {
    Ceiling {
        instruction,
        typical,
        worst,
    }
}

/// The ceilings, in table order.
pub const CEILINGS: &[Ceiling] = &[
    ceiling("initialize_config", 1_973, [2_000, 2_000]),
    ceiling("update_config", 524, [520, 520]),
    ceiling("set_paused", 485, [480, 480]),
    ceiling("propose_authority", 495, [500, 500]),
    ceiling("accept_authority", 498, [500, 500]),
    ceiling("create_negotiation", 9_063, [9_100, 14_900]),
    ceiling("accept_invitation", 1_197, [2_720, 4_900]),
    ceiling("submit_zopa_commitment", 651, [660, 660]),
    ceiling("reveal_zopa_price", 1_184, [4_400, 8_250]),
    ceiling("submit_offer", 783, [870, 870]),
    ceiling("accept_offer", 3_500, [4_400, 8_250]),
    ceiling("reject_negotiation", 2_500, [4_200, 8_050]),
    ceiling("expire_negotiation", 2_400, [4_200, 7_850]),
    ceiling("close_negotiation", 2_850, [4_500, 13_400]),
    ceiling("claim_payout", 2_250, [2_200, 4_000]),
    ceiling("claim_milestone", 640, [640, 640]),
    ceiling("release_milestone", 2_760, [5_450, 9_300]),
    ceiling("dispute_milestone", 610, [600, 600]),
    ceiling("resolve_dispute", 3_348, [5_450, 9_300]),
    ceiling("settle_deadline", 4_663, [5_900, 9_750]),
    ceiling("settle_by_agreement", 4_400, [5_400, 9_300]),
];

/// The maximum cost for four corrections in a long division.
pub const CORRECTIONS: u64 = 60;

/// The maximum that amounts can add to an instruction's found worst case.
pub fn corrections(instruction: &str) -> u64 {
    match instruction {
        "release_milestone" | "resolve_dispute" | "settle_deadline" => CORRECTIONS,
        _ => 0,
    }
}

/// An instruction's ceilings.
pub fn ceiling_of(instruction: &str) -> &'static Ceiling {
    CEILINGS
        .iter()
        .find(|ceiling| ceiling.instruction == instruction)
        .expect("each instruction has ceilings")
}
