package llm

import (
	"context"
	"time"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Admit asks the models about an invitation, by its numbers only. It returns an [*agent.Refusal] if they
// decline, and errors of [Chooser.Consider]. If the models fail, [Options].DeclineOnFailure decides. For
// negotiations that the agent created itself, Admit returns nil and asks no model.
//
// The runtime checks the agent's limits before. Models do not know the service: set [agent.Config].Services
// as well.
func (p *Player) Admit(ctx context.Context, n *haggle.Snapshot) error {
	if n.Status != protocol.NegotiationStatusCreated {
		return nil
	}
	now := time.Now()
	left := time.Duration(n.TurnDeadline-n.Time)*time.Second - p.chooser.options.Reserve
	accept, err := p.chooser.Consider(ctx, Invitation{
		Negotiation: negotiationName(n), Role: "seller", Facts: p.invitation(n),
		Deadline: now.Add(min(left, callLeft(ctx, now))),
	})
	if err != nil || accept {
		return err
	}
	return &agent.Refusal{Negotiation: n.Address, Reason: "the language model declines the invitation"}
}

// terms describes a negotiation on chain, with amounts in tokens.
type terms struct {
	Escrow          string `json:"effective_escrow"`
	FeeBps          uint16 `json:"fee_bps_of_price"`
	DecayBps        uint16 `json:"escrow_decay_bps_per_offer"`
	ResponseSeconds int64  `json:"response_window_seconds"`
}

func termsOf(n *haggle.Snapshot, decimals uint8) terms {
	return terms{tokens(n.EffectiveEscrow, decimals), n.ProtocolFeeBps, n.DecayRateBps, n.ResponseWindow}
}

// invitation describes an invitation, with amounts in tokens.
type invitation struct {
	terms
	// LeastPrice includes the fee.
	LeastPrice string `json:"least_acceptable_price,omitempty"`
	// Both limit the first offer.
	LowestOffer     string   `json:"lowest_first_offer"`
	HighestOffer    string   `json:"highest_first_offer"`
	MaxOffers       uint8    `json:"max_offers"`
	Seconds         int64    `json:"seconds_from_creation_to_deadline"`
	Bond            string   `json:"bond"`
	MilestoneShares []uint16 `json:"milestone_shares_bps,omitempty"`
	ReviewHours     uint8    `json:"review_hours,omitempty"`
}

func (p *Player) invitation(n *haggle.Snapshot) invitation {
	limits := p.Mints[n.TokenMint]
	lowest, highest := n.OfferRange()
	facts := invitation{
		terms:       termsOf(n, limits.Decimals),
		LowestOffer: tokens(lowest, limits.Decimals), HighestOffer: tokens(highest, limits.Decimals),
		MaxOffers: n.MaxRounds, Seconds: n.GlobalDeadline - n.CreatedAt,
		Bond:            tokens(n.BondRequired, limits.Decimals),
		MilestoneShares: n.MilestoneBps[:n.MilestoneCount()], ReviewHours: n.ReviewHours,
	}
	if least := max(limits.MinPrice, p.chooser.options.Reservation); least > 0 {
		facts.LeastPrice = tokens(onchain.Gross(&n.Negotiation, least), limits.Decimals)
	}
	return facts
}
