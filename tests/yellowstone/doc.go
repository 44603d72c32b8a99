// Package yellowstone shows that the SDK's Geyser source works with the real thing: Yellowstone's plugin inside a validator.
//
// Each test negotiates on a solana-test-validator that has loaded the plugin, and has a client listen to it over TLS through a
// proxy that cuts the connection. What the client is told has to be what the chain's history is, event for event, whatever happens to
// the stream, and the stream itself has to have told of every transaction: a client would find them without it, only later.
//
// The plugin is built by whoever runs the validator, and is not part of this repository: HAGGLE_YELLOWSTONE_PLUGIN is its file
// (toolchain/yellowstone).
package yellowstone
