// Package milestone has the commands of "haggle milestone".
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

// evidenceFlag is the evidence for a claim or a dispute. Only its hash goes on chain.
type evidenceFlag struct{ written string }

func (f *evidenceFlag) register(cmd *cobra.Command, of string) {
	cmd.Flags().StringVar(&f.written, "evidence", "",
		"evidence for the "+of+", of which only the SHA-256 goes on chain (a file, or the hash in hex)")
}

// hash returns zeros without evidence.
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

// newIndexCommand returns a command for one milestone of a negotiation.
func newIndexCommand(s *session.Session, name, short, long, example string,
	build func(ctx context.Context, t onchain.Step, index uint8) (*haggle.Action, error), effect func(t onchain.Step, index uint8, receipt *haggle.Receipt) string) *cobra.Command {
	cmd := &cobra.Command{
		Use: name + " NEGOTIATION INDEX", Short: short, Long: long, Example: example,
	}
	return onchain.Command(s, cmd, func(ctx context.Context, arguments []string) error {
		index, err := parseIndex(arguments[1])
		if err != nil {
			return err
		}
		return onchain.OnNegotiation(s,
			func(ctx context.Context, t onchain.Step) (*haggle.Action, error) { return build(ctx, t, index) },
			func(t onchain.Step, receipt *haggle.Receipt) string { return effect(t, index, receipt) })(ctx, arguments)
	})
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
