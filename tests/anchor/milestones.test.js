'use strict';
// A price in three tranches: the buyer releases one, the arbiter splits one, and the parties agree on the
// last one.

const { before, describe, it } = require('node:test');
const { Keypair } = require('@solana/web3.js');
const { chainTime } = require('./chain');
const { Deal } = require('./deal');
const { bigint, bytes } = require('./plain');
const { Fixture } = require('./fixture');
const { SPL_TOKEN } = require('./tokens');

const LIMIT = { timeout: 60_000 };
const REVIEW_HOURS = 2;
const REVIEW = 7_200n;
const DAY = 86_400n;
const EVIDENCE = 'e1'.repeat(32);
const COMPLAINT = 'c0'.repeat(32);

let fixture, deal, arbiter;

before(async () => {
  fixture = await Fixture.open();
  deal = await Deal.prepare(fixture, SPL_TOKEN);
  arbiter = Keypair.generate();
}, LIMIT);

describe('a price of 4.000000 in tranches of 50, 30 and 20 %', () => {
  it('is agreed on, and waits in escrow', LIMIT, async () => {
    await deal.create({
      arbiter: arbiter.publicKey.toBase58(), milestone_bps: [5_000, 3_000, 2_000, 0, 0, 0, 0, 0],
      milestone_deadline: await chainTime(fixture.connection) + DAY, review_hours: REVIEW_HOURS,
    });
    await deal.join();
    await deal.offer(deal.buyer, 4_000_000n, 4_900_000n);
    await deal.take(deal.seller);
  });

  const claiming = (by, index) => deal.methods
    .claimMilestone(deal.createdAt, index, bytes(EVIDENCE)).accountsStrict({ seller: by.publicKey, negotiation: deal.address });

  async function claim(index) {
    const events = await fixture.act(claiming(deal.seller, index), deal.seller);
    const { timestamp } = events[0].data;
    await deal.is({ milestones_claimed: deal.fields.milestones_claimed | 1 << index, turn_deadline: timestamp + REVIEW }, {}, events,
      ['MilestoneClaimed', {
        negotiation_id: deal.id, index, review_deadline: timestamp + REVIEW, evidence: EVIDENCE, timestamp,
      }]);
  }

  const releasing = (by, index) => deal.methods.releaseMilestone(deal.createdAt, index)
    .accountsStrict({ releaser: by.publicKey, ...deal.payment, buyerTokenAccount: null });

  /** The fee of a tranche, and the fields after it is decided. */
  const paying = (index, gross) => ({
    fee: fixture.fee(deal.fields.paid_gross + gross) - fixture.fee(deal.fields.paid_gross),
    decided: { milestones_decided: deal.fields.milestones_decided | 1 << index, paid_gross: deal.fields.paid_gross + gross },
  });

  it('pays the tranche that the buyer releases', LIMIT, async () => {
    await fixture.refused(claiming(deal.buyer, 0), deal.buyer, 'Unauthorized');
    await claim(0);
    await fixture.refused(claiming(deal.seller, 1), deal.seller, 'InvalidState');
    await fixture.refused(releasing(deal.seller, 0), deal.seller, 'Unauthorized');
    const gross = 2_000_000n;
    const { fee, decided } = paying(0, gross);
    const events = await fixture.act(releasing(deal.buyer, 0), deal.buyer);
    const { timestamp } = events[0].data;
    await deal.is(decided, { seller: gross - fee }, events,
      ['MilestoneReleased', { negotiation_id: deal.id, index: 0, seller_amount: gross - fee, fee, timestamp }]);
  });

  it('splits the tranche that the buyer disputes as the arbiter says', LIMIT, async () => {
    await claim(1);
    const disputed = await fixture.act(deal.methods.disputeMilestone(deal.createdAt, 1, bytes(COMPLAINT))
      .accountsStrict({ buyer: deal.buyer.publicKey, negotiation: deal.address }), deal.buyer);
    await deal.is({ milestones_disputed: 0b010 }, {}, disputed,
      ['MilestoneDisputed', { negotiation_id: deal.id, index: 1, evidence: COMPLAINT, timestamp: disputed[0].data.timestamp }]);

    const resolving = (by, sellerBps) => deal.methods.resolveDispute(deal.createdAt, 1, sellerBps)
      .accountsStrict({ arbiter: by.publicKey, ...deal.payment });
    await fixture.refused(resolving(deal.buyer, 2_500), deal.buyer, 'Unauthorized');
    await fixture.refused(resolving(arbiter, 10_001), arbiter, 'InvalidParams');
    const [toSeller, toBuyer] = [300_000n, 900_000n]; // a quarter of 1,200,000
    const { fee, decided } = paying(1, toSeller);
    const events = await fixture.act(resolving(arbiter, 2_500), arbiter);
    const { timestamp } = events[0].data;
    await deal.is(decided, { seller: toSeller - fee, buyer: toBuyer }, events, ['DisputeResolved', {
      negotiation_id: deal.id, index: 1, seller_amount: toSeller - fee, fee, buyer_amount: toBuyer, timestamp,
    }]);
  });

  it('is settled by both parties together', LIMIT, async () => {
    const agreeing = (sellerBps, expectedDecided = 0b011) => deal.methods
      .settleByAgreement(deal.createdAt, expectedDecided, bigint(deal.fields.milestone_deadline), sellerBps, 0)
      .accountsStrict({ buyer: deal.buyer.publicKey, seller: deal.seller.publicKey, ...deal.payment })
      .signers([deal.buyer]);
    await fixture.refused(agreeing(5_000).accountsPartial({ tokenMint: arbiter.publicKey }), deal.seller, 'ConstraintHasOne');
    await fixture.refused(agreeing(5_000).accountsPartial({ sellerTokenAccount: deal.wallets.buyer }), deal.seller, 'ConstraintRaw');
    await fixture.refused(agreeing(5_000, 0b001), deal.seller, 'StaleState');
    await fixture.refused(agreeing(10_001), deal.seller, 'InvalidParams');
    const [gross, toBuyer] = [600_000n, 200_000n]; // three quarters of 800,000
    const { fee, decided } = paying(2, gross);
    const events = await fixture.act(agreeing(7_500), deal.buyer, deal.seller);
    const { timestamp } = events[0].data;
    await deal.is({ ...decided, status: 'Settled', settled_at: timestamp }, { seller: gross - fee, buyer: toBuyer }, events,
      ['AgreementSettled', {
        negotiation_id: deal.id, seller_amount: gross - fee, fee, buyer_amount: toBuyer, bond_to_buyer: 0n, timestamp,
      }],
      deal.settled(2_900_000n, timestamp));
  });

  it('is closed, and conserved to the unit', LIMIT, () => deal.close());
});
