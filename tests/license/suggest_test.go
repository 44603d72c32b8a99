package license_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/httpsig"
	"github.com/haggle-protocol/haggle/sdk/license"
)

// follow opens a negotiation at a request's first price, and carries out each suggestion until the end.
// Suggestions only read.
func follow(t *testing.T, g *gateway, client *license.Client, r license.Request) (last license.Answer, moves int) {
	t.Helper()
	planned, err := client.Plan(t.Context(), r)
	require.NoError(t, err)
	last, err = client.Propose(t.Context(), license.Proposal{
		Publisher: r.Publishers[0], Terms: *planned.Purchases[0].Steps[0].Terms,
	})
	require.NoError(t, err)
	for moves = 1; last.Action == license.ActionCounter; moves++ {
		g.before.set(func(r *http.Request) bool { return r.Method == http.MethodGet })
		suggested, err := client.Suggest(t.Context(), last.Negotiation.ID, license.Request{
			ID: r.ID, MaxPriceMicro: r.MaxPriceMicro, Strategy: r.Strategy, Rounds: r.Rounds,
		})
		require.NoError(t, err)
		g.before.set(func(*http.Request) bool { return true })
		require.Equal(t, r.Limit(), suggested.LimitMicro)
		require.Equal(t, last.Terms.PriceMicro, suggested.OfferMicro)
		require.Equal(t, moves, suggested.Round)
		require.NotEmpty(t, suggested.Why)
		switch id := last.Negotiation.ID; suggested.Move {
		case license.MovePropose:
			require.LessOrEqual(t, suggested.Terms.PriceMicro, r.MaxPriceMicro)
			last, err = client.Counter(t.Context(), license.CounterOffer{Negotiation: id, Terms: *suggested.Terms})
		case license.MoveAccept:
			last, err = client.Accept(t.Context(), license.Acceptance{Negotiation: id, Round: suggested.Round})
		default:
			return last, moves + 1
		}
		require.NoError(t, err)
	}
	return last, moves
}

// A client that follows each suggestion gets the price of Buy with the same limits, after the same number of moves.
func TestSuggestionsBargainAsWellAsBuy(t *testing.T) {
	g := start(t, many)
	g.publisher(t, "site-a.local", ordinary)
	client := g.client(t)
	for name, change := range map[string]func(*license.Request){
		"linear":    func(*license.Request) {},
		"conceder":  func(r *license.Request) { r.Strategy = strategy.Named()["negmas-conceder"] },
		"random":    func(r *license.Request) { r.Strategy = strategy.Named()["random"] },
		"few moves": func(r *license.Request) { r.Rounds = 2 },
		"low limit": func(r *license.Request) { r.MaxPriceMicro = 900 },
	} {
		t.Run(name, func(t *testing.T) {
			request := wanted(name, "site-a.local")
			change(&request)
			followed, moves := follow(t, g, client, request)
			result, err := client.Buy(t.Context(), request)
			require.NoError(t, err)
			bought := result.Purchases[0]
			require.Len(t, bought.Steps, moves)
			if bought.Terms == nil {
				require.Equal(t, license.ActionCounter, followed.Action)
				return
			}
			require.Equal(t, license.ActionAccept, followed.Action)
			details, err := client.Status(t.Context(), followed.Negotiation.ID)
			require.NoError(t, err)
			require.Equal(t, bought.Terms, details.FinalTerms)
		})
	}
}

func TestSuggestionsNeedAnOpenNegotiationAndALimit(t *testing.T) {
	g := start(t, many)
	g.publisher(t, "site-a.local", ordinary)
	client := g.client(t)
	limits := license.Request{MaxPriceMicro: 2_500, Strategy: strategy.Linear()}
	_, err := client.Suggest(t.Context(), "01a2244d-0000-7000-8000-000000000000", limits)
	require.ErrorIs(t, err, license.ErrNotFound)
	opened, err := client.Propose(t.Context(), license.Proposal{Publisher: "site-a.local", Terms: license.Terms{
		PriceMicro: 600, TokenTTLSeconds: 600, BurstRPS: 10, Purposes: []license.Purpose{license.Inference}, PrepaidFetches: 10,
	}})
	require.NoError(t, err)
	id := opened.Negotiation.ID
	_, err = client.Suggest(t.Context(), id, license.Request{Strategy: strategy.Linear()})
	require.ErrorIs(t, err, license.ErrRequest)
	_, err = g.with(t, &httpsig.BearerTransport{Origin: g.negotiation, APIKey: g.key(t, "other")}).Suggest(t.Context(), id, limits)
	require.ErrorIs(t, err, license.ErrNotFound, "another client's negotiation")

	// A limit lower than the published floor excludes a deal.
	suggested, err := client.Suggest(t.Context(), id, license.Request{MaxPriceMicro: 499, Strategy: strategy.Linear()})
	require.NoError(t, err)
	require.Equal(t, license.MoveEnd, suggested.Move)
	require.Contains(t, suggested.Why, "below the published floor of 500")

	_, err = client.Leave(t.Context(), license.Departure{Negotiation: id, Reason: license.LeavePrice})
	require.NoError(t, err)
	_, err = client.Suggest(t.Context(), id, limits)
	require.ErrorIs(t, err, license.ErrEnded)
}
