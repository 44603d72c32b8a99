// Package jsonrpc serves the JSON-RPC and WebSocket interface of a Solana node over a ledger.
//
// [New] returns a server, an [http.Handler] for both. [Server.Listen] opens two ports for other programs, and
// [Server.Client] returns a client that needs no port. [Server.Run] closes a block at an interval.
//
// Methods that it does not know answer with code -32601, as a node does. The responses follow Agave 4.2.2,
// and can be compared with those of solana-test-validator: make record-validator. The encoding jsonParsed parses neither accounts nor
// instructions; it names the accounts of instructions.
package jsonrpc
