package engine

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/gateway/terms"
)

func respond(t *testing.T, s *Strategy, state State, proposal terms.Terms) Decision {
	t.Helper()
	decision, err := Respond(s, state, proposal)
	require.NoError(t, err)
	return decision
}

// next returns the state that a caller keeps after a decision.
func next(state State, decision Decision) State {
	state.Status = decision.Status()
	if decision.Round > 0 {
		state.Round = decision.Round
	}
	if decision.Action == Counter {
		state.Counter = decision.Terms
	}
	return state
}

// TestFlowOfTheDocument: 0.0015 gets a counter offer, and 0.0018 is accepted because it scores 0.92.
func TestFlowOfTheDocument(t *testing.T) {
	s := parsed(t, documentStrategy)
	first := respond(t, &s, State{}, at(1500))
	require.Equal(t, Counter, first.Action)
	require.Equal(t, ReasonPrice, first.Reason)
	require.Equal(t, "0.8", first.Analysis.Score.Total.String())
	expected := at(2750) // a quarter of the way from the preferred price to the maximum
	require.Equal(t, &expected, first.Terms)

	state := next(State{}, first)
	require.Equal(t, State{Status: Negotiating, Round: 1, Counter: &expected}, state)
	second := respond(t, &s, state, at(1800))
	require.Equal(t, Accept, second.Action)
	require.Equal(t, RuleThreshold, second.Analysis.Rule)
	require.Equal(t, "0.92", second.Analysis.GuardedScore.String())
	require.Equal(t, uint64(1800), second.Terms.Price)
	state = next(state, second)
	require.Equal(t, Accepted, state.Status)
	require.Equal(t, uint32(2), state.Round)
	_, err := Respond(&s, state, at(1800))
	require.ErrorIs(t, err, ErrFinal)
}

func TestPricesBelowTheMinimum(t *testing.T) {
	s := parsed(t, documentStrategy)
	s.AutoAcceptThreshold = 0 // not even this accepts them
	for price, action := range map[uint64]Action{
		0: Reject, 499: Reject, 500: Counter, 999: Counter, 1000: Accept,
	} {
		decision := respond(t, &s, State{}, at(price))
		require.Equal(t, action, decision.Action, "%d", price)
		if action == Reject {
			require.Equal(t, "Price below minimum threshold", decision.Reason)
			require.Nil(t, decision.Terms)
			require.Equal(t, Rejected, decision.Status())
		}
	}
	s.MinPrice = 1001 // its target is 1250
	require.Equal(t, Counter, respond(t, &s, State{}, at(1249)).Action)
	require.Equal(t, Accept, respond(t, &s, State{}, at(1250)).Action)
	s.PublishedFloor = 1001 // publishes the minimum
	require.Equal(t, Reject, respond(t, &s, State{}, at(1000)).Action)
	require.Equal(t, Accept, respond(t, &s, State{}, at(1001)).Action)
}

func TestClientsReceiveNoAnalysis(t *testing.T) {
	s := parsed(t, documentStrategy)
	text, err := json.Marshal(respond(t, &s, State{}, at(1500)).Answer())
	require.NoError(t, err)
	require.JSONEq(t, `{"action":"counter","reason":"Price below the publisher's offer","terms":{
		"price_per_fetch_micro":2750,"token_ttl_seconds":600,"burst_rps":10,"purposes":["inference"],
		"prepaid_fetches":0}}`, string(text))
}

func TestDealBreakersReject(t *testing.T) {
	s := parsed(t, documentStrategy)
	s.DealBreakers = append(s.DealBreakers,
		DealBreaker{FieldPurposes, Contains, Operand{Purpose: terms.Training}},
		DealBreaker{FieldTTL, Greater, Operand{Number: 90_000}})
	require.NoError(t, s.Validate())
	proposal := at(5000)
	proposal.Purposes = []terms.Purpose{terms.Training, terms.Inference}
	decision := respond(t, &s, State{}, proposal)
	require.Equal(t, Reject, decision.Action)
	require.Equal(t, "Not acceptable to the publisher: purposes", decision.Reason)
	require.Equal(t, "purposes contains training", decision.Analysis.DealBreaker)
	proposal = at(5000)
	proposal.TTLSeconds = 90_001
	require.Equal(t, "token_ttl_seconds > 90000", respond(t, &s, State{}, proposal).Analysis.DealBreaker)
}

// TestTermsOutsideTheRange shows that no price and no threshold buys them.
func TestTermsOutsideTheRange(t *testing.T) {
	s := parsed(t, documentStrategy)
	s.AutoAcceptThreshold, s.MinTTLSeconds = 0, 60
	for _, c := range []struct {
		change func(*terms.Terms)
		offer  terms.Terms
		reason string
	}{
		{func(t *terms.Terms) { t.TTLSeconds = 59 },
			terms.Terms{TTLSeconds: 60, BurstRPS: 10, Purposes: s.AllowedPurposes}, ReasonTTL},
		{func(t *terms.Terms) { t.TTLSeconds = 86_401 },
			terms.Terms{TTLSeconds: 86_400, BurstRPS: 10, Purposes: s.AllowedPurposes}, ReasonTTL},
		{func(t *terms.Terms) { t.BurstRPS = 0 },
			terms.Terms{TTLSeconds: 600, BurstRPS: 1, Purposes: s.AllowedPurposes}, ReasonRPS},
		{func(t *terms.Terms) { t.BurstRPS = 101 },
			terms.Terms{TTLSeconds: 600, BurstRPS: 100, Purposes: s.AllowedPurposes}, ReasonRPS},
		{func(t *terms.Terms) { t.Purposes = []terms.Purpose{terms.Search, terms.Inference} },
			terms.Terms{TTLSeconds: 600, BurstRPS: 10, Purposes: s.AllowedPurposes}, ReasonPurposes},
		{func(t *terms.Terms) { t.Purposes, t.BurstRPS = []terms.Purpose{terms.Training}, 200 },
			terms.Terms{TTLSeconds: 600, BurstRPS: 100, Purposes: s.AllowedPurposes},
			ReasonPurposes + "; " + ReasonRPS},
	} {
		proposal := at(4999)
		c.change(&proposal)
		decision := respond(t, &s, State{}, proposal)
		require.Equal(t, Counter, decision.Action)
		require.Equal(t, c.reason, decision.Reason)
		c.offer.Price = 4999
		require.Equal(t, c.offer, *decision.Terms, "the price of the client is enough")
	}
	none := parsed(t, documentStrategy)
	none.PreferredPurposes, none.AllowedPurposes = nil, []terms.Purpose{terms.Search, terms.Research}
	require.Equal(t, none.AllowedPurposes, respond(t, &none, State{}, at(4999)).Terms.Purposes)
}

func TestOtherTermsHaveTheirPrice(t *testing.T) {
	s := parsed(t, documentStrategy)
	s.Style, s.AutoAcceptThreshold = Flexible, One
	proposal := at(1500)
	proposal.TTLSeconds = 900 // 0.1 of the score: a quarter of the way from 1000 to 2000
	require.Equal(t, uint64(2250), respond(t, &s, State{}, proposal).Terms.Price)
}

func TestStyles(t *testing.T) {
	for style, expect := range map[Style]struct {
		prices []uint64 // asked in rounds 1, 4, 7 and 10
		accept uint64   // accepted in round 1
		tone   Tone
	}{
		Aggressive:  {[]uint64{5000, 4984, 4473, 1000}, 5000, Firm},
		Balanced:    {[]uint64{2750, 2167, 1583, 1000}, 2575, Neutral},
		Flexible:    {[]uint64{2000, 1423, 1184, 1000}, 1750, Friendly},
		Cooperative: {[]uint64{1900, 1380, 1165, 1000}, 1450, Collaborative},
	} {
		t.Run(string(style), func(t *testing.T) {
			s := parsed(t, documentStrategy)
			s.Style, s.AutoAcceptThreshold = style, One
			state, asked := State{}, []uint64(nil)
			for range s.MaxRounds {
				decision := respond(t, &s, state, at(600))
				require.Equal(t, expect.tone, decision.Tone)
				state, asked = next(state, decision), append(asked, decision.Terms.Price)
			}
			require.Equal(t, expect.prices, []uint64{asked[0], asked[3], asked[6], asked[9]})
			// The full score reaches any threshold, so the other terms must differ to see the willingness.
			_, accept := s.asking(0).prices(1, at(0))
			require.Equal(t, expect.accept, accept)
			if accept > s.PreferredPrice {
				return
			}
			require.Equal(t, Counter, respond(t, &s, State{}, at(accept-1)).Action)
			require.Equal(t, Accept, respond(t, &s, State{}, at(accept)).Action)
		})
	}
}

func TestMaxRounds(t *testing.T) {
	s := parsed(t, documentStrategy)
	s.MaxRounds = 2
	state := State{}
	for range s.MaxRounds {
		state = next(state, respond(t, &s, state, at(600)))
	}
	require.Equal(t, uint64(1000), state.Counter.Price)
	timeout := respond(t, &s, state, at(5000))
	require.Equal(t, Timeout, timeout.Action)
	require.Equal(t, "Maximum rounds reached without agreement", timeout.Reason)
	require.Equal(t, TimedOut, timeout.Status())

	agreed, err := AcceptCounter(&s, state)
	require.NoError(t, err)
	require.Equal(t, Accept, agreed.Action, "the last counter offer can still be accepted")
	require.Equal(t, uint64(1000), agreed.Terms.Price)
	require.Equal(t, uint32(2), next(state, agreed).Round)

	s.MaxRounds = 1
	only := respond(t, &s, State{}, at(600))
	require.Equal(t, uint64(2750), only.Terms.Price, "one round stays at the opening")
}

func TestApproval(t *testing.T) {
	s := parsed(t, documentStrategy)
	above := uint64(1_800_000)
	s.ApprovalAbove, s.ApprovalSeconds = &above, 7_200
	proposal := at(1800)
	proposal.PrepaidFetches = 1000
	require.Equal(t, Accept, respond(t, &s, State{}, proposal).Action, "not above it")
	proposal.PrepaidFetches = 1001
	decision := respond(t, &s, State{}, proposal)
	require.Equal(t, Approve, decision.Action)
	require.Equal(t, ReasonApproval, decision.Reason)
	state := next(State{}, decision)
	require.Equal(t, AwaitingApproval, state.Status)

	_, err := Respond(&s, state, proposal)
	require.ErrorIs(t, err, ErrAwaitingApproval)
	_, err = AcceptCounter(&s, state)
	require.ErrorIs(t, err, ErrAwaitingApproval)

	require.Equal(t, noon.Add(2*time.Hour), s.Deadline(Approve, noon, noon), "later than the hour of inactivity")
	require.Equal(t, noon.Add(time.Hour), s.Deadline(Counter, noon, noon))
	require.Equal(t, noon.Add(3*time.Hour), s.Deadline(Counter, noon, noon.Add(2*time.Hour)))
	require.Equal(t, noon.Add(3*time.Hour), s.Deadline(Counter, noon, noon.Add(150*time.Minute)), "it ends after three hours")

	none := uint64(1799) // without prepaid fetches, the price of one counts
	s.ApprovalAbove = &none
	require.Equal(t, Approve, respond(t, &s, State{}, at(1800)).Action)
}

func TestCallsThatDoNotFit(t *testing.T) {
	s := parsed(t, documentStrategy)
	_, err := AcceptCounter(&s, State{})
	require.ErrorIs(t, err, ErrNoCounter)
	_, err = AcceptCounter(&s, State{Status: Rejected})
	require.ErrorIs(t, err, ErrFinal)
	_, err = Respond(&s, State{}, terms.Terms{})
	require.ErrorIs(t, err, terms.ErrInvalid)
}

func TestVolumeTiers(t *testing.T) {
	s := parsed(t, documentStrategy)
	s.Style, s.AutoAcceptThreshold, s.Tiers = Flexible, One, []Tier{{1000, 1600}, {10_000, 1200}}
	require.NoError(t, s.Validate())
	for prepaid, asked := range map[uint64]uint64{0: 2000, 999: 2000, 1000: 1600, 9_999: 1600, 10_000: 1200} {
		proposal := at(600)
		proposal.PrepaidFetches = prepaid
		require.Equal(t, asked, respond(t, &s, State{}, proposal).Terms.Price, "%d", prepaid)
	}
}
