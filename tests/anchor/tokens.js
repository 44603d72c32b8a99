'use strict';
// The four operations of a token program that the tests need. SPL Token and Token-2022 use the same bytes for
// them.

const { Keypair, PublicKey, SystemProgram, TransactionInstruction } = require('@solana/web3.js');

const SPL_TOKEN = new PublicKey('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA');
const TOKEN_2022 = new PublicKey('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb');
const ASSOCIATED_TOKEN = new PublicKey('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL');
const MINT_LENGTH = 82;
const INITIALIZE_MINT_2 = 20;
const MINT_TO = 7;
const CREATE_IDEMPOTENT = 1;

const writable = (pubkey) => ({ pubkey, isSigner: false, isWritable: true });
const readonly = (pubkey) => ({ pubkey, isSigner: false, isWritable: false });
const signer = (pubkey) => ({ pubkey, isSigner: true, isWritable: false });
const payer = (pubkey) => ({ pubkey, isSigner: true, isWritable: true });

/** A new mint, whose authority pays for it, and the instructions that make it. */
async function newMint(connection, tokenProgram, authority, decimals) {
  const key = Keypair.generate();
  const instructions = [
    SystemProgram.createAccount({
      fromPubkey: authority,
      newAccountPubkey: key.publicKey,
      lamports: await connection.getMinimumBalanceForRentExemption(MINT_LENGTH),
      space: MINT_LENGTH,
      programId: tokenProgram,
    }),
    new TransactionInstruction({
      programId: tokenProgram,
      keys: [writable(key.publicKey)],
      data: Buffer.from([INITIALIZE_MINT_2, decimals, ...authority.toBytes(), 0]),
    }),
  ];
  return { key, instructions };
}

function associatedAccount(owner, mint, tokenProgram) {
  return PublicKey.findProgramAddressSync([owner.toBytes(), tokenProgram.toBytes(), mint.toBytes()], ASSOCIATED_TOKEN)[0];
}

function createAssociatedAccount(from, owner, mint, tokenProgram) {
  return new TransactionInstruction({
    programId: ASSOCIATED_TOKEN,
    keys: [
      payer(from), writable(associatedAccount(owner, mint, tokenProgram)), readonly(owner), readonly(mint),
      readonly(SystemProgram.programId), readonly(tokenProgram),
    ],
    data: Buffer.from([CREATE_IDEMPOTENT]),
  });
}

function mintTo(mint, account, authority, units, tokenProgram) {
  const data = Buffer.alloc(9);
  data.writeUInt8(MINT_TO);
  data.writeBigUInt64LE(units, 1);
  return new TransactionInstruction({
    programId: tokenProgram, keys: [writable(mint), writable(account), signer(authority)], data,
  });
}

/** The base units in a token account. */
async function unitsIn(connection, account) {
  return BigInt((await connection.getTokenAccountBalance(account)).value.amount);
}

module.exports = { SPL_TOKEN, TOKEN_2022, newMint, associatedAccount, createAssociatedAccount, mintTo, unitsIn };
