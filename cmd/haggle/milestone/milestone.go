// Package milestone has the commands of "haggle milestone".
package milestone

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/flags"
	"github.com/haggle-protocol/haggle/internal/cli/format"
	"github.com/haggle-protocol/haggle/internal/cli/onchain"
	"github.com/haggle-protocol/haggle/internal/cli/result"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

const milestoneHelp = `Milestones pay an agreed price in tranches. They are part of a negotiation that was created with
--milestones. "haggle negotiation show" prints them with their numbers, which begin at 0.

  seller    claim            claims a milestone, which begins its review window
  buyer     release          pays it; after the review window any wallet can
  buyer     dispute          disputes it within the review window; the arbiter decides
  arbiter   resolve          divides it between the parties
  both      settle           settles the undecided milestones by agreement, at any time
  anyone    settle-deadline  after the deadline: claimed milestones are paid, disputed ones halved, and the
                             others go back to the buyer

After the last decision the seller gets its bond back, less the buyer's refunded share of the price.`

// Command returns "haggle milestone".
func Command(s *session.Session) *cobra.Command {
	group := command.Group("milestone", "Claim, release, dispute and settle milestones", milestoneHelp,
		newClaimMilestoneCommand(s), newReleaseCommand(s), newDisputeCommand(s), newResolveCommand(s), newSettleCommand(s),
		newSettleDeadlineCommand(s))
	onchain.RegisterDryRun(s, group.PersistentFlags())
	return group
}

// evidenceFlag is the evidence for a claim or a dispute. Only the hash is stored on chain.
type evidenceFlag struct{ written string }

func (f *evidenceFlag) register(cmd *cobra.Command, of string) {
	cmd.Flags().StringVar(&f.written, "evidence", "",
		"evidence for the "+of+", of which only the SHA-256 goes on chain (a file, or the hash in hex)")
}

// hash returns zeros if there is no evidence.
func (f *evidenceFlag) hash() (hash [32]byte, err error) {
	if f.written == "" {
		return hash, nil
	}
	return flags.FileOrHash("--evidence", f.written)
}

func parseIndex(written string) (uint8, error) {
	index, err := strconv.ParseUint(written, 10, 8)
	if err != nil || index >= uint64(protocol.MaxMilestones) {
		return 0, exitcode.Usagef("INDEX: %q must be a milestone's number, 0 to %d", written, protocol.MaxMilestones-1)
	}
	return uint8(index), nil
}

// milestoneCommand describes a command that acts on a single milestone.
type milestoneCommand struct {
	name, short, long, example string
	build                      func(ctx context.Context, t onchain.Step, index uint8) (*haggle.Action, error)
	// effect describes the action's result.
	effect func(t onchain.Step, index uint8, receipt *haggle.Receipt) string
}

func (m milestoneCommand) command(s *session.Session) *cobra.Command {
	cmd := &cobra.Command{
		Use: m.name + " NEGOTIATION INDEX", Short: m.short, Long: m.long, Example: m.example,
	}
	return onchain.Command(s, cmd, func(ctx context.Context, arguments []string) error {
		index, err := parseIndex(arguments[1])
		if err != nil {
			return err
		}
		return onchain.OnNegotiation(s,
			func(ctx context.Context, t onchain.Step) (*haggle.Action, error) {
				if err := hasMilestone(t.Snapshot, index); err != nil {
					return nil, err
				}
				return m.build(ctx, t, index)
			},
			func(t onchain.Step, receipt *haggle.Receipt) string { return m.effect(t, index, receipt) })(ctx, arguments)
	})
}

// hasMilestone refuses a milestone that the negotiation does not have.
func hasMilestone(n *haggle.Snapshot, index uint8) error {
	switch count := n.MilestoneCount(); {
	case count == 0:
		return exitcode.WithHint(fmt.Errorf("%w: the negotiation has no milestones", haggle.ErrNotAsExpected),
			"its whole price is paid when an offer is accepted: haggle negotiation show "+n.Address.String())
	case int(index) >= int(count):
		return exitcode.WithHint(fmt.Errorf("%w: the negotiation has no milestone %d, but 0 to %d",
			haggle.ErrNotAsExpected, index, count-1), "to see them: haggle negotiation show "+n.Address.String())
	}
	return nil
}

// settledNow adds that the negotiation is settled, if this was the last milestone.
func settledNow(receipt *haggle.Receipt) string {
	for _, event := range receipt.Events {
		if _, ok := event.(*protocol.NegotiationSettled); ok {
			return "; it was the last one: settled"
		}
	}
	return ""
}

func newClaimMilestoneCommand(s *session.Session) *cobra.Command {
	var evidence evidenceFlag
	cmd := milestoneCommand{
		name: "claim", short: "Claim a milestone (seller)",
		long: `Claims a milestone. The order is free, but only one can be under review. The buyer can release or dispute
it within the review window; afterwards any wallet can release it.`,
		example: "  haggle milestone claim NEGOTIATION 0\n  haggle milestone claim NEGOTIATION 0 --evidence report.pdf",
		build: func(ctx context.Context, t onchain.Step, index uint8) (*haggle.Action, error) {
			hash, err := evidence.hash()
			if err != nil {
				return nil, err
			}
			return t.Client.At(t.Snapshot).ClaimMilestone(t.Key.PublicKey(), index, hash).Build(ctx)
		},
		effect: func(_ onchain.Step, index uint8, receipt *haggle.Receipt) string {
			for _, event := range receipt.Events {
				if claimed, ok := event.(*protocol.MilestoneClaimed); ok {
					return fmt.Sprintf("milestone claimed: %d; the buyer can dispute it until %s", index,
						format.When(claimed.ReviewDeadline, claimed.Timestamp))
				}
			}
			return fmt.Sprintf("milestone claimed: %d", index)
		},
	}.command(s)
	evidence.register(cmd, "delivery")
	return cmd
}

func newReleaseCommand(s *session.Session) *cobra.Command {
	return milestoneCommand{
		name: "release", short: "Release a claimed milestone (buyer; after its review anyone)",
		long:    `Pays the milestone under review. The buyer can release it at any time, any wallet after the review window.`,
		example: "  haggle milestone release NEGOTIATION 0",
		build: func(ctx context.Context, t onchain.Step, index uint8) (*haggle.Action, error) {
			return t.Client.At(t.Snapshot).ReleaseMilestone(t.Key.PublicKey(), index).Build(ctx)
		},
		effect: func(_ onchain.Step, index uint8, receipt *haggle.Receipt) string {
			return fmt.Sprintf("milestone released: %d%s", index, settledNow(receipt))
		},
	}.command(s)
}

func newDisputeCommand(s *session.Session) *cobra.Command {
	var evidence evidenceFlag
	cmd := milestoneCommand{
		name: "dispute", short: "Dispute a claimed milestone (buyer)",
		long:    `Disputes the milestone under review. The arbiter of the terms then divides it.`,
		example: "  haggle milestone dispute NEGOTIATION 0\n  haggle milestone dispute NEGOTIATION 0 --evidence complaint.txt",
		build: func(ctx context.Context, t onchain.Step, index uint8) (*haggle.Action, error) {
			hash, err := evidence.hash()
			if err != nil {
				return nil, err
			}
			return t.Client.At(t.Snapshot).DisputeMilestone(t.Key.PublicKey(), index, hash).Build(ctx)
		},
		effect: func(t onchain.Step, index uint8, _ *haggle.Receipt) string {
			return fmt.Sprintf("milestone disputed: %d; %s decides until %s", index, t.Snapshot.Arbiter,
				format.When(t.Snapshot.ArbitrationDeadline(), t.Snapshot.Time))
		},
	}.command(s)
	evidence.register(cmd, "complaint")
	return cmd
}

func newResolveCommand(s *session.Session) *cobra.Command {
	var sellerBps uint16
	cmd := milestoneCommand{
		name: "resolve", short: "Resolve a disputed milestone (arbiter)",
		long: `Divides a disputed milestone between the parties. The seller gets its share less the fee, the buyer the
rest with the rounding unit. The buyer's share of the price is also its share of the seller's bond.`,
		example: "  haggle milestone resolve NEGOTIATION 0 --seller-bps 7500",
		build: func(ctx context.Context, t onchain.Step, index uint8) (*haggle.Action, error) {
			if uint64(sellerBps) > protocol.BpsDenominator {
				return nil, exitcode.Usagef("--seller-bps %d: must be 0 to %d", sellerBps, protocol.BpsDenominator)
			}
			return t.Client.At(t.Snapshot).ResolveDispute(t.Key.PublicKey(), index, sellerBps).Build(ctx)
		},
		effect: func(_ onchain.Step, index uint8, receipt *haggle.Receipt) string {
			return fmt.Sprintf("dispute resolved: milestone %d, %s of it to the seller%s", index, format.Percent(sellerBps), settledNow(receipt))
		},
	}.command(s)
	cmd.Flags().Uint16Var(&sellerBps, "seller-bps", 0, "the seller's share of the milestone, in basis points, 0 to 10000")
	command.Required(cmd, "seller-bps")
	return cmd
}

func newSettleDeadlineCommand(s *session.Session) *cobra.Command {
	cmd := &cobra.Command{
		Use: "settle-deadline NEGOTIATION", Short: "Decide the undecided milestones after their deadline (anyone)",
		Long: `Settles a negotiation whose milestones' deadline has passed, or, while a dispute is open, the arbiter's
time: claimed and undisputed milestones are paid, disputed ones halved, the others go back to the buyer.
Anyone can send it; the keypair pays the transaction's fee.`,
		Example: "  haggle milestone settle-deadline NEGOTIATION",
	}
	return onchain.Command(s, cmd, onchain.OnNegotiation(s,
		func(ctx context.Context, t onchain.Step) (*haggle.Action, error) {
			if t.Snapshot.IsAgreed() && t.Snapshot.Time < t.Snapshot.SettleDueAt() {
				return nil, exitcode.WithHint(fmt.Errorf("%w: the deadline has not passed", haggle.ErrNotAsExpected),
					"it can be settled from "+format.When(t.Snapshot.SettleDueAt(), t.Snapshot.Time))
			}
			return t.Client.At(t.Snapshot).SettleDeadline(t.Key.PublicKey()).Build(ctx)
		},
		func(t onchain.Step, receipt *haggle.Receipt) string {
			for _, event := range receipt.Events {
				if settled, ok := event.(*protocol.NegotiationSettled); ok {
					return fmt.Sprintf("settled at the deadline: %s of the price of %s paid, the rest back to the buyer",
						t.Tokens(settled.SettledAmount), t.Tokens(t.Snapshot.SettledAmount))
				}
			}
			return result.Of("settle_deadline")
		}))
}
