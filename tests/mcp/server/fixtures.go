//go:build conformance

package main

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Functions missing in this package come from the SDK's conformance server, which the script compiles into
// it.
func init() {
	newFixtures = func(ctx context.Context) *mcp.Server {
		server := mcp.NewServer(&mcp.Implementation{Name: "haggle-fixtures", Version: "1"}, &mcp.ServerOptions{
			CompletionHandler: completionHandler, SubscribeHandler: subscribeHandler,
			UnsubscribeHandler: unsubscribeHandler,
		})
		registerTools(server)
		registerResources(server)
		registerPrompts(server)
		go watchedResourceUpdater(ctx, server)
		return server
	}
}
