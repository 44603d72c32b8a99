package milestone

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/flags"
	"github.com/haggle-protocol/haggle/internal/cli/onchain"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

const milestoneHelp = `Milestones pay an agreed price in tranches. They are part of a negotiation that was created with
--milestones; their numbers begin at 0 and stand in "haggle negotiation show".

  seller    claim            claims one; the buyer has a review window
  buyer     release          pays it; after the review window anyone can
  buyer     dispute          disputes it, before the window ends; the arbiter decides
  arbiter   resolve          divides it between the two
  both      settle           divides all that is undecided as both agree, at any time
  anyone    settle-deadline  after the deadline: claimed milestones are paid, disputed ones halved, and the
                             others go back to the buyer

When the last one is decided, the seller gets its bond back, less the share that the buyer got back of
the price.`

func Command(s *session.Session) *cobra.Command {
	return command.Group("milestone", "Claim, release, dispute and settle milestones", milestoneHelp,
		newClaimMilestoneCommand(s), newReleaseCommand(s), newDisputeCommand(s), newResolveCommand(s), newSettleCommand(s),
		newSettleDeadlineCommand(s))
}

// evidenceFlag is the evidence for a claim or a dispute, of which only the hash goes on chain.
type evidenceFlag struct{ written string }

func (f *evidenceFlag) register(cmd *cobra.Command, of string) {
	cmd.Flags().StringVar(&f.written, "evidence", "",
		"evidence for the "+of+", of which only the SHA-256 goes on chain (a file, or the hash in hex)")
}

// hash is zero without evidence.
func (f *evidenceFlag) hash() (hash [32]byte, err error) {
	if f.written == "" {
		return hash, nil
	}
	return flags.FileOrHash("--evidence", f.written)
}

func parseIndex(written string) (uint8, error) {
	index, err := strconv.ParseUint(written, 10, 8)
	if err != nil || index >= uint64(protocol.MaxMilestones) {
		return 0, exitcode.Usagef("INDEX: %q is not a milestone's number, 0 to %d", written, protocol.MaxMilestones-1)
	}
	return uint8(index), nil
}

// newIndexCommand is one about a milestone of a negotiation.
func newIndexCommand(s *session.Session, name, short, long, example string,
	build func(ctx context.Context, t onchain.Step, index uint8) (*haggle.Action, error), tell func(t onchain.Step, index uint8, receipt *haggle.Receipt) string) *cobra.Command {
	cmd := &cobra.Command{
		Use: name + " NEGOTIATION INDEX", Short: short, Long: long, Example: example,
		Args: command.Exactly(2), ValidArgsFunction: onchain.CompleteNegotiations(s),
	}
	cmd.RunE = s.Limited(func(ctx context.Context, arguments []string) error {
		index, err := parseIndex(arguments[1])
		if err != nil {
			return err
		}
		return onchain.OnNegotiation(s,
			func(ctx context.Context, t onchain.Step) (*haggle.Action, error) { return build(ctx, t, index) },
			func(t onchain.Step, receipt *haggle.Receipt) string { return tell(t, index, receipt) })(ctx, arguments)
	})
	return cmd
}

// settledNow says that nothing is left to decide.
func settledNow(receipt *haggle.Receipt) string {
	for _, event := range receipt.Events {
		if _, ok := event.(*protocol.NegotiationSettled); ok {
			return "; it was the last one, and the negotiation is settled"
		}
	}
	return ""
}
