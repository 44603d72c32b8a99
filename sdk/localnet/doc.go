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
//		EscrowAmount: 5_000_000,
//	})
//
// [StartChain] returns the chain with the program alone.
//
// # The chain
//
// If HAGGLE_RPC_URL is set, no chain is started: the running chain at that endpoint is used, which must have
// the program. Otherwise HAGGLE_CHAIN or Options.Kind names the kind of chain to start:
//
//   - surfpool: confirms within about 50 ms, and its clock can be set. In a checkout of the Haggle repository
//     it is an embedded chain that toolchain/localnet builds into HAGGLE_CACHE. Elsewhere it is the command
//     surfpool on PATH.
//   - validator: solana-test-validator; time passes as on the clusters. In a checkout, toolchain/validator
//     finds or builds it. Elsewhere it is the command on PATH.
//
// If no kind is named, a checkout uses surfpool. Elsewhere the first of these commands on PATH is used.
//
// # The program
//
// Options.Program is the path of the program's ELF file. In a checkout, program/target/deploy/haggle.so is
// the default; "make program" builds it.
//
// # The clock
//
// [Chain.AdvanceTo] advances the clock of the whole chain. Tests that run in parallel and advance the clock
// need a chain each.
package localnet
