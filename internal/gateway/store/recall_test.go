package store

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/gateway/engine"
)

// TestEarlierProposalsAreRecalled checks that only a client's proposals to the publisher in the period are
// recalled.
func TestEarlierProposalsAreRecalled(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		f.Store = f.open(t, Limits{PerClientHour: 100, OpenPerClient: 100, OpenPerPublisher: 100})
		recall := Recall{Period: 24 * time.Hour, Limit: 4}
		other := f.addPublisher(t, "site-b.local")
		acme, stranger := f.client, f.addClient(t, "stranger")
		sent := 0
		// proposes answers each proposal with a counter-offer, and returns what the states recalled.
		proposes := func(recalled *[][]string) Decide {
			return func(states []State) (Outcome, error) {
				*recalled = nil
				for _, state := range states {
					prices := []string{}
					for _, text := range state.Proposals {
						var proposal struct{ Price json.Number }
						require.NoError(t, json.Unmarshal(text, &proposal))
						prices = append(prices, proposal.Price.String())
					}
					*recalled = append(*recalled, prices)
				}
				outcome, err := counter(states)
				for i := range outcome.Updates {
					sent++
					outcome.Updates[i].Rounds[0].Action = "counter"
					outcome.Updates[i].Rounds[0].Terms = json.RawMessage(fmt.Sprintf(`{"price": %d}`, sent))
				}
				return outcome, err
			}
		}
		open := func(client Client, publishers ...Publisher) (recalled [][]string, n Negotiation) {
			creation := f.creation(publishers...)
			creation.Client, creation.Recall = client.ID, recall
			result, err := f.CreateNegotiations(t.Context(), creation, proposes(&recalled))
			require.NoError(t, err)
			f.pass(time.Minute)
			return recalled, result.Negotiations[0]
		}
		continued := func(n Negotiation) (recalled [][]string) {
			request := RoundRequest{Negotiations: []string{n.ID}, Recall: recall}
			_, err := f.Round(t.Context(), request, proposes(&recalled))
			require.NoError(t, err)
			f.pass(time.Minute)
			return recalled
		}
		none := [][]string{{}}
		recalled, first := open(acme, f.publisher) // 1
		require.Equal(t, none, recalled)
		require.Equal(t, [][]string{{"1"}}, continued(first)) // 2
		_, err := f.Accept(t.Context(), AcceptRequest{Client: acme.ID, Offers: []Offer{{first.ID, 2}}}, at1800)
		require.NoError(t, err)

		recalled, _ = open(stranger, f.publisher) // 3
		require.Equal(t, none, recalled, "proposals of another client")
		recalled, second := open(acme, other) // 4
		require.Equal(t, none, recalled, "proposals to another publisher")
		recalled, third := open(acme, other, f.publisher) // 5, 6
		require.Equal(t, [][]string{{"4"}, {"1", "2"}}, recalled, "an acceptance is no proposal")
		_, err = f.Round(t.Context(), RoundRequest{Negotiations: []string{second.ID}}, func(states []State) (Outcome, error) {
			require.Empty(t, states[0].Proposals, "not requested")
			return reject(states)
		})
		require.NoError(t, err)
		require.Equal(t, [][]string{{"4", "5"}}, continued(third)) // 7

		// The limit keeps the oldest proposals. The period ends a day before the negotiation began.
		for range 2 {
			_, _ = open(acme, f.publisher) // 8, 9
		}
		recalled, late := open(acme, f.publisher) // 10
		require.Equal(t, [][]string{{"1", "2", "6", "8"}}, recalled)
		f.pass(30 * time.Minute)
		require.Equal(t, [][]string{{"1", "2", "6", "8"}}, continued(late)) // 11
		f.pass(24*time.Hour - 35*time.Minute)
		recalled, last := open(acme, f.publisher) // 12
		require.Equal(t, [][]string{{"8", "9", "10", "11"}}, recalled, "by the time of the negotiation")
		f.pass(30 * time.Minute)
		require.Equal(t, [][]string{{"8", "9", "10", "11"}}, continued(last), "the same for the whole negotiation")
		require.Equal(t, engine.Negotiating, last.Status)
	})
}
