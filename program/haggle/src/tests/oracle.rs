//! The expected call result, derived from the table row and the design. The oracle shares no code with the
//! checks.

use super::fixture::{args_of, associated, width, Call, Fixture};
use crate::error::{Framework, HaggleError};
use crate::instructions::{accept_offer, claim_payout};
use crate::runtime::programs;
use crate::schema::table::{Kind, Record, Seed};
use crate::state::{BondState, OfferSide};
use crate::ID;
use pinocchio::error::ProgramError;
use pinocchio::Address;
use solana_account::Account;

/// The expected call result.
pub type Expected = Result<(), ProgramError>;

fn refuse(error: impl Into<ProgramError>) -> Expected {
    Err(error.into())
}

/// The error returned for frozen token accounts.
const ACCOUNT_FROZEN: ProgramError = ProgramError::Custom(17);

/// Any error of the runtime.
pub const RUNTIME_ERROR: ProgramError = ProgramError::Custom(u32::MAX);

/// A call and the accounts before the call.
struct Oracle<'a> {
    fixture: &'a Fixture,
    call: &'a Call,
}

/// The expected call result.
pub fn expected_result(fixture: &Fixture, call: &Call) -> Expected {
    let oracle = Oracle { fixture, call };
    let row = call.row;
    if call.accounts.len() < row.accounts.len() {
        return refuse(Framework::AccountNotEnoughKeys);
    }
    let places = || 0..row.accounts.len();
    for place in places() {
        oracle.flags(place)?;
    }
    for place in places() {
        oracle.owner(place)?;
    }
    for place in places() {
        oracle.record(place)?;
    }
    for place in places() {
        oracle.seeds(place)?;
    }
    for place in places() {
        oracle.stored(place)?;
    }
    for place in places() {
        oracle.token_account(place)?;
    }
    for place in places() {
        oracle.program(place)?;
    }
    oracle.rules()
}

impl Oracle<'_> {
    fn address(&self, place: usize) -> Address {
        self.call.accounts[place].pubkey
    }

    fn account(&self, place: usize) -> Account {
        self.fixture.account(&self.address(place))
    }

    fn named(&self, name: &str) -> Address {
        self.address(self.call.place(name))
    }

    fn name(&self, place: usize) -> &'static str {
        self.call.row.accounts[place].name
    }

    fn has(&self, name: &str) -> bool {
        self.call
            .row
            .accounts
            .iter()
            .any(|account| account.name == name)
    }

    fn is_left_out(&self, place: usize) -> bool {
        self.call.row.accounts[place].meta.optional && self.address(place) == ID
    }

    // The runtime combines the flags for an account listed twice, and makes the running program read-only.
    fn flags(&self, place: usize) -> Expected {
        let meta = &self.call.row.accounts[place].meta;
        let address = self.address(place);
        let twins = || {
            self.call
                .accounts
                .iter()
                .filter(|account| account.pubkey == address)
        };
        if self.is_left_out(place) {
            Ok(())
        } else if meta.signer && !twins().any(|account| account.is_signer) {
            refuse(Framework::AccountNotSigner)
        } else if meta.writable && (address == ID || !twins().any(|account| account.is_writable)) {
            refuse(Framework::ConstraintMut)
        } else {
            Ok(())
        }
    }

    fn owner(&self, place: usize) -> Expected {
        let owners = self.call.row.accounts[place].meta.owners;
        if owners.is_empty()
            || self.is_left_out(place)
            || owners.contains(&&self.account(place).owner)
        {
            Ok(())
        } else {
            refuse(Framework::AccountOwnedByWrongProgram)
        }
    }

    fn record(&self, place: usize) -> Expected {
        let Some(record) = self.call.row.accounts[place].meta.holds else {
            return Ok(());
        };
        let data = self.account(place).data;
        if data.len() < 8 {
            refuse(Framework::AccountDiscriminatorNotFound)
        } else if data[..8] != record.discriminator {
            refuse(Framework::AccountDiscriminatorMismatch)
        } else if data.len() != record.size {
            refuse(Framework::AccountDidNotDeserialize)
        } else {
            Ok(())
        }
    }

    fn seeds(&self, place: usize) -> Expected {
        let meta = &self.call.row.accounts[place].meta;
        if meta.seeds.is_empty() || self.is_left_out(place) {
            return Ok(());
        }
        let seeds: Vec<Vec<u8>> = meta.seeds.iter().map(|seed| self.seed(seed)).collect();
        let seeds: Vec<&[u8]> = seeds.iter().map(Vec::as_slice).collect();
        let program = meta.seeds_program.unwrap_or(&ID);
        if Address::find_program_address(&seeds, program).0 == self.address(place) {
            Ok(())
        } else {
            refuse(Framework::ConstraintSeeds)
        }
    }

    fn seed(&self, seed: &Seed) -> Vec<u8> {
        match seed {
            Seed::Const(bytes) => bytes.to_vec(),
            Seed::Account(name) => self.named(name).as_ref().to_vec(),
            Seed::Arg(name) => self.arg(name).to_vec(),
        }
    }

    fn arg(&self, name: &str) -> &[u8] {
        let mut at = 8;
        for field in self.call.row.args {
            let end = at + width(&field.ty);
            if field.name == name {
                return &self.call.data[at..end];
            }
            at = end;
        }
        panic!("{} has no argument {name}", self.call.row.name);
    }

    fn stored(&self, place: usize) -> Expected {
        let Some(holder) = self.call.row.accounts[place].meta.stored_in else {
            return Ok(());
        };
        if self.is_left_out(place)
            || self.stored_address(holder, self.name(place)) == self.address(place)
        {
            Ok(())
        } else {
            refuse(Framework::ConstraintHasOne)
        }
    }

    /// A record field in an account.
    fn field(&self, account: &str, name: &str) -> Vec<u8> {
        let place = self.call.place(account);
        let record = self.call.row.accounts[place].meta.holds;
        field(
            record.expect("the account holds a record"),
            &self.account(place).data,
            name,
        )
    }

    fn stored_address(&self, account: &str, name: &str) -> Address {
        address_in(&self.field(account, name))
    }

    fn number(&self, name: &str) -> u64 {
        let mut number = [0; 8];
        let bytes = self.field("negotiation", name);
        number[..bytes.len()].copy_from_slice(&bytes);
        u64::from_le_bytes(number)
    }

    fn program(&self, place: usize) -> Expected {
        let meta = &self.call.row.accounts[place].meta;
        if !meta.one_of.is_empty() && !self.is_left_out(place) {
            return self.token_program(place);
        }
        match meta.address {
            Some(address)
                if meta.seeds.is_empty()
                    && !self.is_left_out(place)
                    && self.address(place) != *address =>
            {
                refuse(Framework::InvalidProgramId)
            }
            _ => Ok(()),
        }
    }

    /// The mint's owner must be the given token program.
    fn token_program(&self, place: usize) -> Expected {
        let mint = self.call.place("token_mint");
        let is_right = if self.is_left_out(mint) {
            [programs::TOKEN, programs::TOKEN_2022].contains(&self.address(place))
        } else {
            self.account(mint).owner == self.address(place)
        };
        if is_right {
            Ok(())
        } else {
            refuse(Framework::InvalidProgramId)
        }
    }

    fn mint(&self) -> Address {
        if self.has("negotiation") && self.call.row.name != "create_negotiation" {
            self.stored_address("negotiation", "token_mint")
        } else {
            self.named("token_mint")
        }
    }

    /// The token account's required owner; None for any owner.
    fn token_owner(&self, name: &str) -> Option<Address> {
        match (self.call.row.name, name) {
            (_, "destination_token_account") => None,
            ("create_negotiation", "buyer_token_account") => Some(self.named("buyer")),
            (_, "buyer_token_account") => Some(self.stored_address("negotiation", "buyer")),
            (_, "seller_token_account") => Some(self.stored_address("negotiation", "seller")),
            (_, "treasury_token_account") => Some(self.stored_address("config", "treasury")),
            (row, name) => panic!("no owner is defined for {name} of {row}"),
        }
    }

    fn token_account(&self, place: usize) -> Expected {
        let name = self.name(place);
        if !name.ends_with("token_account") || self.is_left_out(place) {
            return Ok(());
        }
        let mint = self.mint();
        let owner = self.token_owner(name);
        let account = self.account(place);
        let is_right = token(&account)
            .is_some_and(|(of, who, _)| of == mint && owner.is_none_or(|owner| owner == who));
        let can_receive = is_right && account.data[108] == 1;
        let is_payable = can_receive
            && (!has_other_authority(&account) || owner.is_some_and(|owner| self.chooses(&owner)));
        let is_associated =
            owner.is_some_and(|owner| associated(&owner, &mint) == self.address(place));
        let is_taken = match (self.call.row.name, name) {
            // The deposit source, or a recipient that is checked only if an amount is due.
            ("create_negotiation" | "accept_invitation" | "close_negotiation", _) => is_right,
            ("claim_payout", _) => can_receive && self.address(place) != self.named("escrow_vault"),
            _ => is_payable || is_associated,
        };
        if is_taken {
            Ok(())
        } else {
            refuse(Framework::ConstraintRaw)
        }
    }

    /// Reports whether the call has this account and close_negotiation can pay it.
    fn is_payable(&self, name: &str) -> bool {
        let place = self.call.place(name);
        let account = self.account(place);
        !self.is_left_out(place) && account.data[108] == 1 && !has_other_authority(&account)
    }

    /// Reports whether only this address signs, and so chose all accounts.
    fn chooses(&self, address: &Address) -> bool {
        let accounts = self.call.row.accounts.iter().zip(&self.call.accounts);
        let mut signers = accounts.filter(|(row, _)| row.meta.signer);
        let first = signers.next();
        signers.next().is_none() && first.is_some_and(|(_, given)| given.pubkey == *address)
    }

    fn signer(&self) -> Address {
        let place = self
            .call
            .row
            .accounts
            .iter()
            .position(|account| account.meta.signer);
        self.address(place.expect("the row has a signer"))
    }

    fn side(&self) -> Result<OfferSide, ProgramError> {
        let signer = self.signer();
        if signer == self.stored_address("negotiation", "buyer") {
            Ok(OfferSide::Buyer)
        } else if signer == self.stored_address("negotiation", "seller") {
            Ok(OfferSide::Seller)
        } else {
            Err(HaggleError::Unauthorized.into())
        }
    }

    fn is_vault_a_token_account(&self) -> bool {
        token(&self.account(self.call.place("escrow_vault"))).is_some()
    }

    /// The instruction's rules beyond accounts, as far as another account can change the result.
    fn rules(&self) -> Expected {
        match self.call.row.name {
            "initialize_config" => {
                let data = self.account(self.call.place("program_data")).data;
                let names = data.len() >= 45 && data[..4] == [3, 0, 0, 0] && data[12] == 1;
                if names && address_in(&data[13..45]) == self.signer() {
                    Ok(())
                } else {
                    refuse(HaggleError::Unauthorized)
                }
            }
            "create_negotiation" => {
                let mint = self.account(self.call.place("token_mint")).data;
                if mint.len() != 82 || mint[45] != 1 {
                    refuse(HaggleError::UnsupportedMint)
                } else if self.call.data.last() != Some(&mint[44]) {
                    refuse(HaggleError::InvalidParams)
                } else if self.account(self.call.place("buyer_token_account")).data[108] == 1 {
                    Ok(())
                } else {
                    refuse(ACCOUNT_FROZEN)
                }
            }
            "accept_invitation" => {
                if self.side()? != OfferSide::Seller {
                    return refuse(HaggleError::Unauthorized);
                }
                let terms = const_crypto::sha2::Sha256::new()
                    .update(self.named("negotiation").as_ref())
                    .update(&self.account(self.call.place("negotiation")).data)
                    .finalize();
                self.is_current(self.arg("terms_hash") == terms)?;
                let mint = self.account(self.call.place("token_mint")).data;
                self.is_current(self.arg("decimals") == [mint[44]])?;
                if self.number("bond_required") == 0 {
                    return Ok(());
                }
                self.needs(&["escrow_vault", "seller_token_account", "token_program"])?;
                self.deposits()
            }
            "update_config" | "set_paused" | "propose_authority" => {
                self.is_signed_by(self.stored_address("config", "authority"))
            }
            "accept_authority" => {
                self.is_signed_by(self.stored_address("config", "pending_authority"))
            }
            "submit_zopa_commitment" => {
                let side = self.side()?;
                self.is_turn(self.number("zopa_phase") == u64::from(side.0))
            }
            "reveal_zopa_price" => self.reveals(),
            "submit_offer" => {
                let side = self.side()?;
                self.is_current(
                    u64::from(self.arg("expected_round")[0]) == self.number("current_round"),
                )?;
                self.is_turn(side == OfferSide::Buyer)
            }
            "accept_offer" => {
                let side = self.side()?;
                let seen = accept_offer::Args {
                    created_at: self.number("created_at") as i64,
                    expected_round: self.number("current_round") as u8,
                    expected_amount: self.number("current_offer_amount"),
                    expected_metadata: self
                        .field("negotiation", "metadata")
                        .try_into()
                        .expect("64 bytes"),
                };
                self.is_current(self.call.data[8..] == *args_of(&seen))?;
                let is_midpoint = self.stored_address("negotiation", "current_offer_by")
                    == self.named("negotiation");
                self.is_turn(is_midpoint || u64::from(side.0) != self.number("offer_side"))?;
                self.pays()
            }
            "reject_negotiation" => {
                let side = self.side()?;
                self.is_current(
                    u64::from(self.arg("expected_round")[0]) == self.number("current_round"),
                )?;
                // In no scene does the seller forfeit the bond.
                if side == OfferSide::Seller && self.number("bond_required") > 0 {
                    self.needs(&["seller_token_account"])?;
                }
                self.returns_bond()
            }
            "expire_negotiation" => self.returns_bond(),
            "claim_milestone" => self.is_signed_by(self.stored_address("negotiation", "seller")),
            "dispute_milestone" => self.is_signed_by(self.stored_address("negotiation", "buyer")),
            "release_milestone" => {
                if self.fixture.now < self.number("turn_deadline") as i64 {
                    self.is_signed_by(self.stored_address("negotiation", "buyer"))?;
                }
                // In the scenes, a milestone is refunded only if the release settles the negotiation.
                if self.number("milestones_decided") != 0 {
                    self.needs(&["buyer_token_account"])?;
                }
                self.pays()
            }
            "resolve_dispute" => {
                self.is_signed_by(self.stored_address("negotiation", "arbiter"))?;
                self.pays()
            }
            "settle_deadline" => self.pays(),
            "settle_by_agreement" => {
                self.is_current(
                    u64::from(self.arg("expected_decided")[0]) == self.number("milestones_decided"),
                )?;
                self.pays()
            }
            "claim_payout" => {
                let kept = match self.side()? {
                    OfferSide::Buyer => self.number("claimable_buyer"),
                    _ => self.number("claimable_seller"),
                };
                let seen = claim_payout::Args {
                    created_at: self.number("created_at") as i64,
                    amount: kept,
                };
                self.is_current(self.call.data[8..] == *args_of(&seen))?;
                self.pays()
            }
            "close_negotiation" => {
                self.pays()?;
                // In every scene, fee and decay are due to the treasury.
                let is_deliverable = self.is_payable("treasury_token_account")
                    && (self.number("claimable_buyer") == 0
                        || self.is_payable("buyer_token_account"))
                    && (self.number("claimable_seller") == 0
                        || self.is_payable("seller_token_account"));
                if is_deliverable {
                    Ok(())
                } else {
                    refuse(HaggleError::PayoutPending)
                }
            }
            row => panic!("no rules are defined for {row}"),
        }
    }

    /// The second reveal compares the prices. If no zone exists, it ends the negotiation.
    fn reveals(&self) -> Expected {
        let side = self.side()?;
        let buyers = self.number("buyer_price");
        let is_buyers = side == OfferSide::Buyer;
        self.is_turn(is_buyers == (buyers == 0))?;
        let sealed = const_crypto::sha2::Sha256::new()
            .update(b"haggle-zopa")
            .update(self.named("negotiation").as_ref())
            .update(&self.field("negotiation", "created_at"))
            .update(self.signer().as_ref())
            .update(&self.call.data[16..])
            .finalize();
        let committed = if is_buyers {
            "buyer_commitment"
        } else {
            "seller_commitment"
        };
        if self.field("negotiation", committed) != sealed {
            return refuse(HaggleError::ZopaCommitmentMismatch);
        }
        let price = u64::from_le_bytes(self.arg("price").try_into().expect("eight bytes"));
        if is_buyers || buyers >= price {
            return Ok(());
        }
        self.needs(&[
            "escrow_vault",
            "buyer_token_account",
            "seller_token_account",
            "token_mint",
            "token_program",
        ])?;
        self.pays()
    }

    /// Token programs refuse deposits to anything but token accounts, and the runtime refuses deposits to
    /// another program's account.
    fn deposits(&self) -> Expected {
        if self.is_vault_a_token_account() {
            return Ok(());
        }
        let vault = self.account(self.call.place("escrow_vault"));
        if vault.owner == programs::TOKEN {
            refuse(ProgramError::InvalidAccountData)
        } else {
            refuse(RUNTIME_ERROR)
        }
    }

    /// A held bond requires the seller's account.
    fn returns_bond(&self) -> Expected {
        if self.number("bond_state") == u64::from(BondState::Held.0) {
            self.needs(&["seller_token_account"])?;
        }
        self.pays()
    }

    fn needs(&self, optional: &[&str]) -> Expected {
        if optional
            .iter()
            .any(|name| self.is_left_out(self.call.place(name)))
        {
            refuse(Framework::AccountNotEnoughKeys)
        } else {
            Ok(())
        }
    }

    fn is_signed_by(&self, who: Address) -> Expected {
        if self.signer() == who {
            Ok(())
        } else {
            refuse(HaggleError::Unauthorized)
        }
    }

    fn is_current(&self, is_true: bool) -> Expected {
        if is_true {
            Ok(())
        } else {
            refuse(HaggleError::StaleState)
        }
    }

    fn is_turn(&self, is_true: bool) -> Expected {
        if is_true {
            Ok(())
        } else {
            refuse(HaggleError::NotYourTurn)
        }
    }

    /// The program refuses to pay from a vault of any other kind than token account, which does not occur on
    /// a chain.
    fn pays(&self) -> Expected {
        if !self.is_vault_a_token_account() {
            return refuse(HaggleError::Overflow);
        }
        Ok(())
    }
}

/// The token account's mint, owner and state.
fn token(account: &Account) -> Option<(Address, Address, u8)> {
    let data = &account.data;
    (account.owner == programs::TOKEN && data.len() == 165).then(|| {
        (
            address_in(&data[..32]),
            address_in(&data[32..64]),
            data[108],
        )
    })
}

/// Reports whether the token account has a delegate or close authority.
fn has_other_authority(account: &Account) -> bool {
    account.data[72..76] != [0; 4] || account.data[129..133] != [0; 4]
}

fn address_in(bytes: &[u8]) -> Address {
    Address::new_from_array(bytes.try_into().expect("an address has 32 bytes"))
}

/// The record field's bytes.
pub fn field(record: &Record, data: &[u8], name: &str) -> Vec<u8> {
    let Kind::Struct(fields) = record.def.kind else {
        unreachable!("records are structs");
    };
    let mut at = 8;
    for field in fields {
        let end = at + width(&field.ty);
        if field.name == name {
            return data[at..end].to_vec();
        }
        at = end;
    }
    panic!("{} has no field {name}", record.def.name);
}
