package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/connection"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// A step is something done to a negotiation that needs no more than its state and a signature.
type step struct {
	client *haggle.Client
	key    haggle.Signer
	seen   *haggle.NegotiationAccount
}

// onNegotiation reads what a step needs, builds its action, does it and tells what happened.
func (s *session) onNegotiation(build func(ctx context.Context, t step) (*haggle.Action, error), tell func(t step, receipt *haggle.Receipt) string) func(context.Context, []string) error {
	return func(ctx context.Context, arguments []string) error {
		client, key, err := s.clientAndKey(ctx)
		if err != nil {
			return err
		}
		n, err := s.seen(ctx, client, arguments[0])
		if err != nil {
			return err
		}
		t := step{client, key, n}
		action, err := build(ctx, t)
		if err != nil {
			return s.explain(ctx, client, n.Address, err)
		}
		receipt, err := s.act(ctx, client, action, key)
		if err != nil {
			return err
		}
		return s.done(action, receipt, tell(t, receipt))
	}
}

// unwrapFlag has the wallet's wrapped SOL become lamports in the transaction that is paid out.
type unwrapFlag struct{ asked bool }

func (u *unwrapFlag) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&u.asked, "unwrap-sol", false, "make lamports of all the wallet's wrapped SOL in the same transaction")
}

// of adds that to an action that pays a wallet.
func (u *unwrapFlag) of(key haggle.Signer) func(*haggle.Action, error) (*haggle.Action, error) {
	return func(action *haggle.Action, err error) (*haggle.Action, error) {
		if err != nil || !u.asked {
			return action, err
		}
		return action.UnwrapSOL(key.PublicKey())
	}
}

func newRejectCommand(s *session) *cobra.Command {
	var round int
	var forfeit bool
	var unwrap unwrapFlag
	cmd := &cobra.Command{
		Use: "reject NEGOTIATION", Short: "Walk away (either side, before a deal)",
		Long: `Ends a negotiation without a deal, before its deadlines pass. The escrow, less what has decayed, goes
back to the buyer at once, and a bond to the seller. A seller that rejects after the buyer has revealed
its reservation price and before the buyer's first offer forfeits the bond to the buyer (--forfeit-bond).`,
		Example: "  haggle negotiation reject NEGOTIATION\n  haggle negotiation reject NEGOTIATION --round 4",
		Args:    exactly(1), ValidArgsFunction: s.completeNegotiations,
	}
	cmd.Flags().IntVar(&round, "round", -1, "walk away after this many offers and no other number (default: as many as there are)")
	cmd.Flags().BoolVar(&forfeit, "forfeit-bond", false, "reject even if that costs the seller its bond")
	unwrap.register(cmd)
	cmd.RunE = s.limited(s.onNegotiation(
		func(ctx context.Context, t step) (*haggle.Action, error) {
			if !forfeit && forfeitsBond(t) {
				instead := "let the negotiation expire"
				if t.seen.ZopaStep() == protocol.ZopaStepSellerReveals {
					instead = "reveal the price: haggle zopa reveal " + t.seen.Address.String()
				}
				return nil, exitcode.WithHint(fmt.Errorf("%w: a rejection now costs the seller its bond", haggle.ErrNotAsExpected),
					instead+"; or agree to lose the bond: --forfeit-bond")
			}
			if round >= 0 && round != int(t.seen.CurrentRound) {
				return nil, exitcode.WithHint(fmt.Errorf("%w: %d offers have been made, not %d", haggle.ErrNotAsExpected, t.seen.CurrentRound, round),
					"look at it again: haggle negotiation show "+t.seen.Address.String())
			}
			return unwrap.of(t.key)(t.client.Reject(ctx, haggle.RejectRequest{Rejector: t.key.PublicKey(), Seen: t.seen}))
		},
		func(t step, _ *haggle.Receipt) string {
			if forfeitsBond(t) {
				return "rejected; the escrow and the bond are with the buyer"
			}
			return fmt.Sprintf("rejected after %d offers; the escrow's rest is back with the buyer", t.seen.CurrentRound)
		}))
	return cmd
}

// forfeitsBond reports whether a rejection costs the wallet its bond.
func forfeitsBond(t step) bool {
	return t.seen.Seller == t.key.PublicKey() && t.seen.RejectionForfeitsBond()
}

func newExpireCommand(s *session) *cobra.Command {
	var unwrap unwrapFlag
	cmd := &cobra.Command{
		Use: "expire NEGOTIATION", Short: "End a negotiation whose deadline has passed (anyone)",
		Long: `Ends a negotiation in which somebody has let the time to answer pass, or which has reached its global
deadline. The escrow, less what has decayed, goes back to the buyer. Anyone may do it; the keypair pays
the transaction's fee.`,
		Example: "  haggle negotiation expire NEGOTIATION",
		Args:    exactly(1), ValidArgsFunction: s.completeNegotiations,
	}
	unwrap.register(cmd)
	cmd.RunE = s.limited(s.onNegotiation(
		func(ctx context.Context, t step) (*haggle.Action, error) {
			now, err := t.client.Now(ctx)
			if err != nil {
				return nil, err
			}
			if t.seen.IsOpen() && !t.seen.IsOverdue(now) {
				return nil, exitcode.WithHint(fmt.Errorf("%w: the deadline has not passed", haggle.ErrNotAsExpected),
					"it can be expired from "+clock(t.seen.TurnDeadline)+"; a party that does not want to wait: haggle negotiation reject "+t.seen.Address.String())
			}
			return unwrap.of(t.key)(t.client.Expire(ctx, haggle.ExpireRequest{Payer: t.key.PublicKey(), Seen: t.seen}))
		},
		func(t step, _ *haggle.Receipt) string {
			return fmt.Sprintf("expired after %d offers; the escrow's rest is back with the buyer", t.seen.CurrentRound)
		}))
	return cmd
}

func newCloseCommand(s *session) *cobra.Command {
	var unwrap unwrapFlag
	cmd := &cobra.Command{
		Use: "close NEGOTIATION", Short: "Close what is over: fees to the treasury, rent to the buyer (anyone)",
		Long: `Closes the accounts of a negotiation that is settled, rejected or expired. Fee and decay go to the
protocol's treasury, the rent of both accounts to the buyer. Anyone may do it; afterwards only the
events are left, which "negotiation watch" finds.`,
		Example: "  haggle negotiation close NEGOTIATION",
		Args:    exactly(1), ValidArgsFunction: s.completeNegotiations,
	}
	unwrap.register(cmd)
	cmd.RunE = s.limited(s.onNegotiation(
		func(ctx context.Context, t step) (*haggle.Action, error) {
			if t.seen.IsAgreed() {
				return nil, exitcode.WithHint(fmt.Errorf("%w: it is not over, but %s", haggle.ErrNotAsExpected, t.seen.Status),
					fmt.Sprintf("%s; what is undecided at %s can be settled then: haggle milestone settle-deadline %s", t.seen.Situation(), clock(t.seen.SettleDueAt()), t.seen.Address))
			}
			if !t.seen.IsOver() {
				return nil, exitcode.WithHint(fmt.Errorf("%w: it is not over, but %s", haggle.ErrNotAsExpected, t.seen.Status),
					"end it first: take, reject, or expire after "+clock(t.seen.TurnDeadline))
			}
			return unwrap.of(t.key)(t.client.CloseNegotiation(ctx, haggle.CloseRequest{Closer: t.key.PublicKey(), Seen: t.seen}))
		},
		func(t step, _ *haggle.Receipt) string {
			return fmt.Sprintf("closed; the rent is back with the buyer, %s", t.seen.Buyer)
		}))
	return cmd
}

func newClaimCommand(s *session) *cobra.Command {
	var destination connection.Address
	var unwrap unwrapFlag
	cmd := &cobra.Command{
		Use: "claim NEGOTIATION", Short: "Fetch a payment that could not be delivered (the party it is owed to)",
		Long: `Fetches what the negotiation still owes the keypair's owner, because its token account could not
receive it: it was missing, frozen or given away. It goes to the owner's associated token account,
which is created if need be, or to another one.`,
		Example: "  haggle negotiation claim NEGOTIATION --to TOKEN-ACCOUNT",
		Args:    exactly(1), ValidArgsFunction: s.completeNegotiations,
	}
	cmd.Flags().Var(&destination, "to", "token account that receives it (default: the associated one)")
	unwrap.register(cmd)
	cmd.RunE = s.limited(s.onNegotiation(
		func(ctx context.Context, t step) (*haggle.Action, error) {
			if owed(t) == 0 {
				return nil, fmt.Errorf("%w: nothing is owed to %s", haggle.ErrNotAsExpected, t.key.PublicKey())
			}
			return unwrap.of(t.key)(t.client.ClaimPayout(ctx, haggle.ClaimRequest{Party: t.key.PublicKey(), Seen: t.seen, Destination: destination.Key()}))
		},
		func(t step, _ *haggle.Receipt) string { return fmt.Sprintf("claimed %d base units", owed(t)) }))
	return cmd
}

func owed(t step) uint64 {
	switch t.key.PublicKey() {
	case t.seen.Buyer:
		return t.seen.ClaimableBuyer
	case t.seen.Seller:
		return t.seen.ClaimableSeller
	}
	return 0
}
