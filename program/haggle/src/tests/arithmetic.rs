//! The arithmetic of money, over all basis points: decay, fee, minimum offer, split and tranches, compared
//! with 128-bit arithmetic, and their invariants.

use super::fixture::Fixture;
use crate::constants::{MIN_ESCROW_LAMPORTS, MIN_OFFER_BPS_CEILING, MIN_OFFER_BPS_FLOOR};
use crate::math::bps::{floored, rounded};
use crate::settlement::Paid;
use crate::state::{BondState, Negotiation, NegotiationStatus};

/// Amounts where rounding, a digit or a width changes.
const AMOUNTS: [u64; 44] = [
    0,
    1,
    2,
    3,
    49,
    50,
    51,
    99,
    100,
    101,
    4_999,
    5_000,
    5_001,
    9_998,
    9_999,
    10_000,
    10_001,
    19_999,
    20_001,
    99_999,
    100_000,
    100_001,
    999_999,
    1_000_003,
    2_999_999,
    5_000_000,
    (1 << 32) - 1,
    1 << 32,
    (1 << 32) + 1,
    999_999_999_999,
    1_000_000_000_001,
    u64::MAX / 10_000,
    u64::MAX / 10_000 + 1,
    (1 << 53) - 1,
    (1 << 53) + 1,
    (1 << 63) - 1,
    1 << 63,
    (1 << 63) + 1,
    u64::MAX - 10_001,
    u64::MAX - 10_000,
    u64::MAX - 9_999,
    u64::MAX - 2,
    u64::MAX - 1,
    u64::MAX,
];

/// `amount * bps / 10,000`, with `rounding` added before the division.
fn exact(amount: u64, bps: u16, rounding: u128) -> u64 {
    u64::try_from((u128::from(amount) * u128::from(bps) + rounding) / 10_000).expect("it fits")
}

/// Reproducible pseudorandom numbers (SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut number = self.0;
        number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        number ^ number >> 31
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// Shares, each no less than a basis point, that sum to 10,000.
    fn shares(&mut self, count: usize) -> [u16; 8] {
        let mut shares = [0; 8];
        let mut left = 10_000;
        for (index, share) in shares.iter_mut().enumerate().take(count) {
            let others = (count - 1 - index) as u64;
            *share = if others == 0 {
                left as u16
            } else {
                1 + self.below(left - others) as u16
            };
            left -= u64::from(*share);
        }
        shares
    }
}

/// An accepted negotiation.
fn accepted(price: u64, fee_bps: u16, shares: [u16; 8]) -> Negotiation {
    let (fixture, deal) = template();
    Negotiation {
        status: NegotiationStatus::Accepted,
        escrow_amount: price,
        effective_escrow: price,
        settled_amount: price,
        protocol_fee_bps: fee_bps,
        milestone_bps: shares,
        bond_state: BondState::None,
        ..fixture.negotiation(&deal)
    }
}

fn template() -> (Fixture, super::fixture::Deal) {
    thread_local! {
        static TEMPLATE: (Fixture, super::fixture::Deal) = Fixture::created();
    }
    TEMPLATE.with(Clone::clone)
}

#[test]
fn shares_equal_those_of_wider_arithmetic() {
    for bps in 0..=10_000 {
        for amount in AMOUNTS {
            assert_eq!(floored(amount, bps), exact(amount, bps, 0));
            assert_eq!(rounded(amount, bps), exact(amount, bps, 5_000));
        }
    }
}

/// The share of `q * 10,000 + r` is `q * bps` plus the share of `r`, so proving every remainder and rate
/// covers every amount. The test combines every rate with each sixteenth remainder, and so every remainder
/// with each sixteenth rate.
#[test]
fn shares_are_exact_for_every_remainder_and_every_rate() {
    for bps in 0..=10_000u16 {
        let step = u64::from(bps);
        for remainder in (step % 16..10_000).step_by(16) {
            let product = remainder * step;
            assert!(floored(remainder, bps) == product / 10_000);
            assert!(rounded(remainder, bps) == (product + 5_000) / 10_000);
        }
        for quotient in [1, 7, 1 << 40, u64::MAX / 10_000] {
            for remainder in [0, 1, 1_615] {
                let amount = quotient * 10_000 + remainder;
                let expected = quotient * step + floored(remainder, bps);
                assert_eq!(floored(amount, bps), expected);
                let expected = quotient * step + rounded(remainder, bps);
                assert_eq!(rounded(amount, bps), expected);
            }
        }
    }
}

#[test]
fn a_share_and_the_rest_lose_at_most_one_unit() {
    for bps in 0..=10_000 {
        for amount in AMOUNTS {
            let sum = floored(amount, bps) + floored(amount, 10_000 - bps);
            assert!(sum == amount || sum + 1 == amount);
        }
    }
}

#[test]
fn a_share_never_falls_when_the_rate_or_the_amount_rises() {
    for amount in AMOUNTS {
        for bps in 1..=10_000 {
            let step = floored(amount, bps) - floored(amount, bps - 1);
            assert!(step <= amount / 10_000 + 1);
            assert!(rounded(amount, bps) >= rounded(amount, bps - 1));
            assert!(rounded(amount, bps) <= amount);
        }
    }
    for bps in 0..=10_000 {
        for [less, more] in AMOUNTS.array_windows() {
            assert!(floored(*less, bps) <= floored(*more, bps));
            assert!(rounded(*less, bps) <= rounded(*more, bps));
        }
    }
}

#[test]
fn decay_never_takes_more_than_the_escrow() {
    let escrows = AMOUNTS
        .into_iter()
        .filter(|amount| *amount >= MIN_ESCROW_LAMPORTS);
    for escrow in escrows {
        let mut negotiation = accepted(escrow, 0, [0; 8]);
        for rate in 0..=1_000 {
            negotiation.decay_rate_bps = rate;
            negotiation.effective_escrow = escrow;
            let mut lost = 0u128;
            for _ in 0..20 {
                let before = negotiation.effective_escrow;
                let after = negotiation.escrow_after_round().unwrap();
                assert_eq!(after, before - exact(before, rate, 5_000));
                assert!(after < before || rate == 0 || before * u64::from(rate) < 5_000);
                lost += u128::from(before - after);
                negotiation.effective_escrow = after;
            }
            let left = negotiation.effective_escrow;
            assert_eq!(lost + u128::from(left), u128::from(escrow));
            // A 10 % decay in each of twenty rounds leaves an eighth of the escrow.
            assert!(left > escrow / 9 && (rate > 0 || left == escrow));
        }
    }
}

#[test]
fn an_offer_between_the_minimum_and_the_escrow_is_always_possible() {
    for escrow in AMOUNTS {
        for bps in MIN_OFFER_BPS_FLOOR..=MIN_OFFER_BPS_CEILING {
            let minimum = floored(escrow, bps);
            assert_eq!(minimum, exact(escrow, bps, 0));
            assert!(minimum <= escrow);
            assert!(minimum > 0 || escrow < 100);
        }
    }
}

#[test]
fn the_fee_of_parts_is_the_fee_of_the_whole() {
    let mut numbers = Numbers(4);
    for fee_bps in 0..=500 {
        for price in AMOUNTS {
            let mut negotiation = accepted(price, fee_bps, [10_000, 0, 0, 0, 0, 0, 0, 0]);
            let [mut fees, mut nets, mut left] = [0, 0, price];
            let parts = 1 + numbers.below(8);
            for part in (1..=parts).rev() {
                let gross = if part == 1 {
                    left
                } else {
                    numbers.next().checked_rem(left).unwrap_or(0)
                };
                left -= gross;
                let paid = Paid::count(&mut negotiation, gross).unwrap();
                assert_eq!(paid.net + paid.fee, gross);
                // The fee counted for each part differs by at most one unit from the fee on that part alone.
                assert!(paid.fee.abs_diff(exact(gross, fee_bps, 0)) <= 1);
                fees += paid.fee;
                nets += paid.net;
            }
            assert_eq!({ negotiation.paid_gross }, price);
            assert_eq!(fees, exact(price, fee_bps, 0));
            assert_eq!(nets, price - fees);
            assert!(fees <= price / 20);
        }
    }
}

#[test]
fn the_fee_never_falls_when_more_is_paid() {
    let mut negotiation = accepted(0, 0, [0; 8]);
    for fee_bps in 0..=500 {
        negotiation.protocol_fee_bps = fee_bps;
        for price in AMOUNTS {
            if let Some(more) = price.checked_add(1) {
                let step = negotiation.fee_on(more) - negotiation.fee_on(price);
                assert!(step <= 1);
            }
        }
    }
}

/// Decides all milestones in the given order, with a seller's share for each, and returns the seller's net
/// amount, the fee and the refund.
fn decide_all(negotiation: &mut Negotiation, order: &[u8], seller_bps: u16) -> [u64; 3] {
    let price = negotiation.settled_amount;
    let shares = negotiation.milestone_bps;
    let [mut net, mut fees, mut back] = [0u64; 3];
    for index in order {
        let owed = negotiation.owed().unwrap();
        let rest = negotiation.undecided().unwrap();
        let tranche = negotiation.sum_of(1 << index);
        negotiation.milestones_decided |= 1 << index;
        let upto = |count: usize| exact(price, shares[..count].iter().sum(), 0);
        let index = usize::from(*index);
        assert_eq!(tranche, upto(index + 1) - upto(index));
        assert!(tranche.abs_diff(exact(price, shares[index], 0)) <= 1);
        assert_eq!(negotiation.undecided().unwrap(), rest - tranche);
        let gross = floored(tranche, seller_bps);
        assert_eq!(gross, exact(tranche, seller_bps, 0));
        let paid = Paid::count(negotiation, gross).unwrap();
        net += paid.net;
        fees += paid.fee;
        back += tranche - gross;
        let out = paid.net + (tranche - gross);
        assert_eq!(negotiation.owed().unwrap() + out, owed);
    }
    assert!(negotiation.is_decided());
    assert_eq!(
        u128::from(net) + u128::from(fees) + u128::from(back),
        u128::from(price)
    );
    assert_eq!(fees, exact(net + fees, negotiation.protocol_fee_bps, 0));
    [net, fees, back]
}

/// All orders of `count` milestones.
fn orders(count: u8) -> Vec<Vec<u8>> {
    let mut orders = vec![vec![]];
    for next in 0..count {
        orders = orders
            .iter()
            .flat_map(|order: &Vec<u8>| {
                (0..=order.len()).map(|at| {
                    let mut order = order.clone();
                    order.insert(at, next);
                    order
                })
            })
            .collect();
    }
    orders
}

/// Shares with the largest and the smallest rounding differences, and shares of very different sizes.
const SHARES: [[u16; 8]; 9] = [
    [1_250; 8],
    [1, 1, 1, 1, 1, 1, 1, 9_993],
    [9_993, 1, 1, 1, 1, 1, 1, 1],
    [1_249, 1_251, 1_249, 1_251, 1_249, 1_251, 1_249, 1_251],
    [1, 2, 4, 8, 16, 32, 64, 9_873],
    [3_333, 3_333, 3_334, 0, 0, 0, 0, 0],
    [5_000, 5_000, 0, 0, 0, 0, 0, 0],
    [1, 9_999, 0, 0, 0, 0, 0, 0],
    [10_000, 0, 0, 0, 0, 0, 0, 0],
];

#[test]
fn tranches_add_up_to_the_price_in_every_order() {
    let mut numbers = Numbers(8);
    for count in 1..=5 {
        let shares = numbers.shares(count);
        for order in orders(count as u8) {
            for price in [1, 7, 9_999, 100_001, 2_999_999, u64::MAX] {
                let mut negotiation = accepted(price, 77, shares);
                let [net, fees, back] = decide_all(&mut negotiation, &order, 10_000);
                assert_eq!([net + fees, back], [price, 0]);
            }
        }
    }
    assert_eq!(orders(5).len(), 120);
}

#[test]
fn tranches_add_up_to_the_price_for_every_shares_and_amounts() {
    let mut numbers = Numbers(2_026);
    let random: Vec<_> = (0..200)
        .map(|number| numbers.shares(1 + number % 8))
        .collect();
    for shares in SHARES.into_iter().chain(random) {
        assert_eq!(
            shares.iter().map(|share| u32::from(*share)).sum::<u32>(),
            10_000
        );
        let count = shares.iter().filter(|share| **share > 0).count() as u8;
        for price in AMOUNTS {
            let mut order: Vec<u8> = (0..count).collect();
            for at in (1..order.len()).rev() {
                order.swap(at, numbers.below(at as u64 + 1) as usize);
            }
            let fee_bps = numbers.below(501) as u16;
            let seller_bps = numbers.below(10_001) as u16;
            for seller_bps in [0, 1, 5_000, 9_999, 10_000, seller_bps] {
                let mut negotiation = accepted(price, fee_bps, shares);
                decide_all(&mut negotiation, &order, seller_bps);
            }
        }
    }
}

#[test]
fn the_arbiter_divides_every_amount_at_every_rate() {
    for tranche in AMOUNTS {
        for seller_bps in 0..=10_000 {
            let gross = floored(tranche, seller_bps);
            assert_eq!(gross, exact(tranche, seller_bps, 0));
            let back = tranche.checked_sub(gross).unwrap();
            // The buyer gets the odd unit.
            assert!(back >= floored(tranche, 10_000 - seller_bps));
        }
    }
}
