package bargain_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/acceptance"
	"github.com/haggle-protocol/haggle/sdk/bargain/bidding"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// TestCourseOfThreePartiesCountsTheirTurns checks party 1's turns in seven rounds: it accepts in round 4.
func TestCourseOfThreePartiesCountsTheirTurns(t *testing.T) {
	played := &puppet{move: bargain.Propose(1, "")}
	c := bargain.NewStackedCourse(played, cheapAndEarly(t, 0), 1, 3, 7, 0, 9)
	require.Equal(t, [3]int{1, 3, 2}, [3]int{played.seat.Self, played.seat.Parties, played.seat.Steps})
	type turn struct {
		step, by, offers int
		time             fixed.Number
		last             bool
	}
	turns := map[int]turn{1: {0, 0, 1, 0, false}, 4: {1, 0, 3, fixed.One, false}, 7: {1, 0, 5, fixed.One, true}}
	for round := range 8 {
		if want, own := turns[round]; own {
			c.Respond(0, math.MaxUint64)
			s := played.state
			require.Equal(t, want, turn{s.Step, s.By, len(s.History), s.Time, s.Last}, "round %d", round)
			require.EqualValues(t, 10+round-1, s.Offer)
		}
		if round == 2 || round == 4 {
			c.ObserveAcceptance()
			continue
		}
		c.Observe(bargain.Outcome(10 + round))
	}
	c.Stand(2)
	c.Respond(0, math.MaxUint64)
	require.Zero(t, played.state.By, "the party before it")
}

// TestConcessionIsBetweenOffersOfOneParty uses alternating offers by two opponents.
func TestConcessionIsBetweenOffersOfOneParty(t *testing.T) {
	state := bargain.State{History: []bargain.Offer{
		{By: 1, Outcome: 11}, {By: 2, Outcome: 21}, {By: 0, Outcome: 1}, {By: 1, Outcome: 12}, {By: 2, Outcome: 22},
	}}
	for back, want := range []bargain.Outcome{22, 21} {
		offer, ok := state.Others(0, back)
		require.True(t, ok)
		require.Equal(t, want, offer.Outcome)
	}
	_, ok := state.Others(0, 2)
	require.False(t, ok)
}

// counting is a model that estimates the party's first offer at 1/2, and all later offers at 1/4.
type counting struct{ offers *[]bargain.Offer }

func (c counting) Model(bargain.Seat) bargain.Model { return counting{new([]bargain.Offer)} }

func (c counting) Observe(offer bargain.Offer) { *c.offers = append(*c.offers, offer) }

func (c counting) Of(o bargain.Outcome) fixed.Number {
	if (*c.offers)[0].Outcome == o {
		return fixed.One / 2
	}
	return fixed.One / 4
}

// keeping is a bidding that stores the model.
type keeping struct{ model *bargain.Model }

func (k keeping) Bidder(seat bargain.Seat, model bargain.Model) bargain.Bidder {
	*k.model = model
	return bidding.Hardliner{}.Bidder(seat, model)
}

// TestEachOtherPartyHasAModel multiplies the estimates of the parties that have made offers.
func TestEachOtherPartyHasAModel(t *testing.T) {
	var model bargain.Model
	boa := bargain.BOA{Bidding: keeping{&model}, Acceptance: acceptance.Best{}, Modeling: counting{}}
	negotiator := boa.Start(bargain.Seat{Preferences: cheapAndEarly(t, 0), Self: 1, Parties: 4, Steps: 5})
	require.Equal(t, fixed.One, model.Of(3))
	negotiator.Respond(&bargain.State{Offer: 4, By: 2, History: []bargain.Offer{
		{By: 0, Outcome: 3}, {By: 1, Outcome: 0}, {By: 2, Outcome: 4},
	}})
	require.Equal(t, fixed.One/8, model.Of(3))
	require.Equal(t, fixed.One/8, model.Of(4))
	require.Equal(t, fixed.One/16, model.Of(0), "no party has offered it")
}
