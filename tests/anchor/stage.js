'use strict';
// What a negotiation needs around it: the program as Anchor sees it from the IDL, the protocol's configuration, people with
// money; and what was sent and stored, read back.

const assert = require('node:assert/strict');
const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const { setTimeout: pause } = require('node:timers/promises');
const anchor = require('@anchor-lang/core');
const { Keypair, LAMPORTS_PER_SOL, PublicKey, SystemProgram, Transaction } = require('@solana/web3.js');
const { openChain, repository } = require('./chain');
const { bigint, plain } = require('./plain');
const { PollingProvider } = require('./provider');
const tokens = require('./tokens');

const idl = JSON.parse(readFileSync(join(repository, 'idl', 'haggle.json'), 'utf8'));
const programId = new PublicKey(idl.address);
const READ_LIMIT = 30_000; // milliseconds until a confirmed transaction can be read
const AUTHORITY_LAMPORTS = 10_000_000; // for the configuration's rent

// What the protocol is configured with where it is not yet.
const SETTINGS = { decayBps: 200, window: 300, feeBps: 50, rounds: 10 };

class Stage {
  /** Opens a chain and initializes the protocol; `initialized` is the event of that, if it was not. */
  static async open() {
    const stage = new Stage();
    Object.assign(stage, await openChain(programId));
    stage.provider = new PollingProvider(stage.connection, new anchor.Wallet(stage.faucet), { commitment: 'confirmed' });
    stage.program = new anchor.Program(idl, stage.provider);
    stage.methods = stage.program.methods;
    // Two coders: Anchor's program renames what the IDL names, this one keeps the names.
    stage.coder = new anchor.BorshCoder(idl);
    stage.events = new anchor.EventParser(programId, stage.coder);
    try {
      await stage.configure();
    } catch (error) {
      await stage.stop();
      throw error;
    }
    return stage;
  }

  async configure() {
    const { authority, methods } = this;
    const treasury = Keypair.generate().publicKey;
    const call = methods.initializeConfig(treasury, SETTINGS.decayBps, bigint(SETTINGS.window), SETTINGS.feeBps, SETTINGS.rounds)
      .accountsPartial({ authority: authority.publicKey });
    this.config = (await call.pubkeys()).config;
    if (!await this.connection.getAccountInfo(this.config)) {
      await this.send([SystemProgram.transfer({
        fromPubkey: this.faucet.publicKey, toPubkey: authority.publicKey, lamports: AUTHORITY_LAMPORTS,
      })]);
      this.initialized = await this.act(call, authority);
    }
    const { fields } = await this.read('ProtocolConfig', this.config);
    this.treasury = new PublicKey(fields.treasury);
    this.feeBps = BigInt(fields.default_protocol_fee_bps);
  }

  /** The fee of what has been paid, rounded down. */
  fee(gross) {
    return gross * this.feeBps / 10_000n;
  }

  /** Somebody with one SOL. Fees are the faucet's, so that SOL only moves for rent. */
  async person() {
    const key = Keypair.generate();
    await this.send([SystemProgram.transfer({
      fromPubkey: this.faucet.publicKey, toPubkey: key.publicKey, lamports: LAMPORTS_PER_SOL,
    })]);
    return key;
  }

  /** A mint of six decimals of which each [owner, units] has so much. */
  async mint(tokenProgram, ...holdings) {
    const faucet = this.faucet.publicKey;
    const { key, instructions } = await tokens.newMint(this.connection, tokenProgram, faucet, 6);
    const mint = key.publicKey;
    for (const [owner, units] of holdings) {
      const account = tokens.associatedAccount(owner, mint, tokenProgram);
      instructions.push(tokens.createAssociatedAccount(faucet, owner, mint, tokenProgram));
      if (units > 0n) instructions.push(tokens.mintTo(mint, account, faucet, units, tokenProgram));
    }
    await this.send(instructions, [key]);
    return mint;
  }

  async send(instructions, signers = []) {
    return this.provider.sendAndConfirm(new Transaction().add(...instructions), signers);
  }

  /** Sends what Anchor has built and returns the events that it emitted: [{ name, data }], data as plain values. */
  async act(call, ...signers) {
    const signature = await call.signers(signers).rpc();
    const { meta } = await this.transaction(signature);
    return [...this.events.parseLogs(meta.logMessages)].map(({ name, data }) => ({ name, data: plain(data) }));
  }

  async transaction(signature) {
    for (const deadline = Date.now() + READ_LIMIT; Date.now() < deadline; await pause(50)) {
      const found = await this.connection.getTransaction(signature, { commitment: 'confirmed', maxSupportedTransactionVersion: 0 });
      if (found) return found;
    }
    throw new Error(`transaction ${signature} cannot be read after ${READ_LIMIT} ms`);
  }

  /** Expects a call to be refused with the IDL's error of this name. */
  async refused(call, signer, name) {
    const { code, msg } = idl.errors.find((error) => error.name === name);
    await assert.rejects(call.signers([signer]).rpc(), (error) => {
      const told = translated(error);
      assert.ok(told instanceof anchor.ProgramError, `${error}`);
      assert.deepEqual({ code: told.code, msg: told.msg, program: told.program.toBase58() }, { code, msg, program: idl.address });
      return true;
    });
  }

  /** An account's fields as plain values by the IDL's names, all of them, and the bytes that the chain has. */
  async read(name, address) {
    const { data } = await this.connection.getAccountInfo(address);
    const decoded = this.coder.accounts.decode(name, data);
    const declared = idl.types.find((type) => type.name === name).type.fields.map((field) => field.name);
    assert.deepEqual(Object.keys(decoded), declared, `the fields of ${name}`);
    return { fields: plain(decoded), data };
  }

  /** The same account by the typed accessor of Anchor's program, which renames fields and variants. */
  async fetch(name, address) {
    return plain(await this.program.account[name].fetch(address));
  }
}

/**
 * What Anchor makes of a refusal. It finds the code in an error's text, if it is there once; web3.js repeats it with every log
 * line, so that Anchor gets the line in which the chain has named it.
 */
function translated(error) {
  const failure = new Error(error.logs?.find((line) => line.includes('custom program error: ')) ?? error.message);
  failure.logs = error.logs;
  return anchor.translateError(failure, anchor.parseIdlErrors(idl));
}

/** Events as act returns them, from pairs of a name and its fields. */
const told = (...events) => events.map(([name, data]) => ({ name, data }));

module.exports = { Stage, SETTINGS, told };
