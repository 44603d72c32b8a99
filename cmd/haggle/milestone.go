package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
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

func newMilestoneCommand(s *session) *cobra.Command {
	return newGroupCommand("milestone", "Claim, release, dispute and settle milestones", milestoneHelp,
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
	return hashOf("--evidence", f.written)
}

func parseIndex(written string) (uint8, error) {
	index, err := strconv.ParseUint(written, 10, 8)
	if err != nil || index >= uint64(protocol.MaxMilestones) {
		return 0, exitcode.Usagef("INDEX: %q is not a milestone's number, 0 to %d", written, protocol.MaxMilestones-1)
	}
	return uint8(index), nil
}

// newIndexCommand is one about a milestone of a negotiation.
func newIndexCommand(s *session, name, short, long, example string,
	build func(ctx context.Context, t step, index uint8) (*haggle.Action, error), tell func(t step, index uint8, receipt *haggle.Receipt) string) *cobra.Command {
	cmd := &cobra.Command{
		Use: name + " NEGOTIATION INDEX", Short: short, Long: long, Example: example,
		Args: exactly(2), ValidArgsFunction: s.completeNegotiations,
	}
	cmd.RunE = s.limited(func(ctx context.Context, arguments []string) error {
		index, err := parseIndex(arguments[1])
		if err != nil {
			return err
		}
		return s.onNegotiation(
			func(ctx context.Context, t step) (*haggle.Action, error) { return build(ctx, t, index) },
			func(t step, receipt *haggle.Receipt) string { return tell(t, index, receipt) })(ctx, arguments)
	})
	return cmd
}

func newClaimMilestoneCommand(s *session) *cobra.Command {
	var evidence evidenceFlag
	cmd := newIndexCommand(s, "claim", "Claim a milestone (seller)",
		`Claims a milestone, in any order, one at a time. The buyer then has a review window to release or dispute
it; after that anyone can release it.`,
		"  haggle milestone claim NEGOTIATION 0\n  haggle milestone claim NEGOTIATION 0 --evidence report.pdf",
		func(ctx context.Context, t step, index uint8) (*haggle.Action, error) {
			hash, err := evidence.hash()
			if err != nil {
				return nil, err
			}
			return t.client.ClaimMilestone(ctx, haggle.ClaimMilestoneRequest{
				Seller: t.key.PublicKey(), Seen: t.seen, Index: index, Evidence: hash,
			})
		},
		func(_ step, index uint8, receipt *haggle.Receipt) string {
			for _, event := range receipt.Events {
				if claimed, ok := event.(*protocol.MilestoneClaimed); ok {
					return fmt.Sprintf("claimed milestone %d; the buyer may dispute it until %s", index, clock(claimed.ReviewDeadline))
				}
			}
			return fmt.Sprintf("claimed milestone %d", index)
		})
	evidence.register(cmd, "delivery")
	return cmd
}

func newReleaseCommand(s *session) *cobra.Command {
	return newIndexCommand(s, "release", "Pay a claimed milestone (buyer; after its review anyone)",
		`Pays the milestone that is under review. The buyer may at any time; anyone may once the review window has
passed in silence.`,
		"  haggle milestone release NEGOTIATION 0",
		func(ctx context.Context, t step, index uint8) (*haggle.Action, error) {
			return t.client.ReleaseMilestone(ctx, haggle.ReleaseMilestoneRequest{Releaser: t.key.PublicKey(), Seen: t.seen, Index: index})
		},
		func(_ step, index uint8, receipt *haggle.Receipt) string {
			return fmt.Sprintf("released milestone %d%s", index, settledNow(receipt))
		})
}

func newDisputeCommand(s *session) *cobra.Command {
	var evidence evidenceFlag
	cmd := newIndexCommand(s, "dispute", "Dispute a claimed milestone (buyer)",
		`Disputes the milestone that is under review. The arbiter, whom both have agreed to, then divides it.`,
		"  haggle milestone dispute NEGOTIATION 0\n  haggle milestone dispute NEGOTIATION 0 --evidence complaint.txt",
		func(ctx context.Context, t step, index uint8) (*haggle.Action, error) {
			hash, err := evidence.hash()
			if err != nil {
				return nil, err
			}
			return t.client.DisputeMilestone(ctx, haggle.DisputeMilestoneRequest{
				Buyer: t.key.PublicKey(), Seen: t.seen, Index: index, Evidence: hash,
			})
		},
		func(t step, index uint8, _ *haggle.Receipt) string {
			return fmt.Sprintf("disputed milestone %d; %s decides until %s", index, t.seen.Arbiter, clock(t.seen.ArbitrationDeadline()))
		})
	evidence.register(cmd, "complaint")
	return cmd
}

func newResolveCommand(s *session) *cobra.Command {
	var sellerBps uint16
	var forfeit bool
	cmd := newIndexCommand(s, "resolve", "Divide a disputed milestone (arbiter)",
		`Divides a disputed milestone between the parties. The seller gets its share less the fee, the buyer the
rest, the odd unit too. With --forfeit-bond the seller's bond goes to the buyer.`,
		"  haggle milestone resolve NEGOTIATION 0 --seller-bps 7500",
		func(ctx context.Context, t step, index uint8) (*haggle.Action, error) {
			if uint64(sellerBps) > protocol.BpsDenominator {
				return nil, exitcode.Usagef("--seller-bps %d: 0 to %d", sellerBps, protocol.BpsDenominator)
			}
			return t.client.ResolveDispute(ctx, haggle.ResolveDisputeRequest{
				Arbiter: t.key.PublicKey(), Seen: t.seen, Index: index, SellerBps: sellerBps, ForfeitBond: forfeit,
			})
		},
		func(_ step, index uint8, receipt *haggle.Receipt) string {
			return fmt.Sprintf("resolved milestone %d: %s of it to the seller%s", index, percent(sellerBps), settledNow(receipt))
		})
	cmd.Flags().Uint16Var(&sellerBps, "seller-bps", 0, "the seller's share of the milestone, in basis points, 0 to 10000")
	cmd.Flags().BoolVar(&forfeit, "forfeit-bond", false, "give the seller's bond to the buyer")
	required(cmd, "seller-bps")
	return cmd
}

func newSettleDeadlineCommand(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use: "settle-deadline NEGOTIATION", Short: "Decide the undecided milestones after their deadline (anyone)",
		Long: `Settles a negotiation whose milestones' deadline has passed, or, while a dispute is open, the arbiter's
time: claimed and undisputed milestones are paid, disputed ones halved, the others go back to the buyer.
Anyone can send it; the keypair pays the transaction's fee.`,
		Example: "  haggle milestone settle-deadline NEGOTIATION",
		Args:    exactly(1), ValidArgsFunction: s.completeNegotiations,
	}
	cmd.RunE = s.limited(s.onNegotiation(
		func(ctx context.Context, t step) (*haggle.Action, error) {
			now, err := t.client.Now(ctx)
			if err != nil {
				return nil, err
			}
			if t.seen.IsAgreed() && now < t.seen.SettleDueAt() {
				return nil, exitcode.WithHint(fmt.Errorf("%w: milestones can still be decided", haggle.ErrNotAsExpected),
					"it can be settled from "+clock(t.seen.SettleDueAt()))
			}
			return t.client.SettleDeadline(ctx, haggle.SettleDeadlineRequest{Payer: t.key.PublicKey(), Seen: t.seen})
		},
		func(t step, receipt *haggle.Receipt) string {
			for _, event := range receipt.Events {
				if settled, ok := event.(*protocol.NegotiationSettled); ok {
					return fmt.Sprintf("settled: %d base units of the price of %d were paid, the rest went back to the buyer", settled.SettledAmount, t.seen.SettledAmount)
				}
			}
			return "settled"
		}))
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
