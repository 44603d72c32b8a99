package mcp_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/identity"
	"github.com/haggle-protocol/haggle/internal/gateway/mcp"
	"github.com/haggle-protocol/haggle/internal/gateway/service"
	"github.com/haggle-protocol/haggle/internal/gateway/shutdown"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
	"github.com/haggle-protocol/haggle/internal/gateway/store/storetest"
	"github.com/haggle-protocol/haggle/internal/gateway/terms"
)

// move records a move in an open negotiation, as a job does. A client's move leaves the answer pending.
func (g *gateway) move(ctx context.Context, id string, actor engine.Party, price uint64) error {
	offer := terms.Terms{Price: price, TTLSeconds: 600, BurstRPS: 10, Purposes: []terms.Purpose{terms.Inference}}
	return storetest.Move(ctx, g.registry.Store, id, store.Round{Actor: actor, Terms: offer.Canonical()})
}

// pending returns the id of a new negotiation with a pending answer.
func (g *gateway) pending(t *testing.T, client agent) string {
	t.Helper()
	g.publisher(t, "site-a.local", "A")
	var opened mcp.ProposeAnswer
	client.call("propose_license_terms", proposal(1100), &opened)
	id := opened.Answers[0].Negotiation.ID
	require.NoError(t, g.move(t.Context(), id, engine.PartyClient, 1200))
	return id
}

// While the publisher's answer is pending, the next step is to read the negotiation. An agent can also leave
// it. The test records an unanswered proposal.
func TestAnAgentWaitsForAPendingAnswer(t *testing.T) {
	g := newGateway(t)
	client := g.agent(t, g.client(t, "OpenAI").Reveal())
	id := g.pending(t, client)

	var status mcp.StatusAnswer
	client.call("get_negotiation_status", object{"negotiation_id": id}, &status)
	require.True(t, status.Negotiation.AnswerPending)
	require.Contains(t, status.Next, "with wait_seconds 20, until answer_pending is missing")
	var refused mcp.CounterAnswer
	client.call("counter_offer", object{"negotiation_id": id, "proposed_terms": at(1300)}, &refused)
	require.Equal(t, service.CodePending, refused.Error.Code)
	require.EqualValues(t, 1, refused.Error.RetryAfterSeconds)
	require.Contains(t, refused.Next, "call get_negotiation_status")
	var left mcp.CounterAnswer
	client.call("leave_negotiation", object{"negotiation_id": id, "reason": "terms"}, &left)
	require.Equal(t, engine.Rejected, left.Reply.Negotiation.Status)
	require.False(t, left.Reply.Negotiation.AnswerPending)
}

// statusOf reads a negotiation's status, and returns how long that took.
func statusOf(client agent, id string, wait int) (mcp.StatusAnswer, time.Duration) {
	client.t.Helper()
	var status mcp.StatusAnswer
	begun := time.Now()
	client.call("get_negotiation_status", object{"negotiation_id": id, "wait_seconds": wait}, &status)
	return status, time.Since(begun)
}

// A call waits until the answer exists, over HTTP also beyond the server's time limits for requests.
func TestStatusWaitsForAPendingAnswer(t *testing.T) {
	for _, over := range []string{"HTTP", "stdio"} {
		t.Run(over, func(t *testing.T) {
			g := newGateway(t)
			key := g.client(t, "OpenAI").Reveal()
			g.http.Close()
			g.http = httptest.NewUnstartedServer(mcp.Handler(g.server, g.authenticator, mcp.HTTPConfig{}))
			g.http.Config.ReadTimeout, g.http.Config.WriteTimeout = time.Second, time.Second
			g.http.Start()
			t.Cleanup(g.http.Close)
			client := g.agent(t, key)
			if over == "stdio" {
				client = g.stdio(t, key)
			}
			id := g.pending(t, client)
			status, took := statusOf(client, id, 2)
			require.True(t, status.Negotiation.AnswerPending)
			require.GreaterOrEqual(t, took, 2*time.Second)
			answered := make(chan error, 1)
			time.AfterFunc(3*time.Second, func() { answered <- g.move(t.Context(), id, engine.PartyPublisher, 1900) })
			status, took = statusOf(client, id, 30)
			require.NoError(t, <-answered)
			require.False(t, status.Negotiation.AnswerPending)
			require.Equal(t, uint64(1900), status.Negotiation.CurrentTerms.Price)
			require.Len(t, status.Rounds, 4)
			require.Contains(t, status.Next, "accept_terms")
			require.Less(t, took, 25*time.Second)
			_, took = statusOf(client, id, 30)
			require.Less(t, took, 25*time.Second, "no answer is pending")
		})
	}
}

func TestWaitIsLimited(t *testing.T) {
	g := newGateway(t)
	client := g.agent(t, g.client(t, "OpenAI").Reveal())
	id := g.pending(t, client)
	for _, wait := range []any{-1, 31, 1.5, "2"} {
		result, err := client.CallTool(t.Context(), &sdk.CallToolParams{Name: "get_negotiation_status",
			Arguments: object{"negotiation_id": id, "wait_seconds": wait}})
		require.True(t, err != nil || result.IsError, "%v", wait)
	}
	client.fails(string(service.NotFound), "get_negotiation_status",
		object{"negotiation_id": "01890000-0000-7000-8000-000000000000", "wait_seconds": 30})
	for range 8 {
		w, err := g.Watch(identity.Caller{Kind: identity.Client, ID: 1}, id)
		require.NoError(t, err)
		defer w.Close()
	}
	status, took := statusOf(client, id, 30)
	require.Nil(t, status.Error)
	require.True(t, status.Negotiation.AnswerPending)
	require.Less(t, took, 25*time.Second, "a caller with eight waiting calls does not wait")
}

func TestShutdownEndsAWait(t *testing.T) {
	g := newGateway(t)
	key := g.client(t, "OpenAI").Reveal()
	g.http.Close()
	g.http = httptest.NewUnstartedServer(nil)
	begun := make(chan struct{}, 100)
	handler := mcp.Handler(g.server, g.authenticator, mcp.HTTPConfig{})
	g.http.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun <- struct{}{}
		handler.ServeHTTP(w, r)
	})
	shutdown.Register(g.http.Config)
	g.http.Start()
	t.Cleanup(g.http.Close)
	client := g.agent(t, key)
	id := g.pending(t, client)
	for len(begun) > 0 {
		<-begun
	}
	ended := make(chan error, 1)
	go func() {
		<-begun
		time.Sleep(500 * time.Millisecond) // the call waits
		limit, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		ended <- g.http.Config.Shutdown(limit)
	}()
	status, took := statusOf(client, id, 30)
	require.True(t, status.Negotiation.AnswerPending)
	require.Less(t, took, 25*time.Second)
	require.NoError(t, <-ended)
}
