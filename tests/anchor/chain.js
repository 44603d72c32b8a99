'use strict';
// A chain with the program loaded: the one that HAGGLE_RPC_URL names, with its upgrade authority's keypair
// file in HAGGLE_UPGRADE_AUTHORITY, or else the embedded local chain, which ends with this process at the
// latest.

const { spawn } = require('node:child_process');
const { readFileSync } = require('node:fs');
const { createInterface } = require('node:readline');
const { join } = require('node:path');
const { Connection, Keypair, LAMPORTS_PER_SOL, SYSVAR_CLOCK_PUBKEY } = require('@solana/web3.js');
const { confirmed } = require('./confirm');

const repository = join(__dirname, '..', '..');
const START_LIMIT = 60_000; // milliseconds
const AIRDROP = 100 * LAMPORTS_PER_SOL;
const UNIX_TIME = 32; // where the Clock sysvar has it

/** Opens the chain for a program address: { connection, faucet, authority, stop }. The faucet has SOL. */
async function openChain(programId) {
  return process.env.HAGGLE_RPC_URL ? connectToChain() : startChain(programId);
}

async function connectToChain() {
  const keypairFile = process.env.HAGGLE_UPGRADE_AUTHORITY;
  if (!keypairFile) throw new Error('HAGGLE_UPGRADE_AUTHORITY has to name the keypair file of the upgrade authority');
  const authority = Keypair.fromSecretKey(Uint8Array.from(JSON.parse(readFileSync(keypairFile, 'utf8'))));
  const connection = new Connection(process.env.HAGGLE_RPC_URL, 'confirmed');
  const faucet = Keypair.generate();
  const signature = await connection.requestAirdrop(faucet.publicKey, AIRDROP);
  await confirmed(connection, signature);
  return { connection, faucet, authority, stop: async () => {} };
}

async function startChain(programId) {
  const binary = process.env.HAGGLE_LOCALNET;
  if (!binary) throw new Error('HAGGLE_LOCALNET has to name the local chain: run this with make test-anchor');
  const faucet = Keypair.generate();
  const authority = Keypair.generate();
  const child = spawn(binary, [
    '--program', programId.toBase58(), join(repository, 'sdk', 'localnet', 'haggle.so'),
    '--upgrade-authority', authority.publicKey.toBase58(),
    '--faucet', faucet.publicKey.toBase58(),
    '--exit-with-parent', // it watches stdin, which this process holds open
  ], { stdio: ['pipe', 'pipe', 'pipe'] });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const stop = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  try {
    const { rpc_url: url } = JSON.parse(await firstLine(child));
    return { connection: new Connection(url, 'confirmed'), faucet, authority, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The line with the chain's address. If there is none, the chain's log is printed. */
function firstLine(child) {
  const log = [];
  createInterface({ input: child.stderr }).on('line', (line) => log.push(line));
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`the chain is not ready after ${START_LIMIT} ms`)), START_LIMIT);
    const settle = (conclude) => (value) => {
      clearTimeout(timer);
      conclude(value);
    };
    createInterface({ input: child.stdout }).once('line', settle(resolve));
    child.once('error', settle(reject));
    child.once('exit', settle((code) => reject(new Error(`the chain ended with exit code ${code}: ${log.join('\n')}`))));
  });
}

/** The chain's Unix time in seconds. */
async function chainTime(connection) {
  const clock = await connection.getAccountInfo(SYSVAR_CLOCK_PUBKEY);
  return clock.data.readBigInt64LE(UNIX_TIME);
}

module.exports = { openChain, chainTime, repository };
