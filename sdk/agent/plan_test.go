package agent

import (
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

const testNow = 1_800_000_000

var (
	testBuyer  = solana.PublicKey{1}
	testSeller = solana.PublicKey{2}
	testMint   = solana.PublicKey{4}
)

// bargaining returns a negotiation with a number of offers, whose turn ends in 100 seconds.
func bargaining(round uint8) protocol.Negotiation {
	n := protocol.Negotiation{
		Buyer: testBuyer, Seller: testSeller, Status: protocol.NegotiationStatusProposed, CurrentRound: round,
		MaxRounds: 4, EscrowAmount: 5_000_000, EffectiveEscrow: 5_000_000, MinOfferBps: 1000, DecayRateBps: 200,
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

// with returns a changed negotiation.
func with(n protocol.Negotiation, change func(*protocol.Negotiation)) protocol.Negotiation {
	change(&n)
	return n
}

// inMilestones returns an agreed negotiation with two milestones. If reviewed, the first milestone is under
// review.
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

// testView returns a view of a negotiation. The agent takes part in it.
func testView(n protocol.Negotiation, side protocol.OfferSide, now int64) *view {
	return &view{
		Snapshot: &haggle.Snapshot{Negotiation: n}, side: side, now: now, margin: DefaultMargin,
		participation: engaged,
	}
}

func TestDutiesFollowFromTheState(t *testing.T) {
	const (
		buyer, seller = protocol.OfferSideBuyer, protocol.OfferSideSeller
		lastCallAt    = testNow + 85
		turnEnd       = testNow + 100
		milestoneEnd  = testNow + 20_000
	)
	turnEnds := func(at int64) func(*protocol.Negotiation) {
		return func(n *protocol.Negotiation) { n.TurnDeadline = at }
	}
	endedAs := func(status protocol.NegotiationStatus) protocol.Negotiation {
		return with(bargaining(2), func(n *protocol.Negotiation) { n.Status = status })
	}
	created := with(bargaining(0), func(n *protocol.Negotiation) {
		n.Status = protocol.NegotiationStatusCreated
	})
	lateInvitation, overdueInvitation := with(created, turnEnds(testNow+15)), with(created, turnEnds(testNow))
	overdue, later := with(bargaining(1), turnEnds(testNow)), with(bargaining(1), turnEnds(testNow-sellerGrace))
	settled := endedAs(protocol.NegotiationStatusSettled)
	owed := func(n *protocol.Negotiation) { n.ClaimableSeller = 1 }
	shortWindow := func(n *protocol.Negotiation) { n.ResponseWindow, n.TurnDeadline = 20, testNow+11 }
	commits := func(n *protocol.Negotiation) { n.ZopaEnabled, n.ZopaPhase = true, protocol.ZopaPhaseNotStarted }
	open, reviewed := inMilestones(false), inMilestones(true)
	reviewOver := with(reviewed, turnEnds(testNow))
	milestonesOver := with(open, func(n *protocol.Negotiation) { n.MilestoneDeadline = testNow })
	waited := answer{waits: true, at: testNow}
	waitedUntil := func(at int64) answer { return answer{waits: true, at: testNow, until: at} }
	none := answer{}
	for name, c := range map[string]struct {
		negotiation   protocol.Negotiation
		side          protocol.OfferSide
		participation participation
		answer        answer
		want          step
	}{
		"invitation":               {created, seller, undecided, none, step{action: admit, at: lastCallAt}},
		"suitable invitation":      {created, seller, engaged, none, step{action: acceptInvitation}},
		"unsuitable invitation":    {created, seller, declined, none, step{at: turnEnd}},
		"late invitation":          {lateInvitation, seller, engaged, none, step{at: testNow + 15}},
		"own invitation":           {created, buyer, engaged, none, step{at: turnEnd}},
		"own overdue invitation":   {overdueInvitation, buyer, engaged, none, step{action: expire}},
		"other overdue invitation": {overdueInvitation, seller, engaged, none, step{action: done}},

		"first offer":       {bargaining(0), buyer, engaged, none, step{action: decide, at: lastCallAt}},
		"before Admit":      {bargaining(0), buyer, undecided, none, step{action: admit, at: lastCallAt}},
		"the buyer's turn":  {bargaining(0), seller, engaged, none, step{at: turnEnd}},
		"the seller's turn": {bargaining(1), seller, engaged, none, step{action: decide, at: lastCallAt}},
		"after Wait":        {bargaining(1), seller, engaged, waited, step{at: lastCallAt}},
		"after Wait at 0":   {bargaining(1), seller, engaged, answer{waits: true}, step{at: lastCallAt}},
		"before Until":      {bargaining(1), seller, engaged, waitedUntil(testNow + 9), step{at: testNow + 9}},
		"at Until": {bargaining(1), seller, engaged, waitedUntil(testNow),
			step{action: decide, at: lastCallAt}},
		"Until after last call": {bargaining(1), seller, engaged, waitedUntil(testNow + 99), step{at: lastCallAt}},
		"last call": {with(bargaining(1), turnEnds(testNow+15)), seller, engaged, waited,
			step{action: decide, last: true, at: testNow + 15}},
		"after the last call": {bargaining(1), seller, engaged, answer{last: true}, step{at: turnEnd}},
		"short window": {with(bargaining(1), shortWindow), seller, engaged, none,
			step{action: decide, at: testNow + 1}},
		"overdue, buyer": {overdue, buyer, engaged, none, step{action: expire}},
		"overdue, declined buyer": {with(bargaining(0), turnEnds(testNow)), buyer, declined, none,
			step{action: expire}},
		"overdue, seller":                  {overdue, seller, engaged, none, step{at: testNow + sellerGrace}},
		"overdue after the seller's grace": {later, seller, engaged, none, step{action: expire}},
		"commitment": {with(bargaining(0), commits), buyer, engaged, none,
			step{action: seal, at: turnEnd}},
		"midpoint": {midpoint(), seller, engaged, none, step{action: decide, at: lastCallAt}},

		"ended, buyer":  {endedAs(protocol.NegotiationStatusRejected), buyer, engaged, none, step{action: finish}},
		"ended, seller": {settled, seller, engaged, none, step{action: done}},
		"ended, payout": {with(settled, owed), seller, engaged, none, step{action: finish}},

		"open milestone": {open, seller, engaged, none,
			step{action: deliver, at: milestoneEnd - 2*3660 - claimMargin}},
		"open milestone, buyer":   {open, buyer, engaged, none, step{at: milestoneEnd}},
		"review":                  {reviewed, buyer, engaged, none, step{action: deliver, at: lastCallAt}},
		"review, seller":          {reviewed, seller, engaged, none, step{at: turnEnd}},
		"review is over":          {reviewOver, seller, engaged, none, step{action: release}},
		"review is over, buyer":   {reviewOver, buyer, engaged, none, step{at: milestoneEnd}},
		"milestones over":         {milestonesOver, buyer, engaged, none, step{action: settle}},
		"milestones over, seller": {milestonesOver, seller, engaged, none, step{at: testNow + sellerGrace}},
		"milestone's payout":      {with(open, owed), seller, engaged, none, step{action: finish}},
	} {
		t.Run(name, func(t *testing.T) {
			v := testView(c.negotiation, c.side, testNow)
			v.participation, v.answer = c.participation, c.answer
			require.Equal(t, c.want, v.plan(), "%s", v.plan().action)
		})
	}
}

// midpoint returns a negotiation where either side can accept the midpoint.
func midpoint() protocol.Negotiation {
	return with(bargaining(0), func(n *protocol.Negotiation) {
		n.ZopaEnabled, n.ZopaPhase = true, protocol.ZopaPhaseRevealed
		n.BuyerPrice, n.SellerPrice = 4_000_000, 3_000_000
		n.CurrentOfferAmount, n.CurrentOfferBy = 3_500_000, solana.PublicKey{9}
	})
}

// A seller receives a last call before each moment when fewer milestones could be claimed: each claim needs a
// whole review window, sequentially, before the milestones' deadline.
func TestSellerIsCalledInTimeForEachOpenMilestone(t *testing.T) {
	n := with(inMilestones(false), func(n *protocol.Negotiation) {
		n.MilestoneBps = [8]uint16{3000, 3000, 4000}
	})
	latest := func(open int64) int64 { return n.MilestoneDeadline - open*(3600+protocol.MilestoneSlack) }
	at := func(now int64, a answer) *view {
		v := testView(n, protocol.OfferSideSeller, now)
		v.answer = a
		return v
	}
	waited := func(at int64) answer { return answer{waits: true, at: at} }
	require.Equal(t, step{action: deliver, at: latest(3) - claimMargin}, at(testNow, answer{}).plan())
	require.Equal(t, latest(3), at(testNow, answer{}).claimDeadline())
	require.Equal(t, step{at: latest(3) - claimMargin}, at(testNow+1, waited(testNow)).plan(),
		"the agent waits for the delivery")
	for open := int64(3); open > 0; open-- {
		call := at(latest(open)-claimMargin, waited(testNow))
		require.Equal(t, step{action: deliver, last: true, at: n.MilestoneDeadline}, call.plan())
		require.Equal(t, latest(open), call.claimDeadline())
		answered := at(latest(open)-claimMargin+1, waited(latest(open)-claimMargin)).plan()
		require.Equal(t, idle, answered.action, "one call for each time")
		if open > 1 {
			require.Equal(t, latest(open-1)-claimMargin, answered.at)
		}
	}
}
