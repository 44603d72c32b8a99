'use strict';
// The protocol's configuration: its authority initializes, changes and pauses it, and hands over and back.

const assert = require('node:assert/strict');
const { before, describe, it } = require('node:test');
const { PublicKey } = require('@solana/web3.js');
const { Deal } = require('./deal');
const { bigint } = require('./plain');
const { SETTINGS, Fixture, eventsOf } = require('./fixture');
const { SPL_TOKEN } = require('./tokens');

const LIMIT = { timeout: 60_000 };
const NOBODY = PublicKey.default.toBase58();

let fixture, fields;

before(async () => {
  fixture = await Fixture.open();
  fields = (await fixture.read('ProtocolConfig', fixture.config)).fields;
}, LIMIT);

/** The fields of every event about the configuration. */
const said = () => Object.fromEntries(['authority', 'treasury', 'default_decay_rate_bps', 'default_response_window',
  'default_protocol_fee_bps', 'default_max_rounds', 'is_paused'].map((name) => [name, fields[name]]));

/** Asserts that a call has changed these fields and no other, and that ConfigUpdated has them. */
async function changes(changed, call, ...signers) {
  const events = await fixture.act(call, ...signers);
  Object.assign(fields, changed);
  assert.deepEqual(events, eventsOf(['ConfigUpdated', said()]));
  assert.deepEqual((await fixture.read('ProtocolConfig', fixture.config)).fields, fields);
}

const signedBy = (key) => ({ authority: key.publicKey, config: fixture.config });

describe('the configuration', () => {
  it('is initialized by the upgrade authority', LIMIT, async () => {
    const [, bump] = PublicKey.findProgramAddressSync([Buffer.from('config')], fixture.program.programId);
    assert.deepEqual([fields.authority, fields.bump], [fixture.authority.publicKey.toBase58(), bump]);
    if (!fixture.initialized) return; // the chain that was given had a configuration, and maybe a history
    assert.deepEqual(fixture.initialized, eventsOf(['ConfigInitialized', said()]));
    assert.deepEqual(fields, {
      authority: fixture.authority.publicKey.toBase58(), treasury: fixture.treasury.toBase58(),
      default_decay_rate_bps: SETTINGS.decayBps, default_response_window: BigInt(SETTINGS.window),
      default_protocol_fee_bps: SETTINGS.feeBps, default_max_rounds: SETTINGS.rounds, total_negotiations: 0n,
      total_settled_volume: 0n, total_fees_collected: 0n, is_paused: false, bump, pending_authority: NOBODY,
    });
  });

  it('is changed within its ranges, and back', LIMIT, async () => {
    const { default_decay_rate_bps: decay, default_response_window: window, default_protocol_fee_bps: fee, default_max_rounds: rounds } = fields;
    const update = (feeBps) => fixture.methods
      .updateConfig(fixture.treasury, decay, bigint(window), feeBps, rounds).accountsStrict(signedBy(fixture.authority));
    await fixture.refused(update(501), fixture.authority, 'InvalidParams');
    await changes({ default_protocol_fee_bps: 75 }, update(75), fixture.authority);
    await changes({ default_protocol_fee_bps: fee }, update(fee), fixture.authority);
  });

  it('stops new negotiations while it is paused', LIMIT, async () => {
    const pause = (paused) => fixture.methods.setPaused(paused).accountsStrict(signedBy(fixture.authority));
    const deal = await Deal.prepare(fixture, SPL_TOKEN);
    await changes({ is_paused: true }, pause(true), fixture.authority);
    await fixture.refused(deal.creating(await deal.deadline()), deal.buyer, 'Paused');
    await changes({ is_paused: false }, pause(false), fixture.authority);
    await deal.create();
  });

  it('is handed over in two steps, and back', LIMIT, async () => {
    const next = await fixture.wallet();
    const propose = (by, to) => fixture.methods.proposeAuthority(to.publicKey).accountsStrict(signedBy(by));
    const accept = (by) => fixture.methods.acceptAuthority().accountsStrict(signedBy(by));
    const handOver = async (from, to) => {
      await changes({ pending_authority: to.publicKey.toBase58() }, propose(from, to), from);
      await fixture.refused(accept(from), from, 'Unauthorized');
      await changes({ authority: to.publicKey.toBase58(), pending_authority: NOBODY }, accept(to), to);
      await fixture.refused(propose(from, from), from, 'Unauthorized');
    };
    await handOver(fixture.authority, next);
    await handOver(next, fixture.authority);
  });
});
