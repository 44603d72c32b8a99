// Package transport connects agents and spectators to the markets of a service by WebSockets.
package transport
