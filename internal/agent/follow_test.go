package agent

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/failure"
	"github.com/haggle-protocol/haggle/sdk"
)

func TestAnEarlierNegotiationAtTheAddressDecidesNothing(t *testing.T) {
	f := &follower{history: newHistory(), followed: &terms{created: 20}}
	for _, event := range []haggle.Event{
		&haggle.NegotiationCreated{Timestamp: 10}, &haggle.NegotiationSettled{SettledAmount: 7}, &haggle.NegotiationClosed{},
		&haggle.NegotiationCreated{Timestamp: 20},
	} {
		f.history.hear(event)
	}
	f.remember()
	require.False(t, f.decided)
	require.False(t, f.history.closed[f.creation()])

	for _, event := range []haggle.Event{
		&haggle.NegotiationRejected{RoundsCompleted: 3}, &haggle.NegotiationClosed{},
		&haggle.NegotiationCreated{Timestamp: 30}, &haggle.NegotiationSettled{SettledAmount: 9},
	} {
		f.history.hear(event)
	}
	f.remember()
	require.True(t, f.history.closed[f.creation()])
	require.Equal(t, Outcome{Status: haggle.NegotiationStatusRejected, Rounds: 3}, f.outcome)
}

// missing is a client of a node that has no account.
func missing(t *testing.T) *haggle.Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct{ ID json.RawMessage }
		content, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(content, &request)
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"context":{"slot":1},"value":[null]}}`, request.ID)
	}))
	t.Cleanup(server.Close)
	client, err := haggle.NewClient(haggle.Config{Endpoint: server.URL})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	return client
}

func TestWhatANodeDoesNotHaveYetIsNotClosed(t *testing.T) {
	f := &follower{client: missing(t), history: newHistory()}
	finished, err := f.act(t.Context())
	require.False(t, finished)
	require.ErrorIs(t, err, haggle.ErrAccountNotFound)
	require.True(t, mayPass(err))
	require.Equal(t, failure.NotFound, failure.KindOf(err))

	f.history.hear(&haggle.NegotiationCreated{Timestamp: 5})
	f.history.hear(&haggle.NegotiationExpired{})
	f.history.hear(&haggle.NegotiationClosed{})
	finished, err = f.act(t.Context())
	require.NoError(t, err)
	require.True(t, finished)
	require.Equal(t, haggle.NegotiationStatusExpired, f.outcome.Status)
}

func TestTermsTellNegotiationsApart(t *testing.T) {
	n := &haggle.NegotiationAccount{}
	n.Version = haggle.NegotiationVersion
	n.CreatedAt, n.EscrowAmount = 1, 5
	before := termsOf(n)
	n.CurrentRound, n.CurrentOfferAmount = 3, 2
	require.Equal(t, before, termsOf(n))
	n.DecayRateBps = 1_000
	require.NotEqual(t, before, termsOf(n))
	require.False(t, mayPass(ErrReplaced))
}
