// Package wallet has places to keep an agent's key in, beside the Solana CLI's keypair file ([LoadKeypairFile]): the
// environment ([FromEnvironment]), an encrypted file ([OpenEncrypted]), and a wallet service that signs without giving the key away
// ([NewRemote]). Each is a haggle.Signer; put a policy around it before an agent gets it.
//
// Nothing here shows a secret when it is printed or logged, and no error contains one.
package wallet
