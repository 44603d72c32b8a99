package strategy_test

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/acceptance"
	"github.com/haggle-protocol/haggle/sdk/bargain/bidding"
	"github.com/haggle-protocol/haggle/sdk/bargain/curve"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/bargain/tournament"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
)

// deal is a scenario over price, colour and days, with opposed but not equal weights.
func deal(t *testing.T) *tournament.Scenario {
	domain, err := bargain.NewDomain(bargain.Price("price", 1_000, 9_000, 7),
		bargain.Categorical("colour", "red", "green", "blue"), bargain.Integer("days", -3, 8))
	require.NoError(t, err)
	s := &tournament.Scenario{Name: "deal"}
	for self := range s.Preferences {
		price := utility.Line{Last: fixed.One, Count: domain.Issue(0).Count}
		days := utility.Line{First: fixed.One, Count: 12}
		colour := utility.Table{fixed.One / 3, fixed.One, 0}
		weights := []fixed.Number{fixed.One / 2, fixed.One / 5, fixed.One / 10 * 3}
		if self == 1 {
			price.First, price.Last, days.First, days.Last = price.Last, price.First, days.Last, days.First
			weights = []fixed.Number{fixed.One / 7, fixed.One / 7, fixed.One / 7 * 5}
		}
		u, err := utility.NewAdditive(domain, 0, weights, price, colour, days)
		require.NoError(t, err)
		s.Preferences[self], err = bargain.NewPreferences(domain, u, fixed.One/10*3)
		require.NoError(t, err)
	}
	return s
}

// entrants are all named strategies, and compositions with other curves, choices and conditions.
func entrants() (list []tournament.Entrant) {
	strategies := strategy.Named()
	const tenth = fixed.One / 10
	strategies["(exp aspiration)"] = strategy.TimeDependent(
		curve.ExpAspiration{Max: fixed.One, Exponent: fixed.One / 8})
	for name, b := range map[string]bargain.Bidding{
		"(random absolute)": bidding.RandomAbsolute{Most: 3},
		"(patience)":        bidding.ResourceDependent{K: tenth, Resource: bidding.ResourcePatience, Pick: bidding.PickRandom},
	} {
		strategies[name] = bargain.BOA{
			Bidding: b, Acceptance: acceptance.Any{First: acceptance.Next{}, Second: acceptance.Time{From: 9 * tenth}},
		}
	}
	for name, s := range strategies {
		list = append(list, tournament.Entrant{Name: name, Strategy: s})
	}
	slices.SortFunc(list, func(a, b tournament.Entrant) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// offersFile has the digests of TestOffersAreTheSameOnEveryMachine, each with its protocol.
const offersFile = "testdata/offers.sha256"

// TestOffersAreTheSameOnEveryMachine has a digest of all moves, utilities and scores of all strategies against each
// other, for alternating offers and for Haggle's rules. Each machine compares it with the same file; "make portable" runs the test on amd64,
// with GOAMD64=v3, and on arm64. A change of it means that recorded strategies can no longer be replayed.
func TestOffersAreTheSameOnEveryMachine(t *testing.T) {
	plan := tournament.Plan{
		Entrants: entrants(), Steps: 40, Repetitions: 2, SelfPlay: true,
		Scenarios: tournament.Join{
			tournament.List{deal(t)}, tournament.Random{Seed: 1, Count: 3}, tournament.Haggle{Seed: 1, Count: 2},
		},
	}
	digests := map[bool]hash.Hash{false: sha256.New(), true: sha256.New()}
	sessions, offers, agreements := 0, 0, 0
	for at := range plan.Scenarios.Len() {
		s, err := plan.Scenarios.Scenario(at)
		require.NoError(t, err)
		digest := digests[s.Rules != nil]
		for first := range plan.Entrants {
			for second := range plan.Entrants {
				for repetition := range plan.Repetitions {
					turns, session, err := plan.Trace(s, first, second, repetition)
					require.NoError(t, err)
					for _, turn := range turns {
						_ = binary.Write(digest, binary.LittleEndian, []int64{
							int64(turn.By), int64(turn.Move), int64(turn.Outcome),
							int64(turn.Utilities[0]), int64(turn.Utilities[1]),
						})
					}
					_ = binary.Write(digest, binary.LittleEndian, session.Values)
					_ = binary.Write(digest, binary.LittleEndian, session.Advantages)
					paid := session.Settlement
					_ = binary.Write(digest, binary.LittleEndian,
						[]uint64{paid.Price, paid.ToSeller, paid.Refund, paid.Fee, paid.Decay})
					sessions, offers = sessions+1, offers+session.Offers
					if session.Ending == bargain.EndingAgreement {
						agreements++
					}
				}
			}
		}
	}
	got := fmt.Sprintf("%x  alternating offers\n%x  Haggle's rules\n", digests[false].Sum(nil), digests[true].Sum(nil))
	fmt.Printf("%s%d offers of %d sessions, %d agreements\n", got, offers, sessions, agreements)
	want, err := os.ReadFile(offersFile)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}
