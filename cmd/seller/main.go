// Command seller is an example of an agent that sells a service: it waits for a buyer of whom it knows nothing but the address,
// finds the invitation on chain, checks its terms, and concedes in equal steps from its opening price towards its reservation
// price.
//
//	seller --buyer ADDRESS --mint ADDRESS --opening 4.5 --reservation 3
//
// All that it knows about the negotiation is read from the chain at each step. Started again, it goes on with the negotiation that
// it finds open.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/agent"
	"github.com/haggle-protocol/haggle/internal/concession"
	"github.com/haggle-protocol/haggle/internal/duration"
	"github.com/haggle-protocol/haggle/internal/failure"
	"github.com/haggle-protocol/haggle/sdk"
)

const (
	// grace is how long the buyer, whose money goes back, may take to expire the negotiation itself, in seconds.
	grace = 30
	// lookAgain is how often the seller looks for an invitation even if it has heard of none.
	lookAgain = 5 * time.Second
)

type seller struct {
	*agent.Party
	maxDecayBps uint16
	declined    map[[32]byte]bool
	// invited is the negotiation that has been found, whose terms have been checked.
	invited *haggle.NegotiationAccount
}

func main() {
	log := &agent.Log{Agent: "seller", Out: os.Stdout}
	var known agent.Flags
	s := seller{declined: map[[32]byte]bool{}}
	patience := duration.Flag(10 * time.Minute)
	cmd := &cobra.Command{
		Use:   "seller",
		Short: "Sell a service: bargain with a buyer on Solana",
		Long: `Waits for an invitation of the buyer, finds it on chain, checks its terms, and concedes in equal steps from
the opening price towards the reservation price. Interrupted and started again, it goes on with the
negotiation that it finds open.

Exit codes are haggle's (haggle help exit-codes): 0 if it has sold, 8 if there was no deal.`,
		Example: "  seller --buyer ADDRESS --mint ADDRESS --opening 4.5 --reservation 3 --keypair seller.json",
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if s.Party, err = known.Open(cmd.Context(), log); err != nil {
				return err
			}
			defer s.Client.Close()
			return s.sell(cmd.Context(), time.Duration(patience))
		},
	}
	known.Register(cmd, "buyer", "4.5", "3")
	cmd.Flags().Uint16Var(&s.maxDecayBps, "max-decay-bps", 300, "most that the escrow may lose each round, in basis points")
	cmd.Flags().Var(&patience, "patience", "how long to wait for an invitation")
	agent.Main(cmd, log)
}

func (s *seller) sell(ctx context.Context, patience time.Duration) error {
	if s.Opening < s.Reservation {
		return failure.Usagef("a seller's prices fall: --opening, then --reservation")
	}
	var outcome agent.Outcome
	for followed := false; !followed; {
		n, err := s.invitation(ctx, patience)
		if err != nil {
			return err
		}
		s.invited = n
		outcome, err = agent.Follow(ctx, s.Client, n, s.step)
		if followed = !errors.Is(err, agent.ErrReplaced); followed && err != nil {
			return err
		}
		if !followed {
			s.Note("%s: looking again", err)
			// A node that lags would otherwise be asked without end for what has just been found wanting.
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-time.After(time.Second):
			}
		}
	}
	if outcome.Status != haggle.NegotiationStatusSettled {
		return &failure.Error{Kind: failure.NoDeal, Err: fmt.Errorf("no deal: %s after %d offers", outcome.Status, outcome.Rounds)}
	}
	s.Note("sold for %s after %d offers, %s of it after the fee", s.Tokens(outcome.Price), outcome.Rounds, s.Tokens(outcome.Price-outcome.Fee))
	return nil
}

// invitation waits until the chain has a negotiation with the buyer that suits the seller.
func (s *seller) invitation(ctx context.Context, patience time.Duration) (*haggle.NegotiationAccount, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	heard, err := s.Client.WatchAgent(ctx, s.Self)
	if err != nil {
		return nil, err
	}
	defer heard.Close()
	s.Note("waiting for an invitation of %s", s.Counterpart)
	for events := heard.Events(); ; {
		n, err := s.search(ctx)
		if n != nil || err != nil {
			return n, err
		}
		select {
		case _, more := <-events:
			if !more {
				events = nil
			}
		case <-time.After(lookAgain):
		case <-ctx.Done():
			return nil, fmt.Errorf("no invitation: %w", ctx.Err())
		}
	}
}

func (s *seller) search(ctx context.Context) (*haggle.NegotiationAccount, error) {
	now, err := s.Client.Now(ctx)
	if err != nil {
		return nil, err
	}
	for n, err := range s.Client.FindNegotiations(ctx, haggle.Filter{Agent: s.Self, Role: haggle.RoleSeller}) {
		if err != nil {
			return nil, err
		}
		missed := n.Status == haggle.NegotiationStatusCreated && n.IsOverdue(now)
		if n.Buyer != s.Counterpart || missed || n.IsOver() && n.ClaimableSeller == 0 {
			continue
		}
		if why := s.objection(n); why == "" {
			s.Note("found %s: %s escrowed, %d rounds", n.Address, s.Tokens(n.EscrowAmount), n.MaxRounds)
			return n, nil
		} else if !s.declined[n.TermsHash()] {
			s.declined[n.TermsHash()] = true
			s.Note("leaving %s alone: %s", n.Address, why)
		}
	}
	return nil, nil
}

// objection says why a negotiation does not suit; it is empty if it does.
func (s *seller) objection(n *haggle.NegotiationAccount) string {
	switch {
	case n.ServiceHash != s.ServiceHash:
		return "it asks for another service"
	case n.TokenMint != s.Mint:
		return "it pays in another mint, " + n.TokenMint.String()
	case n.EscrowAmount-n.FeeOn(n.EscrowAmount) < s.Reservation:
		return "its escrow, less the fee, does not cover the reservation price"
	case n.DecayRateBps > s.maxDecayBps:
		return fmt.Sprintf("its escrow loses %d basis points each round", n.DecayRateBps)
	case n.ZopaEnabled || n.BondRequired > 0 || !n.Arbiter.IsZero() || n.MilestoneCount > 0:
		return "it wants sealed prices, a bond, an arbiter or milestones"
	case n.CurrentRound == 0 && !s.Suits(n):
		return "it has terms beside price and service"
	}
	return ""
}

// step does what the state of the negotiation asks of the seller. Whatever has been found to suit is looked at again: it is the
// terms at the time of signing that count.
func (s *seller) step(ctx context.Context, n *haggle.NegotiationAccount, now int64) (done bool, err error) {
	if why := s.objection(n); why != "" {
		return false, fmt.Errorf("%w, and %s", agent.ErrReplaced, why)
	}
	switch {
	case n.IsOver() && n.ClaimableSeller > 0:
		action, err := s.Client.ClaimPayout(ctx, haggle.ClaimRequest{Party: s.Self, Seen: n})
		return s.Finish(n, s.Do(ctx, "claim", n, nil, action, err))
	case n.IsOver():
		return true, nil
	case n.IsOverdue(now - grace):
		action, err := s.Client.Expire(ctx, haggle.ExpireRequest{Payer: s.Self, Seen: n})
		return false, s.Do(ctx, "expire", n, nil, action, err)
	case n.IsOverdue(now):
		return false, nil
	case n.Status == haggle.NegotiationStatusCreated:
		action, err := s.Client.AcceptInvitation(ctx, haggle.AcceptInvitationRequest{
			Seller: s.Self, Seen: n, ServiceHash: s.ServiceHash, TermsHash: s.invited.TermsHash(),
		})
		return false, s.Do(ctx, "join", n, nil, action, err)
	case n.Turn() == haggle.OfferSideSeller:
		return false, s.answer(ctx, n, now)
	}
	return false, nil
}

// answer takes the buyer's offer if it is no less than the seller would ask next, and asks otherwise. When nothing can be asked
// any more, the reservation price decides, which is what is left after the fee.
func (s *seller) answer(ctx context.Context, n *haggle.NegotiationAccount, now int64) error {
	plan := concession.Linear{Opening: s.Opening, Reservation: s.Reservation, Offers: uint64(n.MaxRounds) / 2}
	least := gross(n, s.Reservation)
	price := max(plan.Price(uint64(n.CurrentRound)/2), least)
	last := n.RoundsLeft() == 0 || n.GlobalDeadline-now < agent.Hurry
	if last {
		price = least
	}
	if n.CurrentOfferAmount >= price && s.Suits(n) {
		return s.Take(ctx, n)
	}
	floor, ceiling := n.OfferRange()
	price = max(min(price, ceiling), floor)
	if last || price < least {
		return s.WalkAway(ctx, n)
	}
	return s.Offer(ctx, n, price)
}

// gross is the least price of which so much is left after the fee. The escrow has to cover it.
func gross(n *haggle.NegotiationAccount, net uint64) uint64 {
	price := net
	for missing := n.FeeOn(price); missing > 0; missing = net + n.FeeOn(price) - price {
		price += missing
	}
	return price
}
