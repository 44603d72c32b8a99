package mcp

import (
	"context"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/cli/format"
	"github.com/haggle-protocol/haggle/internal/cli/mint"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// historyLimit limits the time spent reading a negotiation's events. Others can send any number of
// transactions that mention the negotiation address.
const historyLimit = 5 * time.Second

// History lists a negotiation's offers, at most as many as the terms have rounds.
type History struct {
	Offers        []PastOffer `json:"offers" jsonschema:"the earliest first"`
	UnknownRounds []int       `json:"unknown_rounds,omitempty" jsonschema:"rounds whose offers are missing, because the node did not return their events"`
}

// PastOffer is an earlier offer.
type PastOffer struct {
	Round           uint8  `json:"round"`
	By              string `json:"by" jsonschema:"buyer or seller"`
	Amount          Amount `json:"amount"`
	Decay           Amount `json:"decay" jsonschema:"cost of the offer: the part of the escrow that it took"`
	EffectiveEscrow Amount `json:"effective_escrow" jsonschema:"rest of the escrow after the offer"`
	Time            int64  `json:"time" jsonschema:"Unix seconds of the chain's clock"`
}

// recorded holds the latest negotiation's events at the given address.
type recorded struct {
	created *protocol.NegotiationCreated
	offers  map[uint8]*protocol.OfferSubmitted
	closed  *protocol.NegotiationClosed
}

// events reads a negotiation's events as far as the node returns them in time.
func (s *server) events(ctx context.Context, negotiation solana.PublicKey) recorded {
	ctx, cancel := context.WithTimeout(ctx, historyLimit)
	defer cancel()
	found := recorded{offers: map[uint8]*protocol.OfferSubmitted{}}
	for envelope, err := range s.Client.History(ctx, negotiation) {
		if err != nil {
			break
		}
		switch event := envelope.Event.(type) {
		case *protocol.NegotiationCreated: // addresses can be reused
			found = recorded{created: event, offers: map[uint8]*protocol.OfferSubmitted{}}
		case *protocol.OfferSubmitted:
			found.offers[event.Round] = event
		case *protocol.NegotiationClosed:
			found.closed = event
		}
	}
	return found
}

// history returns the offers until a snapshot; nil if none was made.
func (s *server) history(ctx context.Context, n *haggle.Snapshot, m mint.Mint) *History {
	if n.CurrentRound == 0 {
		return nil
	}
	found := s.events(ctx, n.Address)
	if found.offers[n.CurrentRound] == nil && n.HasOffer() {
		found.offers[n.CurrentRound] = &protocol.OfferSubmitted{
			Offerer: n.CurrentOfferBy, Amount: n.CurrentOfferAmount, Timestamp: n.LastOfferAt,
		}
	}
	listed := &History{Offers: []PastOffer{}}
	for round := uint8(1); round <= n.CurrentRound; round++ {
		event, side, party := found.offers[round], protocol.OfferSideBuyer, false
		if event != nil && event.Timestamp >= n.CreatedAt {
			side, party = n.SideOf(event.Offerer)
		}
		if !party {
			listed.UnknownRounds = append(listed.UnknownRounds, int(round))
			continue
		}
		lost := n.DecayAfter(int(round))
		listed.Offers = append(listed.Offers, PastOffer{
			Round: round, By: format.Side(side), Amount: amountOf(m, event.Amount),
			Decay:           amountOf(m, lost-n.DecayAfter(int(round)-1)),
			EffectiveEscrow: amountOf(m, n.EscrowAmount-lost), Time: event.Timestamp,
		})
	}
	return listed
}
