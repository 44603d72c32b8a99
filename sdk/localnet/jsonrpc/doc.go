// Package jsonrpc serves the JSON-RPC and WebSocket interface of Solana nodes over a ledger.
//
// [New] returns a server, an [http.Handler] for both. [Server.Listen] opens two ports for other programs, and
// [Server.Client] returns a client that needs no port. [Server.Run] closes blocks periodically.
//
// Unknown methods return code -32601, as nodes do. The responses follow Agave 4.2.2, and can be compared with
// those of solana-test-validator: make record-validator. The encoding jsonParsed parses neither accounts nor
// instructions; it names the accounts of instructions.
package jsonrpc
