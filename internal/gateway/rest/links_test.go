package rest_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The links from a proposal name the round that the client accepts: otherwise an accept would be a guess.
func TestLinksAcceptTheOfferOfTheAnswer(t *testing.T) {
	g := open(t, sqlite(t))
	described := must(t, 200, call(t, "GET", g.negotiation+"/openapi.json", "", ""))
	links := inner(described, "paths", "/api/negotiations", "post", "responses", "201", "links").(map[string]any)
	round := "$response.body#/negotiation/current_round"
	require.Equal(t, map[string]any{
		"operationId": "accept", "parameters": map[string]any{"id": "$response.body#/negotiation/id"},
		"requestBody": map[string]any{"current_round": round},
	}, links["accept"])
	require.Equal(t, map[string]any{
		"operationId": "accept-all", "requestBody": map[string]any{"offers": []any{map[string]any{
			"negotiation_id": "$response.body#/negotiation/id", "current_round": round,
		}}},
	}, links["accept-all"])
}
