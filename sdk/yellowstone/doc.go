// Package yellowstone is an event source that uses Geyser over gRPC, as Yellowstone's plugin serves it
// (github.com/rpcpool/yellowstone-grpc), instead of a node's WebSocket interface: a single stream serves any
// number of negotiations, and after an interruption the plugin repeats missed transactions.
//
//	source, err := yellowstone.New(yellowstone.Config{Endpoint: "https://grpc.example.com", Token: token})
//	...
//	client, err := haggle.NewClient(haggle.Config{Endpoint: "https://rpc.example.com", Source: source})
//
// Several clients can share a source. As with any [events.Source], the stream only sends hints: the client
// reads the transactions from its JSON-RPC node, so a provider that drops or repeats updates causes no wrong
// events.
//
// Besides transactions a stream carries three short updates per slot, less than a kilobyte a second. They
// show that the service applies the current filter.
//
// # Tested versions
//
// Yellowstone's plugin 15.1.2 in solana-test-validator 4.2.2, both built with Rust 1.95.0: over TLS and with
// a token, at both commitment levels, with connections that are cut, refused for a while or silent, with
// plugins that repeat missed transactions, no longer have them, or never repeat. "make yellowstone
// PLUGIN=..." runs these tests with a plugin that you have built or downloaded; no package registry offers
// it, so it is not part of "make test". The tests of this package use their own gRPC server, which behaves as
// the plugin does and can be configured to misbehave. No provider's service was tested.
//
// The messages are generated from the plugin's .proto files, which are licensed under Apache-2.0, unlike the
// plugin itself; no code of the plugin is used. A program that also links another Go copy of these files
// panics when it starts, unless the environment variable GOLANG_PROTOBUF_REGISTRATION_CONFLICT is "warn".
package yellowstone

//go:generate internal/geyser/generate
