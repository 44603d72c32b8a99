'use strict';
// The environment of a negotiation: the program by its IDL, the protocol's configuration, funded wallets, and
// reads of events and accounts.

const assert = require('node:assert/strict');
const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const { setTimeout: pause } = require('node:timers/promises');
const { anchor } = require('./client');
const { Keypair, LAMPORTS_PER_SOL, PublicKey, SystemProgram, Transaction } = require('@solana/web3.js');
const { openChain, repository } = require('./chain');
const { bigint, plain } = require('./plain');
const { confirmed } = require('./confirm');
const tokens = require('./tokens');

const idl = JSON.parse(readFileSync(join(repository, 'idl', 'haggle.json'), 'utf8'));
const programId = new PublicKey(idl.address);
const READ_LIMIT = 30_000; // milliseconds until a confirmed transaction can be read
const AUTHORITY_LAMPORTS = 10_000_000; // for the configuration's rent

// The configuration, if the chain has none yet.
const SETTINGS = { decayBps: 200, window: 300, feeBps: 50, rounds: 10 };

// Errors of Anchor's framework, which the IDL does not list.
const FRAMEWORK_ERRORS = {
  ConstraintHasOne: { code: 2001, msg: 'A has one constraint was violated' },
  ConstraintRaw: { code: 2003, msg: 'A raw constraint was violated' },
};

class Fixture {
  /**
   * Opens a chain and configures the protocol. `initialized` has the event, unless the chain was configured
   * before.
   */
  static async open() {
    const fixture = new Fixture();
    Object.assign(fixture, await openChain());
    const options = { commitment: 'confirmed', preflightCommitment: 'confirmed' };
    fixture.provider = new anchor.AnchorProvider(fixture.connection, new anchor.Wallet(fixture.faucet), options);
    fixture.program = new anchor.Program(idl, fixture.provider);
    fixture.methods = fixture.program.methods;
    // Anchor's program renames fields; this coder keeps the IDL's names.
    fixture.coder = new anchor.BorshCoder(idl);
    fixture.events = new anchor.EventParser(programId, fixture.coder);
    await fixture.configure();
    return fixture;
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

  /** The fee on a paid amount, rounded down. */
  fee(gross) {
    return gross * this.feeBps / 10_000n;
  }

  /** A wallet with one SOL. The faucet pays all fees, so only rent changes its balance. */
  async wallet() {
    const key = Keypair.generate();
    await this.send([SystemProgram.transfer({
      fromPubkey: this.faucet.publicKey, toPubkey: key.publicKey, lamports: LAMPORTS_PER_SOL,
    })]);
    return key;
  }

  /** A mint with six decimals, with these balances: [owner, units]. */
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
    const transaction = new Transaction().add(...instructions);
    const signature = await this.connection.sendTransaction(transaction, [this.faucet, ...signers]);
    await confirmed(this.connection, signature);
  }

  /** Sends a call and returns its events: [{ name, data }], data as plain values. */
  async act(call, ...signers) {
    const transaction = await call.transaction();
    const signature = await this.connection.sendTransaction(transaction, [this.faucet, ...signers]);
    await confirmed(this.connection, signature);
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

  /** Requires that Anchor's own `.rpc()` throws the IDL's error of this name, as AnchorError. */
  async refused(call, signer, name) {
    const { code, msg } = idl.errors.find((error) => error.name === name) ?? FRAMEWORK_ERRORS[name];
    await assert.rejects(call.signers([signer]).rpc(), (error) => {
      assert.ok(error instanceof anchor.AnchorError, `${error}`);
      const { errorCode, errorMessage } = error.error;
      assert.deepEqual({ ...errorCode, errorMessage, program: error.program.toBase58() },
        { code: name, number: code, errorMessage: msg, program: idl.address });
      return true;
    });
  }

  /** An account's fields as plain values by the IDL's names, and its bytes. */
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

/** Events as act returns them, from pairs of a name and its fields. */
const eventsOf = (...events) => events.map(([name, data]) => ({ name, data }));

module.exports = { Fixture, SETTINGS, eventsOf };
