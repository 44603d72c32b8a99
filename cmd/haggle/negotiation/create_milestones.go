package negotiation

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/connection"
	"github.com/haggle-protocol/haggle/internal/cli/duration"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// milestoneFlags holds the terms for payment by milestones.
type milestoneFlags struct {
	shares      []uint
	arbiter     connection.Address
	delivery    duration.Flag
	reviewHours uint8
}

func (f *milestoneFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.UintSliceVar(&f.shares, "milestones", nil, "pay in tranches: up to 8 shares in basis points that add up to 10000; requires --arbiter")
	flags.Var(&f.arbiter, "arbiter", "address that decides disputes about milestones; not a party")
	flags.Var(&f.delivery, "delivery", "time from now for the delivery; unclaimed milestones go back to the buyer after it and one review "+
		"for each milestone (default: 30d)")
	flags.Uint8Var(&f.reviewHours, "review-hours", 0, fmt.Sprintf("time to release or dispute a claimed milestone, in hours, %d to %d (default: %d)",
		protocol.MinReviewHours, protocol.MaxReviewHours, protocol.DefaultReviewHours))
}

// value returns nil without milestones.
func (f *milestoneFlags) value() (*haggle.Milestones, error) {
	if len(f.shares) == 0 {
		switch {
		case !f.arbiter.Key().IsZero():
			return nil, exitcode.Requires("--arbiter", "--milestones", "")
		case f.delivery != 0:
			return nil, exitcode.Requires("--delivery", "--milestones", "")
		case f.reviewHours != 0:
			return nil, exitcode.Requires("--review-hours", "--milestones", "")
		}
		return nil, nil
	}
	if f.arbiter.Key().IsZero() {
		return nil, exitcode.Requires("--milestones", "--arbiter", "without an arbiter a dispute would always pay")
	}
	sum := uint(0)
	shares := make([]uint16, len(f.shares))
	for i, share := range f.shares {
		if share == 0 || share > uint(protocol.BpsDenominator) {
			return nil, exitcode.Usagef("--milestones: each share must be 1 to %d basis points, not %d", protocol.BpsDenominator, share)
		}
		shares[i] = uint16(share)
		sum += share
	}
	if len(shares) > int(protocol.MaxMilestones) || sum != uint(protocol.BpsDenominator) {
		return nil, exitcode.Usagef("--milestones: must be at most %d shares that add up to %d, not %d that add up to %d",
			protocol.MaxMilestones, protocol.BpsDenominator, len(shares), sum)
	}
	if f.reviewHours > protocol.MaxReviewHours {
		return nil, exitcode.Usagef("--review-hours %d: must be %d to %d", f.reviewHours, protocol.MinReviewHours, protocol.MaxReviewHours)
	}
	return &haggle.Milestones{
		Arbiter: f.arbiter.Key(), Shares: shares, ReviewHours: f.reviewHours, Delivery: time.Duration(f.delivery),
	}, nil
}
