'use strict';
// Converts the values of Anchor's coders to comparable ones and back.

const { anchor: { BN } } = require('./client');
const { PublicKey } = require('@solana/web3.js');

/**
 * Decoded values in comparable form: 64-bit numbers as BigInt, addresses in base58, bytes in hex, variants by
 * name.
 */
function plain(value) {
  if (BN.isBN(value)) return BigInt(value.toString());
  if (value instanceof PublicKey) return value.toBase58();
  if (Array.isArray(value)) return value.length >= 32 ? Buffer.from(value).toString('hex') : value;
  if (typeof value !== 'object') return value;
  const entries = Object.entries(value);
  if (entries.length === 1 && Object.keys(entries[0][1]).length === 0) return entries[0][0];
  return Object.fromEntries(entries.map(([name, inner]) => [name, plain(inner)]));
}

/** A 64-bit number for Anchor. */
const bigint = (value) => new BN(value.toString());

/** Bytes in hex for Anchor. */
const bytes = (hex) => [...Buffer.from(hex, 'hex')];

/** Fields by the names that Anchor's program gives them. */
const camelCased = (fields) => Object.fromEntries(Object.entries(fields)
  .map(([name, value]) => [name.replace(/_([a-z0-9])/g, (_, letter) => letter.toUpperCase()), value]));

module.exports = { plain, bigint, bytes, camelCased };
