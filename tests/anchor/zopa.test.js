'use strict';
// Sealed prices, with a bond of the seller: both commit, both reveal, and either the midpoint is the current
// offer or the negotiation ends.

const { createHash, randomBytes } = require('node:crypto');
const { before, describe, it } = require('node:test');
const { Deal, ESCROW, WINDOW } = require('./deal');
const { bigint } = require('./plain');
const { Fixture } = require('./fixture');
const { SPL_TOKEN } = require('./tokens');

const LIMIT = { timeout: 60_000 };
const BOND = 500_000n;

let fixture;

before(async () => {
  fixture = await Fixture.open();
}, LIMIT);

/** A price, sealed for an agent of a deal. */
function seal(deal, agent, price) {
  const nonce = randomBytes(32);
  const createdAt = Buffer.alloc(8);
  createdAt.writeBigInt64LE(deal.fields.created_at);
  const units = Buffer.alloc(8);
  units.writeBigUInt64LE(price);
  const commitment = createHash('sha256').update('haggle-zopa').update(deal.address.toBytes())
    .update(createdAt).update(agent.publicKey.toBytes()).update(units).update(nonce).digest();
  return { agent, price, nonce: [...nonce], commitment };
}

const committing = (deal, { agent, commitment }) => deal.methods.submitZopaCommitment(deal.createdAt, [...commitment])
  .accountsStrict({ agent: agent.publicKey, negotiation: deal.address });

const revealing = (deal, { agent, price, nonce }, mayEndIt) => deal.methods.revealZopaPrice(deal.createdAt, bigint(price), nonce)
  .accountsStrict({
    agent: agent.publicKey, negotiation: deal.address,
    ...(mayEndIt ? deal.payment : {
      escrowVault: null, buyerTokenAccount: null, sellerTokenAccount: null, tokenMint: null, tokenProgram: null,
    }),
  });

async function commit(deal, sealed, side, phase) {
  const events = await fixture.act(committing(deal, sealed), sealed.agent);
  const { timestamp } = events[0].data;
  await deal.is({ [`${side}_commitment`]: sealed.commitment.toString('hex'), zopa_phase: phase, turn_deadline: timestamp + WINDOW },
    {}, events,
    ['ZopaCommitted', { negotiation_id: deal.id, agent: sealed.agent.publicKey.toBase58(), phase, timestamp }]);
}

const revealed = (deal, { agent, price }, phase, midpoint, timestamp) =>
  ['ZopaRevealed', { negotiation_id: deal.id, agent: agent.publicKey.toBase58(), price, phase, midpoint, timestamp }];

function sealedPrices(buyerPrice, sellerPrice, concludes) {
  let deal, bid, ask;

  before(async () => {
    deal = await Deal.prepare(fixture, SPL_TOKEN, BOND);
  }, LIMIT);

  it('begins with the deposits of both', LIMIT, async () => {
    await deal.create({ zopa_enabled: true });
    await deal.join();
    [bid, ask] = [seal(deal, deal.buyer, buyerPrice), seal(deal, deal.seller, sellerPrice)];
  });

  it('takes their commitments, the buyer first', LIMIT, async () => {
    await fixture.refused(committing(deal, ask), deal.seller, 'NotYourTurn');
    await fixture.refused(deal.offering(deal.buyer, 0, 1_000_000n), deal.buyer, 'InvalidState');
    await commit(deal, bid, 'buyer', 'BuyerCommitted');
    await commit(deal, ask, 'seller', 'BothCommitted');
  });

  it('opens what the buyer has sealed and nothing else', LIMIT, async () => {
    await fixture.refused(revealing(deal, { ...bid, price: bid.price - 1n }), deal.buyer, 'ZopaCommitmentMismatch');
    await fixture.refused(revealing(deal, { ...bid, nonce: ask.nonce }), deal.buyer, 'ZopaCommitmentMismatch');
    const events = await fixture.act(revealing(deal, bid), deal.buyer);
    const { timestamp } = events[0].data;
    await deal.is({ buyer_price: buyerPrice, turn_deadline: timestamp + WINDOW }, {}, events,
      revealed(deal, bid, 'BothCommitted', 0n, timestamp));
  });

  it(concludes.what, LIMIT, async () => {
    const events = await fixture.act(revealing(deal, ask, true), deal.seller);
    await concludes.with(deal, ask, events, events[0].data.timestamp);
  });

  it('is closed, and conserved to the unit', LIMIT, () => deal.close());
}

describe('sealed prices that overlap', () => sealedPrices(3_500_001n, 3_000_000n, {
  what: 'offers the midpoint, which the seller takes',
  with: async (deal, ask, events, timestamp) => {
    const midpoint = 3_250_000n; // rounded down
    await deal.is({
      seller_price: ask.price, zopa_phase: 'Revealed', current_offer_amount: midpoint, current_offer_by: deal.id,
      turn_deadline: timestamp + WINDOW,
    }, {}, events, revealed(deal, ask, 'Revealed', midpoint, timestamp));
    await deal.take(deal.seller);
  },
}));

describe('sealed prices that do not meet', () => sealedPrices(2_999_999n, 3_000_000n, {
  what: 'ends with everything given back',
  with: async (deal, ask, events, timestamp) => {
    await deal.is({ seller_price: ask.price, zopa_phase: 'Revealed', status: 'Rejected', bond_state: 'Returned' },
      { buyer: ESCROW, seller: BOND }, events,
      revealed(deal, ask, 'Revealed', 0n, timestamp),
      ['NegotiationRejected', { negotiation_id: deal.id, rejected_by: deal.id, refund_amount: ESCROW, rounds_completed: 0, timestamp }],
      deal.bondReturned(timestamp, 'NoDeal'));
    await fixture.refused(deal.offering(deal.buyer, 0, 1_000_000n), deal.buyer, 'NoZopa');
    await fixture.refused(deal.taking(deal.buyer, 1_000_000n), deal.buyer, 'NoZopa');
  },
}));
