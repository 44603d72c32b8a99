// Package yellowstone tests the SDK's Geyser source with Yellowstone's plugin in a validator.
//
// Each test negotiates on a solana-test-validator with the plugin, while a client subscribes over TLS through
// a proxy that cuts the connection. The client's events must equal the chain's history whatever happens to
// the stream. The stream itself must also send a hint for every transaction: if a hint were missing, the
// client would find the transaction, but later.
//
// The operator of the validator builds the plugin; it is not part of this repository.
// HAGGLE_YELLOWSTONE_PLUGIN is the path to the plugin file (toolchain/yellowstone).
package yellowstone
