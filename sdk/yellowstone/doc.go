// Package yellowstone has a client's subscriptions learn what happens from Geyser over gRPC, as Yellowstone's plugin serves it
// (github.com/rpcpool/yellowstone-grpc), instead of from a node's WebSocket interface: one stream for any number of negotiations, and
// after an interruption the plugin repeats what has been missed.
//
//	source, err := yellowstone.New(yellowstone.Config{Endpoint: "https://grpc.example.com", Token: token})
//	...
//	client, err := haggle.NewClient(haggle.Config{Endpoint: "https://rpc.example.com", Source: source})
//
// A source can be used by several clients. As with any [haggle.EventSource], what the stream tells is a hint: the client reads the
// transactions from its JSON-RPC node, and so is as right with a provider that drops or repeats updates as with one that does not.
//
// Besides transactions a stream carries three short updates per slot, by which a subscription knows that the service goes by it: less
// than a kilobyte a second.
//
// # What it has been tried against
//
// Yellowstone's plugin itself, version 15.1.2, inside solana-test-validator 4.2.2, both made by Rust 1.95.0: over TLS and with a token,
// at both commitment levels, with connections that are cut, that are refused for a while and that fall silent, with a plugin that
// repeats what was missed, one that has forgotten it and one that never repeats. "make yellowstone PLUGIN=..." does that again with
// a plugin that one has built or downloaded: it is in no package registry, and so not part of "make test". The tests of this package
// run against a gRPC server of their own that does as the plugin does, and can be told to misbehave. No provider's service has been
// tried.
//
// The messages are generated from the plugin's .proto files, which are licensed under Apache-2.0, unlike the plugin itself; no code of
// the plugin is used. A program that also links another Go copy of these files panics when it starts, unless the environment variable
// GOLANG_PROTOBUF_REGISTRATION_CONFLICT is "warn".
package yellowstone

//go:generate internal/geyser/generate
