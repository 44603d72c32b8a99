package onchain

import (
	"context"
	"fmt"

	"github.com/haggle-protocol/haggle/internal/cli/format"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// StateHint returns the next step following a refusal, derived from the negotiation's state. It returns "" if
// there is nothing to add to the refusal.
func StateHint(ctx context.Context, s *session.Session, n *haggle.Snapshot, code protocol.ErrorCode) string {
	step := n.ZopaStep()
	switch {
	case n.EndedWithoutZone():
		return fmt.Sprintf("it has ended without a zone of agreement; to close it: haggle negotiation close %s", n.Address)
	case n.IsOver():
		return fmt.Sprintf("it has ended (%s); to close it: haggle negotiation close %s", n.Status, n.Address)
	case n.IsOpen() && n.IsOverdue(n.Time):
		return fmt.Sprintf("the deadline passed at %s; to return the escrow: haggle negotiation expire %s", format.When(n.TurnDeadline, n.Time), n.Address)
	case n.IsAgreed():
		return fmt.Sprintf("the offer is accepted and paid by milestones; %s: haggle negotiation show %s", n.Describe(), n.Address)
	case code == protocol.ErrUnauthorized:
		return fmt.Sprintf("the parties are %s (buyer) and %s (seller): sign with one of their keypairs", n.Buyer, n.Seller)
	case n.Status == protocol.NegotiationStatusCreated:
		return fmt.Sprintf("the seller has not accepted the invitation: haggle negotiation accept-invitation %s, with the keypair of %s", n.Address, n.Seller)
	case step.IsCommit() && code != protocol.ErrInvalidParams:
		return fmt.Sprintf("reservation prices come first; %s until %s: haggle zopa commit %s PRICE", n.Describe(), format.When(n.TurnDeadline, n.Time), n.Address)
	case step.IsReveal() && code != protocol.ErrInvalidParams:
		return fmt.Sprintf("reservation prices come first; %s until %s: haggle zopa reveal %s", n.Describe(), format.When(n.TurnDeadline, n.Time), n.Address)
	case code == protocol.ErrInvalidState && !n.HasOffer():
		return fmt.Sprintf("no offer yet: the buyer makes the first one: haggle negotiation offer %s AMOUNT", n.Address)
	case code == protocol.ErrNotYourTurn && n.HasOffer():
		return fmt.Sprintf("the current offer is your own; it is the %s's turn until %s: haggle negotiation watch %s", format.Side(n.Turn()), format.When(n.TurnDeadline, n.Time), n.Address)
	case code == protocol.ErrNotYourTurn:
		return fmt.Sprintf("it is the %s's turn until %s: haggle negotiation watch %s", format.Side(n.Turn()), format.When(n.TurnDeadline, n.Time), n.Address)
	case code == protocol.ErrOfferTooLow, code == protocol.ErrOfferExceedsEscrow:
		tokens, err := s.TokensOf(ctx, n.TokenMint)
		if err != nil {
			return ""
		}
		least, most := n.OfferRange()
		return fmt.Sprintf("round %d accepts offers from %s to %s", n.CurrentRound+1, tokens(least), tokens(most))
	}
	return ""
}
