'use strict';
// Anchor's provider with confirmation by polling. That of web3.js needs a WebSocket and leaves requests behind, which fail when
// the chain is stopped.

const { setTimeout: pause } = require('node:timers/promises');
const { AnchorProvider } = require('@anchor-lang/core');

const CONFIRM_LIMIT = 45_000; // milliseconds
const POLL = 20;

class PollingProvider extends AnchorProvider {
  async sendAndConfirm(transaction, signers = []) {
    transaction.feePayer ??= this.publicKey;
    transaction.recentBlockhash = (await this.connection.getLatestBlockhash()).blockhash;
    if (signers.length > 0) transaction.partialSign(...signers);
    const signed = await this.wallet.signTransaction(transaction);
    const signature = await this.connection.sendRawTransaction(signed.serialize());
    await confirmed(this.connection, signature);
    return signature;
  }
}

/** Waits until a transaction is confirmed; one that has failed is an error. */
async function confirmed(connection, signature) {
  for (const deadline = Date.now() + CONFIRM_LIMIT; Date.now() < deadline; await pause(POLL)) {
    const { value } = await connection.getSignatureStatus(signature);
    if (value?.err) throw new Error(`transaction ${signature} failed: ${JSON.stringify(value.err)}`);
    if (['confirmed', 'finalized'].includes(value?.confirmationStatus)) return;
  }
  throw new Error(`transaction ${signature} is not confirmed after ${CONFIRM_LIMIT} ms`);
}

module.exports = { PollingProvider, confirmed };
