// Package transport connects agents and spectators to a service's markets by WebSockets.
package transport
