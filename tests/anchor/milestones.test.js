'use strict';
// A price paid in three tranches: one released by the buyer, one disputed and split by the arbiter, one more released.

const { after, before, describe, it } = require('node:test');
const { Keypair } = require('@solana/web3.js');
const { chainTime } = require('./chain');
const { Deal } = require('./deal');
const { Stage } = require('./stage');
const { SPL_TOKEN } = require('./tokens');

const LIMIT = { timeout: 60_000 };
const REVIEW = 3_600n;
const DAY = 86_400n;

let stage, deal, arbiter;

before(async () => {
  stage = await Stage.open();
  deal = await Deal.prepare(stage, SPL_TOKEN);
  arbiter = Keypair.generate();
}, LIMIT);

after(() => stage?.stop());

describe('a price of 4.000000 in tranches of 50, 30 and 20 %', () => {
  it('is agreed on, and waits in escrow', LIMIT, async () => {
    await deal.create({
      arbiter: arbiter.publicKey.toBase58(), milestone_count: 3, milestone_bps: [5_000, 3_000, 2_000, 0, 0, 0, 0, 0],
      milestone_deadline: await chainTime(stage.connection) + DAY,
    });
    await deal.join();
    await deal.offer(deal.buyer, 4_000_000n, 4_900_000n);
    await deal.take(deal.seller);
  });

  const claiming = (by, index) => deal.methods.claimMilestone(index).accountsStrict({ seller: by.publicKey, negotiation: deal.address });

  async function claim(index) {
    const events = await stage.act(claiming(deal.seller, index), deal.seller);
    const { timestamp } = events[0].data;
    await deal.is({ milestones_claimed: deal.fields.milestones_claimed | 1 << index, turn_deadline: timestamp + REVIEW }, {}, events,
      ['MilestoneClaimed', { negotiation_id: deal.id, index, review_deadline: timestamp + REVIEW, timestamp }]);
  }

  const releasing = (by, index) => {
    const { buyerTokenAccount, ...payment } = deal.payment;
    return deal.methods.releaseMilestone(index).accountsStrict({ releaser: by.publicKey, ...payment });
  };

  /** What a tranche adds to the fee, and to the fields. */
  const paying = (index, gross) => ({
    fee: stage.fee(deal.fields.paid_gross + gross) - stage.fee(deal.fields.paid_gross),
    decided: { milestones_decided: deal.fields.milestones_decided | 1 << index, paid_gross: deal.fields.paid_gross + gross },
  });

  it('pays the tranche that the buyer releases', LIMIT, async () => {
    await stage.refused(claiming(deal.buyer, 0), deal.buyer, 'Unauthorized');
    await claim(0);
    await stage.refused(claiming(deal.seller, 1), deal.seller, 'InvalidState');
    await stage.refused(releasing(deal.seller, 0), deal.seller, 'Unauthorized');
    const gross = 2_000_000n;
    const { fee, decided } = paying(0, gross);
    const events = await stage.act(releasing(deal.buyer, 0), deal.buyer);
    const { timestamp } = events[0].data;
    await deal.is(decided, { seller: gross - fee }, events,
      ['MilestoneReleased', { negotiation_id: deal.id, index: 0, seller_amount: gross - fee, fee, timestamp }]);
  });

  it('splits the tranche that the buyer disputes as the arbiter says', LIMIT, async () => {
    await claim(1);
    const disputed = await stage.act(deal.methods.disputeMilestone(1)
      .accountsStrict({ buyer: deal.buyer.publicKey, negotiation: deal.address }), deal.buyer);
    await deal.is({ milestones_disputed: 0b010 }, {}, disputed,
      ['MilestoneDisputed', { negotiation_id: deal.id, index: 1, timestamp: disputed[0].data.timestamp }]);

    const resolving = (by, sellerBps) => deal.methods.resolveDispute(1, sellerBps, false)
      .accountsStrict({ arbiter: by.publicKey, ...deal.payment });
    await stage.refused(resolving(deal.buyer, 2_500), deal.buyer, 'Unauthorized');
    await stage.refused(resolving(arbiter, 10_001), arbiter, 'InvalidParams');
    const [toSeller, toBuyer] = [300_000n, 900_000n]; // a quarter of 1,200,000
    const { fee, decided } = paying(1, toSeller);
    const events = await stage.act(resolving(arbiter, 2_500), arbiter);
    const { timestamp } = events[0].data;
    await deal.is(decided, { seller: toSeller - fee, buyer: toBuyer }, events, ['DisputeResolved', {
      negotiation_id: deal.id, index: 1, seller_amount: toSeller - fee, fee, buyer_amount: toBuyer, timestamp,
    }]);
  });

  it('is settled with the last tranche', LIMIT, async () => {
    await claim(2);
    const gross = 800_000n;
    const { fee, decided } = paying(2, gross);
    const events = await stage.act(releasing(deal.buyer, 2), deal.buyer);
    const { timestamp } = events[0].data;
    await deal.is({ ...decided, status: 'Settled', settled_at: timestamp }, { seller: gross - fee }, events,
      ['MilestoneReleased', { negotiation_id: deal.id, index: 2, seller_amount: gross - fee, fee, timestamp }],
      deal.settled(3_100_000n, timestamp));
  });

  it('is closed, and conserved to the unit', LIMIT, () => deal.close());
});
