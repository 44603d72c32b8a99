//! The seller accepts the invitation.

use crate::error::{Framework, HaggleError, Result};
use crate::escrow::Vault;
use crate::event::InvitationAccepted;
use crate::runtime::hash::{is_equal, sha256};
use crate::runtime::sysvar;
use crate::schema::account::{Signer, State};
use crate::schema::instruction::instruction;
use crate::state::{BondState, Negotiation, NegotiationStatus};
use crate::token::call::TokenCall;
use crate::token::kinds::{ReadMint, Seller, Source, TokenProgram};
use pinocchio::address::address_eq;
use pinocchio::AccountView;

instruction! {
    /// Accepts the invitation on the terms that the seller saw, and deposits the bond that they require. The
    /// buyer then has a response window to open.
    pub fn accept_invitation(
        /// SHA-256 of the negotiation's address and the account's 512 bytes, as the seller read them.
        terms_hash: [u8; 32],
        /// The mint's decimals, which determine the meaning of the amounts. Other decimals are StaleState.
        decimals: u8,
    );
    accounts<'a> {
        /// The invited seller.
        seller: Signer<'a>,
        /// The negotiation.
        negotiation: State<'a, Negotiation>,
        /// The vault; only if a bond is required.
        escrow_vault: Option<Vault<'a>>,
        /// The seller's token account, the source of the bond; only if a bond is required. The seller must own
        /// it: a delegate cannot deposit another owner's tokens.
        seller_token_account: Option<Source<'a, Seller>>,
        /// The mint of the escrow.
        token_mint: ReadMint<'a>,
        /// The mint's token program; only if a bond is required.
        token_program: Option<TokenProgram>,
    }
    effects {
        result: "invitation accepted",
        actors: &[Actor { account: "seller", role: Role::Seller }],
        guards: &[Guard::CreatedAt, Guard::Status, Guard::TermsAre("terms_hash")],
        idempotency: Idempotency::Content,
        deadlines: &[],
        payments: &[
            Payment {
                money: Money::Bond,
                from: Role::Seller,
                source: "seller_token_account",
                to: Role::Program,
                destination: "escrow_vault",
            },
        ],
        events: &["InvitationAccepted"],
    }
}

/// Starts the bargaining.
///
/// # Errors
/// InvalidState after the first time, Expired, Unauthorized unless the seller signs, StaleState for other
/// terms or decimals, 3005 if an account needed for the bond is missing; the token program's error, ending
/// the transaction, if the seller's balance is too low.
#[inline(never)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> Result {
    let (args, accounts) = load(accounts, data)?;
    let (mut negotiation, seller) = (accounts.negotiation, accounts.seller.address());

    if negotiation.status != NegotiationStatus::Created {
        return Err(HaggleError::InvalidState.into());
    }
    let now = sysvar::now()?;
    negotiation.check_clock(now)?;
    if !address_eq(seller, &negotiation.seller) {
        return Err(HaggleError::Unauthorized.into());
    }
    let terms_hash = sha256(&[negotiation.address().as_ref(), negotiation.data()]);
    if !is_equal(&args.terms_hash, &terms_hash) {
        return Err(HaggleError::StaleState.into());
    }
    if !accounts.token_mint.has_decimals(args.decimals) {
        return Err(HaggleError::StaleState.into());
    }

    let bond = negotiation.bond_required;
    let deposit = if bond > 0 {
        let (Some(vault), Some(source), Some(_)) = (
            accounts.escrow_vault,
            accounts.seller_token_account,
            accounts.token_program,
        ) else {
            return Err(Framework::AccountNotEnoughKeys.into());
        };
        Some((vault, source))
    } else {
        None
    };

    negotiation.status = NegotiationStatus::Proposed;
    negotiation.start_turn(now)?;
    InvitationAccepted {
        negotiation_id: *negotiation.address(),
        seller: *seller,
        bond,
        turn_deadline: negotiation.turn_deadline,
        timestamp: now,
    }
    .emit();
    if let Some((vault, source)) = deposit {
        negotiation.bond_state = BondState::Held;
        let mut call = TokenCall::new(source.view(), accounts.seller.view());
        call.transfer(vault.view(), bond)?;
        call.deposit();
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use crate::error::Framework;
    use crate::runtime::programs;
    use crate::tests::fixture::{
        args_of, assert_negotiation, assert_shares, associated, event, named, owned,
        under_both_token_programs, Call, Deal, Fixture, BOND, BUYER, BUYER_REST, DECIMALS, ESCROW,
        MINT, NOW, OTHER_MINT, SELLER, SELLER_FUNDS, STRANGER,
    };
    use pinocchio::Address;

    /// A call with every optional account.
    fn call_with_all_accounts(fixture: &Fixture, deal: &Deal) -> Call {
        let terms_hash = fixture.terms_hash(deal);
        fixture.call(
            "accept_invitation",
            deal,
            deal.seller,
            args_of(&Args {
                terms_hash,
                decimals: DECIMALS,
            }),
        )
    }

    #[test]
    fn the_seller_accepts_and_the_buyer_has_a_window_to_open() {
        let (mut fixture, deal) = Fixture::created();
        fixture.now = NOW + 100;
        let before = fixture.clone();
        let call = fixture.accept_invitation(&deal);
        fixture.run(&call).succeeds().emitted(&[event(
            InvitationAccepted::RECORD,
            &InvitationAccepted {
                negotiation_id: deal.negotiation,
                seller: SELLER,
                bond: 0,
                turn_deadline: NOW + 400,
                timestamp: NOW + 100,
            },
        )]);
        assert_negotiation(
            &fixture.negotiation(&deal),
            &Negotiation {
                status: NegotiationStatus::Proposed,
                turn_deadline: NOW + 400,
                ..before.negotiation(&deal)
            },
        );
        for (address, account) in &before.accounts {
            if *address != deal.negotiation {
                assert!(fixture.account(address) == *account);
            }
        }
    }

    #[test]
    fn the_seller_deposits_exactly_the_bond() {
        let (mut fixture, deal) = Fixture::created_with_bond(&Fixture::bonded_terms());
        let before = fixture.clone();
        fixture.now = NOW + 100;
        let call = fixture.accept_invitation_with_bond(&deal);
        fixture.run(&call).succeeds().emitted(&[event(
            InvitationAccepted::RECORD,
            &InvitationAccepted {
                negotiation_id: deal.negotiation,
                seller: SELLER,
                bond: BOND,
                turn_deadline: NOW + 400,
                timestamp: NOW + 100,
            },
        )]);
        assert_negotiation(
            &fixture.negotiation(&deal),
            &Negotiation {
                status: NegotiationStatus::Proposed,
                turn_deadline: NOW + 400,
                bond_state: BondState::Held,
                ..before.negotiation(&deal)
            },
        );
        assert_shares(
            &fixture,
            &deal,
            BUYER_REST,
            SELLER_FUNDS - BOND,
            ESCROW + BOND,
        );
        let moved = [
            deal.negotiation,
            deal.escrow_vault,
            deal.seller_token_account,
        ];
        fixture.assert_untouched_since(&before, &moved);
        for account in [deal.negotiation, deal.escrow_vault, SELLER] {
            assert_eq!(fixture.lamports(&account), before.lamports(&account));
        }
    }

    #[test]
    fn a_bond_needs_its_accounts() {
        let (mut fixture, deal) = Fixture::created_with_bond(&Fixture::sealed_terms());
        let call = fixture.accept_invitation_with_bond(&deal);
        for account in ["escrow_vault", "seller_token_account", "token_program"] {
            let call = call.clone().without(account);
            fixture.refuses(&call, Framework::AccountNotEnoughKeys);
        }
        let bare = fixture.accept_invitation(&deal);
        fixture.refuses(&bare, Framework::AccountNotEnoughKeys);
        // Every other error comes first.
        fixture.at(NOW + 3_600).refuses(&bare, HaggleError::Expired);
        fixture.refuses(
            &bare.clone().with("seller", STRANGER),
            HaggleError::Unauthorized,
        );
        fixture.change(&deal.negotiation, |account| account.data[100] ^= 1);
        fixture.refuses(&bare, HaggleError::StaleState);
    }

    #[test]
    fn accounts_for_a_bond_are_unused_without_a_bond() {
        let (mut fixture, deal) = Fixture::created();
        let before = fixture.clone();
        let call = call_with_all_accounts(&fixture, &deal);
        fixture.run(&call).succeeds();
        for account in [deal.escrow_vault, deal.seller_token_account, MINT] {
            assert!(fixture.account(&account) == before.account(&account));
        }
    }

    #[test]
    fn accounts_for_a_bond_are_checked_without_a_bond() {
        let (mut fixture, deal) = Fixture::created();
        let other = Deal::between(BUYER, SELLER, 2, MINT);
        let call = fixture.create(&other, &Fixture::terms());
        fixture.run(&call).succeeds();
        fixture.put(named("empty"), owned(programs::TOKEN, vec![0; 165]));
        let cases: [(&str, Address, Framework); 7] = [
            (
                "escrow_vault",
                other.escrow_vault,
                Framework::ConstraintSeeds,
            ),
            ("token_mint", OTHER_MINT, Framework::ConstraintHasOne),
            (
                "seller_token_account",
                deal.buyer_token_account,
                Framework::ConstraintRaw,
            ),
            (
                "seller_token_account",
                associated(&SELLER, &OTHER_MINT),
                Framework::ConstraintRaw,
            ),
            (
                "seller_token_account",
                named("empty"),
                Framework::ConstraintRaw,
            ),
            (
                "seller_token_account",
                named("nothing"),
                Framework::ConstraintRaw,
            ),
            (
                "token_program",
                programs::SYSTEM,
                Framework::InvalidProgramId,
            ),
        ];
        for (account, address, error) in cases {
            let call = call_with_all_accounts(&fixture, &deal).with(account, address);
            fixture.refuses(&call, error);
        }
    }

    #[test]
    fn the_window_to_open_ends_by_the_global_deadline() {
        let (mut fixture, deal) = Fixture::created();
        for (now, turn_deadline) in [
            (NOW + 3_299, NOW + 3_599),
            (NOW + 3_300, NOW + 3_600),
            (NOW + 3_301, NOW + 3_600),
            (NOW + 3_599, NOW + 3_600),
        ] {
            let mut fixture = fixture.clone();
            fixture.now = now;
            let call = fixture.accept_invitation(&deal);
            fixture.run(&call).succeeds();
            assert_eq!({ fixture.negotiation(&deal).turn_deadline }, turn_deadline);
        }
        fixture.now = NOW + 3_600;
        let call = fixture.accept_invitation(&deal);
        fixture.refuses(&call, HaggleError::Expired);
    }

    #[test]
    fn only_the_seller_accepts() {
        let (mut fixture, deal) = Fixture::created();
        for signer in [BUYER, STRANGER] {
            let call = fixture.accept_invitation(&deal).with("seller", signer);
            fixture.refuses(&call, HaggleError::Unauthorized);
        }
    }

    #[test]
    fn an_invitation_is_accepted_once() {
        let (mut fixture, deal) = Fixture::invited();
        let call = fixture.accept_invitation(&deal);
        fixture.refuses(&call, HaggleError::InvalidState);
    }

    #[test]
    fn terms_that_differ_in_one_bit_are_stale() {
        let (mut fixture, deal) = Fixture::created();
        let terms_hash = fixture.terms_hash(&deal);
        for at in 0..32 {
            let mut terms_hash = terms_hash;
            terms_hash[at] ^= 1;
            let call = fixture.call(
                "accept_invitation",
                &deal,
                SELLER,
                args_of(&Args {
                    terms_hash,
                    decimals: DECIMALS,
                }),
            );
            fixture.refuses(&call, HaggleError::StaleState);
        }
    }

    #[test]
    fn decimals_other_than_the_mints_are_stale() {
        under_both_token_programs(|| {
            for terms in [Fixture::terms(), Fixture::bonded_terms()] {
                let (mut fixture, deal) = Fixture::created_with_bond(&terms);
                let (name, seller) = ("accept_invitation", deal.seller);
                let terms_hash = fixture.terms_hash(&deal);
                for decimals in (0..=u8::MAX).filter(|decimals| *decimals != DECIMALS) {
                    let args = Args {
                        terms_hash,
                        decimals,
                    };
                    let call = fixture.call(name, &deal, seller, args_of(&args));
                    fixture.refuses(&call, HaggleError::StaleState);
                }
                let args = Args {
                    terms_hash,
                    decimals: DECIMALS,
                };
                let call = fixture.call(name, &deal, seller, args_of(&args));
                fixture.run(&call).succeeds();
            }
        });
    }

    #[test]
    fn the_mint_is_required_without_a_bond() {
        let (mut fixture, deal) = Fixture::created();
        let mut call = fixture.accept_invitation(&deal);
        let place = call.place("token_mint");
        for address in [crate::ID, OTHER_MINT, deal.escrow_vault] {
            call.accounts[place].pubkey = address;
            fixture.refuses(&call, Framework::ConstraintHasOne);
        }
    }

    #[test]
    fn each_byte_of_the_account_is_part_of_the_terms() {
        let (fixture, deal) = Fixture::created();
        let call = fixture.accept_invitation(&deal);
        // Another discriminator, seller, status, mint or version is another error.
        for at in (8..512).filter(|at| !(40..72).contains(at) && *at != 80) {
            let mut fixture = fixture.clone();
            fixture.change(&deal.negotiation, |account| account.data[at] ^= 1);
            if fixture.negotiation(&deal).is_overdue(NOW) {
                continue;
            }
            let outcome = fixture.run(&call);
            let mint = 8 + core::mem::offset_of!(Negotiation, token_mint);
            if at == 8 + core::mem::offset_of!(Negotiation, version) {
                outcome.refused(Framework::AccountDidNotDeserialize);
            } else if (mint..mint + 32).contains(&at) {
                outcome.refused(Framework::ConstraintHasOne);
            } else {
                outcome.refused(HaggleError::StaleState);
            }
        }
    }

    #[test]
    fn a_turn_that_ends_beyond_the_clock_overflows() {
        let (mut fixture, deal) = Fixture::created();
        let mut negotiation = fixture.negotiation(&deal);
        negotiation.global_deadline = i64::MAX;
        negotiation.turn_deadline = i64::MAX;
        fixture.set_negotiation(&deal, &negotiation);
        let call = fixture.accept_invitation(&deal);
        fixture
            .at(i64::MAX - 299)
            .refuses(&call, HaggleError::Overflow);
        fixture.now = i64::MAX - 300;
        fixture.run(&call).succeeds();
    }
}
