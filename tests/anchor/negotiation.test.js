'use strict';
// A negotiation from its creation to its close, under both token programs: three offers at 2 % decay, the
// last one accepted.

const assert = require('node:assert/strict');
const { before, describe, it } = require('node:test');
const { Deal, ESCROW } = require('./deal');
const { camelCased } = require('./plain');
const { Fixture } = require('./fixture');
const { SPL_TOKEN, TOKEN_2022 } = require('./tokens');

const LIMIT = { timeout: 60_000 };
// Each offer with the effective escrow after it: 2 % less, rounded half up.
const OFFERS = [[2_000_000n, 4_900_000n], [4_000_000n, 4_802_000n], [3_000_000n, 4_705_960n]];

let fixture;

before(async () => {
  fixture = await Fixture.open();
}, LIMIT);

for (const [name, tokenProgram] of [['SPL Token', SPL_TOKEN], ['Token-2022', TOKEN_2022]]) {
  describe(`a negotiation in ${name}`, () => {
    let deal;

    before(async () => {
      deal = await Deal.prepare(fixture, tokenProgram);
    }, LIMIT);

    it('is created with what the buyer deposits', LIMIT, () => deal.create());

    it('is found by its buyer and read by the typed accessor', LIMIT, async () => {
      const [{ publicKey }, ...others] = await fixture.program.account.negotiation
        .all([{ memcmp: { offset: 8, bytes: deal.fields.buyer } }]);
      assert.deepEqual([publicKey.toBase58(), others], [deal.id, []]);
      assert.deepEqual(await fixture.fetch('negotiation', publicKey), camelCased({
        ...deal.fields, status: 'created', offer_side: 'buyer', zopa_phase: 'skipped', bond_state: 'none',
      }));
    });

    it('is joined by the seller who has hashed its terms', LIMIT, async () => {
      await fixture.refused(deal.joining(await deal.termsHash(true)), deal.seller, 'StaleState');
      await fixture.refused(deal.joining(await deal.termsHash(), 5), deal.seller, 'StaleState');
      await deal.join();
    });

    it('is bargained over in turns', LIMIT, async () => {
      await fixture.refused(deal.offering(deal.seller, 0, 1_000_000n), deal.seller, 'NotYourTurn');
      for (const [round, [amount, worth]] of OFFERS.entries()) {
        const by = round % 2 === 0 ? deal.buyer : deal.seller;
        await deal.offer(by, amount, worth);
        await fixture.refused(deal.offering(by, round + 1, amount), by, 'NotYourTurn');
      }
      await fixture.refused(deal.offering(deal.seller, 3, 1n), deal.seller, 'OfferTooLow');
      await fixture.refused(deal.offering(deal.seller, 3, ESCROW), deal.seller, 'OfferExceedsEscrow');
      await fixture.refused(deal.offering(deal.seller, 2, 3_000_000n), deal.seller, 'StaleState');
      await deal.stands();
    });

    it('is settled by the offer that is taken', LIMIT, async () => {
      await fixture.refused(deal.taking(deal.seller, 3_000_001n), deal.seller, 'StaleState');
      await fixture.refused(deal.taking(deal.buyer, 3_000_000n), deal.buyer, 'NotYourTurn');
      await deal.take(deal.seller);
      if (fixture.initialized) {
        assert.deepEqual(deal.held, { buyer: 96_705_960n, seller: 2_985_000n, treasury: 0n });
      }
      await fixture.refused(deal.offering(deal.seller, 3, 3_000_000n), deal.seller, 'InvalidState');
    });

    it('is closed by anyone, and conserved to the unit', LIMIT, () => deal.close());
  });
}
