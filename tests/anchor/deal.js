'use strict';
// One negotiation, step by step: after each step the whole account, the events and every balance must equal
// the values that follow from the protocol's documents.

const assert = require('node:assert/strict');
const { createHash } = require('node:crypto');
const { setTimeout: pause } = require('node:timers/promises');
const { PublicKey } = require('@solana/web3.js');
const { chainTime } = require('./chain');
const { bigint, bytes, plain } = require('./plain');
const { eventsOf } = require('./fixture');
const { associatedAccount, unitsIn } = require('./tokens');

const ESCROW = 5_000_000n;
const START_UNITS = 100_000_000n;
const DECAY_BPS = 200;
const MAX_ROUNDS = 6;
const WINDOW = 300n;
const DEADLINE_SECONDS = 1_800n;
const MIN_OFFER_BPS = 1000;
const DECIMALS = 6; // of the fixture's mints
const SESSION_ID = 7_000_000_000_000_000_123n; // beyond what a double holds
const NOBODY = PublicKey.default.toBase58();
const SERVICE_HASH = createHash('sha256').update('Summarise a paper').digest('hex');
const METADATA = '00'.repeat(64); // of no kind
const METADATA_OFFSET = 324;
// Neither sealed prices nor milestones.
const PLAIN_TERMS = {
  zopa_enabled: false, arbiter: NOBODY, milestone_bps: Array(8).fill(0), milestone_deadline: 0n, review_hours: 0,
};

class Deal {
  /** A buyer with tokens of a new mint, and a seller with a bond's worth; nothing is created yet. */
  static async prepare(fixture, tokenProgram, bond = 0n) {
    const deal = new Deal();
    Object.assign(deal, { fixture, tokenProgram, bond, methods: fixture.methods });
    deal.buyer = await fixture.wallet();
    deal.seller = await fixture.wallet();
    deal.mint = await fixture.mint(tokenProgram,
      [deal.buyer.publicKey, START_UNITS], [deal.seller.publicKey, bond], [fixture.treasury, 0n]);
    const account = (owner) => associatedAccount(owner, deal.mint, tokenProgram);
    deal.wallets = {
      buyer: account(deal.buyer.publicKey), seller: account(deal.seller.publicKey), treasury: account(fixture.treasury),
    };
    deal.held = { buyer: START_UNITS, seller: bond, treasury: 0n };
    deal.startLamports = await fixture.connection.getBalance(deal.buyer.publicKey);
    return deal;
  }

  /** The deal's created_at, as every signed instruction carries it. */
  get createdAt() { return bigint(this.fields.created_at); }

  get id() { return this.address.toBase58(); }

  /** The accounts of an instruction that pays, by the names that Anchor gives them. */
  get payment() {
    return {
      negotiation: this.address, escrowVault: this.vault, buyerTokenAccount: this.wallets.buyer,
      sellerTokenAccount: this.wallets.seller, tokenMint: this.mint, tokenProgram: this.tokenProgram,
    };
  }

  /** A global deadline for a negotiation created now. */
  async deadline() {
    return await chainTime(this.fixture.connection) + DEADLINE_SECONDS;
  }

  /** The call that creates it; params are those that differ from a plain negotiation's. */
  creating(globalDeadline, params = {}) {
    const terms = { ...PLAIN_TERMS, ...params };
    return this.methods.createNegotiation(bigint(SESSION_ID), {
      escrowAmount: bigint(ESCROW), serviceHash: bytes(SERVICE_HASH), maxRounds: MAX_ROUNDS, decayRateBps: DECAY_BPS,
      responseWindow: bigint(WINDOW), globalDeadline: bigint(globalDeadline), minOfferBps: MIN_OFFER_BPS,
      zopaEnabled: terms.zopa_enabled, bondRequired: bigint(this.bond), arbiter: new PublicKey(terms.arbiter),
      milestoneBps: terms.milestone_bps, milestoneDeadline: bigint(terms.milestone_deadline),
      reviewHours: terms.review_hours, metadata: bytes(METADATA), maxFeeBps: Number(this.fixture.feeBps),
      decimals: DECIMALS,
    }).accountsPartial({
      buyer: this.buyer.publicKey, seller: this.seller.publicKey, buyerTokenAccount: this.wallets.buyer, tokenMint: this.mint,
      tokenProgram: this.tokenProgram,
    });
  }

  async create(params = {}) {
    const { fixture } = this;
    const globalDeadline = await this.deadline();
    const began = globalDeadline - DEADLINE_SECONDS;
    const call = this.creating(globalDeadline, params);
    const { bump, vaultBump } = await this.find(await call.pubkeys());
    this.config = (await fixture.read('ProtocolConfig', fixture.config)).fields;

    const events = await fixture.act(call, this.buyer);

    const { fields: { created_at: createdAt } } = await fixture.read('Negotiation', this.address);
    assert.ok(createdAt >= began && createdAt <= await chainTime(fixture.connection), `created at ${createdAt}, not from ${began} to now`);
    const common = {
      escrow_amount: ESCROW, token_mint: this.mint.toBase58(), max_rounds: MAX_ROUNDS, decay_rate_bps: DECAY_BPS,
      global_deadline: globalDeadline, session_id: SESSION_ID, service_hash: SERVICE_HASH, response_window: WINDOW,
      min_offer_bps: MIN_OFFER_BPS, protocol_fee_bps: Number(fixture.feeBps), metadata: METADATA,
      buyer: this.buyer.publicKey.toBase58(), seller: this.seller.publicKey.toBase58(), bond_required: this.bond,
      ...PLAIN_TERMS, ...params,
    };
    this.fields = {
      ...common, status: 'Created', current_round: 0, current_offer_amount: 0n, current_offer_by: NOBODY, offer_side: 'Buyer',
      effective_escrow: ESCROW, created_at: createdAt, last_offer_at: 0n, settled_at: 0n, settled_amount: 0n,
      buyer_commitment: '00'.repeat(32), seller_commitment: '00'.repeat(32),
      zopa_phase: common.zopa_enabled ? 'NotStarted' : 'Skipped', bump, vault_bump: vaultBump, version: 1,
      turn_deadline: globalDeadline, pending_extension: 0, bond_state: 'None', buyer_price: 0n, seller_price: 0n,
      milestones_decided: 0, milestones_claimed: 0, milestones_disputed: 0, claimable_buyer: 0n, claimable_seller: 0n,
      paid_gross: 0n,
    };
    await this.is({}, { buyer: -ESCROW }, events,
      ['NegotiationCreated', { negotiation_id: this.id, timestamp: createdAt, ...common }]);
  }

  /** Anchor has found the addresses by the IDL's seeds; they have to be those of the documents. */
  async find(found) {
    const session = Buffer.alloc(8);
    session.writeBigUInt64LE(SESSION_ID);
    const derive = (...seeds) => PublicKey.findProgramAddressSync(seeds, this.fixture.program.programId);
    const [address, bump] = derive(
      Buffer.from('negotiation'), this.buyer.publicKey.toBytes(), this.seller.publicKey.toBytes(), session);
    const [vault, vaultBump] = derive(Buffer.from('vault'), address.toBytes());
    const [config] = derive(Buffer.from('config'));
    assert.deepEqual(plain({ address: found.negotiation, vault: found.escrowVault, config: found.config }),
      plain({ address, vault, config }));
    Object.assign(this, { address, vault });
    return { bump, vaultBump };
  }

  /** The hash that the seller signs, of the account as it is or as it would be with other metadata. */
  async termsHash(otherMetadata = false) {
    const { data } = await this.fixture.read('Negotiation', this.address);
    const content = Buffer.from(data);
    if (otherMetadata) content[METADATA_OFFSET] ^= 1;
    return [...createHash('sha256').update(this.address.toBytes()).update(content).digest()];
  }

  joining(hash, decimals = DECIMALS) {
    const needed = this.bond > 0n;
    return this.methods.acceptInvitation(hash, decimals).accountsStrict({
      seller: this.seller.publicKey, negotiation: this.address,
      escrowVault: needed ? this.vault : null, sellerTokenAccount: needed ? this.wallets.seller : null,
      tokenMint: this.mint, tokenProgram: needed ? this.tokenProgram : null,
    });
  }

  async join() {
    const events = await this.fixture.act(this.joining(await this.termsHash()), this.seller);
    const at = events[0].data.timestamp;
    await this.is({ status: 'Proposed', turn_deadline: at + WINDOW, bond_state: this.bond > 0n ? 'Held' : 'None' },
      { seller: -this.bond }, events,
      ['InvitationAccepted', { negotiation_id: this.id, seller: this.fields.seller, bond: this.bond, turn_deadline: at + WINDOW, timestamp: at }]);
  }

  offering(by, round, amount) {
    return this.methods.submitOffer(this.createdAt, round, bigint(amount), 0, bytes(METADATA))
      .accountsStrict({ offerer: by.publicKey, negotiation: this.address });
  }

  /** The next offer, which leaves the escrow so much worth. */
  async offer(by, amount, worth) {
    const round = this.fields.current_round;
    const events = await this.fixture.act(this.offering(by, round, amount), by);
    const at = events[0].data.timestamp;
    const offerer = by.publicKey.toBase58();
    const fromBuyer = by === this.buyer;
    await this.is({
      status: fromBuyer ? 'Proposed' : 'Countered', current_round: round + 1, current_offer_amount: amount,
      current_offer_by: offerer, offer_side: fromBuyer ? 'Buyer' : 'Seller', effective_escrow: worth, last_offer_at: at,
      turn_deadline: at + WINDOW,
    }, {}, events,
    ['OfferSubmitted', { negotiation_id: this.id, offerer, amount, round: round + 1, effective_escrow: worth, timestamp: at }]);
  }

  taking(by, amount) {
    return this.methods.acceptOffer(this.createdAt, this.fields.current_round, bigint(amount), bytes(METADATA))
      .accountsStrict({ acceptor: by.publicKey, ...this.payment });
  }

  /** Takes the offer that stands. Without milestones that settles it. */
  async take(by) {
    const price = this.fields.current_offer_amount;
    const refund = this.fields.effective_escrow - price;
    const events = await this.fixture.act(this.taking(by, price), by);
    const at = events[0].data.timestamp;
    const accepted = ['OfferAccepted', {
      negotiation_id: this.id, accepted_by: by.publicKey.toBase58(), amount: price, round: this.fields.current_round, timestamp: at,
    }];
    if (this.fields.milestone_bps[0] > 0) {
      await this.is({ status: 'Accepted', settled_amount: price }, { buyer: refund }, events, accepted);
      return;
    }
    const bonded = this.bond > 0n;
    await this.is(
      { status: 'Settled', settled_at: at, settled_amount: price, paid_gross: price, bond_state: bonded ? 'Returned' : 'None' },
      { buyer: refund, seller: price - this.fixture.fee(price) + this.bond }, events,
      accepted, this.settled(price, at), ...(bonded ? [this.bondReturned(at)] : []));
  }

  settled(gross, timestamp) {
    return ['NegotiationSettled', {
      negotiation_id: this.id, buyer: this.fields.buyer, seller: this.fields.seller, settled_amount: gross,
      total_rounds: this.fields.current_round, protocol_fee: this.fixture.fee(gross),
      escrow_decay_total: ESCROW - this.fields.effective_escrow, timestamp, token_mint: this.fields.token_mint,
      service_hash: SERVICE_HASH, metadata: METADATA,
    }];
  }

  bondReturned(timestamp, reason = 'Settlement') {
    return ['BondSettled', { negotiation_id: this.id, to: this.fields.seller, amount: this.bond, timestamp, reason }];
  }

  /** Anyone closes it: the treasury gets fee and decay, the buyer all rent. */
  async close() {
    const { fixture, fields } = this;
    const gross = fields.paid_gross;
    const swept = gross > 0n ? fixture.fee(gross) + ESCROW - fields.effective_escrow : ESCROW - fields.effective_escrow;
    const closer = await fixture.wallet();
    await this.nextSecond();
    const events = await fixture.act(this.methods.closeNegotiation().accountsStrict({
      closer: closer.publicKey, negotiation: this.address, escrowVault: this.vault, config: fixture.config,
      buyer: this.buyer.publicKey, treasuryTokenAccount: this.wallets.treasury, buyerTokenAccount: null,
      sellerTokenAccount: null, tokenMint: this.mint, tokenProgram: this.tokenProgram,
    }), closer);
    const { timestamp } = events[0].data;
    assert.deepEqual(events, eventsOf(['NegotiationClosed', {
      negotiation_id: this.id, closed_by: closer.publicKey.toBase58(), swept, timestamp,
    }]));
    assert.ok(timestamp >= fields.settled_at);
    assert.equal(await fixture.connection.getAccountInfo(this.address), null);
    assert.equal(await fixture.connection.getAccountInfo(this.vault), null);
    assert.equal(await fixture.connection.getBalance(this.buyer.publicKey), this.startLamports, 'all rent is back with the buyer');
    this.held.treasury += swept;
    assert.deepEqual(await this.balances(), this.held);
    assert.equal(this.held.buyer + this.held.seller + this.held.treasury, START_UNITS + this.bond, 'conserved to the unit');
    const { config } = this;
    assert.deepEqual((await fixture.read('ProtocolConfig', fixture.config)).fields, {
      ...config, total_negotiations: config.total_negotiations + 1n,
      total_settled_volume: config.total_settled_volume + gross,
      total_fees_collected: config.total_fees_collected + fixture.fee(gross),
    });
  }

  /** Waits until the chain's clock is past the second of creation, in which nothing can be closed. */
  async nextSecond() {
    while (await chainTime(this.fixture.connection) <= this.fields.created_at) await pause(50);
  }

  /**
   * After a step: these fields have changed and no other, this has moved and nothing else, and these events
   * were emitted.
   */
  async is(changed, moved, events, ...wanted) {
    Object.assign(this.fields, changed);
    assert.deepEqual(events, eventsOf(...wanted));
    for (const [who, units] of Object.entries(moved)) this.held[who] += units;
    await this.stands();
  }

  /** The account, the balances and the vault are as they were left. */
  async stands() {
    const { held } = this;
    assert.deepEqual((await this.fixture.read('Negotiation', this.address)).fields, this.fields);
    assert.deepEqual(await this.balances(), held);
    const inVault = START_UNITS + this.bond - held.buyer - held.seller - held.treasury;
    assert.equal(await unitsIn(this.fixture.connection, this.vault), inVault, 'the vault holds the rest');
  }

  async balances() {
    const of = (account) => unitsIn(this.fixture.connection, account);
    const [buyer, seller, treasury] = await Promise.all(Object.values(this.wallets).map(of));
    return { buyer, seller, treasury };
  }
}

module.exports = { Deal, ESCROW, WINDOW };
