package engine

import (
	"encoding/json"
	"slices"
	"strings"
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

// TestFlowOfTheDocument: 0.0015 gets a counter offer, and 0.0018 is accepted because it scores 0.92.
func TestFlowOfTheDocument(t *testing.T) {
	s := parsed(t, documentStrategy)
	first := respond(t, &s, State{}, at(1500))
	require.Equal(t, Counter, first.Action)
	require.Equal(t, ReasonPrice, first.Reason)
	require.Equal(t, "0.8", first.Analysis.Score.Total.String())
	expected := at(2750) // a quarter of the way from the preferred price to the maximum
	require.Equal(t, &expected, first.Terms)

	state := State{}.Next(at(1500), first)
	require.Equal(t, State{
		Status: Negotiating, Round: 1, Counter: &expected, Proposals: []terms.Terms{at(1500)},
	}, state)
	second := respond(t, &s, state, at(1800))
	require.Equal(t, Accept, second.Action)
	require.Equal(t, RuleThreshold, second.Analysis.Rule)
	require.Equal(t, "0.92", second.Analysis.GuardedScore.String())
	require.Equal(t, uint64(1800), second.Terms.Price)
	state = state.Next(at(1800), second)
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
	s.MinPrice = 1001 // the walk-away price is 1250
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
	require.JSONEq(t, `{"action":"counter","reason":"Price below the publisher's offer",
		"reason_codes":["price_below_offer"],"terms":{
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

// TestOtherTermsHaveTheirPrice shows that it does not depend on the minimum, which two proposals would reveal.
func TestOtherTermsHaveTheirPrice(t *testing.T) {
	s := parsed(t, documentStrategy)
	s.Style, s.AutoAcceptThreshold = Flexible, One
	proposal := at(1500)
	proposal.TTLSeconds = 900 // 0.1 of the score: a quarter of the way from the floor of 500 to 2000
	for _, s.MinPrice = range []uint64{501, 1000, 1500, 2000} {
		require.Equal(t, uint64(2375), respond(t, &s, State{}, proposal).Terms.Price)
	}
}

// play proposes prices until the negotiation ends, and returns the decisions.
func play(t *testing.T, s *Strategy, state State, prices ...uint64) ([]Decision, State) {
	t.Helper()
	var decisions []Decision
	for _, price := range prices {
		decision := respond(t, s, state, at(price))
		decisions, state = append(decisions, decision), state.Next(at(price), decision)
		if decision.Action != Counter {
			break
		}
	}
	return decisions, state
}

func repeated(price uint64, count int) []uint64 { return slices.Repeat([]uint64{price}, count) }

func climb(from, to, step uint64) (prices []uint64) {
	for price := from; price <= to; price += step {
		prices = append(prices, price)
	}
	return prices
}

// TestStyles shows the asked prices for a constant proposal, and the result with a client that climbs by 100.
func TestStyles(t *testing.T) {
	for style, expect := range map[Style]struct {
		asked  []uint64 // in rounds 1, 4, 7 and 10
		agreed uint64
		tone   Tone
	}{
		Aggressive:  {[]uint64{5000, 4988, 4605, 2000}, 2000, Firm},
		Balanced:    {[]uint64{2750, 2500, 2250, 2000}, 1800, Neutral},
		Flexible:    {[]uint64{2000, 2000, 2000, 2000}, 1600, Friendly},
		Cooperative: {[]uint64{2000, 2000, 2000, 2000}, 1400, Collaborative},
	} {
		t.Run(string(style), func(t *testing.T) {
			s := parsed(t, documentStrategy)
			s.Style, s.AutoAcceptThreshold = style, One
			decisions, _ := play(t, &s, State{}, repeated(600, 10)...)
			require.Equal(t, expect.asked, []uint64{
				decisions[0].Terms.Price, decisions[3].Terms.Price, decisions[6].Terms.Price, decisions[9].Terms.Price,
			})
			for _, decision := range decisions {
				require.Equal(t, expect.tone, decision.Tone)
				require.Equal(t, s.PreferredPrice, decision.Analysis.AcceptFrom, "without a concession")
			}
			s.MaxRounds = 16
			decisions, _ = play(t, &s, State{}, climb(500, 2000, 100)...)
			last := decisions[len(decisions)-1]
			require.Equal(t, Accept, last.Action)
			require.Equal(t, expect.agreed, last.Terms.Price)
		})
	}
}

// TestRepeatedOfferNeverBuysBelowThePreferredPrice plays ten equal proposals and then accepts, for each price
// under the threshold.
func TestRepeatedOfferNeverBuysBelowThePreferredPrice(t *testing.T) {
	for _, style := range Styles() {
		s := parsed(t, documentStrategy)
		s.Style, s.AutoAcceptThreshold = style, One
		for price := s.Floor(); price < s.PreferredPrice; price += 10 {
			decisions, state := play(t, &s, State{}, repeated(price, int(s.MaxRounds))...)
			require.Len(t, decisions, int(s.MaxRounds))
			for _, decision := range decisions {
				require.GreaterOrEqual(t, decision.Terms.Price, s.PreferredPrice, "%s %d", style, price)
			}
			agreed, err := AcceptCounter(&s, state)
			require.NoError(t, err)
			require.Equal(t, s.PreferredPrice, agreed.Terms.Price, "%s: the curve ends there", style)
		}
	}
}

// TestConcessionsAreReturned: the client goes half of the way to the preferred price of 2000, starting at
// 500, and the publisher answers with half of the discount, as soon as the curve allows it.
func TestConcessionsAreReturned(t *testing.T) {
	s := parsed(t, documentStrategy)
	s.Style, s.AutoAcceptThreshold = Cooperative, One
	decisions, _ := play(t, &s, State{}, 500, 1250, 1250, 1250, 500, 1250)
	asked := make([]uint64, len(decisions))
	for round, decision := range decisions {
		asked[round] = decision.Terms.Price
	}
	// The curve allows a third of the discount in the second round, and half of the discount from the third
	// round on.
	require.Equal(t, []uint64{2000, 1667, 1529, 1500, 1500, 1500}, asked, "and takes no concession back")
}

// TestNonBindingProposalsAreNoConcessions: terms that the strategy does not accept, and another volume tier.
func TestNonBindingProposalsAreNoConcessions(t *testing.T) {
	s := parsed(t, documentStrategy)
	s.Style, s.AutoAcceptThreshold = Cooperative, One
	s.Tiers = []Tier{{From: 1000, Price: 1500}}
	forbidden, bulk := at(1900), at(1400)
	forbidden.TTLSeconds = s.MaxTTLSeconds + 1
	bulk.PrepaidFetches = 1000
	state := State{}
	for _, proposal := range []terms.Terms{at(500), forbidden, forbidden, bulk, bulk, at(500)} {
		decision := respond(t, &s, state, proposal)
		require.Equal(t, Counter, decision.Action)
		state = state.Next(proposal, decision)
	}
	require.Equal(t, uint64(2000), state.Counter.Price)
}

// TestHeldAgreementIsNoConcession: a bundle holds an accepted proposal of 1990 as a standing offer, so that it does
// not bind the client.
func TestHeldAgreementIsNoConcession(t *testing.T) {
	s := parsed(t, documentStrategy)
	s.Style, s.AutoAcceptThreshold = Cooperative, One
	_, state := play(t, &s, State{}, repeated(500, 5)...)
	agreed := respond(t, &s, state, at(1990))
	require.Equal(t, Accept, agreed.Action)
	agreed.Action = Counter // as the service does
	state = state.Next(at(1990), agreed)
	require.Equal(t, uint64(2000), respond(t, &s, state, at(500)).Terms.Price)
}

// TestNextNegotiationStartsAtTheLastAsk, with the previous negotiation's patience and concessions.
func TestNextNegotiationStartsAtTheLastAsk(t *testing.T) {
	for _, style := range Styles() {
		s := parsed(t, documentStrategy)
		s.Style, s.AutoAcceptThreshold = style, One
		_, state := play(t, &s, State{}, 500, 700, 900)
		last := state.Counter.Price
		again := State{Proposals: state.Proposals}
		for _, price := range []uint64{500, 900, 1100} {
			require.Equal(t, last, respond(t, &s, again, at(price)).Terms.Price, style)
		}
		// A division into several negotiations gains nothing.
		whole, _ := play(t, &s, State{}, 500, 700, 900, 1000, 1100)
		_, again = play(t, &s, again, 1000)
		require.Equal(t, whole[4], func() Decision {
			decision := respond(t, &s, again, at(1100))
			decision.Round = 5
			return decision
		}(), style)
	}
}

// TestPatienceEnds: max_rounds is per negotiation, but later proposals on the same day get no concession.
func TestPatienceEnds(t *testing.T) {
	for _, style := range Styles() {
		s := parsed(t, documentStrategy)
		s.Style, s.AutoAcceptThreshold, s.MaxRounds = style, One, 4
		_, state := play(t, &s, State{}, 500, 600, 700, 800)
		last := state.Counter.Price
		decisions, _ := play(t, &s, State{Proposals: state.Proposals}, 900, 1000, 1100, 1200)
		require.Len(t, decisions, int(s.MaxRounds), style)
		for _, decision := range decisions {
			require.Equal(t, last, decision.Terms.Price, style)
		}
	}
}

func TestMaxRounds(t *testing.T) {
	s := parsed(t, documentStrategy)
	s.MaxRounds = 2
	_, state := play(t, &s, State{}, 600, 600)
	require.Equal(t, uint64(2000), state.Counter.Price)
	timeout := respond(t, &s, state, at(5000))
	require.Equal(t, Timeout, timeout.Action)
	require.Equal(t, "Maximum rounds reached without agreement", timeout.Reason)
	require.Equal(t, TimedOut, timeout.Status())

	agreed, err := AcceptCounter(&s, state)
	require.NoError(t, err)
	require.Equal(t, Accept, agreed.Action, "the last counter offer can still be accepted")
	require.Equal(t, uint64(2000), agreed.Terms.Price)
	require.Zero(t, agreed.Round, "an acceptance answers no proposal")

	s.MaxRounds = 1
	only := respond(t, &s, State{}, at(600))
	require.Equal(t, uint64(2750), only.Terms.Price, "one round stays at the opening")
}

// TestThresholdOfAnAggressivePublisher sells only at or above the preferred price.
func TestThresholdOfAnAggressivePublisher(t *testing.T) {
	s := parsed(t, documentStrategy)
	require.Equal(t, Accept, respond(t, &s, State{}, at(1800)).Action)
	s.Style = Aggressive
	require.Equal(t, Counter, respond(t, &s, State{}, at(1999)).Action)
	require.Equal(t, Accept, respond(t, &s, State{}, at(2000)).Action)
}

func TestApproval(t *testing.T) {
	s := parsed(t, documentStrategy)
	s.ApprovalAbove, s.ApprovalSeconds = 1_800_000, 7_200
	proposal := at(1800)
	proposal.PrepaidFetches = 1000
	require.Equal(t, Accept, respond(t, &s, State{}, proposal).Action, "not above it")
	proposal.PrepaidFetches = 1001
	decision := respond(t, &s, State{}, proposal)
	require.Equal(t, Approve, decision.Action)
	require.Equal(t, ReasonApproval, decision.Reason)
	state := State{}.Next(proposal, decision)
	require.Equal(t, AwaitingApproval, state.Status)

	_, err := Respond(&s, state, proposal)
	require.ErrorIs(t, err, ErrAwaitingApproval)
	_, err = AcceptCounter(&s, state)
	require.ErrorIs(t, err, ErrAwaitingApproval)

	require.Equal(t, noon.Add(2*time.Hour), s.Deadline(Approve, noon, noon), "later than the hour of inactivity")
	require.Equal(t, noon.Add(time.Hour), s.Deadline(Counter, noon, noon))
	require.Equal(t, noon.Add(3*time.Hour), s.Deadline(Counter, noon, noon.Add(2*time.Hour)))
	require.Equal(t, noon.Add(3*time.Hour), s.Deadline(Counter, noon, noon.Add(150*time.Minute)), "it ends after three hours")
	require.Equal(t, noon.Add(11*time.Hour), s.Deadline(Counter, noon, noon.Add(10*time.Hour)), "begun before this rule")

	s.ApprovalAbove = 1799 // if no fetches are prepaid, a single fetch's price counts
	require.Equal(t, Approve, respond(t, &s, State{}, at(1800)).Action)
}

// TestApprovalCeiling includes a definition without the field, as earlier versions of the gateway have stored it.
func TestApprovalCeiling(t *testing.T) {
	largest := at(terms.MaxPrice)
	largest.PrepaidFetches = terms.MaxFetches
	for _, c := range []struct {
		field              string
		price, fetches     uint64
		atIt, oneFetchMore Action
	}{
		{``, 2000, 500_000, Accept, Approve},
		{`"approval_above_micro": 2000,`, 2000, 1, Accept, Approve},
		{`"approval_above_micro": 4000000000,`, 2000, 2_000_000, Accept, Approve},
		{`"approval_above_micro": 0,`, 2000, 0, Approve, Approve},
		{`"approval_above_micro": 9007199254740991,`, 2000, 4_503_599_627, Accept, Accept},
	} {
		s := parsed(t, strings.Replace(documentStrategy, "{", "{"+c.field, 1))
		proposal := at(c.price)
		proposal.PrepaidFetches = c.fetches
		require.Equal(t, c.atIt, respond(t, &s, State{}, proposal).Action, "%s", c.field)
		proposal.PrepaidFetches++
		require.Equal(t, c.oneFetchMore, respond(t, &s, State{}, proposal).Action, "%s", c.field)
		require.Equal(t, Approve, respond(t, &s, State{}, largest).Action, "%s: no value turns it off", c.field)
	}
	s := parsed(t, documentStrategy)
	require.Equal(t, Accept, respond(t, &s, State{}, at(terms.MaxPrice)).Action, "a fetch costs at most the ceiling")

	countered := respond(t, &s, State{}, at(600))
	countered.Terms.PrepaidFetches = 1_000_000
	agreed, err := AcceptCounter(&s, State{}.Next(at(600), countered))
	require.NoError(t, err)
	require.Equal(t, Approve, agreed.Action, "also if the client accepts the publisher's offer")
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
