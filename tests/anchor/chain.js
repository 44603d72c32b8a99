'use strict';
// A chain with the program loaded: HAGGLE_RPC_URL names it, and HAGGLE_UPGRADE_AUTHORITY the keypair file of
// the program's upgrade authority. clients_test.go starts one.

const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const { Connection, Keypair, LAMPORTS_PER_SOL, SYSVAR_CLOCK_PUBKEY } = require('@solana/web3.js');
const { confirmed } = require('./confirm');

const repository = join(__dirname, '..', '..');
const AIRDROP = 100 * LAMPORTS_PER_SOL;
const UNIX_TIME = 32; // where the Clock sysvar has it

/** Opens the chain: { connection, faucet, authority }. The faucet has SOL. */
async function openChain() {
  if (!process.env.HAGGLE_RPC_URL) throw new Error('HAGGLE_RPC_URL has to name a chain: run this with make test-anchor');
  const keypairFile = process.env.HAGGLE_UPGRADE_AUTHORITY;
  if (!keypairFile) throw new Error('HAGGLE_UPGRADE_AUTHORITY has to name the keypair file of the upgrade authority');
  const authority = Keypair.fromSecretKey(Uint8Array.from(JSON.parse(readFileSync(keypairFile, 'utf8'))));
  const connection = new Connection(process.env.HAGGLE_RPC_URL, 'confirmed');
  const faucet = Keypair.generate();
  const signature = await connection.requestAirdrop(faucet.publicKey, AIRDROP);
  await confirmed(connection, signature);
  return { connection, faucet, authority };
}

/** The chain's Unix time in seconds. */
async function chainTime(connection) {
  const clock = await connection.getAccountInfo(SYSVAR_CLOCK_PUBKEY);
  return clock.data.readBigInt64LE(UNIX_TIME);
}

module.exports = { openChain, chainTime, repository };
