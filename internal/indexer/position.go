package indexer

import (
	"math/bits"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// position is a negotiation's state as far as events determine it: everything that a later event depends on,
// but no turn deadlines.
type position struct {
	protocol.Negotiation
	address solana.PublicKey
	// knowsMetadata is unset if the current metadata came with an offer with an unknown instruction.
	knowsMetadata bool
}

func created(event *protocol.NegotiationCreated) *position {
	phase := protocol.ZopaPhaseSkipped
	if event.ZopaEnabled {
		phase = protocol.ZopaPhaseNotStarted
	}
	return &position{address: event.NegotiationID, knowsMetadata: true, Negotiation: protocol.Negotiation{
		Version: protocol.NegotiationVersion, Buyer: event.Buyer, Seller: event.Seller, SessionID: event.SessionID,
		ServiceHash: event.ServiceHash, EscrowAmount: event.EscrowAmount, EffectiveEscrow: event.EscrowAmount,
		TokenMint: event.TokenMint, MaxRounds: event.MaxRounds, DecayRateBps: event.DecayRateBps,
		ResponseWindow: event.ResponseWindow, GlobalDeadline: event.GlobalDeadline, MinOfferBps: event.MinOfferBps,
		ProtocolFeeBps: event.ProtocolFeeBps, ZopaEnabled: event.ZopaEnabled, ZopaPhase: phase,
		CreatedAt: event.Timestamp, Metadata: event.Metadata, BondRequired: event.BondRequired, Arbiter: event.Arbiter,
		ReviewHours: event.ReviewHours, MilestoneBps: event.MilestoneBps, MilestoneDeadline: event.MilestoneDeadline,
	}}
}

// apply changes the state as the instruction did that logged the event. metadata is nil if absent or unknown.
func (p *position) apply(event protocol.Event, metadata *[64]byte) {
	switch event := event.(type) {
	case *protocol.InvitationAccepted:
		p.Status = protocol.NegotiationStatusProposed
		if event.Bond > 0 {
			p.BondState = protocol.BondStateHeld
		}
	case *protocol.ZopaCommitted:
		p.ZopaPhase = event.Phase
	case *protocol.ZopaRevealed:
		p.reveal(event)
	case *protocol.OfferSubmitted:
		p.EffectiveEscrow, p.CurrentRound, p.LastOfferAt = event.EffectiveEscrow, event.Round, event.Timestamp
		p.CurrentOfferAmount, p.CurrentOfferBy = event.Amount, event.Offerer
		p.OfferSide, _ = p.SideOf(event.Offerer)
		p.Status = protocol.NegotiationStatusProposed
		if p.OfferSide == protocol.OfferSideSeller {
			p.Status = protocol.NegotiationStatusCountered
		}
		p.setMetadata(metadata)
	case *protocol.OfferAccepted:
		p.SettledAmount, p.Status = event.Amount, protocol.NegotiationStatusAccepted
		if metadata != nil {
			p.setMetadata(metadata)
		}
		if p.MilestoneCount() == 0 {
			p.PaidGross = event.Amount
		}
	case *protocol.MilestoneClaimed:
		p.MilestonesClaimed |= 1 << event.Index
	case *protocol.MilestoneDisputed:
		p.MilestonesDisputed |= 1 << event.Index
	case *protocol.MilestoneReleased:
		p.decide(1<<event.Index, event.SellerAmount, event.Fee)
	case *protocol.DisputeResolved:
		p.decide(1<<event.Index, event.SellerAmount, event.Fee)
	case *protocol.DeadlineSettled:
		p.decide(p.allMilestones(), event.SellerAmount, event.Fee)
	case *protocol.AgreementSettled:
		p.decide(p.allMilestones(), event.SellerAmount, event.Fee)
	case *protocol.NegotiationSettled:
		p.Status, p.SettledAt = protocol.NegotiationStatusSettled, event.Timestamp
	case *protocol.NegotiationRejected:
		p.Status = protocol.NegotiationStatusRejected
	case *protocol.NegotiationExpired:
		p.Status = protocol.NegotiationStatusExpired
	case *protocol.BondSettled:
		p.BondState = protocol.BondStateReturned
	case *protocol.PayoutRecorded:
		*p.claimable(event.Party) += event.Amount
	case *protocol.PayoutClaimed:
		*p.claimable(event.Party) = 0
	}
}

func (p *position) reveal(event *protocol.ZopaRevealed) {
	p.ZopaPhase = event.Phase
	if event.Agent == p.Buyer {
		p.BuyerPrice = event.Price
		return
	}
	p.SellerPrice = event.Price
	if event.Midpoint > 0 {
		p.CurrentOfferAmount, p.CurrentOfferBy = event.Midpoint, p.address
	}
}

func (p *position) setMetadata(metadata *[64]byte) {
	if p.knowsMetadata = metadata != nil; p.knowsMetadata {
		p.Metadata = *metadata
	}
}

func (p *position) decide(mask uint8, net, fee uint64) {
	p.MilestonesDecided |= mask
	p.PaidGross += net + fee
}

func (p *position) claimable(party solana.PublicKey) *uint64 {
	if party == p.Buyer {
		return &p.ClaimableBuyer
	}
	return &p.ClaimableSeller
}

func (p *position) allMilestones() uint8 { return uint8(1<<p.MilestoneCount() - 1) }

// forfeitedBond returns the buyer's part of a held bond when all milestones are decided: the refunded share
// of the price, less the halves of disputes that the arbiter did not decide.
func (p *position) forfeitedBond(undecidedByArbiter uint64) (uint64, bool) {
	if p.PaidGross > p.SettledAmount || p.SettledAmount-p.PaidGross < undecidedByArbiter {
		return 0, false
	}
	refunded := p.SettledAmount - p.PaidGross - undecidedByArbiter
	if p.HeldBond() == 0 || refunded == 0 {
		return 0, true
	}
	high, low := bits.Mul64(p.HeldBond(), refunded)
	share, _ := bits.Div64(high, low, p.SettledAmount)
	return share, true
}
