package onchain

import (
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// course is a player in one negotiation, round by round.
type course struct {
	player     *Player
	side       protocol.OfferSide
	negotiator bargain.Negotiator
	random     bargain.Random
	state      bargain.State
}

// start returns the course before the first round.
func (p *Player) start(n *protocol.Negotiation, side protocol.OfferSide, seed uint64) *course {
	steps := ownOffers(n.MaxRounds, side)
	c := &course{
		player: p, side: side, state: bargain.State{
			Steps: steps, Offer: bargain.NoOutcome, By: -1, History: make([]bargain.Offer, 0, n.MaxRounds),
		},
	}
	c.random.Reset(seed, uint64(side))
	c.negotiator = p.Strategy.Start(bargain.Seat{
		Preferences: p.Preferences, Self: int(side), Parties: 2, Steps: steps, Random: &c.random,
		Opening: p.Opening,
	})
	return c
}

// respond returns the player's move after a number of rounds, in which n is.
func (c *course) respond(n *protocol.Negotiation, round int) bargain.Action {
	state := &c.state
	state.Step = min(round/2, max(state.Steps-1, 0))
	state.Time = ownTime(round/2, state.Steps)
	least, most := n.OfferRange()
	state.Least, state.Most = c.player.outcome(least, true), c.player.outcome(most, false)
	state.Last = n.RoundsLeft() < 2
	return c.player.allowed(c.negotiator.Respond(state), state, n.RoundsLeft())
}

// observe adds an offer. A price between two ticks counts as the tick that is worse for the player.
func (c *course) observe(round int, offer Offer) {
	outcome := c.player.outcome(offer.Amount, c.side == protocol.OfferSideBuyer)
	c.state.History = append(c.state.History, bargain.Offer{
		By: int(offer.Side), Step: round / 2, Time: ownTime(round/2, c.state.Steps), Outcome: outcome,
	})
	c.state.Offer, c.state.By = outcome, int(offer.Side)
}
