package license_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/httpsig"
	"github.com/haggle-protocol/haggle/sdk/license"
)

// A company buys 1,000 fetches for at most 0.002 each. The publisher here asks for 0.003, then 0.0018.
func ExampleClient_Buy() {
	gateway := httptest.NewServer(publisherOfTheExample())
	defer gateway.Close()
	client, err := license.NewClient(license.Config{
		BaseURL: gateway.URL,
		HTTP:    &http.Client{Transport: &httpsig.BearerTransport{Origin: gateway.URL, APIKey: "hgl_example"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := client.Buy(context.Background(), license.Request{
		ID: "example", Publishers: []string{"site.example"}, Purposes: []license.Purpose{license.Inference},
		Fetches: 1_000, MaxPriceMicro: 2_000, BudgetMicro: 2_000_000, Rounds: 3, Strategy: strategy.Linear(),
		Observe: func(publisher string, s license.Step) {
			fmt.Printf("%s: %s %d, answer %s\n", publisher, s.Move, s.Terms.PriceMicro, s.Answer)
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	bought := result.Purchases[0]
	fmt.Println(bought.Outcome, "for", result.CostMicro(), "micro units, license", bought.License.ID)
	// Output:
	// site.example: propose 200, answer counter
	// site.example: propose 1100, answer counter
	// site.example: accept 1800, answer accept
	// deal for 1800000 micro units, license 7
}

// publisherOfTheExample serves a gateway where the publisher accepts at least 0.0018.
func publisherOfTheExample() http.Handler {
	mux := http.NewServeMux()
	reply := func(pattern string, answer func() any) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(answer())
		})
	}
	reply("GET /api/publishers", func() any {
		return license.Page[license.Publisher]{Items: []license.Publisher{{ID: 1, Hostname: "site.example"}}}
	})
	reply("GET /api/publishers/1/strategy", func() any {
		return license.PublicStrategy{Currency: "USD", Purposes: []license.Purpose{license.Inference}}
	})
	round := 0
	offer := func(action license.Action, price uint64) func() any {
		return func() any {
			round++
			return license.Answer{
				Action: action, Negotiation: license.Negotiation{ID: "n-1", Round: round},
				Terms: &license.Terms{
					PriceMicro: price, TokenTTLSeconds: 600, BurstRPS: 10, PrepaidFetches: 1_000,
					Purposes: []license.Purpose{license.Inference},
				},
			}
		}
	}
	reply("POST /api/negotiations", offer(license.ActionCounter, 3_000))
	reply("POST /api/negotiations/n-1/counter", offer(license.ActionCounter, 1_800))
	reply("POST /api/negotiations/n-1/accept", offer(license.ActionAccept, 1_800))
	reply("POST /api/negotiations/n-1/generate-license", func() any {
		return license.License{ID: 7, NegotiationID: "n-1", Policy: license.Document{
			Publisher: "site.example", Rules: []license.Rule{{
				Agent: "Example", Allow: true, PricePerFetch: "0.0018", TokenTTLSeconds: 600, MaxRPS: 10,
				Purposes: []license.Purpose{license.Inference}, PrepaidFetches: 1_000,
			}},
		}}
	})
	return mux
}
