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

// conceding is an opponent for the pins: its offers fall evenly from the best to the worst outcome, and it
// accepts none.
type conceding struct{}

func (conceding) Start(seat bargain.Seat) bargain.Negotiator { return &concedingParty{Seat: seat} }

// Informed implements [onchain.Informed].
func (conceding) Informed() {}

type concedingParty struct{ bargain.Seat }

func (p *concedingParty) Respond(s *bargain.State) bargain.Action {
	least, most := p.Preferences.Bounds()
	target := most - s.Time.Mul(most-least)
	return bargain.Propose(p.Preferences.Inverse().AtMost(target), "concedes evenly")
}

// wandering is an opponent of the pins: it offers random outcomes, and accepts none.
type wandering struct{}

func (wandering) Start(seat bargain.Seat) bargain.Negotiator { return &wanderingParty{Seat: seat} }

// Informed implements [onchain.Informed].
func (wandering) Informed() {}

type wanderingParty struct{ bargain.Seat }

func (p *wanderingParty) Respond(*bargain.State) bargain.Action {
	return bargain.Propose(bargain.Outcome(p.Random.Below(p.Preferences.Domain().Size())), "wanders")
}

// pinsFile holds the pins for TestOffersAreTheSameOnEveryMachine: per strategy a pin for alternating offers
// and a pin for Haggle's rules.
const pinsFile = "testdata/offers.sha256"

// TestOffersAreTheSameOnEveryMachine compares digests of every strategy's moves against itself and against
// two test opponents, in both roles. All machines compare with the same file; "make portable" runs the test
// on amd64, with GOAMD64=v3, and on arm64. If a pin changes, this strategy's records can no longer be
// replayed. Write the file with HAGGLE_WRITE_PINS=1.
func TestOffersAreTheSameOnEveryMachine(t *testing.T) {
	pins, all := &strings.Builder{}, sha256.New()
	sessions, moves := 0, 0
	for _, entrant := range entrants() {
		plan := tournament.Plan{
			Entrants: []tournament.Entrant{
				entrant, {Name: "conceding", Strategy: conceding{}}, {Name: "wandering", Strategy: wandering{}},
			},
			Steps: 40, Repetitions: 2, SelfPlay: true,
			Scenarios: tournament.Join{
				tournament.List{deal(t)}, tournament.Random{Seed: 1, Count: 3}, tournament.Haggle{Seed: 1, Count: 4},
			},
		}
		digests := map[bool]hash.Hash{false: sha256.New(), true: sha256.New()}
		for at := range plan.Scenarios.Len() {
			s, err := plan.Scenarios.Scenario(at)
			require.NoError(t, err)
			digest := digests[s.Rules != nil]
			for _, pair := range [][2]int{{0, 0}, {0, 1}, {1, 0}, {0, 2}, {2, 0}} {
				for repetition := range plan.Repetitions {
					turns, session, err := plan.Trace(s, pair[0], pair[1], repetition)
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
					sessions, moves = sessions+1, moves+len(turns)
				}
			}
		}
		fmt.Fprintf(pins, "%x %x  %s\n", digests[false].Sum(nil), digests[true].Sum(nil), entrant.Name)
	}
	all.Write([]byte(pins.String()))
	fmt.Printf("%x  %d moves of %d sessions\n", all.Sum(nil), moves, sessions)
	if os.Getenv("HAGGLE_WRITE_PINS") != "" {
		require.NoError(t, os.WriteFile(pinsFile, []byte(pins.String()), 0o644))
	}
	want, err := os.ReadFile(pinsFile)
	require.NoError(t, err)
	known := map[string]string{}
	for line := range strings.Lines(string(want)) {
		pin, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		known[name] = pin
	}
	for line := range strings.Lines(pins.String()) {
		pin, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		require.Equal(t, known[name], pin, "%s: its records can no longer be replayed", name)
	}
	require.Equal(t, string(want), pins.String())
}
