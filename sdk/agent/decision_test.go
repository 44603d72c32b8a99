package agent

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

func TestInvalidDecisionsHaveTheProgramsErrors(t *testing.T) {
	turn := func(n protocol.Negotiation, side protocol.OfferSide) Turn {
		return Turn{
			Negotiation: &haggle.Snapshot{Negotiation: n}, Side: side, Now: testNow,
			Deadline: n.TurnDeadline, Limits: Limits{MinPrice: 1, MaxTotal: 5_000_000},
		}
	}
	const buyer, seller = protocol.OfferSideBuyer, protocol.OfferSideSeller
	first, answering := turn(bargaining(0), buyer), turn(bargaining(1), seller)
	waiting, last := turn(bargaining(1), buyer), turn(bargaining(4), buyer)
	extended := turn(with(bargaining(1), func(n *protocol.Negotiation) {
		n.PendingExtension, n.GlobalDeadline = 600, n.CreatedAt+protocol.MaxDeadlineSeconds-60
	}), seller)
	offer := Offer{Amount: 1_000_000}
	extend := func(by time.Duration) Offer { return Offer{Amount: 1_000_000, DeadlineExtension: by} }
	for name, c := range map[string]struct {
		turn     Turn
		decision Decision
		want     error
	}{
		"too low":                 {first, Offer{Amount: 489_999}, protocol.ErrOfferTooLow},
		"too high":                {first, Offer{Amount: 4_900_001}, protocol.ErrOfferExceedsEscrow},
		"highest offer":           {first, Offer{Amount: 4_900_000}, nil},
		"no offer to accept":      {first, Accept{}, protocol.ErrInvalidState},
		"the other side's offer":  {answering, Accept{}, nil},
		"the agent's own offer":   {waiting, Accept{}, protocol.ErrNotYourTurn},
		"the other side's turn":   {waiting, offer, protocol.ErrNotYourTurn},
		"no rounds left":          {last, offer, protocol.ErrMaxRoundsReached},
		"negative extension":      {first, extend(-time.Second), protocol.ErrInvalidParams},
		"too long an extension":   {first, extend(1 << 62), protocol.ErrInvalidParams},
		"longest deadline":        {extended, extend(time.Minute), nil},
		"beyond longest deadline": {extended, extend(time.Minute + 1), protocol.ErrInvalidParams},
		"wait until now":          {first, Wait{Until: testNow}, errAny},
		"wait until later":        {first, Wait{Until: testNow + 1}, nil},
		"no decision":             {first, nil, errNoDecision},
		"pointer":                 {first, &Accept{}, errPointer},
		"reject":                  {first, Reject{}, nil},
		"wait":                    {first, Wait{}, nil},
		"wait without rounds":     {lastCall(last), Wait{}, errNoRoundsLeft},
		"wait with rounds":        {lastCall(answering), Wait{}, nil},
		"offer below MinPrice":    {limited(answering, Limits{MinPrice: 1_000_001}), offer, ErrBeyondLimit},
		"accept below MinPrice":   {limited(answering, Limits{MinPrice: 2_000_001}), Accept{}, ErrBeyondLimit},
		"below MinPrice after fee": {limited(withFee(answering), Limits{MinPrice: 1_990_001}), Accept{},
			ErrBeyondLimit},
		"MinPrice after the fee": {limited(withFee(answering), Limits{MinPrice: 1_990_000}), Accept{}, nil},
		"no MinPrice":            {limited(answering, Limits{MaxTotal: 5_000_000}), Accept{}, ErrBeyondLimit},
		"offer above MaxTotal":   {limited(first, Limits{MaxTotal: 999_999}), offer, ErrBeyondLimit},
		"no MaxTotal":            {limited(first, Limits{MinPrice: 1}), offer, ErrBeyondLimit},
	} {
		t.Run(name, func(t *testing.T) {
			err := validate(c.turn, c.decision)
			if c.want == nil {
				require.NoError(t, err)
				return
			}
			var invalid *InvalidDecision
			require.ErrorAs(t, err, &invalid)
			if c.want != errAny {
				require.ErrorIs(t, err, c.want)
			}
		})
	}
}

func lastCall(turn Turn) Turn {
	turn.LastCall = true
	return turn
}

func limited(turn Turn, limits Limits) Turn {
	turn.Limits = limits
	return turn
}

// withFee sets a protocol fee of half a percent.
func withFee(turn Turn) Turn {
	n := *turn.Negotiation
	n.ProtocolFeeBps = 50
	turn.Negotiation = &n
	return turn
}

// A price moved into the range allowed for the following offer never crosses the agent's own limit.
func TestClampBeyondTheAgentsLimitIsAnError(t *testing.T) {
	turn := func(side protocol.OfferSide, limits Limits) Turn {
		n := bargaining(1)
		n.EffectiveEscrow = 3_000_000 // the seller's offer must be 294,000 to 2,940,000, with a decay of 2,060,000
		return Turn{Negotiation: &haggle.Snapshot{Negotiation: n}, Side: side, Limits: limits}
	}
	price, err := turn(protocol.OfferSideSeller, Limits{MinPrice: 2_940_000}).InRange(3_500_000)
	require.NoError(t, err)
	require.EqualValues(t, 2_940_000, price)
	_, err = turn(protocol.OfferSideSeller, Limits{MinPrice: 2_940_001}).InRange(3_500_000)
	require.ErrorIs(t, err, ErrBeyondLimit)
	price, err = turn(protocol.OfferSideBuyer, Limits{MaxTotal: 2_060_000 + 294_000}).InRange(1)
	require.NoError(t, err)
	require.EqualValues(t, 294_000, price)
	_, err = turn(protocol.OfferSideBuyer, Limits{MaxTotal: 2_060_000 + 293_999}).InRange(1)
	require.ErrorIs(t, err, ErrBeyondLimit)
}

// errAny is an error without code.
var errAny = errors.New("any")

func TestInvalidMilestoneMovesHaveTheProgramsErrors(t *testing.T) {
	turn := func(side protocol.OfferSide, reviewed bool) Turn {
		n := &haggle.Snapshot{Negotiation: inMilestones(reviewed)}
		return Turn{Negotiation: n, Side: side, Now: testNow}
	}
	const buyer, seller = protocol.OfferSideBuyer, protocol.OfferSideSeller
	claim, dispute := ClaimMilestone{Index: 0}, DisputeMilestone{Index: 0}
	for name, c := range map[string]struct {
		turn Turn
		move MilestoneMove
		want error
	}{
		"claim":               {turn(seller, false), claim, nil},
		"claim twice":         {turn(seller, true), claim, protocol.ErrInvalidState},
		"claim as buyer":      {turn(buyer, false), claim, protocol.ErrUnauthorized},
		"unknown milestone":   {turn(seller, false), ClaimMilestone{Index: 2}, protocol.ErrInvalidParams},
		"release":             {turn(buyer, true), ReleaseMilestone{0}, nil},
		"release another one": {turn(buyer, true), ReleaseMilestone{1}, protocol.ErrInvalidState},
		"release as seller":   {turn(seller, true), ReleaseMilestone{0}, protocol.ErrUnauthorized},
		"dispute":             {turn(buyer, true), dispute, nil},
		"dispute as seller":   {turn(seller, true), dispute, protocol.ErrUnauthorized},
		"dispute unclaimed":   {turn(buyer, false), dispute, protocol.ErrInvalidState},
		"no move":             {turn(buyer, true), nil, errNoDecision},
		"wait":                {turn(buyer, true), Wait{}, nil},
		"pointer":             {turn(seller, false), &ClaimMilestone{Index: 0}, errPointer},
	} {
		t.Run(name, func(t *testing.T) {
			err := validateMilestone(c.turn, c.move)
			if c.want == nil {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, c.want)
		})
	}
}
