package license_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/license"
)

// replaced wraps a handler and replaces part of the responses.
func replaced(handler http.Handler, old, with string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		recorded := httptest.NewRecorder()
		handler.ServeHTTP(recorded, r)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(recorded.Code)
		_, _ = w.Write(bytes.ReplaceAll(recorded.Body.Bytes(), []byte(old), []byte(with)))
	})
}

// A gateway cannot make the client believe a deal or a license that it did not agree to, even within the
// client's limits.
func TestAGatewayThatNamesOtherTermsIsNotBelieved(t *testing.T) {
	for name, answer := range map[string]struct{ old, with, problem string }{
		"a higher price":             {`"counter"`, `"accept"`, "PriceMicro:1900 "},
		"another negotiation":        {`"current_round":2`, `"current_round":2,"id":"n-2"`, `answers for "n-2"`},
		"a license at another price": {`0.0018`, `0.0019`, "is not that of negotiation n-1"},
		"a license of another":       {`"negotiation_id":"n-1"`, `"negotiation_id":"n-3"`, "is not that of negotiation n-1"},
		"a license for other uses":   {`"purpose":["inference"]`, `"purpose":[]`, "is not that of negotiation n-1"},
	} {
		t.Run(name, func(t *testing.T) {
			handler := publisherOfTheExample()
			if name == "a higher price" {
				handler = replaced(handler, "3000", "1900") // within the limit
			}
			gateway := httptest.NewServer(replaced(handler, answer.old, answer.with))
			defer gateway.Close()
			client, err := license.NewClient(license.Config{BaseURL: gateway.URL})
			require.NoError(t, err)
			result, err := client.Buy(t.Context(), license.Request{
				ID: "order", Publishers: []string{"site.example"}, Purposes: []license.Purpose{license.Inference},
				Fetches: 1_000, MaxPriceMicro: 2_000, BudgetMicro: 2_000_000, Rounds: 3, Strategy: strategy.Linear(),
			})
			require.ErrorContains(t, err, answer.problem)
			require.Nil(t, result.Purchases[0].License)
		})
	}
}
