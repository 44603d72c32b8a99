package player

import (
	"github.com/spf13/pflag"

	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/amount"
)

// The names of the flags.
const (
	singleSourceFlag = "single-source-up-to"
	finalizedFlag    = "finalized-above"
)

// SingleSourceFlag is the name of the flag for [agent.Limits].SingleSourceUpTo in messages.
const SingleSourceFlag = "--" + singleSourceFlag

// SettlementFlags holds the flags for the proof of payment required by a seller to report a sale.
type SettlementFlags struct {
	singleSource, finalized amount.Text
}

// Register adds the flags.
func (f *SettlementFlags) Register(flags *pflag.FlagSet) {
	flags.Var(&f.singleSource, singleSourceFlag,
		"price up to which one node can prove a seller's payment; above it two must")
	flags.Var(&f.finalized, finalizedFlag,
		"price up to which a seller does not wait for finalization (about 13s)")
}

// IsSet reports whether one of the flags is set.
func (f *SettlementFlags) IsSet() bool { return !f.singleSource.IsZero() || !f.finalized.IsZero() }

// Limit sets an agent's limits in a mint. units converts flag amounts to base units.
func (f *SettlementFlags) Limit(
	limits *agent.Limits, units func(flag string, text amount.Text) (uint64, error),
) (err error) {
	if !f.singleSource.IsZero() {
		if limits.SingleSourceUpTo, err = units(SingleSourceFlag, f.singleSource); err != nil {
			return err
		}
	}
	if !f.finalized.IsZero() {
		limits.FinalizedAbove, err = units("--"+finalizedFlag, f.finalized)
	}
	return err
}
