// Package jsonrpc serves the JSON-RPC and WebSocket interface of a Solana node over a ledger.
//
// [New] returns a server, an [http.Handler] for both. [Server.Listen] opens two ports for other programs, and
// [Server.Client] returns a client that needs no port. [Server.Run] closes a block at an interval.
//
// Methods that it does not know answer with code -32601, as a node does. It encodes data as base58 or base64
// and not as jsonParsed.
package jsonrpc
