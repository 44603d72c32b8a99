// Package engine executes Solana transactions in the current process: LiteSVM with the runtime crates of
// Agave 4.2.2, compiled to WebAssembly and run by wazero. It needs neither cgo nor another program.
//
// [Compile] prepares the module once per process, and [Module.New] returns an engine with separate accounts:
// the native programs, SPL Token, Token-2022, Associated Token Account, Memo and the sysvars.
// [Engine.SetAccount] loads programs and accounts, [Engine.Execute] executes a transaction and stores the
// changes, and [Engine.Simulate] executes it and stores nothing.
//
// An engine knows neither slots nor blocks. It checks neither signatures nor blockhashes, and does not
// recognize repeated transactions: package ledger does all this.
//
// The ed25519, secp256k1 and secp256r1 precompiles are missing, because they need OpenSSL. Transactions that
// call them fail.
package engine
