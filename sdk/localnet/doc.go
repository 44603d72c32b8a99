// Package localnet starts a local Solana chain with the Haggle program, for tests and demonstrations.
//
// [Start] also initializes the protocol, creates a mint, and funds a buyer and a seller:
//
//	net, err := localnet.Start(ctx, localnet.Options{})
//	...
//	defer net.Close()
//	created, err := net.Client.CreateNegotiation(haggle.CreateRequest{
//		Buyer:        net.Buyer.PublicKey(),
//		Seller:       net.Seller.PublicKey(),
//		Mint:         net.Mint,
//		Decimals:     localnet.Decimals,
//		EscrowAmount: 5_000_000,
//		Key:          "order 1",
//	})
//
// [StartChain] returns the chain with the program alone.
//
// # The chain
//
// If HAGGLE_RPC_URL is set, no chain is started: the running chain at that endpoint is used, and must contain
// the program. Otherwise HAGGLE_CHAIN or Options.Kind selects the chain:
//
//   - process: an in-process chain, which needs no other program: see package ledger. It confirms within
//     about 50 ms, and the clock can be set.
//   - validator: solana-test-validator 4.2 or later; time passes as on the clusters.
//
// The default is process. The validator is the command on PATH, or a checkout's build in the cache
// (HAGGLE_CACHE, by default ~/.cache/haggle). Inside a checkout, toolchain/validator chooses it, and builds a
// missing one, which takes about 25 minutes once.
//
// # The program
//
// The chain contains this package's program, [Program]. Options.Program is the path of another ELF file.
//
// # State
//
// Close deletes the chain's state, and all keys are new each time. Options.Ledger keeps the state in a
// directory, with fixed keys for tests.
//
// In-process chains can also return to a prepared state ([Chain.Snapshot]), and load any program and account
// ([Chain.LoadProgram], [Chain.SetAccount]), also copies from a cluster ([Chain.CloneAccounts]).
//
// # The clock
//
// [Chain.AdvanceTime] and [Chain.AdvanceTo] advance the whole chain's clock, or wait for a validator's clock.
// Tests that run in parallel and advance the clock need a chain each.
package localnet
