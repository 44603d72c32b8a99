// Package recorded turns a negotiation's events, from the chain or from the index, into the record that
// package analysis reads.
package recorded

import (
	"errors"

	"github.com/haggle-protocol/haggle/sdk/bargain/analysis"
	"github.com/haggle-protocol/haggle/sdk/bargain/game"
	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// ErrIncomplete means that events needed for the analysis are missing.
var ErrIncomplete = errors.New("its creation or one of its offers is missing in the history")

// Negotiation is a negotiation as recorded by events.
type Negotiation struct {
	// Created contains the terms; nil if the event is missing.
	Created *protocol.NegotiationCreated
	// JoinedAt is when the seller joined, in Unix seconds; 0 before.
	JoinedAt int64
	Offers   []protocol.OfferSubmitted
	// HasTerms reports whether the creation or the settlement has terms beside the price. The events of offers
	// do not have them, so that it can be false for offers with terms that were not settled.
	HasTerms bool
	// Agreed reports whether a price is agreed.
	Agreed bool
	Price  uint64
	// Ending is "settled", "rejected", "expired" or "agreed", for a price being paid by milestones. It is
	// empty while the negotiation is open.
	Ending string
	// EndedAt is when the bargaining ended by agreement, rejection or expiry, in Unix seconds; 0 before.
	EndedAt int64
	// BuyerPrice and SellerPrice are the reservation prices; nil until revealed.
	BuyerPrice, SellerPrice *uint64
}

// Of returns the latest negotiation from the events at a single address, in order.
func Of(events []protocol.Event) Negotiation {
	n := Negotiation{}
	for _, event := range events {
		n.add(event)
	}
	return n
}

func (n *Negotiation) add(event protocol.Event) {
	switch e := event.(type) {
	case *protocol.NegotiationCreated:
		*n = Negotiation{Created: e, HasTerms: !protocol.IsPriceOnly(e.Metadata)}
	case *protocol.InvitationAccepted:
		n.JoinedAt = e.Timestamp
	case *protocol.OfferSubmitted:
		n.Offers = append(n.Offers, *e)
	case *protocol.ZopaRevealed:
		price := e.Price
		if n.Created != nil && e.Agent == n.Created.Buyer {
			n.BuyerPrice = &price
		} else {
			n.SellerPrice = &price
		}
	case *protocol.OfferAccepted:
		n.Agreed, n.Price, n.Ending, n.EndedAt = true, e.Amount, "agreed", e.Timestamp
	case *protocol.NegotiationSettled:
		n.Ending, n.HasTerms = "settled", n.HasTerms || !protocol.IsPriceOnly(e.Metadata)
	case *protocol.NegotiationRejected:
		n.Ending, n.EndedAt = "rejected", e.Timestamp
	case *protocol.NegotiationExpired:
		n.Ending, n.EndedAt = "expired", e.Timestamp
	}
}

// Prices returns the record for the analysis. It returns [ErrIncomplete] if the creation or an offer is
// missing.
func (n *Negotiation) Prices() (analysis.Prices, error) {
	if n.Created == nil {
		return analysis.Prices{}, ErrIncomplete
	}
	p := analysis.Prices{
		Escrow: n.Created.EscrowAmount, MaxRounds: int(n.Created.MaxRounds), Agreed: n.Agreed, Price: n.Price,
	}
	for at, offer := range n.Offers {
		if int(offer.Round) != at+1 {
			return analysis.Prices{}, ErrIncomplete
		}
		p.Offers = append(p.Offers, offer.Amount)
	}
	p.Ranges = n.Rules().OfferRanges(len(p.Offers))
	return p, nil
}

// Decay returns the cost of all offers to the buyer, in base units of the mint.
func (n *Negotiation) Decay() uint64 {
	if len(n.Offers) == 0 || n.Created == nil {
		return 0
	}
	return n.Created.EscrowAmount - n.Offers[len(n.Offers)-1].EffectiveEscrow
}

// Rules returns the terms that decide the prices. Created must be set. The deadline counts from when the
// seller joined, or from the creation if unknown, and ignores extensions.
func (n *Negotiation) Rules() onchain.Rules {
	return onchain.Rules{
		Escrow: n.Created.EscrowAmount, MaxRounds: n.Created.MaxRounds, DecayRateBps: n.Created.DecayRateBps,
		MinOfferBps: n.Created.MinOfferBps, FeeBps: n.Created.ProtocolFeeBps,
		Bond: n.Created.BondRequired, ResponseWindow: n.Created.ResponseWindow,
		Deadline: n.Created.GlobalDeadline - max(n.JoinedAt, n.Created.Timestamp),
	}
}

// Result returns the end of the negotiation, for package game.
func (n *Negotiation) Result() game.Result {
	return game.Result{Agreed: n.Agreed, Price: n.Price, Offers: len(n.Offers), Decay: n.Decay()}
}

// Game returns the game with the revealed reservation prices: the seller's is a price before the fee. It
// returns false unless both are revealed.
func (n *Negotiation) Game() (h game.Haggle, ok bool) {
	if n.Created == nil || n.BuyerPrice == nil || n.SellerPrice == nil {
		return game.Haggle{}, false
	}
	h = game.Haggle{Rules: n.Rules(), Value: *n.BuyerPrice}
	h.Cost = *n.SellerPrice - h.Rules.Negotiation().FeeOn(*n.SellerPrice)
	return h, true
}
