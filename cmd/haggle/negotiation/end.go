package negotiation

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/connection"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/format"
	"github.com/haggle-protocol/haggle/internal/cli/onchain"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	"github.com/haggle-protocol/haggle/internal/lab/report"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

func newRejectCommand(s *session.Session) *cobra.Command {
	var round int
	var forfeit bool
	var unwrap unwrapFlag
	cmd := &cobra.Command{
		Use: "reject NEGOTIATION", Short: "End a negotiation without a deal (either side)",
		Long: `Ends a negotiation without a deal before its deadlines. The escrow, less its decay, goes back to the buyer
at once, and a bond to the seller, less the decay of the seller's offers, which the bond pays the buyer. A
seller that rejects after the buyer has revealed its reservation price and before the buyer's first offer
forfeits the bond to the buyer (--forfeit-bond).`,
		Example: "  haggle negotiation reject NEGOTIATION\n  haggle negotiation reject NEGOTIATION --round 4",
	}
	cmd.Flags().IntVar(&round, "round", -1, "reject only if this number of offers has been made (default: any)")
	cmd.Flags().BoolVar(&forfeit, "forfeit-bond", false, "reject even if the seller loses its bond")
	unwrap.register(cmd)
	return onchain.Command(s, cmd, onchain.OnNegotiation(s,
		func(ctx context.Context, t onchain.Step) (*haggle.Action, error) {
			if !forfeit && forfeitsBond(t) {
				instead := "let the negotiation expire"
				if t.Snapshot.ZopaStep() == protocol.ZopaStepSellerReveals {
					instead = "reveal the price: haggle zopa reveal " + t.Snapshot.Address.String()
				}
				return nil, exitcode.WithHint(fmt.Errorf("%w: a rejection now forfeits the bond", haggle.ErrNotAsExpected),
					instead+"; to reject and lose the bond: --forfeit-bond")
			}
			if round >= 0 && round != int(t.Snapshot.CurrentRound) {
				return nil, exitcode.WithHint(fmt.Errorf("%w: %d offers have been made, not %d", haggle.ErrNotAsExpected, t.Snapshot.CurrentRound, round),
					"read it again: haggle negotiation show "+t.Snapshot.Address.String())
			}
			return unwrap.of(t.Key, t.Client.At(t.Snapshot).Reject(t.Key.PublicKey())).Build(ctx)
		},
		func(t onchain.Step, _ *haggle.Receipt) string {
			if forfeitsBond(t) {
				return "rejected: the escrow and the bond are with the buyer"
			}
			side, _ := t.Snapshot.SideOf(t.Key.PublicKey())
			return fmt.Sprintf("rejected after %s: the rest of the escrow is back with the buyer",
				report.Counted(int(t.Snapshot.CurrentRound), "offer", "")) + bondText(t, t.Snapshot.BondAfterRejection(side))
		}))
}

// bondText states where a held bond went; empty if none was held.
func bondText(t onchain.Step, toBuyer uint64) string {
	switch held := t.Snapshot.HeldBond(); {
	case held == 0:
		return ""
	case toBuyer == 0:
		return ", the bond with the seller"
	default:
		return fmt.Sprintf("; of the bond %s went to the buyer for the delay, %s to the seller", t.Tokens(toBuyer), t.Tokens(held-toBuyer))
	}
}

// forfeitsBond reports whether rejecting costs the wallet the bond.
func forfeitsBond(t onchain.Step) bool {
	return t.Snapshot.Seller == t.Key.PublicKey() && t.Snapshot.RejectionForfeitsBond()
}

func newExpireCommand(s *session.Session) *cobra.Command {
	var unwrap unwrapFlag
	cmd := &cobra.Command{
		Use: "expire NEGOTIATION", Short: "End a negotiation whose deadline has passed (anyone)",
		Long: `Ends a negotiation whose response window or global deadline has passed. The escrow, less its decay, goes
back to the buyer. A bond goes back to the seller, less the decay of the seller's offers and of one that it
left without an answer for a whole window. Any wallet can expire it; the keypair pays the transaction's fee.`,
		Example: "  haggle negotiation expire NEGOTIATION",
	}
	unwrap.register(cmd)
	return onchain.Command(s, cmd, onchain.OnNegotiation(s,
		func(ctx context.Context, t onchain.Step) (*haggle.Action, error) {
			if t.Snapshot.IsOpen() && !t.Snapshot.IsOverdue(t.Snapshot.Time) {
				return nil, exitcode.WithHint(fmt.Errorf("%w: the deadline has not passed", haggle.ErrNotAsExpected),
					"it can be expired from "+format.When(t.Snapshot.TurnDeadline, t.Snapshot.Time)+"; to end it before as a party: haggle negotiation reject "+t.Snapshot.Address.String())
			}
			return unwrap.of(t.Key, t.Client.At(t.Snapshot).Expire(t.Key.PublicKey())).Build(ctx)
		},
		func(t onchain.Step, _ *haggle.Receipt) string {
			return fmt.Sprintf("expired after %s: the rest of the escrow is back with the buyer",
				report.Counted(int(t.Snapshot.CurrentRound), "offer", "")) + bondText(t, t.Snapshot.BondAfterExpiry())
		}))
}

func newCloseCommand(s *session.Session) *cobra.Command {
	var unwrap unwrapFlag
	cmd := &cobra.Command{
		Use: "close NEGOTIATION", Short: "Close an ended negotiation: fees to the treasury, rent to the buyer (anyone)",
		Long: `Closes the accounts of a negotiation that is settled, rejected or expired. Fee and decay go to the
protocol's treasury, the rent of both accounts to the buyer. Any wallet can close it. Afterwards only
its events remain, which "negotiation watch" prints.

If the treasury, or the wallet for its payout, has no token account of the mint, the wallet pays the rent of
a new one: a warning states it before the close is sent, and --dry-run sends nothing. If the treasury is
replaced in between, the close is sent for the new one, unless that would cost more rent.`,
		Example: "  haggle negotiation close NEGOTIATION --dry-run\n  haggle negotiation close NEGOTIATION",
	}
	unwrap.register(cmd)
	return onchain.Command(s, cmd, onchain.OnNegotiation(s,
		func(ctx context.Context, t onchain.Step) (*haggle.Action, error) {
			if t.Snapshot.IsAgreed() {
				return nil, exitcode.WithHint(fmt.Errorf("%w: it has not ended, but is %s", haggle.ErrNotAsExpected, t.Snapshot.Status),
					fmt.Sprintf("%s; from %s anyone can settle the undecided milestones: haggle milestone settle-deadline %s", t.Snapshot.Describe(), format.When(t.Snapshot.SettleDueAt(), t.Snapshot.Time), t.Snapshot.Address))
			}
			if !t.Snapshot.IsOver() {
				return nil, exitcode.WithHint(fmt.Errorf("%w: it has not ended, but is %s", haggle.ErrNotAsExpected, t.Snapshot.Status),
					"end it first: accept-offer, reject, or expire after "+format.When(t.Snapshot.TurnDeadline, t.Snapshot.Time))
			}
			return unwrap.of(t.Key, t.Client.At(t.Snapshot).Close(t.Key.PublicKey())).Build(ctx)
		},
		func(t onchain.Step, _ *haggle.Receipt) string {
			return fmt.Sprintf("closed: the rent is back with the buyer, %s", t.Snapshot.Buyer)
		}))
}

func newClaimPayoutCommand(s *session.Session) *cobra.Command {
	var destination connection.Address
	var unwrap unwrapFlag
	cmd := &cobra.Command{
		Use: "claim-payout NEGOTIATION", Short: "Claim a payment that could not be delivered (its recipient)",
		Long: `Claims a payment that the keypair's token account could not receive because it was missing, frozen or
controlled by another owner. The payment goes to the owner's associated token account, which is created
if it does not exist, or to the account of --to.`,
		Example: "  haggle negotiation claim-payout NEGOTIATION --to TOKEN-ACCOUNT",
	}
	cmd.Flags().Var(&destination, "to", "token account that receives the payment (default: the associated one)")
	unwrap.register(cmd)
	return onchain.Command(s, cmd, onchain.OnNegotiation(s,
		func(ctx context.Context, t onchain.Step) (*haggle.Action, error) {
			if owed(t) == 0 {
				return nil, fmt.Errorf("%w: no payout is recorded for %s", haggle.ErrNotAsExpected, t.Key.PublicKey())
			}
			return unwrap.of(t.Key, t.Client.At(t.Snapshot).ClaimPayout(t.Key.PublicKey(), destination.Key())).Build(ctx)
		},
		func(t onchain.Step, _ *haggle.Receipt) string {
			return "payout claimed: " + t.Tokens(owed(t)).String()
		}))
}

func owed(t onchain.Step) uint64 {
	switch t.Key.PublicKey() {
	case t.Snapshot.Buyer:
		return t.Snapshot.ClaimableBuyer
	case t.Snapshot.Seller:
		return t.Snapshot.ClaimableSeller
	}
	return 0
}

// unwrapFlag unwraps the wallet's SOL in the transaction that pays it out.
type unwrapFlag struct{ set bool }

func (u *unwrapFlag) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&u.set, "unwrap-sol", false, "unwrap all the wallet's wrapped SOL in the same transaction")
}

// of adds the unwrapping to an action that pays the wallet.
func (u *unwrapFlag) of(key haggle.Signer, action *haggle.Action) *haggle.Action {
	if !u.set {
		return action
	}
	return action.UnwrapSOL(key.PublicKey())
}
