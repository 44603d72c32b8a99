// Package wallet stores an agent's key elsewhere than in the Solana CLI's keypair file ([LoadKeypairFile]):
// in the environment ([FromEnvironment]), in an encrypted file ([OpenEncrypted]), or at a wallet service that
// signs without revealing the key ([NewRemote]). They all implement haggle.Signer; wrap them in a policy
// before passing them to agents.
//
// Types in this package never show secrets when printed or logged, and errors never contain secrets.
package wallet
