// Package wallet stores an agent's key elsewhere than in the Solana CLI's keypair file
// ([LoadKeypairFile]): in the environment ([FromEnvironment]), in an encrypted file ([OpenEncrypted]),
// or at a wallet service that signs without revealing the key ([NewRemote]). Each is a haggle.Signer; put a
// policy around it before an agent gets it.
//
// No type of this package shows a secret when it is printed or logged, and no error contains one.
package wallet
