package agent

import (
	"errors"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

const testNow = 1_800_000_000

var (
	testBuyer  = solana.PublicKey{1}
	testSeller = solana.PublicKey{2}
)

// bargaining is a negotiation in which so many offers have been made, and whose turn ends in 100 seconds.
func bargaining(round uint8) protocol.Negotiation {
	n := protocol.Negotiation{
		Buyer: testBuyer, Seller: testSeller, Status: protocol.NegotiationStatusProposed, CurrentRound: round, MaxRounds: 4,
		EscrowAmount: 5_000_000, EffectiveEscrow: 5_000_000, MinOfferBps: 1000, DecayRateBps: 200,
		ResponseWindow: 300, CreatedAt: testNow - 1000, TurnDeadline: testNow + 100, GlobalDeadline: testNow + 5000,
		ZopaPhase: protocol.ZopaPhaseSkipped, Version: protocol.NegotiationVersion,
	}
	if round > 0 {
		n.CurrentOfferAmount, n.OfferSide, n.CurrentOfferBy = 2_000_000, protocol.OfferSideBuyer, testBuyer
		if round%2 == 0 {
			n.OfferSide, n.CurrentOfferBy = protocol.OfferSideSeller, testSeller
		}
	}
	return n
}

func with(n protocol.Negotiation, change func(*protocol.Negotiation)) protocol.Negotiation {
	change(&n)
	return n
}

// inMilestones is one whose price is agreed on: half of it is claimed if reviewed.
func inMilestones(reviewed bool) protocol.Negotiation {
	return with(bargaining(2), func(n *protocol.Negotiation) {
		n.Status, n.SettledAmount, n.Arbiter = protocol.NegotiationStatusAccepted, 2_000_000, solana.PublicKey{3}
		n.MilestoneBps, n.ReviewHours = [8]uint16{5000, 5000}, 1
		n.MilestoneDeadline = testNow + 20_000
		if reviewed {
			n.MilestonesClaimed = 1
		}
	})
}

// testView returns a view of a negotiation in which the agent takes part.
func testView(n protocol.Negotiation, side protocol.OfferSide, now int64) *view {
	return &view{
		NegotiationAccount: &haggle.NegotiationAccount{Negotiation: n}, side: side, now: now, margin: DefaultMargin,
		participation: engaged,
	}
}

func TestDutiesFollowFromTheState(t *testing.T) {
	const buyer, seller = protocol.OfferSideBuyer, protocol.OfferSideSeller
	created := with(bargaining(0), func(n *protocol.Negotiation) { n.Status = protocol.NegotiationStatusCreated })
	overdue := func(n *protocol.Negotiation) { n.TurnDeadline = testNow }
	ended := func(status protocol.NegotiationStatus) protocol.Negotiation {
		return with(bargaining(2), func(n *protocol.Negotiation) { n.Status = status })
	}
	for name, c := range map[string]struct {
		negotiation   protocol.Negotiation
		side          protocol.OfferSide
		participation participation
		answer        answer
		want          step
	}{
		"an invitation is looked into":         {created, seller, undecided, answer{}, step{duty: admit, at: testNow + 85}},
		"an invitation that suits is accepted": {created, seller, engaged, answer{}, step{duty: acceptInvitation}},
		"one that does not is left alone":      {created, seller, declined, answer{}, step{at: testNow + 100}},
		"there has to be time for it": {with(created, func(n *protocol.Negotiation) { n.TurnDeadline = testNow + 15 }), seller, engaged, answer{},
			step{at: testNow + 15}},
		"the buyer waits for the seller":   {created, buyer, engaged, answer{}, step{at: testNow + 100}},
		"an invitation nobody has taken":   {with(created, overdue), buyer, engaged, answer{}, step{duty: expire}},
		"which is not the seller's affair": {with(created, overdue), seller, engaged, answer{}, step{duty: done}},

		"the buyer opens":                      {bargaining(0), buyer, engaged, answer{}, step{duty: decide, at: testNow + 85}},
		"after it has been looked into":        {bargaining(0), buyer, undecided, answer{}, step{duty: admit, at: testNow + 85}},
		"the seller waits for that":            {bargaining(0), seller, engaged, answer{}, step{at: testNow + 100}},
		"the seller answers":                   {bargaining(1), seller, engaged, answer{}, step{duty: decide, at: testNow + 85}},
		"whoever waits is not asked":           {bargaining(1), seller, engaged, answer{position: 1}, step{at: testNow + 85}},
		"until the time it has said":           {bargaining(1), seller, engaged, answer{position: 1, until: testNow + 9}, step{at: testNow + 9}},
		"then it is":                           {bargaining(1), seller, engaged, answer{position: 1, until: testNow}, step{duty: decide, at: testNow + 85}},
		"but not later than the last call":     {bargaining(1), seller, engaged, answer{position: 1, until: testNow + 99}, step{at: testNow + 85}},
		"the last call":                        {with(bargaining(1), func(n *protocol.Negotiation) { n.TurnDeadline = testNow + 15 }), seller, engaged, answer{position: 1}, step{duty: decide, last: true, at: testNow + 15}},
		"there is only one":                    {bargaining(1), seller, engaged, answer{position: 1, last: true}, step{at: testNow + 100}},
		"half of a short window":               {with(bargaining(1), func(n *protocol.Negotiation) { n.ResponseWindow, n.TurnDeadline = 20, testNow+11 }), seller, engaged, answer{}, step{duty: decide, at: testNow + 1}},
		"the buyer ends it at once":            {with(bargaining(1), overdue), buyer, engaged, answer{}, step{duty: expire}},
		"even if it has not taken part":        {with(bargaining(0), overdue), buyer, declined, answer{}, step{duty: expire}},
		"the seller a little later":            {with(bargaining(1), overdue), seller, engaged, answer{}, step{at: testNow + sellerGrace}},
		"if nobody has by then":                {with(bargaining(1), func(n *protocol.Negotiation) { n.TurnDeadline = testNow - sellerGrace }), seller, engaged, answer{}, step{duty: expire}},
		"a commitment is due":                  {with(bargaining(0), func(n *protocol.Negotiation) { n.ZopaEnabled, n.ZopaPhase = true, protocol.ZopaPhaseNotStarted }), buyer, engaged, answer{}, step{duty: seal, at: testNow + 100}},
		"the midpoint is for the seller, too":  {midpoint(), seller, engaged, answer{}, step{duty: decide, at: testNow + 85}},
		"the buyer clears up":                  {ended(protocol.NegotiationStatusRejected), buyer, engaged, answer{}, step{duty: finish}},
		"the seller is done":                   {ended(protocol.NegotiationStatusSettled), seller, engaged, answer{}, step{duty: done}},
		"unless something is kept for it":      {with(ended(protocol.NegotiationStatusSettled), func(n *protocol.Negotiation) { n.ClaimableSeller = 1 }), seller, engaged, answer{}, step{duty: finish}},
		"a milestone can be claimed":           {inMilestones(false), seller, engaged, answer{}, step{duty: deliver, at: testNow + 20_000 - 2*3660 - claimMargin}},
		"which the buyer waits for":            {inMilestones(false), buyer, engaged, answer{}, step{at: testNow + 20_000}},
		"the buyer looks at it":                {inMilestones(true), buyer, engaged, answer{}, step{duty: deliver, at: testNow + 85}},
		"the seller waits for that, too":       {inMilestones(true), seller, engaged, answer{}, step{at: testNow + 100}},
		"gracePeriod is agreement":             {with(inMilestones(true), overdue), seller, engaged, answer{}, step{duty: release}},
		"the buyer says nothing more":          {with(inMilestones(true), overdue), buyer, engaged, answer{}, step{at: testNow + 20_000}},
		"nothing is claimed any more":          {with(inMilestones(false), func(n *protocol.Negotiation) { n.MilestoneDeadline = testNow }), buyer, engaged, answer{}, step{duty: settle}},
		"the seller leaves that to the buyer":  {with(inMilestones(false), func(n *protocol.Negotiation) { n.MilestoneDeadline = testNow }), seller, engaged, answer{}, step{at: testNow + sellerGrace}},
		"a payout is claimed between tranches": {with(inMilestones(false), func(n *protocol.Negotiation) { n.ClaimableSeller = 1 }), seller, engaged, answer{}, step{duty: finish}},
	} {
		t.Run(name, func(t *testing.T) {
			v := testView(c.negotiation, c.side, testNow)
			v.participation, v.answer = c.participation, c.answer
			require.Equal(t, c.want, v.plan(), "%s", v.plan().duty)
		})
	}
}

// midpoint is one in which the revealed prices have left an offer that either side may accept.
func midpoint() protocol.Negotiation {
	return with(bargaining(0), func(n *protocol.Negotiation) {
		n.ZopaEnabled, n.ZopaPhase, n.BuyerPrice, n.SellerPrice = true, protocol.ZopaPhaseRevealed, 4_000_000, 3_000_000
		n.CurrentOfferAmount, n.CurrentOfferBy = 3_500_000, solana.PublicKey{9}
	})
}

func TestAgendaTellsWhoIsDueInOrder(t *testing.T) {
	var a agenda
	late, early, never := &tracked{index: -1}, &tracked{index: -1}, &tracked{index: -1}
	a.wake(late, 20)
	a.wake(early, 10)
	a.wake(never, 0)
	require.Nil(t, a.due(9))
	require.Same(t, early, a.due(20))
	a.wake(early, 30)
	a.wake(late, 40)
	require.Same(t, early, a.due(50))
	a.wake(late, 0)
	require.Nil(t, a.due(50))
	require.Empty(t, a)
}

func TestDecisionsThatCannotBeSayWhatTheProgramWould(t *testing.T) {
	seen := func(n protocol.Negotiation, side protocol.OfferSide) Turn {
		return Turn{Negotiation: &haggle.NegotiationAccount{Negotiation: n}, Side: side, Now: testNow, Deadline: n.TurnDeadline, Limits: Limits{MinPrice: 1, MaxPrice: 5_000_000}}
	}
	buyers := seen(bargaining(0), protocol.OfferSideBuyer)
	answering := seen(bargaining(1), protocol.OfferSideSeller)
	extended := seen(with(bargaining(1), func(n *protocol.Negotiation) {
		n.PendingExtension, n.GlobalDeadline = 600, n.CreatedAt+protocol.MaxDeadlineSeconds-60
	}), protocol.OfferSideSeller)
	for name, c := range map[string]struct {
		turn     Turn
		decision Decision
		want     error
	}{
		"too low":                   {buyers, Offer{Amount: 489_999}, protocol.ErrOfferTooLow},
		"too high":                  {buyers, Offer{Amount: 4_900_001}, protocol.ErrOfferExceedsEscrow},
		"just right":                {buyers, Offer{Amount: 4_900_000}, nil},
		"no offer to accept":        {buyers, Accept{}, protocol.ErrInvalidState},
		"the other side's":          {answering, Accept{}, nil},
		"one's own":                 {seen(bargaining(1), protocol.OfferSideBuyer), Accept{}, protocol.ErrNotYourTurn},
		"not one's turn":            {seen(bargaining(1), protocol.OfferSideBuyer), Offer{Amount: 1_000_000}, protocol.ErrNotYourTurn},
		"no rounds left":            {seen(bargaining(4), protocol.OfferSideBuyer), Offer{Amount: 1_000_000}, protocol.ErrMaxRoundsReached},
		"backwards":                 {buyers, Offer{Amount: 1_000_000, DeadlineExtension: -time.Second}, protocol.ErrInvalidParams},
		"too long":                  {buyers, Offer{Amount: 1_000_000, DeadlineExtension: 1 << 62}, protocol.ErrInvalidParams},
		"within a day":              {extended, Offer{Amount: 1_000_000, DeadlineExtension: time.Minute}, nil},
		"beyond it":                 {extended, Offer{Amount: 1_000_000, DeadlineExtension: time.Minute + 1}, protocol.ErrInvalidParams},
		"the past":                  {buyers, Wait{Until: testNow}, errAny},
		"the future":                {buyers, Wait{Until: testNow + 1}, nil},
		"none at all":               {buyers, nil, errNoDecision},
		"a pointer":                 {buyers, &Accept{}, errPointer},
		"rejecting":                 {buyers, Reject{}, nil},
		"waiting until it moves":    {buyers, Wait{}, nil},
		"silence to the last offer": {lastCall(seen(bargaining(4), protocol.OfferSideBuyer)), Wait{}, errNoRoundsLeft},
		"silence with rounds left":  {lastCall(answering), Wait{}, nil},
		"below the seller's limit":  {limited(answering, Limits{MinPrice: 3_000_001}), Offer{Amount: 3_000_000}, ErrBeyondLimit},
		"accepting less than that":  {limited(answering, Limits{MinPrice: 2_000_001}), Accept{}, ErrBeyondLimit},
		"less after the fee":        {limited(withFee(answering), Limits{MinPrice: 1_990_001}), Accept{}, ErrBeyondLimit},
		"just enough after the fee": {limited(withFee(answering), Limits{MinPrice: 1_990_000}), Accept{}, nil},
		"no limit as a seller":      {limited(answering, Limits{MaxPrice: 5_000_000}), Accept{}, ErrBeyondLimit},
		"above the buyer's limit":   {limited(buyers, Limits{MaxPrice: 999_999}), Offer{Amount: 1_000_000}, ErrBeyondLimit},
		"no limit as a buyer":       {limited(buyers, Limits{MinPrice: 1}), Offer{Amount: 1_000_000}, ErrBeyondLimit},
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

// withFee has a protocol fee of half a per cent.
func withFee(turn Turn) Turn {
	n := *turn.Negotiation
	n.ProtocolFeeBps = 50
	turn.Negotiation = &n
	return turn
}

// A price that is moved into the range of the next offer never crosses the agent's own limit.
func TestClampBeyondTheAgentsLimitIsAnError(t *testing.T) {
	turn := func(side protocol.OfferSide, limits Limits) Turn {
		n := bargaining(1)
		n.EffectiveEscrow = 3_000_000 // the next offer is 294,000 to 2,940,000
		return Turn{Negotiation: &haggle.NegotiationAccount{Negotiation: n}, Side: side, Limits: limits}
	}
	price, err := turn(protocol.OfferSideSeller, Limits{MinPrice: 2_940_000}).InRange(3_500_000)
	require.NoError(t, err)
	require.EqualValues(t, 2_940_000, price)
	_, err = turn(protocol.OfferSideSeller, Limits{MinPrice: 2_940_001}).InRange(3_500_000)
	require.ErrorIs(t, err, ErrBeyondLimit)
	price, err = turn(protocol.OfferSideBuyer, Limits{MaxPrice: 294_000}).InRange(1)
	require.NoError(t, err)
	require.EqualValues(t, 294_000, price)
	_, err = turn(protocol.OfferSideBuyer, Limits{MaxPrice: 293_999}).InRange(1)
	require.ErrorIs(t, err, ErrBeyondLimit)
}

// A seller is called for the last time before each moment from which on it can claim one milestone fewer:
// each claim needs a whole review window, one after the other, before the milestones' deadline.
func TestSellerIsCalledInTimeForEachOpenMilestone(t *testing.T) {
	n := with(inMilestones(false), func(n *protocol.Negotiation) { n.MilestoneBps = [8]uint16{3000, 3000, 4000} })
	latest := func(open int64) int64 { return n.MilestoneDeadline - open*(3600+protocol.MilestoneSlack) }
	at := func(now int64, a answer) *view {
		v := testView(n, protocol.OfferSideSeller, now)
		v.answer = a
		return v
	}
	waited := func(at int64) answer { return answer{position: 1, at: at} }
	require.Equal(t, step{duty: deliver, at: latest(3) - claimMargin}, at(testNow, answer{}).plan())
	require.Equal(t, latest(3), at(testNow, answer{}).claimDeadline())
	require.Equal(t, step{at: latest(3) - claimMargin}, at(testNow+1, waited(testNow)).plan(), "it waits for the delivery")
	for open := int64(3); open > 0; open-- {
		call := at(latest(open)-claimMargin, waited(testNow))
		require.Equal(t, step{duty: deliver, last: true, at: n.MilestoneDeadline}, call.plan())
		require.Equal(t, latest(open), call.claimDeadline())
		answered := at(latest(open)-claimMargin+1, waited(latest(open)-claimMargin)).plan()
		require.Equal(t, idle, answered.duty, "once each")
		if open > 1 {
			require.Equal(t, latest(open-1)-claimMargin, answered.at)
		}
	}
}

// errAny is any reason.
var errAny = errors.New("any")

func TestMovesAboutMilestonesThatCannotBeSayWhy(t *testing.T) {
	turn := func(side protocol.OfferSide, reviewed bool) Turn {
		return Turn{Negotiation: &haggle.NegotiationAccount{Negotiation: inMilestones(reviewed)}, Side: side, Now: testNow}
	}
	for name, c := range map[string]struct {
		turn Turn
		move MilestoneMove
		want error
	}{
		"claim":                {turn(protocol.OfferSideSeller, false), ClaimMilestone{Index: 0}, nil},
		"claim twice":          {turn(protocol.OfferSideSeller, true), ClaimMilestone{Index: 0}, protocol.ErrInvalidState},
		"claim as the buyer":   {turn(protocol.OfferSideBuyer, false), ClaimMilestone{Index: 0}, protocol.ErrUnauthorized},
		"one there is not":     {turn(protocol.OfferSideSeller, false), ClaimMilestone{Index: 2}, protocol.ErrInvalidParams},
		"release":              {turn(protocol.OfferSideBuyer, true), ReleaseMilestone{0}, nil},
		"release another one":  {turn(protocol.OfferSideBuyer, true), ReleaseMilestone{1}, protocol.ErrInvalidState},
		"release as seller":    {turn(protocol.OfferSideSeller, true), ReleaseMilestone{0}, protocol.ErrUnauthorized},
		"dispute":              {turn(protocol.OfferSideBuyer, true), DisputeMilestone{Index: 0}, nil},
		"dispute as seller":    {turn(protocol.OfferSideSeller, true), DisputeMilestone{Index: 0}, protocol.ErrUnauthorized},
		"dispute unclaimed":    {turn(protocol.OfferSideBuyer, false), DisputeMilestone{Index: 0}, protocol.ErrInvalidState},
		"nothing":              {turn(protocol.OfferSideBuyer, true), nil, errNoDecision},
		"wait":                 {turn(protocol.OfferSideBuyer, true), Wait{}, nil},
		"a pointer to a claim": {turn(protocol.OfferSideSeller, false), &ClaimMilestone{Index: 0}, errPointer},
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
