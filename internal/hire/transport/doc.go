// Package transport serves a home over HTTP: card, inbox, event streams, lists, logs and deliveries.
//
//	server, err := transport.NewServer(transport.Config{Service: home, Origin: origin, Card: card})
//	...
//	go server.Serve(listener)
//	...
//	server.Shutdown(ctx) // ends the streams, and waits for the remaining requests
//
// All requests except for the card, the inbox and the health are signed by HTTP Message Signatures (RFC 9421)
// with the key of the agent in the query: [httpsig.Transport] signs them. Errors are JSON containing a reason
// and text, like the inbox's.
package transport
