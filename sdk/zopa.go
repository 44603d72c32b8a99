package haggle

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// CommitZopa commits a party to a reservation price without revealing it: the buyer first, then the seller.
// The party that sealed the price signs. Keep [protocol.SealedPrice.Secret] before the transaction is sent.
//
// It fails, as the program does, with [protocol.ErrInvalidParams] for a price outside
// [protocol.Negotiation.ReservationRange], which could never be revealed, [protocol.ErrInvalidState] when no
// commitment is due, [protocol.ErrUnauthorized], [protocol.ErrStaleState] for a price sealed for another
// deal, or [protocol.ErrNotYourTurn]; the program also returns [protocol.ErrExpired] and
// [protocol.ErrResponseWindowExpired].
func (n *Negotiation) CommitZopa(price *protocol.SealedPrice) *Action {
	return n.action(&commitZopa{price: price})
}

type commitZopa struct {
	protocol.SubmitZopaCommitment
	price *protocol.SealedPrice
}

func (z commitZopa) build(_ context.Context, a *Action) (*builtInstruction, error) {
	if err := checkZopaStep(a, z.price, protocol.ZopaStep.IsCommit); err != nil {
		return nil, err
	}
	z.On(a.Negotiation, &a.snapshot.Negotiation)
	z.Agent, z.Commitment = z.price.Agent(), z.price.Commitment()
	return &builtInstruction{payer: z.Agent, sealed: z.price, instruction: &z.SubmitZopaCommitment}, nil
}

func (z commitZopa) postcondition(_, now *Snapshot) bool {
	side, ok := now.SideOf(z.price.Agent())
	return ok && now.CommitmentOf(side) == z.price.Commitment()
}

// RevealZopa reveals the reservation price that a party committed to: the buyer's first, then the seller's.
// The party that sealed the price signs. If the seller's is not above the buyer's, the seller accepts their
// midpoint in the same transaction, as [Negotiation.AcceptOffer] does: otherwise the buyer could replace the
// midpoint by an offer of the seller's revealed price. [Negotiation.RevealZopaOnly] leaves the acceptance
// out. If the seller's price is above the buyer's, the negotiation ends, the escrow goes back to the buyer
// and the bond to the seller.
//
// Reveal and acceptance take effect together or not at all. The acceptance names the midpoint that follows
// from the snapshot; with a buyer's price that differs from the chain's, the program returns
// [protocol.ErrStaleState]. If the acceptance is refused, use RevealZopaOnly: a seller that does not reveal
// loses the bond.
//
// It fails, as the program does and before a node receives the price, with [protocol.ErrInvalidParams],
// [protocol.ErrInvalidState] when no price is due, [protocol.ErrUnauthorized], [protocol.ErrNotYourTurn], or
// [protocol.ErrZopaCommitmentMismatch]; with [protocol.ErrExpired] or [protocol.ErrResponseWindowExpired] if
// the time for it is over by the chain's clock, or is over in less than 10 seconds. The buyer also receives
// ErrResponseWindowExpired when less than a response window would be left to the seller. [Action.Do],
// [Action.Transaction] and [Action.Simulate] read the clock once more, because a node that simulates a reveal
// knows the price.
func (n *Negotiation) RevealZopa(price *protocol.SealedPrice) *Action {
	return n.action(&revealZopa{price: price, accepts: true})
}

// RevealZopaOnly is [Negotiation.RevealZopa] without the seller's acceptance: the midpoint becomes an offer
// that either side may accept, and that the buyer, whose turn it is, can replace.
func (n *Negotiation) RevealZopaOnly(price *protocol.SealedPrice) *Action {
	return n.action(&revealZopa{price: price})
}

type revealZopa struct {
	protocol.RevealZopaPrice
	price *protocol.SealedPrice
	// accepts reports whether the seller accepts the midpoint in the same transaction.
	accepts bool
}

func (z revealZopa) build(ctx context.Context, a *Action) (*builtInstruction, error) {
	if err := checkZopaStep(a, z.price, protocol.ZopaStep.IsReveal); err != nil {
		return nil, err
	}
	n := a.snapshot
	side, _ := n.SideOf(z.price.Agent())
	if !z.price.Matches(n.CommitmentOf(side)) {
		return nil, protocol.Refuse(a.Name, protocol.ErrZopaCommitmentMismatch,
			"the negotiation holds another commitment of the %s's", strings.ToLower(side.String()))
	}
	z.On(a.Negotiation, &n.Negotiation)
	z.Agent, z.Price, z.Nonce = z.price.Agent(), z.price.Price(), z.price.Nonce()
	inTime := func(ctx context.Context) error { return a.client.checkRevealTime(ctx, a.Name, n, side) }
	if err := inTime(ctx); err != nil {
		return nil, err
	}
	built := &builtInstruction{payer: z.Agent, instruction: &z.RevealZopaPrice, inTime: inTime}
	if side == protocol.OfferSideBuyer {
		return built, nil
	}
	var err error
	if midpoint, zone := n.Midpoint(z.Price); !zone {
		built.preparation, err = addRefund(ctx, a, &z.RevealZopaPrice)
	} else if z.accepts {
		built.second, built.preparation, err = acceptMidpoint(ctx, a, midpoint)
	}
	if err != nil {
		return nil, err
	}
	return built, nil
}

func (z revealZopa) postcondition(before, now *Snapshot) bool {
	switch z.price.Agent() {
	case now.Buyer:
		return now.BuyerPrice == z.price.Price()
	case now.Seller:
		if now.SellerPrice != z.price.Price() {
			return false
		}
		midpoint, zone := before.Midpoint(now.SellerPrice)
		return !z.accepts || !zone || hasAgreed(now, 0, midpoint)
	}
	return false
}

// acceptMidpoint returns the seller's acceptance of the midpoint that the reveal makes the current offer, and
// the preceding instructions.
func acceptMidpoint(
	ctx context.Context, a *Action, midpoint uint64,
) (*protocol.AcceptOffer, []solana.Instruction, error) {
	n := a.snapshot
	to, err := a.payouts(ctx, payoutRequest{payer: n.Seller})
	if err != nil {
		return nil, nil, err
	}
	accept := &protocol.AcceptOffer{
		Acceptor: n.Seller, BuyerTokenAccount: to.buyer, SellerTokenAccount: to.seller,
		TokenProgram: to.mint.TokenProgram,
	}
	accept.On(a.Negotiation, &n.Negotiation)
	accept.ExpectedRound, accept.ExpectedAmount = 0, midpoint
	return accept, to.before, nil
}

// revealSlack is how long a reveal may take from reading the chain's clock to execution, in seconds. If less
// time is left, the price is not sent: a reveal that comes too late discloses the price without effect. A
// transaction is usually executed within 3 seconds.
const revealSlack = 10

// checkRevealTime refuses, in the program's order, a reveal that the program would refuse revealSlack from
// now.
func (c *Client) checkRevealTime(
	ctx context.Context, action string, n *Snapshot, side protocol.OfferSide,
) error {
	now, err := c.Now(ctx)
	if err != nil {
		return fmt.Errorf("chain's clock: %w", err)
	}
	executed := now + revealSlack
	switch {
	case n.IsOverdue(executed) && executed >= n.GlobalDeadline:
		return protocol.Refuse(action, protocol.ErrExpired, "%s to the deadline, %d seconds are needed",
			secondsLeft(n.GlobalDeadline-now), revealSlack)
	case n.IsOverdue(executed):
		return protocol.Refuse(action, protocol.ErrResponseWindowExpired,
			"%s to answer, %d seconds are needed", secondsLeft(n.TurnDeadline-now), revealSlack)
	case side == protocol.OfferSideBuyer && executed+n.ResponseWindow > n.GlobalDeadline:
		return protocol.Refuse(action, protocol.ErrResponseWindowExpired,
			"%s to the deadline, less than the response window that the seller is to have",
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

// addRefund adds the accounts that escrow and bond go back to if there is no zone.
func addRefund(
	ctx context.Context, a *Action, instruction *protocol.RevealZopaPrice,
) ([]solana.Instruction, error) {
	to, err := a.payouts(ctx, payoutRequest{payer: instruction.Agent})
	if err != nil {
		return nil, err
	}
	instruction.BuyerTokenAccount, instruction.SellerTokenAccount = to.buyer, to.seller
	instruction.TokenMint, instruction.TokenProgram = to.mint.Address, to.mint.TokenProgram
	instruction.EscrowVault, err = a.snapshot.vault()
	return to.before, err
}

// checkZopaStep refuses an action other than the agent's next step, in the program's order.
func checkZopaStep(a *Action, price *protocol.SealedPrice, isKind func(protocol.ZopaStep) bool) error {
	if price == nil || price.IsZero() {
		return errors.New("haggle: " + a.Name + ": sealed price not set")
	}
	n := a.snapshot
	if price.Negotiation() != n.Address {
		return fmt.Errorf("%w: the price was sealed for negotiation %s, not for %s", ErrNotAsExpected,
			price.Negotiation(), n.Address)
	}
	if err := price.CheckRange(a.Name, &n.Negotiation); err != nil {
		return err
	}
	step := n.ZopaStep()
	if !isKind(step) {
		return protocol.Refuse(a.Name, protocol.ErrInvalidState, "status %s, next step of the comparison: %s",
			n.Status, step)
	}
	side, ok := n.SideOf(price.Agent())
	if !ok {
		return protocol.Refuse(a.Name, protocol.ErrUnauthorized, "%s is no party", price.Agent())
	}
	if price.CreatedAt() != n.CreatedAt {
		return protocol.Refuse(a.Name, protocol.ErrStaleState,
			"the price was sealed for the deal created at %d, and this one was created at %d",
			price.CreatedAt(), n.CreatedAt)
	}
	if due, _ := step.Side(); due != side {
		return protocol.Refuse(a.Name, protocol.ErrNotYourTurn, "next step of the comparison: %s", step)
	}
	return nil
}
