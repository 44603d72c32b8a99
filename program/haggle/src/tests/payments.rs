//! Every way that the program pays the parties before a negotiation is closed. The payout account and vault
//! tests run them all.

use super::fixture::{
    Call, Deal, Fixture, ARBITRATION, BOND, BUYER, BUYER_PRICE, ESCROW, MILESTONE_DEADLINE, OFFER,
    PRICE, REVIEW, SELLER, STRANGER, THIRDS, TOO_MUCH,
};
use crate::ID;
use pinocchio::Address;

/// A negotiation party, as a recipient.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Party {
    Buyer,
    Seller,
}

/// Both parties.
pub const PARTIES: [Party; 2] = [Party::Buyer, Party::Seller];

impl Party {
    /// The party's wallet.
    pub fn wallet(self) -> Address {
        [BUYER, SELLER][self as usize]
    }

    /// The opposite party.
    pub fn other(self) -> Self {
        [Self::Seller, Self::Buyer][self as usize]
    }

    /// The name of the party's token account in the rows.
    pub fn account(self) -> &'static str {
        ["buyer_token_account", "seller_token_account"][self as usize]
    }

    /// The party's associated token account.
    pub fn associated(self, deal: &Deal) -> Address {
        [deal.buyer_token_account, deal.seller_token_account][self as usize]
    }
}

/// A call that pays at least one party.
#[derive(Clone)]
pub struct Payment {
    /// The payment, for the messages of failing tests.
    pub name: &'static str,
    /// The accounts before the call.
    pub fixture: Fixture,
    /// The negotiation.
    pub deal: Deal,
    /// The call, with the parties' associated token accounts.
    pub call: Call,
    /// The amounts for the buyer and the seller, bond included.
    pub due: [u64; 2],
}

impl Payment {
    /// The amount for a party.
    pub fn due(&self, party: Party) -> u64 {
        self.due[party as usize]
    }

    /// The amounts for both parties together.
    pub fn sum(&self) -> u64 {
        self.due[0] + self.due[1]
    }

    /// The parties whose token accounts the call lists.
    pub fn recipients(&self) -> Vec<Party> {
        PARTIES
            .into_iter()
            .filter(|party| self.call.address_of(party.account()) != ID)
            .collect()
    }

    /// Reports whether the party is the only account that the row declares as a signer.
    pub fn is_chosen_by(&self, party: Party) -> bool {
        let accounts = self.call.accounts.iter().zip(self.call.row.accounts);
        let signers: Vec<_> = accounts.filter(|(_, row)| row.meta.signer).collect();
        matches!(signers[..], [(signer, _)] if signer.pubkey == party.wallet())
    }

    /// The party's associated token account balance.
    pub fn balance(&self, party: Party) -> u64 {
        self.fixture.balance(&party.associated(&self.deal))
    }

    /// A party's recorded payout.
    pub fn recorded(&self, party: Party) -> u64 {
        let negotiation = self.fixture.negotiation(&self.deal);
        [negotiation.claimable_buyer, negotiation.claimable_seller][party as usize]
    }
}

/// The call lists token accounts for both parties.
fn with_bond(call: Call, deal: &Deal) -> Call {
    call.given("seller_token_account", deal.seller_token_account)
}

/// The buyer has offered [`OFFER`] to a seller with a bond.
fn offered() -> (Fixture, Deal) {
    Fixture::offered_with(&Fixture::bonded_terms(), OFFER)
}

/// The first tranche out of three is claimed.
fn claimed() -> (Fixture, Deal) {
    let (mut fixture, deal) = Fixture::accepted(&THIRDS);
    fixture.claims(&deal, 0);
    (fixture, deal)
}

/// The first tranche out of three is disputed.
fn disputed() -> (Fixture, Deal) {
    let (mut fixture, deal) = Fixture::accepted(&THIRDS);
    fixture.claims_and_disputes(&deal, 0);
    (fixture, deal)
}

/// The arbiter has refunded the first tranche, the second is paid, and the third is claimed.
fn one_left_after_a_refund() -> (Fixture, Deal) {
    let (mut fixture, deal) = disputed();
    let call = fixture.resolve(&deal, 0, 0);
    fixture.run(&call).succeeds();
    fixture.claims_and_is_paid(&deal, 1);
    fixture.claims(&deal, 2);
    (fixture, deal)
}

/// Every payment, in the currency of the test. The amounts are calculated by hand from the design.
pub fn payments() -> Vec<Payment> {
    let mut payments = Vec::new();
    let mut add = |name,
                   (mut fixture, deal): (Fixture, Deal),
                   after,
                   call: &dyn Fn(&Fixture, &Deal) -> Call,
                   due| {
        fixture.now += after;
        let call = call(&fixture, &deal);
        payments.push(Payment {
            name,
            fixture,
            deal,
            call,
            due,
        });
    };

    add(
        "accept_offer by the seller",
        offered(),
        0,
        &|fixture, deal| fixture.accept_offer(deal, SELLER),
        [1_900_000, 2_985_000 + BOND],
    );
    let (mut countered, deal) = offered();
    let call = countered.offer(&deal, SELLER, 3_500_000);
    countered.run(&call).succeeds();
    add(
        "accept_offer by the buyer",
        (countered, deal),
        0,
        &|fixture, deal| fixture.accept_offer(deal, BUYER),
        [1_302_000, 3_482_500 + BOND],
    );
    add(
        "accept_offer with milestones",
        Fixture::offered_with(&Fixture::milestone_terms(&THIRDS), PRICE),
        0,
        &|fixture, deal| fixture.accept_offer(deal, SELLER),
        [1_900_001, 0],
    );

    for (name, rejector) in [
        ("reject_negotiation by the buyer", BUYER),
        ("reject_negotiation by the seller", SELLER),
    ] {
        add(
            name,
            Fixture::bonded(),
            0,
            &|fixture, deal| with_bond(fixture.reject(deal, rejector), deal),
            [ESCROW, BOND],
        );
    }
    add(
        "reject_negotiation that forfeits the bond",
        Fixture::buyer_revealed(),
        0,
        &|fixture, deal| fixture.reject(deal, SELLER),
        [ESCROW + BOND, 0],
    );
    add(
        "expire_negotiation",
        Fixture::bonded(),
        300,
        &|fixture, deal| with_bond(fixture.expire(deal), deal),
        [ESCROW, BOND],
    );
    add(
        "expire_negotiation that forfeits the bond",
        Fixture::buyer_revealed(),
        300,
        &|fixture, deal| fixture.expire(deal),
        [ESCROW + BOND, 0],
    );
    add(
        "reveal_zopa_price without a zone",
        Fixture::buyer_revealed_with(BUYER_PRICE, TOO_MUCH),
        0,
        &|fixture, deal| fixture.reveal_last(deal, TOO_MUCH),
        [ESCROW, BOND],
    );

    for (name, releaser) in [
        ("release_milestone by the buyer", BUYER),
        ("release_milestone by the seller", SELLER),
        ("release_milestone by a stranger", STRANGER),
    ] {
        add(
            name,
            claimed(),
            REVIEW,
            &|fixture, deal| fixture.release(deal, releaser, 0),
            [0, 994_900],
        );
    }
    add(
        "release_milestone that splits the bond",
        one_left_after_a_refund(),
        REVIEW,
        &|fixture, deal| {
            fixture
                .release(deal, STRANGER, 2)
                .given("buyer_token_account", deal.buyer_token_account)
        },
        [83_324, 995_199 + BOND - 83_324],
    );
    add(
        "resolve_dispute",
        disputed(),
        0,
        &|fixture, deal| fixture.resolve(deal, 0, 5_000),
        [499_950, 497_450],
    );
    let (mut missed, deal) = disputed();
    missed.claims(&deal, 1);
    missed.now = MILESTONE_DEADLINE + ARBITRATION;
    add(
        "settle_deadline",
        (missed, deal),
        0,
        &|fixture, deal| fixture.settle_deadline(deal),
        [1_500_150 + 83_350, 1_492_350 + BOND - 83_350],
    );
    add(
        "settle_by_agreement",
        disputed(),
        0,
        &|fixture, deal| fixture.settle_by_agreement(deal, 5_000, 2_500),
        [1_500_000 + 62_500, 1_492_500 + 187_500],
    );
    payments
}

#[test]
fn every_instruction_with_a_party_as_recipient_is_among_the_payments() {
    const PAYING: [&str; 8] = [
        "accept_offer",
        "expire_negotiation",
        "reject_negotiation",
        "release_milestone",
        "resolve_dispute",
        "reveal_zopa_price",
        "settle_by_agreement",
        "settle_deadline",
    ];
    let mut rows: Vec<_> = crate::instructions::INSTRUCTIONS
        .iter()
        .filter(|row| {
            let has = |name| row.accounts.iter().any(|account| account.name == name);
            has("escrow_vault") && (has("buyer_token_account") || has("seller_token_account"))
        })
        .map(|row| row.name)
        .filter(|name| {
            ![
                "create_negotiation",
                "accept_invitation",
                "close_negotiation",
            ]
            .contains(name)
        })
        .collect();
    rows.sort_unstable();
    assert_eq!(rows, PAYING);
    let mut paid: Vec<_> = payments()
        .iter()
        .map(|payment| payment.call.row.name)
        .collect();
    paid.sort_unstable();
    paid.dedup();
    assert_eq!(paid, PAYING);
}
