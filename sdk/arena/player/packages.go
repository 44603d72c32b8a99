package player

import (
	"context"
	"math"
	"slices"

	"github.com/haggle-protocol/haggle/sdk/arena"
	"github.com/haggle-protocol/haggle/sdk/arena/trader"
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
)

// turnsEach is the number of turns per member in a packages chat. At two seconds per turn, five members use
// 80 of the chat's 120 seconds.
const turnsEach = rounds / 2

// negotiatePackage agrees to the standing package or proposes a different package. The strategy bargains
// about the mean price of the player's own legs: see [meanPrice].
func (p *Player) negotiatePackage(ctx context.Context, turn trader.Turn) (trader.Move, error) {
	standing := turn.Chat.Standing().Legs
	base := standing
	if len(base) == 0 {
		base = p.draft(&turn)
	}
	if !p.hasLimits(base, &turn.Desk) {
		return trader.Leave{}, nil
	}
	assessed, err := p.assessPackage(&turn, base)
	if err != nil {
		return nil, err
	}
	action, err := p.choose(ctx, turn, assessed)
	if err != nil {
		return nil, err
	}
	target := meanPrice(base, turn.Self)
	switch action.Move {
	case bargain.MoveAccept:
		if len(standing) > 0 && p.isWithinLimits(standing, &turn) {
			return trader.Agree{}, nil
		}
	case bargain.MoveOffer:
		target = priceOf(action.Outcome)
	default:
		return trader.Leave{}, nil
	}
	legs := p.fit(base, target, &turn)
	switch {
	case legs == nil:
		return trader.Leave{}, nil
	case slices.Equal(legs, standing):
		return trader.Agree{}, nil
	}
	return trader.Offer{Legs: legs}, nil
}

// draft returns an initial package at the player's limits: with each member the trade wanted by the player,
// or if the player trades on both sides, the opposite of the member's interest. It returns nil if no limit
// exists.
func (p *Player) draft(turn *trader.Turn) (legs []arena.Leg) {
	for _, member := range turn.Chat.Members {
		if member == turn.Self {
			continue
		}
		t := trade{other: member, side: p.side(&turn.Desk), token: arena.Yes, quantity: p.personality.Size}
		other, _ := turn.View.Agent(member)
		if of := other.Interest.Want; of != nil && of.Token == t.token && (p.personality.Both || of.Side != t.side) {
			t.side, t.quantity = opposite(of.Side), min(of.Quantity, t.quantity)
		}
		limit, possible := p.limit(t.side, t.token, turn.View.Price)
		if !possible {
			return nil
		}
		legs = append(legs, t.leg(turn.Self, limit))
	}
	return legs
}

func opposite(side arena.Side) arena.Side {
	if side == arena.Buy {
		return arena.Sell
	}
	return arena.Buy
}

// assessPackage returns the strategy's assessment for the turn. The base is the standing package, or the
// player's first.
func (p *Player) assessPackage(turn *trader.Turn, base []arena.Leg) (bargain.Assessment, error) {
	line, err := utility.PriceLine(prices, true)
	if err != nil {
		return bargain.Assessment{}, err
	}
	limits, openings := p.atLimits(base, &turn.Desk)
	reservation := line.Of(outcomeOf(meanPrice(limits, turn.Self)))
	preferences, err := bargain.NewPreferences(prices, line, reservation)
	if err != nil {
		return bargain.Assessment{}, err
	}
	first := line.Of(outcomeOf(meanPrice(openings, turn.Self)))
	self, parties := slices.Index(turn.Chat.Members, turn.Self), len(turn.Chat.Members)
	turns := turnsOf(turn)
	standing := bargain.NoOutcome
	if turn.Chat.Stands {
		standing = outcomeOf(meanPrice(base, turn.Self))
	}
	return bargain.Assess(standing, func(standing bargain.Outcome) *bargain.Course {
		course := bargain.NewStackedCourse(p.strategy, preferences, self, parties, parties*turnsEach, first, p.options.Seed)
		for round, o := range turns {
			if round%parties == self {
				course.Respond(0, math.MaxUint64)
			}
			if o == bargain.NoOutcome {
				course.ObserveAcceptance()
			} else {
				course.Observe(o)
			}
		}
		if standing == bargain.NoOutcome {
			course.Stand(standing)
		}
		course.Respond(0, math.MaxUint64)
		return course
	}), nil
}

// turnsOf returns the turns in a packages chat so far: an offer, or [bargain.NoOutcome] if the member
// accepted. Acceptances follow from turn order, because members that disagree make an offer or leave. When a
// member leaves, the count begins again: packages including the member are no longer possible.
func turnsOf(turn *trader.Turn) (turns []bargain.Outcome) {
	members := turn.Chat.Members
	acceptUntil := func(agent string) {
		next, count := slices.Index(members, agent), len(members)
		acceptances := (next - len(turns)%count + count) % count
		turns = append(turns, slices.Repeat([]bargain.Outcome{bargain.NoOutcome}, acceptances)...)
	}
	for _, offer := range turn.Chat.Offers {
		isParty := func(id string) bool { return slices.Contains(members, id) }
		if !isParty(offer.Agent) || slices.ContainsFunc(offer.Legs, func(leg arena.Leg) bool {
			return !isParty(leg.Seller) || !isParty(leg.Buyer)
		}) {
			continue
		}
		acceptUntil(offer.Agent)
		turns = append(turns, outcomeOf(meanPrice(offer.Legs, turn.Self)))
	}
	acceptUntil(turn.Self)
	return turns
}
