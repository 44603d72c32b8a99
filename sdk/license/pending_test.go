package license_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/license"
)

func priced(price uint64) license.Terms {
	return license.Terms{
		PriceMicro: price, TokenTTLSeconds: 600, BurstRPS: 10, PrepaidFetches: 1_000,
		Purposes: []license.Purpose{license.Inference},
	}
}

// waiting is a negotiation whose answer is pending, and countered the same one with the answer.
func waiting() license.Negotiation {
	return license.Negotiation{
		ID: "n-1", Status: license.Negotiating, Round: 1, OfferBy: "client", CurrentTerms: new(priced(1_500)),
		AnswerPending: true,
	}
}

func countered(price uint64) license.Details {
	n := waiting()
	n.AnswerPending, n.OfferBy, n.CurrentTerms = false, "publisher", new(priced(price))
	return license.Details{Negotiation: n, Rounds: []license.Round{
		{Number: 1, Actor: "client", Action: "propose", Terms: new(priced(1_500))},
		{
			Number: 1, Actor: "publisher", Action: "counter", Terms: new(priced(price)), Reason: "Price below the offer",
			Codes: []license.ReasonCode{license.CodePrice},
		},
	}}
}

// script answers requests by their method and path.
type script map[string]func(w http.ResponseWriter) any

func (s script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	answer, known := s[r.Method+" "+r.URL.Path]
	if !known {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	text, err := json.Marshal(answer(w))
	if err != nil {
		panic(err)
	}
	_, _ = w.Write(text)
}

func connect(t *testing.T, gateway http.Handler) *license.Client {
	t.Helper()
	server := httptest.NewServer(gateway)
	t.Cleanup(server.Close)
	client, err := license.NewClient(license.Config{BaseURL: server.URL})
	require.NoError(t, err)
	return client
}

func pendingAnswer(http.ResponseWriter) any {
	return license.Answer{
		Action: license.ActionPending, Reason: "The publisher answers later", Codes: []license.ReasonCode{license.CodePending},
		Negotiation: waiting(),
	}
}

// The gateway names the first pause, and the client chooses the later ones.
func TestPendingAnswerIsReadAfterTheNamedPause(t *testing.T) {
	for name, send := range map[string]func(*license.Client) (license.Answer, error){
		"POST /api/negotiations": func(c *license.Client) (license.Answer, error) {
			return c.Propose(t.Context(), license.Proposal{Publisher: "site.example", Terms: priced(1_500)})
		},
		"POST /api/negotiations/n-1/counter": func(c *license.Client) (license.Answer, error) {
			return c.Counter(t.Context(), license.CounterOffer{Negotiation: "n-1", Terms: priced(1_500)})
		},
	} {
		var reads atomic.Int64
		client := connect(t, script{
			name: func(w http.ResponseWriter) any {
				w.Header().Set("Retry-After", "1")
				return pendingAnswer(w)
			},
			"GET /api/negotiations/n-1": func(http.ResponseWriter) any {
				if reads.Add(1) < 3 {
					return license.Details{Negotiation: waiting()}
				}
				return countered(1_900)
			},
		})
		began := time.Now()
		answer, err := send(client)
		require.NoError(t, err, name)
		require.GreaterOrEqual(t, time.Since(began), time.Second, name)
		require.EqualValues(t, 3, reads.Load(), name)
		require.Equal(t, license.ActionCounter, answer.Action, name)
		require.Equal(t, priced(1_900), *answer.Terms, name)
		require.Equal(t, []license.ReasonCode{license.CodePrice}, answer.Codes, name)
		require.Equal(t, "Price below the offer", answer.Reason)
		require.Equal(t, 1, answer.Negotiation.Round)
	}
}

// A pending answer can be any action, and the negotiation can end while it is pending.
func TestPendingAnswerFollowsFromTheStatus(t *testing.T) {
	for status, want := range map[license.Status]license.Answer{
		license.Accepted:         {Action: license.ActionAccept, Terms: new(priced(1_500)), Reason: "Price below the offer"},
		license.AwaitingApproval: {Action: license.ActionApprove, Terms: new(priced(1_900)), Reason: "Price below the offer"},
		license.Rejected:         {Action: license.ActionReject, Reason: "final"},
		license.TimedOut:         {Action: license.ActionTimeout, Reason: "final"},
	} {
		client := connect(t, script{
			"POST /api/negotiations": pendingAnswer,
			"GET /api/negotiations/n-1": func(http.ResponseWriter) any {
				d := countered(1_900)
				d.Status, d.FinalTerms = status, new(priced(1_500))
				answered := &d.Rounds[1]
				switch status {
				case license.Accepted:
					answered.Action, answered.Terms = "accept", new(priced(1_500))
				case license.AwaitingApproval:
					answered.Action = "await_approval"
				default: // the publisher did not answer
					d.Reason, d.Rounds = "final", d.Rounds[:1]
				}
				return d
			},
		})
		answer, err := client.Propose(t.Context(), license.Proposal{Publisher: "site.example", Terms: priced(1_500)})
		require.NoError(t, err)
		require.Equal(t, status, answer.Negotiation.Status)
		require.Equal(t, []any{want.Action, want.Terms, want.Reason}, []any{answer.Action, answer.Terms, answer.Reason}, status)
	}
}

// TestRepeatedProposalReceivesItsFirstAnswer repeats a proposal after the negotiation continued and ended.
func TestRepeatedProposalReceivesItsFirstAnswer(t *testing.T) {
	client := connect(t, script{
		"POST /api/negotiations": pendingAnswer,
		"GET /api/negotiations/n-1": func(http.ResponseWriter) any {
			d := countered(1_900)
			d.Status, d.Round, d.FinalTerms = license.Accepted, 2, new(priced(1_800))
			d.Rounds = append(d.Rounds,
				license.Round{Number: 2, Actor: "client", Action: "counter", Terms: new(priced(1_800))},
				license.Round{Number: 2, Actor: "publisher", Action: "accept", Terms: new(priced(1_800))})
			return d
		},
	})
	answer, err := client.Propose(t.Context(), license.Proposal{Publisher: "site.example", Terms: priced(1_500)})
	require.NoError(t, err)
	require.Equal(t, license.ActionCounter, answer.Action)
	require.Equal(t, priced(1_900), *answer.Terms)
	require.Equal(t, 1, answer.Negotiation.Round)
}

// The caller gets the negotiation, so that it can continue to wait, or leave.
func TestWaitForAPendingAnswerEndsWithTheContext(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	client := connect(t, script{
		"POST /api/negotiations": pendingAnswer,
		"GET /api/negotiations/n-1": func(http.ResponseWriter) any {
			stop(context.DeadlineExceeded)
			return license.Details{Negotiation: waiting()}
		},
	})
	answer, err := client.Propose(ctx, license.Proposal{Publisher: "site.example", Terms: priced(1_500)})
	require.Error(t, err)
	require.Error(t, ctx.Err())
	require.Equal(t, license.ActionPending, answer.Action)
	require.Equal(t, "n-1", answer.Negotiation.ID)
}

func purchase() license.Request {
	return license.Request{
		ID: "order", Publishers: []string{"site.example"}, Purposes: []license.Purpose{license.Inference},
		Fetches: 1_000, MaxPriceMicro: 2_000, BudgetMicro: 2_000_000, Rounds: 3, Strategy: strategy.Linear(),
	}
}

// withPublisher adds the publisher that the gateway lists.
func (s script) withPublisher() script {
	s["GET /api/publishers"] = func(http.ResponseWriter) any {
		return license.Page[license.Publisher]{Items: []license.Publisher{{ID: 1, Hostname: "site.example"}}}
	}
	s["GET /api/publishers/1/strategy"] = func(http.ResponseWriter) any {
		return license.PublicStrategy{Currency: "USD", Purposes: []license.Purpose{license.Inference}}
	}
	return s
}

func TestPurchaseBargainsWithPendingAnswers(t *testing.T) {
	example := publisherOfTheExample()
	var proposed atomic.Bool
	gateway := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if pending, known := (script{
			"POST /api/negotiations":    func(w http.ResponseWriter) any { proposed.Store(true); return pendingAnswer(w) },
			"GET /api/negotiations/n-1": func(http.ResponseWriter) any { return countered(3_000) },
		})[r.Method+" "+r.URL.Path]; known {
			script{r.Method + " " + r.URL.Path: pending}.ServeHTTP(w, r)
			return
		}
		example.ServeHTTP(w, r)
	})
	result, err := connect(t, gateway).Buy(t.Context(), purchase())
	require.NoError(t, err)
	require.True(t, proposed.Load())
	require.Equal(t, license.Deal, result.Purchases[0].Outcome)
	require.Equal(t, license.ActionCounter, result.Purchases[0].Steps[0].Answer)
	require.EqualValues(t, 3_000, result.Purchases[0].Steps[0].Offer.PriceMicro)
	require.EqualValues(t, 1_800_000, result.CostMicro())
}

// An interrupted purchase leaves a negotiation whose first answer is pending. A repetition finds that out.
func TestInterruptedPurchaseLeavesAPendingNegotiation(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	var left atomic.Bool
	client := connect(t, script{
		"POST /api/negotiations": pendingAnswer,
		"GET /api/negotiations/n-1": func(http.ResponseWriter) any {
			stop()
			d := license.Details{Negotiation: waiting()}
			if left.Load() {
				d.Status, d.AnswerPending = license.Rejected, false
				d.Reason, d.Codes = "The client left the negotiation: cancelled", []license.ReasonCode{license.CodeClientLeft}
			}
			return d
		},
		"POST /api/negotiations/n-1/leave": func(http.ResponseWriter) any {
			left.Store(true)
			return license.Answer{Action: license.ActionReject, Negotiation: license.Negotiation{ID: "n-1"}}
		},
	}.withPublisher())
	result, err := client.Buy(ctx, purchase())
	require.ErrorIs(t, err, context.Canceled)
	require.True(t, left.Load())
	require.Equal(t, []any{license.NoDeal, "interrupted", true}, []any{
		result.Purchases[0].Outcome, result.Purchases[0].Reason, result.Purchases[0].Left,
	})
	again, err := client.Buy(t.Context(), purchase())
	require.NoError(t, err)
	require.Equal(t, license.NoDeal, again.Purchases[0].Outcome)
	require.Contains(t, again.Purchases[0].Reason, "left the negotiation; use another ID")
}

func TestSuggestionWaitsForThePublisher(t *testing.T) {
	client := connect(t, script{
		"GET /api/negotiations/n-1": func(http.ResponseWriter) any { return license.Details{Negotiation: waiting()} },
	})
	_, err := client.Suggest(t.Context(), "n-1", purchase())
	require.ErrorIs(t, err, license.ErrPending)
	require.ErrorIs(t, &license.Problem{Code: "answer-pending"}, license.ErrPending)
}

// TestPendingAnswerOverMCP calls tools of a scripted server.
func TestPendingAnswerOverMCP(t *testing.T) {
	server := mcp.NewServer(&mcp.Implementation{Name: "gateway", Version: "0"}, nil)
	tool := func(name string, answer func() any) {
		mcp.AddTool(server, &mcp.Tool{Name: name}, func(
			context.Context, *mcp.CallToolRequest, map[string]any,
		) (*mcp.CallToolResult, any, error) {
			return nil, answer(), nil
		})
	}
	tool("propose_license_terms", func() any { return map[string]any{"answers": []any{pendingAnswer(nil)}} })
	var reads atomic.Int64
	tool("get_negotiation_status", func() any {
		d := countered(1_900)
		if reads.Add(1) == 1 {
			d = license.Details{Negotiation: waiting()}
		}
		return map[string]any{"negotiation": d.Negotiation, "rounds": d.Rounds}
	})
	http := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server },
		&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true}))
	defer http.Close()
	gateway, err := license.ConnectMCP(t.Context(), http.URL, nil)
	require.NoError(t, err)
	defer gateway.Close()
	client, err := license.NewClient(license.Config{Gateway: gateway})
	require.NoError(t, err)
	answer, err := client.Propose(t.Context(), license.Proposal{Publisher: "site.example", Terms: priced(1_500)})
	require.NoError(t, err)
	require.Equal(t, license.ActionCounter, answer.Action)
	require.EqualValues(t, 1_900, answer.Terms.PriceMicro)
	require.EqualValues(t, 2, reads.Load())
}
