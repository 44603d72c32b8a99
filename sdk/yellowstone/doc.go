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
// # What it has been tried against
//
// The tests of this package run it against a gRPC server of their own that speaks the plugin's protocol as its source code at tag
// v15.1.2+solana.4.2.0 has it (filters, replay from a slot, pings and pongs, the errors), over plain text and TLS. It has not been
// run against a validator with the plugin, nor against a provider's service.
//
// The messages are generated from the plugin's .proto files, which are licensed under Apache-2.0, unlike the plugin itself; no code of
// the plugin is used. A program that also links another Go copy of these files panics when it starts, unless the environment variable
// GOLANG_PROTOBUF_REGISTRATION_CONFLICT is "warn".
package yellowstone

//go:generate internal/geyser/generate
