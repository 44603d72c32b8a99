package negotiation

import (
	"encoding/hex"
	"fmt"

	"github.com/haggle-protocol/haggle/internal/cli/format"
	"github.com/haggle-protocol/haggle/internal/cli/result"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// eventText describes an event for people, with the same names as every other output.
func eventText(event protocol.Event, tokens func(uint64) amount.Tokens) string {
	switch e := event.(type) {
	case *protocol.NegotiationCreated:
		return fmt.Sprintf("created: %s escrowed, %d rounds, until %s", tokens(e.EscrowAmount), e.MaxRounds, format.Clock(e.GlobalDeadline))
	case *protocol.InvitationAccepted:
		return result.Of("accept_invitation")
	case *protocol.OfferSubmitted:
		return fmt.Sprintf("offered: %s in round %d; the escrow is worth %s", tokens(e.Amount), e.Round, tokens(e.EffectiveEscrow))
	case *protocol.OfferAccepted:
		return fmt.Sprintf("offer accepted: %s in round %d", tokens(e.Amount), e.Round)
	case *protocol.MilestoneClaimed:
		return fmt.Sprintf("milestone claimed: %d, under review until %s%s", e.Index, format.Clock(e.ReviewDeadline), evidenceText(e.Evidence))
	case *protocol.MilestoneDisputed:
		return fmt.Sprintf("milestone disputed: %d%s", e.Index, evidenceText(e.Evidence))
	case *protocol.AgreementSettled:
		return fmt.Sprintf("settled by agreement: %s to the seller (after the fee of %s), %s to the buyer, %s of the bond to the buyer",
			tokens(e.SellerAmount), tokens(e.Fee), tokens(e.BuyerAmount), tokens(e.BondToBuyer))
	case *protocol.BondSettled:
		return fmt.Sprintf("bond settled: %s to %s", tokens(e.Amount), e.To)
	case *protocol.NegotiationSettled:
		return fmt.Sprintf("settled: %s (fee %s, decay %s)", tokens(e.SettledAmount), tokens(e.ProtocolFee), tokens(e.EscrowDecayTotal))
	case *protocol.NegotiationRejected:
		return fmt.Sprintf("rejected by %s: %s back to the buyer", e.RejectedBy, tokens(e.RefundAmount))
	case *protocol.NegotiationExpired:
		return fmt.Sprintf("expired: %s back to the buyer", tokens(e.RefundAmount))
	case *protocol.PayoutRecorded:
		return fmt.Sprintf("payout recorded: %s for %s, whose token account could not receive it", tokens(e.Amount), e.Party)
	case *protocol.PayoutClaimed:
		return fmt.Sprintf("payout claimed: %s by %s", tokens(e.Amount), e.Party)
	case *protocol.NegotiationClosed:
		return fmt.Sprintf("closed: %s to the treasury", tokens(e.Swept))
	}
	return event.EventName()
}

// evidenceText returns the hash of the evidence. Zeros are no evidence.
func evidenceText(evidence [32]byte) string {
	if evidence == [32]byte{} {
		return ""
	}
	return ", evidence " + hex.EncodeToString(evidence[:])
}
