package license_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/license"
)

func TestADealBecomesALicense(t *testing.T) {
	g := start(t, many)
	g.publisher(t, "site-a.local", ordinary)
	client := g.client(t)
	request := wanted("deal", "site-a.local")
	var observed []license.Step
	request.Observe = func(_ string, step license.Step) { observed = append(observed, step) }
	result, err := client.Buy(t.Context(), request)
	require.NoError(t, err)
	bought := result.Purchases[0]
	require.Equal(t, license.Deal, bought.Outcome, "%+v", bought)
	require.LessOrEqual(t, bought.Terms.PriceMicro, request.MaxPriceMicro)
	require.Greater(t, len(bought.Steps), 1, "the strategy bargains")
	require.Equal(t, bought.Steps, observed)
	require.Equal(t, bought.Terms.PriceMicro*1_000, result.CostMicro())

	rule := bought.License.Policy.Rules[0]
	require.Equal(t, "Company of TestADealBecomesALicense", rule.Agent)
	require.EqualValues(t, 1_000, rule.PrepaidFetches)
	var list []license.License
	for l, err := range client.Licenses(t.Context()) {
		require.NoError(t, err)
		list = append(list, l)
	}
	require.Equal(t, []license.License{*bought.License}, list)
	details, err := client.Status(t.Context(), bought.Negotiation)
	require.NoError(t, err)
	require.Equal(t, license.Accepted, details.Status)
	require.Equal(t, bought.Terms, details.FinalTerms)
}

func TestBelowTheFloor(t *testing.T) {
	g := start(t, many)
	g.publisher(t, "site-a.local", ordinary)
	client := g.client(t)
	answer, err := client.Propose(t.Context(), license.Proposal{Publisher: "site-a.local", Terms: license.Terms{
		PriceMicro: 499, TokenTTLSeconds: 600, BurstRPS: 10, Purposes: []license.Purpose{license.Inference},
	}})
	require.NoError(t, err)
	require.Equal(t, license.ActionReject, answer.Action)
	require.Equal(t, "Price below minimum threshold", answer.Reason)
	require.Equal(t, []license.ReasonCode{license.CodeFloor}, answer.Codes)

	request := wanted("low", "site-a.local")
	request.MaxPriceMicro = 499
	result, err := client.Buy(t.Context(), request)
	require.NoError(t, err)
	require.Equal(t, license.NoDeal, result.Purchases[0].Outcome)
	require.Equal(t, "limit of 499 is below the published floor of 500 micro units a fetch",
		result.Purchases[0].Reason)
	require.Equal(t, 1, g.negotiations(t), "a hopeless purchase opens no negotiation")
}

func TestClientKnowsAllReasonCodes(t *testing.T) {
	known := make([]engine.ReasonCode, 0, len(license.ReasonCodes()))
	for _, code := range license.ReasonCodes() {
		known = append(known, engine.ReasonCode(code))
	}
	require.Equal(t, engine.ReasonCodes(), known)
}

func TestARefusalHasThePublishersReason(t *testing.T) {
	g := start(t, many)
	g.publisher(t, "site-a.local", strings.Replace(ordinary, `"allowed_purposes"`,
		`"preferred_burst_rps": 5, "max_burst_rps": 5,
		"deal_breakers": [{"field":"burst_rps","operator":">","value":5}], "allowed_purposes"`, 1))
	result, err := g.client(t).Buy(t.Context(), wanted("refused", "site-a.local"))
	require.NoError(t, err)
	require.Equal(t, license.Refused, result.Purchases[0].Outcome)
	require.Equal(t, "Not acceptable to the publisher: burst_rps", result.Purchases[0].Reason)
	require.Zero(t, result.CostMicro())
}

// Every ending caused by a request's limits reports a reason.
func TestLimitsEndThePurchase(t *testing.T) {
	g := start(t, many)
	g.publisher(t, "site-a.local", ordinary)
	client := g.client(t)
	for name, c := range map[string]struct {
		change func(*license.Request)
		reason string
	}{
		"price":  {func(r *license.Request) { r.MaxPriceMicro = 900 }, "above the limit of 900 micro units"},
		"budget": {func(r *license.Request) { r.BudgetMicro = 900_999 }, "above the limit of 900 micro units"},
		"purpose": {func(r *license.Request) {
			r.Purposes = []license.Purpose{license.Training}
		}, "publisher does not allow the purpose training"},
		"currency": {func(r *license.Request) { r.Currency = "EUR" }, "currency is USD, and the limits are in EUR"},
		"lifetime": {func(r *license.Request) {
			r.TTL = license.Range{Least: 100_000, Preferred: 100_000, Most: 100_000}
		}, "token lifetime of 86400 s outside 100000 to 100000 s"},
	} {
		t.Run(name, func(t *testing.T) {
			request := wanted(name, "site-a.local")
			c.change(&request)
			result, err := client.Buy(t.Context(), request)
			require.NoError(t, err)
			require.Equal(t, license.NoDeal, result.Purchases[0].Outcome)
			require.Contains(t, result.Purchases[0].Reason, c.reason)
			require.Zero(t, result.CostMicro())
		})
	}
}

func TestMoneyLimitsAreRequired(t *testing.T) {
	client, err := license.NewClient(license.Config{BaseURL: "http://127.0.0.1:1"})
	require.NoError(t, err)
	for field, change := range map[string]func(*license.Request){
		"MaxPriceMicro": func(r *license.Request) { r.MaxPriceMicro = 0 },
		"BudgetMicro":   func(r *license.Request) { r.BudgetMicro = 0 },
		"Fetches":       func(r *license.Request) { r.Fetches = 0 },
		"ID":            func(r *license.Request) { r.ID = "" },
		"Strategy":      func(r *license.Request) { r.Strategy = nil },
		"Publishers":    func(r *license.Request) { r.Publishers = []string{"a.local", "a.local"} },
		"Purposes":      func(r *license.Request) { r.Purposes = []license.Purpose{"theft"} },
		"TTL":           func(r *license.Request) { r.TTL = license.Range{Least: 2, Preferred: 1, Most: 3} },
		"OpeningMicro":  func(r *license.Request) { r.OpeningMicro = 2_501 },
	} {
		request := wanted("x", "site-a.local")
		change(&request)
		_, err := client.Buy(t.Context(), request)
		require.ErrorIs(t, err, license.ErrRequest, field)
		require.ErrorContains(t, err, "request: "+field+": ")
	}
}

// If a process ends at any request, before or after the gateway has acted on it, the next process continues
// with the same negotiation and the same deal.
func TestACrashOpensNoSecondNegotiation(t *testing.T) {
	g := start(t, many)
	g.publisher(t, "site-a.local", ordinary)
	client := g.client(t)
	ended := errors.New("process ended")
	whole, err := client.Buy(t.Context(), wanted("whole", "site-a.local"))
	require.NoError(t, err)
	posts := len(whole.Purchases[0].Steps) + 1 // the license comes last
	for at := range posts {
		for _, acted := range []bool{false, true} {
			before := g.negotiations(t)
			ctx, end := context.WithCancelCause(t.Context())
			request := wanted("crash "+string(rune('a'+at))+map[bool]string{true: "+"}[acted], "site-a.local")
			var count atomic.Int32
			crash := func(r *http.Request) bool {
				if r.Method == http.MethodPost && int(count.Add(1)) > at {
					end(ended)
				}
				return ctx.Err() == nil
			}
			// Once a process has ended, it sends nothing more and leaves no negotiation.
			alive := func(*http.Request) bool { return ctx.Err() == nil }
			if acted {
				g.before.set(alive)
				g.after.set(crash)
			} else {
				g.before.set(crash)
				g.after.set(alive)
			}
			_, err := client.Buy(ctx, request)
			require.ErrorIs(t, err, ended)
			all := func(*http.Request) bool { return true }
			g.before.set(all)
			g.after.set(all)

			result, err := client.Buy(t.Context(), request)
			require.NoError(t, err)
			require.Equal(t, license.Deal, result.Purchases[0].Outcome)
			require.Equal(t, whole.Purchases[0].Terms, result.Purchases[0].Terms)
			require.NotNil(t, result.Purchases[0].License)
			require.Equal(t, before+1, g.negotiations(t), "request %d, acted %v", at, acted)
			again, err := client.Buy(t.Context(), request)
			require.NoError(t, err)
			require.Equal(t, result, again)
		}
	}
}

// A lost response is repeated with the same idempotency key, even if the caller gave no key.
func TestALostResponseIsRepeated(t *testing.T) {
	g := start(t, many)
	g.publisher(t, "site-a.local", ordinary)
	client := g.client(t)
	lost := false
	g.after.set(func(r *http.Request) bool {
		again := lost || r.Method != http.MethodPost
		lost = true
		return again
	})
	_, err := client.Propose(t.Context(), license.Proposal{Publisher: "site-a.local", Terms: license.Terms{
		PriceMicro: 1_500, TokenTTLSeconds: 600, BurstRPS: 10, Purposes: []license.Purpose{license.Inference},
	}})
	require.NoError(t, err)
	require.True(t, lost)
	require.Equal(t, 1, g.negotiations(t))
}

func TestAReusedIDIsAnError(t *testing.T) {
	g := start(t, many)
	g.publisher(t, "site-a.local", ordinary)
	client := g.client(t)
	_, err := client.Buy(t.Context(), wanted("same", "site-a.local"))
	require.NoError(t, err)
	other := wanted("same", "site-a.local")
	other.Fetches = 999
	_, err = client.Buy(t.Context(), other)
	require.ErrorIs(t, err, license.ErrKeyReused)
	require.Equal(t, 1, g.negotiations(t))
}

func TestLimitsOfTheGatewayHaveRetryAfter(t *testing.T) {
	g := start(t, store.Limits{PerClientHour: 1})
	g.publisher(t, "site-a.local", ordinary)
	g.publisher(t, "site-b.local", ordinary)
	result, err := g.client(t).Buy(t.Context(), wanted("limited", "site-a.local", "site-b.local"))
	require.ErrorIs(t, err, license.ErrLimited)
	var problem *license.Problem
	require.ErrorAs(t, err, &problem)
	require.Equal(t, "limit-client-hour", problem.Code)
	require.Equal(t, http.StatusTooManyRequests, problem.Status)
	require.Greater(t, problem.RetryAfter, 50*time.Minute)
	require.Equal(t, license.Deal, result.Purchases[0].Outcome)
	require.Equal(t, license.Failed, result.Purchases[1].Outcome)
	require.Same(t, problem, result.Purchases[1].Err)
}

func TestAnAgreementWaitsForApproval(t *testing.T) {
	g := start(t, many)
	g.publisher(t, "site-a.local", strings.Replace(ordinary, `{`, `{"approval_above_micro": 1,`, 1))
	client := g.client(t)
	request := wanted("approval", "site-a.local")
	result, err := client.Buy(t.Context(), request)
	require.NoError(t, err)
	require.Equal(t, license.Pending, result.Purchases[0].Outcome)
	require.NotZero(t, result.CostMicro(), "an agreement that waits counts for the budget")
	g.approve(t, result.Purchases[0].Negotiation)
	result, err = client.Buy(t.Context(), request)
	require.NoError(t, err)
	require.Equal(t, license.Deal, result.Purchases[0].Outcome)
	require.NotNil(t, result.Purchases[0].License)
}

func TestAnAnonymousClientGetsNoLicense(t *testing.T) {
	g := start(t, many)
	g.publisher(t, "site-a.local", ordinary)
	result, err := g.with(t, http.DefaultTransport).Buy(t.Context(), wanted("anonymous", "site-a.local"))
	require.NoError(t, err)
	require.Equal(t, license.Deal, result.Purchases[0].Outcome)
	require.Nil(t, result.Purchases[0].License)
	require.Contains(t, result.Purchases[0].Reason, "no license: ")
}

func TestAPlanSendsNothing(t *testing.T) {
	g := start(t, many)
	g.publisher(t, "site-a.local", ordinary)
	g.before.set(func(r *http.Request) bool { return r.Method == http.MethodGet })
	request := wanted("plan", "site-a.local")
	request.Strategy = strategy.Hardliner()
	result, err := g.client(t).Plan(t.Context(), request)
	require.NoError(t, err)
	require.EqualValues(t, 500, result.Purchases[0].Steps[0].Terms.PriceMicro, "the published floor")
	require.Zero(t, g.negotiations(t))
}

// A high limit is not the price: the strategy opens at the published floor, and the publisher's offers end
// far lower than the limit.
func TestHighLimitIsNotThePrice(t *testing.T) {
	g := start(t, many)
	g.publisher(t, "site-a.local", ordinary)
	g.publisher(t, "site-b.local", strings.Replace(ordinary, `"published_floor_micro": 500,`, "", 1))
	request := wanted("high", "site-a.local", "site-b.local")
	request.MaxPriceMicro, request.BudgetMicro = 9_000, 18_000_000
	request.Strategy = strategy.Named()[license.DefaultStrategy]
	result, err := g.client(t).Buy(t.Context(), request)
	require.NoError(t, err)
	for at, opening := range []uint64{500, 900} { // if there is no floor, a tenth of the limit
		bought := result.Purchases[at]
		require.Equal(t, opening+(9_000-opening)/10, bought.Steps[0].Terms.PriceMicro, "a tenth of the way to the limit")
		require.Equal(t, license.Deal, bought.Outcome)
		require.Less(t, bought.Terms.PriceMicro, uint64(2_750), "the publisher's first offer")
	}
}
