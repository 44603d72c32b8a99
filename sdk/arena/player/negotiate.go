package player

import (
	"context"
	"slices"

	"github.com/haggle-protocol/haggle/sdk/arena"
	"github.com/haggle-protocol/haggle/sdk/arena/trader"
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
)

// rounds is the number of offers by both sides in a chat. At two seconds per offer they fit into the chat's
// two minutes.
const rounds = 16

// prices is a chat's domain.
var prices = func() *bargain.Domain {
	domain, err := bargain.NewDomain(bargain.Price("price", uint64(arena.MinPrice), uint64(arena.MaxPrice), 1))
	if err != nil {
		panic(err) // it is constant
	}
	return domain
}()

// outcomeOf and priceOf convert between prices and outcomes of the domain.
func outcomeOf(price arena.Price) bargain.Outcome { return bargain.Outcome(price - arena.MinPrice) }

func priceOf(o bargain.Outcome) arena.Price { return arena.Price(prices.Issue(0).Amount(uint64(o))) }

// trade is what a player bargains about in a chat.
type trade struct {
	other    string
	side     arena.Side
	token    arena.Token
	quantity arena.Quantity
}

// leg returns the sale at a price.
func (t trade) leg(self string, price arena.Price) arena.Leg {
	leg := arena.Leg{Buyer: self, Seller: t.other, Token: t.token, Price: price, Quantity: t.quantity}
	if t.side == arena.Sell {
		leg.Buyer, leg.Seller = t.other, self
	}
	return leg
}

func (p *Player) negotiate(ctx context.Context, turn trader.Turn) (trader.Move, error) {
	if turn.Chat.Mode == arena.ModePackages {
		return p.negotiatePackage(ctx, turn)
	}
	t, ok := p.trade(&turn)
	if !ok || turn.Invalid != nil {
		return trader.Leave{}, nil
	}
	limit, possible := p.limit(t.side, t.token, turn.View.Price)
	offers := t.offers(&turn)
	switch {
	case !possible || len(offers) >= rounds:
		return trader.Leave{}, nil
	case len(offers) > 0 && offers[len(offers)-1].own:
		// The counterparty talked instead of offering.
		return trader.Say{Text: p.say(ctx, OccasionChat, turn.Desk, p.personality.phrases.chat)}, nil
	}
	assessed, err := p.assess(t.side, limit, offers)
	if err != nil {
		return nil, err
	}
	action, err := p.choose(ctx, turn, assessed)
	if err != nil {
		return nil, err
	}
	switch action.Move {
	case bargain.MoveAccept:
		standing := turn.Chat.Standing().Legs[0]
		t.quantity = min(standing.Quantity, turn.Room(t.side, t.token, standing.Price))
		if t.quantity == standing.Quantity {
			return trader.Agree{}, nil
		}
		return t.propose(turn.Self, standing.Price), nil
	case bargain.MoveOffer:
		price := priceOf(action.Outcome)
		t.quantity = min(t.quantity, turn.Room(t.side, t.token, price))
		return t.propose(turn.Self, price), nil
	}
	return trader.Leave{}, nil
}

// choose returns the move of [Options].Choose, or the strategy's.
func (p *Player) choose(ctx context.Context, turn trader.Turn, assessed bargain.Assessment) (bargain.Action, error) {
	if p.options.Choose == nil {
		return assessed.Move, nil
	}
	return p.options.Choose(ctx, turn, assessed)
}

// propose offers the trade at a price, or leaves if the limits leave no token for it.
func (t trade) propose(self string, price arena.Price) trader.Move {
	if t.quantity == 0 {
		return trader.Leave{}
	}
	return trader.Offer{Legs: []arena.Leg{t.leg(self, price)}}
}

// trade returns the trade discussed in the chat: the sale in the latest proposal involving the player, or
// else the trade wanted by the player, with the first member who shows a fitting interest.
func (p *Player) trade(turn *trader.Turn) (trade, bool) {
	for _, offer := range slices.Backward(turn.Chat.Offers) {
		if t, is := tradeOf(offer.Legs, turn.Self); is {
			t.quantity = min(t.quantity, p.personality.Size)
			return t, true
		}
	}
	want := p.want(&turn.Desk)
	for _, member := range turn.Chat.Members {
		other, _ := turn.View.Agent(member)
		if member == turn.Self {
			continue
		}
		t := trade{other: member, token: arena.Yes, side: p.side(&turn.Desk), quantity: p.personality.Size}
		if of := other.Interest.Want; of != nil {
			t.token, t.quantity = of.Token, min(of.Quantity, t.quantity)
			if t.side = arena.Buy; of.Side == arena.Buy {
				t.side = arena.Sell
			}
			return t, true
		}
		if want != nil {
			return t, true
		}
	}
	return trade{}, false
}

// tradeOf returns the player's side in a single-sale proposal.
func tradeOf(legs []arena.Leg, self string) (trade, bool) {
	if len(legs) != 1 || legs[0].Buyer != self && legs[0].Seller != self {
		return trade{}, false
	}
	leg := legs[0]
	t := trade{other: leg.Seller, side: arena.Buy, token: leg.Token, quantity: leg.Quantity}
	if leg.Seller == self {
		t.other, t.side = leg.Buyer, arena.Sell
	}
	return t, true
}

// offered is a side's price.
type offered struct {
	own      bool
	price    arena.Price
	proposal int
}

// offers returns both sides' offers about the trade, alternating: among consecutive offers by the same side,
// it keeps the latest.
func (t trade) offers(turn *trader.Turn) (all []offered) {
	for _, proposal := range turn.Chat.Offers {
		of, is := tradeOf(proposal.Legs, turn.Self)
		if !is || of.other != t.other || of.side != t.side || of.token != t.token {
			continue
		}
		next := offered{proposal.Agent == turn.Self, proposal.Legs[0].Price, proposal.Proposal}
		if n := len(all); n > 0 && all[n-1].own == next.own {
			all[n-1] = next
			continue
		}
		all = append(all, next)
	}
	return all
}

// assess returns the strategy's assessment for the turn. The latest offer, if any, is the counterparty's.
func (p *Player) assess(side arena.Side, limit arena.Price, offers []offered) (bargain.Assessment, error) {
	line, err := utility.PriceLine(prices, side == arena.Sell)
	if err != nil {
		return bargain.Assessment{}, err
	}
	preferences, err := bargain.NewPreferences(prices, line, line.Of(outcomeOf(limit)))
	if err != nil {
		return bargain.Assessment{}, err
	}
	self, standing := 0, bargain.NoOutcome
	var outcomes []bargain.Outcome
	for i, offer := range offers {
		if i == 0 && !offer.own {
			self = 1
		}
		outcomes = append(outcomes, outcomeOf(offer.price))
		standing = outcomes[i]
	}
	return bargain.Assess(standing, func(standing bargain.Outcome) *bargain.Course {
		course := bargain.NewCourse(p.strategy, preferences, self, rounds, line.Of(outcomeOf(opening(side, limit))), p.options.Seed)
		course.Play(outcomes, standing, nil)
		return course
	}), nil
}
