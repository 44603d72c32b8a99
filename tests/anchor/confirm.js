'use strict';
// Confirmation by polling, which needs no WebSocket.

const { setTimeout: pause } = require('node:timers/promises');

const CONFIRM_LIMIT = 45_000; // milliseconds
const POLL = 20;

/** Waits until a transaction is confirmed. Throws if it fails. */
async function confirmed(connection, signature) {
  for (const deadline = Date.now() + CONFIRM_LIMIT; Date.now() < deadline; await pause(POLL)) {
    const { value } = await connection.getSignatureStatus(signature);
    if (value?.err) throw new Error(`transaction ${signature} failed: ${JSON.stringify(value.err)}`);
    if (['confirmed', 'finalized'].includes(value?.confirmationStatus)) return;
  }
  throw new Error(`transaction ${signature} is not confirmed after ${CONFIRM_LIMIT} ms`);
}

module.exports = { confirmed };
