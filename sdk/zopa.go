package haggle

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// CommitZopaRequest is a reservation price that a party commits to.
type CommitZopaRequest struct {
	// Sealed is the price, sealed for this negotiation by the party whose step it is, which signs. Keep [SealedPrice.Secret] before
	// the transaction is sent.
	Sealed *SealedPrice
	// Seen is the negotiation as the party has seen it. Without it the chain's state is read.
	Seen *NegotiationAccount
}

// CommitZopa commits a party to its reservation price without showing it: the buyer first, then the seller. (The documents call it
// submitZopaCommitment.)
//
// It fails, as the program does, with [protocol.ErrInvalidParams] for a price outside [protocol.Negotiation.ReservationRange],
// which could never be revealed, [protocol.ErrInvalidState] where no commitment is due, [protocol.ErrUnauthorized],
// [protocol.ErrStaleState] for a price that was sealed for another deal, or [protocol.ErrNotYourTurn]; the program also answers
// [protocol.ErrExpired] and [protocol.ErrResponseWindowExpired].
func (c *Client) CommitZopa(ctx context.Context, request CommitZopaRequest) (*Action, error) {
	const name = "submit_zopa_commitment"
	negotiation, err := c.zopaStep(ctx, name, request.Sealed, request.Seen, protocol.ZopaStep.IsCommit)
	if err != nil {
		return nil, err
	}
	action, err := c.actionOn(negotiation, request.Sealed.Agent(), &protocol.SubmitZopaCommitment{
		Agent:       request.Sealed.Agent(),
		Negotiation: negotiation.Address,
		CreatedAt:   negotiation.CreatedAt,
		Commitment:  request.Sealed.Commitment(),
	})
	if err != nil {
		return nil, err
	}
	action.sealed = request.Sealed
	return action, nil
}

// RevealZopaRequest is the reservation price that a party has committed to.
type RevealZopaRequest struct {
	// Sealed is the price, sealed for this negotiation by the party whose step it is, which signs.
	Sealed *SealedPrice
	// Seen is the negotiation as the party has seen it. Without it the chain's state is read.
	Seen *NegotiationAccount
	// BuyerTokenAccount and SellerTokenAccount are where escrow and bond go back to if the prices leave no
	// zone. Zero is the party's associated token account. The acting party's own is created if it is
	// missing. An amount that cannot be paid is recorded for its party.
	BuyerTokenAccount, SellerTokenAccount solana.PublicKey
}

// RevealZopa shows the reservation price that a party has committed to: the buyer's first, then the seller's. If the seller's is
// not above the buyer's, their midpoint becomes an offer that either side may accept; otherwise the negotiation ends, the escrow
// goes back to the buyer and the bond to the seller. (The documents call it revealZopaPrice.)
//
// It fails, as the program does and before anybody sees the price, with [protocol.ErrInvalidParams], [protocol.ErrInvalidState] where no price is due,
// [protocol.ErrUnauthorized], [protocol.ErrNotYourTurn], or [protocol.ErrZopaCommitmentMismatch]; with [protocol.ErrExpired] or [protocol.ErrResponseWindowExpired] if the time for
// it is over by the chain's clock, or is in less than RevealSlack. ErrResponseWindowExpired it is for the buyer as well when less than a
// response window would be left to the seller. [Action.Do], [Action.Transaction] and [Action.Simulate] look at the clock once more,
// since a node that simulates a reveal knows the price.
func (c *Client) RevealZopa(ctx context.Context, request RevealZopaRequest) (*Action, error) {
	const name = "reveal_zopa_price"
	negotiation, err := c.zopaStep(ctx, name, request.Sealed, request.Seen, protocol.ZopaStep.IsReveal)
	if err != nil {
		return nil, err
	}
	secret := request.Sealed.open()
	side, _ := negotiation.SideOf(secret.agent)
	if !request.Sealed.Matches(negotiation.CommitmentOf(side)) {
		return nil, protocol.Refuse(name, protocol.ErrZopaCommitmentMismatch, "the negotiation holds another commitment of the %s's", strings.ToLower(side.String()))
	}
	instruction := &protocol.RevealZopaPrice{
		Agent: secret.agent, Negotiation: negotiation.Address, CreatedAt: negotiation.CreatedAt, Price: secret.price, Nonce: secret.nonce,
	}
	inTime := func(ctx context.Context) error { return c.checkRevealTime(ctx, name, negotiation, side) }
	if err := inTime(ctx); err != nil {
		return nil, err
	}
	var before []solana.Instruction
	if side == protocol.OfferSideSeller && secret.price > negotiation.BuyerPrice {
		if before, err = c.addRefund(ctx, instruction, negotiation, request); err != nil {
			return nil, err
		}
	}
	action, err := c.actionOn(negotiation, secret.agent, instruction, before...)
	if err != nil {
		return nil, err
	}
	action.inTime = inTime
	return action, nil
}

// RevealSlack is how long a reveal may take from reading the chain's clock to its execution, in seconds. A price is not shown if less
// than that is left: whoever shows it in vain has given it away for nothing. A transaction is usually executed within 3 seconds.
const RevealSlack = 10

// checkRevealTime refuses, in the program's order, a reveal that the program would refuse RevealSlack from now.
func (c *Client) checkRevealTime(ctx context.Context, action string, n *NegotiationAccount, side protocol.OfferSide) error {
	now, err := c.Now(ctx)
	if err != nil {
		return fmt.Errorf("chain's clock: %w", err)
	}
	executed := now + RevealSlack
	switch {
	case n.IsOverdue(executed) && executed >= n.GlobalDeadline:
		return protocol.Refuse(action, protocol.ErrExpired, "%s to the deadline, %d seconds are needed", secondsLeft(n.GlobalDeadline-now), RevealSlack)
	case n.IsOverdue(executed):
		return protocol.Refuse(action, protocol.ErrResponseWindowExpired, "%s to answer, %d seconds are needed", secondsLeft(n.TurnDeadline-now), RevealSlack)
	case side == protocol.OfferSideBuyer && executed+n.ResponseWindow > n.GlobalDeadline:
		return protocol.Refuse(action, protocol.ErrResponseWindowExpired, "%s to the deadline, less than the response window that the seller is to have",
			secondsLeft(n.GlobalDeadline-executed))
	}
	return nil
}

func secondsLeft(seconds int64) string {
	if seconds <= 0 {
		return "no time is left"
	}
	return fmt.Sprintf("%d seconds are left", seconds)
}

// addRefund adds the accounts that escrow and bond go back to when there is no zone.
func (c *Client) addRefund(ctx context.Context, instruction *protocol.RevealZopaPrice, n *NegotiationAccount, request RevealZopaRequest) ([]solana.Instruction, error) {
	to, err := c.payouts(ctx, n, payoutRequest{
		payer: instruction.Agent,
		buyer: request.BuyerTokenAccount, seller: request.SellerTokenAccount,
	})
	if err != nil {
		return nil, err
	}
	instruction.BuyerTokenAccount, instruction.SellerTokenAccount = to.buyer, to.seller
	instruction.TokenMint, instruction.TokenProgram = to.mint.Address, to.mint.TokenProgram
	instruction.EscrowVault, err = n.Vault()
	return to.before, err
}

// zopaStep is the negotiation that a step is taken in, if it is the agent's step and of that kind. It refuses in the program's order.
func (c *Client) zopaStep(ctx context.Context, action string, price *SealedPrice, seen *NegotiationAccount, isKind func(protocol.ZopaStep) bool) (*NegotiationAccount, error) {
	if price == nil || price.secret == nil {
		return nil, errors.New("haggle: " + action + ": Sealed is not given")
	}
	secret := price.open()
	negotiation, err := c.seen(ctx, seen, secret.negotiation)
	if err != nil {
		return nil, err
	}
	if err := secret.checkRange(action, negotiation); err != nil {
		return nil, err
	}
	step := negotiation.ZopaStep()
	if !isKind(step) {
		return nil, protocol.Refuse(action, protocol.ErrInvalidState, "status %s, next step of the comparison: %s", negotiation.Status, step)
	}
	side, ok := negotiation.SideOf(secret.agent)
	if !ok {
		return nil, protocol.Refuse(action, protocol.ErrUnauthorized, "%s is no party", secret.agent)
	}
	if secret.createdAt != negotiation.CreatedAt {
		return nil, protocol.Refuse(action, protocol.ErrStaleState, "the price was sealed for the deal created at %d, and this one was created at %d",
			secret.createdAt, negotiation.CreatedAt)
	}
	if due, _ := step.Side(); due != side {
		return nil, protocol.Refuse(action, protocol.ErrNotYourTurn, "next step of the comparison: %s", step)
	}
	return negotiation, nil
}
