package negotiation

import (
	"encoding/hex"
	"fmt"

	"github.com/haggle-protocol/haggle/internal/cli/format"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// sentence tells an event to people.
func sentence(event protocol.Event, tokens func(uint64) amount.Tokens) string {
	switch e := event.(type) {
	case *protocol.NegotiationCreated:
		return fmt.Sprintf("created: %s escrowed, %d rounds, until %s", tokens(e.EscrowAmount), e.MaxRounds, format.Clock(e.GlobalDeadline))
	case *protocol.InvitationAccepted:
		return "the seller takes part"
	case *protocol.OfferSubmitted:
		return fmt.Sprintf("round %d: %s offered, the escrow is worth %s", e.Round, tokens(e.Amount), tokens(e.EffectiveEscrow))
	case *protocol.OfferAccepted:
		return fmt.Sprintf("%s taken in round %d", tokens(e.Amount), e.Round)
	case *protocol.MilestoneClaimed:
		return fmt.Sprintf("milestone %d claimed, under review until %s%s", e.Index, format.Clock(e.ReviewDeadline), evidenceText(e.Evidence))
	case *protocol.MilestoneDisputed:
		return fmt.Sprintf("milestone %d disputed%s", e.Index, evidenceText(e.Evidence))
	case *protocol.AgreementSettled:
		return fmt.Sprintf("settled by agreement: %s to the seller (after the fee of %s), %s to the buyer, %s of the bond to the buyer",
			tokens(e.SellerAmount), tokens(e.Fee), tokens(e.BuyerAmount), tokens(e.BondToBuyer))
	case *protocol.BondSettled:
		return fmt.Sprintf("%s of the bond to %s", tokens(e.Amount), e.To)
	case *protocol.NegotiationSettled:
		return fmt.Sprintf("settled for %s (fee %s, decay %s)", tokens(e.SettledAmount), tokens(e.ProtocolFee), tokens(e.EscrowDecayTotal))
	case *protocol.NegotiationRejected:
		return fmt.Sprintf("rejected by %s, %s goes back", e.RejectedBy, tokens(e.RefundAmount))
	case *protocol.NegotiationExpired:
		return fmt.Sprintf("expired, %s goes back", tokens(e.RefundAmount))
	case *protocol.PayoutRecorded:
		return fmt.Sprintf("%s could not be delivered to %s and waits for a claim", tokens(e.Amount), e.Party)
	case *protocol.PayoutClaimed:
		return fmt.Sprintf("%s delivered to %s", tokens(e.Amount), e.Party)
	case *protocol.NegotiationClosed:
		return fmt.Sprintf("closed, %s to the treasury", tokens(e.Swept))
	}
	return event.EventName()
}

// evidenceText is empty for zeros, which state no evidence.
func evidenceText(evidence [32]byte) string {
	if evidence == [32]byte{} {
		return ""
	}
	return ", evidence " + hex.EncodeToString(evidence[:])
}
