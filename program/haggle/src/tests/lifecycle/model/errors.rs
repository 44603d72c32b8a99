//! The errors of the program and of the programs that it calls. Those of the framework stand where they are answered.

pub const INVALID_STATE: u32 = 6000;
pub const UNAUTHORIZED: u32 = 6001;
pub const NOT_YOUR_TURN: u32 = 6002;
pub const PAST_DEADLINE: u32 = 6003;
pub const PAST_WINDOW: u32 = 6004;
pub const TOO_LOW: u32 = 6005;
pub const TOO_HIGH: u32 = 6006;
pub const MAX_ROUNDS: u32 = 6007;
pub const INVALID_PARAMS: u32 = 6008;
pub const PAUSED: u32 = 6009;
pub const OVERFLOW: u32 = 6012;
pub const STALE: u32 = 6013;
pub const UNSUPPORTED_MINT: u32 = 6014;
pub const PAYOUT_PENDING: u32 = 6015;
/// What the system program and the token program answer when there is too little.
pub const TOO_LITTLE: u32 = 1;
/// What the token program answers for a frozen account.
pub const ACCOUNT_FROZEN: u32 = 17;
