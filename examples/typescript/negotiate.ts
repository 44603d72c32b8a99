// Runs one negotiation in TypeScript, from the deposit to the refund of the rent, with both parties in one
// program. It uses idl/haggle.json and an Anchor client, nothing else of this repository:
//
//   npm ci
//   npm start -- --rpc URL --mint ADDRESS --buyer buyer.json --seller seller.json
//
// The buyer needs 5,000,000 base units of the mint, and both need SOL. "haggle localnet --dir chain" starts a
// chain with such wallets.

import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { AnchorProvider, BN, EventParser, Program, Wallet, type Idl } from '@anchor-lang/core';
import { Connection, Keypair, PublicKey } from '@solana/web3.js';

const TOKEN_PROGRAM = new PublicKey('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA');
const ASSOCIATED_TOKEN_PROGRAM = new PublicKey('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL');
const SERVICE_HASH = [...createHash('sha256').update('Summarise a paper').digest()];
const NO_METADATA: number[] = Array(64).fill(0);
const ESCROW = new BN(5_000_000); // base units, the highest possible price
const DECIMALS = 6; // with which ESCROW and the offers are 5, 2, 4 and 3 tokens

const { values: flags } = parseArgs({
  options: {
    rpc: { type: 'string', default: 'http://127.0.0.1:8899' },
    ws: { type: 'string' }, // if not derived from rpc
    mint: { type: 'string', default: '' },
    buyer: { type: 'string', default: 'buyer.json' },
    seller: { type: 'string', default: 'seller.json' },
    idl: { type: 'string', default: '../../idl/haggle.json' },
  },
});

const idl: Idl = JSON.parse(readFileSync(flags.idl, 'utf8'));
const connection = new Connection(flags.rpc, { commitment: 'confirmed', wsEndpoint: flags.ws });
const mint = new PublicKey(flags.mint);
const [buyer, seller] = [flags.buyer, flags.seller].map(readKeypair);

function readKeypair(file: string): Keypair {
  return Keypair.fromSecretKey(Uint8Array.from(JSON.parse(readFileSync(file, 'utf8'))));
}

/** The program, with transactions that a party signs and pays. */
function programOf(party: Keypair): Program<any> {
  const provider = new AnchorProvider(connection, new Wallet(party), { commitment: 'confirmed' });
  return new Program<any>(idl, provider);
}

/** The accounts of the program, decoded by the IDL. */
const accounts = programOf(buyer).account as any;

function tokenAccountOf(owner: PublicKey): PublicKey {
  const seeds = [owner.toBytes(), TOKEN_PROGRAM.toBytes(), mint.toBytes()];
  return PublicKey.findProgramAddressSync(seeds, ASSOCIATED_TOKEN_PROGRAM)[0];
}

async function negotiate(): Promise<void> {
  const [buying, selling] = [programOf(buyer), programOf(seller)];
  const [configAddress] = PublicKey.findProgramAddressSync([Buffer.from('config')], buying.programId);
  const config = await accounts.protocolConfig.fetch(configAddress);

  // The buyer deposits the escrow and invites the seller. The session id distinguishes this pair's deals.
  const creation = buying.methods.createNegotiation(new BN(randomBytes(8)), {
    escrowAmount: ESCROW, serviceHash: SERVICE_HASH, maxRounds: config.defaultMaxRounds,
    decayRateBps: config.defaultDecayRateBps, responseWindow: config.defaultResponseWindow,
    globalDeadline: new BN(Math.floor(Date.now() / 1000) + 1800), minOfferBps: 1000, zopaEnabled: false,
    bondRequired: new BN(0), arbiter: PublicKey.default, milestoneBps: Array(8).fill(0),
    milestoneDeadline: new BN(0), reviewHours: 0, metadata: NO_METADATA,
    maxFeeBps: config.defaultProtocolFeeBps, decimals: DECIMALS,
  }).accountsPartial({
    buyer: buyer.publicKey, seller: seller.publicKey, tokenMint: mint, tokenProgram: TOKEN_PROGRAM,
    buyerTokenAccount: tokenAccountOf(buyer.publicKey),
  });
  // The client derives both addresses by the IDL's seeds.
  const { negotiation, escrowVault } = await creation.pubkeys() as Record<string, PublicKey>;
  await creation.rpc();
  console.log(`created ${negotiation}`);

  // The seller checks the terms that it reads, and accepts exactly these: it signs their hash.
  const account = await connection.getAccountInfo(negotiation);
  if (!account) throw new Error(`account ${negotiation} does not exist`);
  const terms = selling.coder.accounts.decode('negotiation', account.data);
  if (!Buffer.from(terms.serviceHash).equals(Buffer.from(SERVICE_HASH)) || !terms.tokenMint.equals(mint)) {
    throw new Error(`negotiation ${negotiation} is not about this service and mint`);
  }
  const termsHash = createHash('sha256').update(negotiation.toBytes()).update(account.data).digest();
  await selling.methods.acceptInvitation([...termsHash], DECIMALS).accountsPartial({
    seller: seller.publicKey, negotiation, tokenMint: mint,
    escrowVault: null, sellerTokenAccount: null, tokenProgram: null, // only with a bond
  }).rpc();

  // Every action names the deal and the round that its signer has read, so it cannot act on another state.
  for (const [party, amount] of [[buyer, 2_000_000], [seller, 4_000_000], [buyer, 3_000_000]] as const) {
    const { createdAt, currentRound } = await accounts.negotiation.fetch(negotiation);
    await programOf(party).methods.submitOffer(createdAt, currentRound, new BN(amount), 0, NO_METADATA)
      .accountsPartial({ offerer: party.publicKey, negotiation }).rpc();
    const { effectiveEscrow } = await accounts.negotiation.fetch(negotiation);
    console.log(`offered ${amount}; the escrow is worth ${effectiveEscrow}`);
  }

  // The seller accepts the offer that it has read. The program pays at once.
  const standing = await accounts.negotiation.fetch(negotiation);
  const signature = await selling.methods
    .acceptOffer(standing.createdAt, standing.currentRound, standing.currentOfferAmount, standing.metadata)
    .accountsPartial({
      acceptor: seller.publicKey, negotiation, tokenMint: mint, tokenProgram: TOKEN_PROGRAM,
      buyerTokenAccount: tokenAccountOf(buyer.publicKey),
      sellerTokenAccount: tokenAccountOf(seller.publicKey),
    }).rpc();
  for (const { name, data } of await eventsOf(signature)) {
    if (name === 'negotiationSettled') {
      const { settledAmount, protocolFee, escrowDecayTotal } = data;
      console.log(`settled at ${settledAmount}: fee ${protocolFee}, decay ${escrowDecayTotal}`);
    }
  }

  // Closing sends fee and decay to the treasury, and the rent back to the buyer. It is possible from the
  // second after the creation on.
  await pause(1000);
  await buying.methods.closeNegotiation().accountsPartial({
    closer: buyer.publicKey, negotiation, escrowVault, buyer: buyer.publicKey, tokenMint: mint,
    tokenProgram: TOKEN_PROGRAM, treasuryTokenAccount: tokenAccountOf(config.treasury),
    buyerTokenAccount: null, sellerTokenAccount: null,
  }).rpc();
  const { value } = await connection.getTokenAccountBalance(tokenAccountOf(seller.publicKey));
  console.log(`closed; the seller has ${value.amount}`);
}

async function eventsOf(signature: string) {
  const program = programOf(buyer);
  const transaction = await connection.getTransaction(signature, {
    commitment: 'confirmed', maxSupportedTransactionVersion: 0,
  });
  const parser = new EventParser(program.programId, program.coder);
  return [...parser.parseLogs(transaction?.meta?.logMessages ?? [])];
}

negotiate().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
