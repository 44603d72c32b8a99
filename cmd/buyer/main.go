// Command buyer is an example of an agent that buys a service: it escrows the most that it could pay, invites a seller of whom
// it knows nothing but the address, and concedes in equal steps from its opening price towards its reservation price.
//
//	buyer --seller ADDRESS --mint ADDRESS --escrow 5 --opening 2 --reservation 3.5
//
// All that it knows about the negotiation is read from the chain at each step. Started again, it goes on with the negotiation that
// it finds open.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/agent"
	"github.com/haggle-protocol/haggle/internal/amount"
	"github.com/haggle-protocol/haggle/internal/concession"
	"github.com/haggle-protocol/haggle/internal/duration"
	"github.com/haggle-protocol/haggle/internal/failure"
	"github.com/haggle-protocol/haggle/sdk"
)

type buyer struct {
	*agent.Party
	escrow   uint64
	rounds   uint8
	decayBps uint16
	deadline time.Duration
}

func main() {
	log := &agent.Log{Agent: "buyer", Out: os.Stdout}
	var known agent.Flags
	var b buyer
	var escrow amount.Text
	deadline := duration.Flag(30 * time.Minute)
	cmd := &cobra.Command{
		Use:   "buyer",
		Short: "Buy a service: bargain with a seller on Solana",
		Long: `Escrows the most that it could pay, invites the seller, and concedes in equal steps from the opening
price towards the reservation price, in at most so many rounds. In the end it closes the negotiation.
Interrupted and started again, it goes on with the negotiation that it finds open.

Exit codes are haggle's (haggle help exit-codes): 0 if it has bought, 8 if there was no deal.`,
		Example: "  buyer --seller ADDRESS --mint ADDRESS --escrow 5 --opening 2 --reservation 3.5 --keypair buyer.json",
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if b.Party, err = known.Open(cmd.Context(), log); err != nil {
				return err
			}
			defer b.Client.Close()
			if b.escrow, err = b.Units("--escrow", escrow); err != nil {
				return err
			}
			b.deadline = time.Duration(deadline)
			return b.buy(cmd.Context())
		},
	}
	known.Register(cmd, "seller", "2", "3.5")
	_ = escrow.Set("5")
	cmd.Flags().Var(&escrow, "escrow", "deposit: the most that can be paid")
	cmd.Flags().Uint8Var(&b.rounds, "rounds", 8, "number of offers that both sides can make together")
	cmd.Flags().Uint16Var(&b.decayBps, "decay-bps", 150, "what the escrow loses each round, in basis points")
	cmd.Flags().Var(&deadline, "deadline", "when the negotiation ends at the latest, from its creation")
	agent.Main(cmd, log)
}

func (b *buyer) buy(ctx context.Context) error {
	if b.Opening > b.Reservation || b.Reservation > b.escrow {
		return failure.Usagef("a buyer's prices rise: --opening, then --reservation, and no more than --escrow")
	}
	n, err := b.unfinished(ctx)
	if err == nil && n == nil {
		n, err = b.invite(ctx)
	}
	if err != nil {
		return err
	}
	outcome, err := agent.Follow(ctx, b.Client, n, b.step)
	if err != nil {
		return err
	}
	if outcome.Status != haggle.NegotiationStatusSettled {
		return &failure.Error{Kind: failure.NoDeal, Err: fmt.Errorf("no deal: %s after %d offers", outcome.Status, outcome.Rounds)}
	}
	b.Note("bought for %s after %d offers", b.Tokens(outcome.Price), outcome.Rounds)
	return nil
}

// unfinished finds the negotiation of an earlier run.
func (b *buyer) unfinished(ctx context.Context) (*haggle.NegotiationAccount, error) {
	for n, err := range b.Client.FindNegotiations(ctx, haggle.Filter{Agent: b.Self, Role: haggle.RoleBuyer}) {
		if err != nil {
			return nil, err
		}
		if n.Seller == b.Counterpart && n.TokenMint == b.Mint && n.ServiceHash == b.ServiceHash {
			b.Note("going on with %s, which is %s after %d offers", n.Address, n.Status, n.CurrentRound)
			return n, nil
		}
	}
	return nil, nil
}

func (b *buyer) invite(ctx context.Context) (*haggle.NegotiationAccount, error) {
	return b.Create(ctx, haggle.CreateRequest{
		Buyer: b.Self, Seller: b.Counterpart, Mint: b.Mint, ServiceHash: b.ServiceHash, EscrowAmount: b.escrow,
		MaxRounds: b.rounds, DecayRateBps: &b.decayBps, Deadline: b.deadline, Metadata: b.Metadata,
	})
}

// step does what the state of the negotiation asks of the buyer.
func (b *buyer) step(ctx context.Context, n *haggle.NegotiationAccount, now int64) (done bool, err error) {
	switch {
	case n.IsOver():
		action, err := b.Client.CloseNegotiation(ctx, haggle.CloseRequest{Closer: b.Self, Seen: n})
		return b.Finish(n, b.Do(ctx, "close", n, nil, action, err))
	case n.IsOverdue(now):
		action, err := b.Client.Expire(ctx, haggle.ExpireRequest{Payer: b.Self, Seen: n})
		return false, b.Do(ctx, "expire", n, nil, action, err)
	case n.IsBargaining() && n.Turn() == haggle.OfferSideBuyer:
		return false, b.answer(ctx, n, now)
	}
	return false, nil
}

// answer takes the seller's offer if it is no more than the buyer would bid next, and bids otherwise. When nothing can be bid any
// more, the reservation price decides.
func (b *buyer) answer(ctx context.Context, n *haggle.NegotiationAccount, now int64) error {
	plan := concession.Linear{Opening: b.Opening, Reservation: b.Reservation, Offers: (uint64(n.MaxRounds) + 1) / 2}
	bid := plan.Price(uint64(n.CurrentRound) / 2)
	last := n.RoundsLeft() == 0 || n.GlobalDeadline-now < agent.Hurry
	if last {
		bid = b.Reservation
	}
	if n.HasOffer() && n.CurrentOfferAmount <= bid && b.Suits(n) {
		return b.Take(ctx, n)
	}
	least, most := n.OfferRange()
	bid = min(max(bid, least), most)
	if last || bid > b.Reservation {
		return b.WalkAway(ctx, n)
	}
	return b.Offer(ctx, n, bid)
}
