package player

import (
	"time"

	"github.com/spf13/pflag"

	"github.com/haggle-protocol/haggle/internal/cli/duration"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// LimitFlags holds the flags for the worst terms beside the price that agents engage on.
type LimitFlags struct {
	maxFeeBps, maxDecayBps uint16
	maxRounds              uint8
	minWindow              duration.Flag
}

// Register adds the flags. Defaults come from package protocol's default terms.
func (f *LimitFlags) Register(flags *pflag.FlagSet) {
	f.RegisterFee(flags)
	flags.Uint16Var(&f.maxDecayBps, "max-decay-bps", protocol.DefaultDecayRateBps,
		"highest share that the escrow loses each round, in basis points")
	flags.Uint8Var(&f.maxRounds, "max-rounds", protocol.DefaultMaxRounds, "largest number of offers of both sides")
	flags.Var(&f.minWindow, "min-window", "shortest time to answer")
}

// RegisterFee adds the flag for the fee alone, for a command that creates its negotiations: see [LimitFlags.Allow].
func (f *LimitFlags) RegisterFee(flags *pflag.FlagSet) {
	f.minWindow = duration.Flag(time.Duration(protocol.MinResponseWindow) * time.Second)
	flags.Uint16Var(&f.maxFeeBps, "max-fee-bps", protocol.DefaultProtocolFeeBps,
		"highest protocol fee, in basis points of the price")
}

// Check returns a usage error if a limit is out of range.
func (f *LimitFlags) Check() error {
	window := time.Duration(f.minWindow)
	switch {
	case f.maxFeeBps > protocol.MaxProtocolFeeBps:
		return exitcode.Usagef("--max-fee-bps %d: must be 0 to %d", f.maxFeeBps, protocol.MaxProtocolFeeBps)
	case f.maxDecayBps > protocol.MaxDecayRateBps:
		return exitcode.Usagef("--max-decay-bps %d: must be 0 to %d", f.maxDecayBps, protocol.MaxDecayRateBps)
	case f.maxRounds < protocol.MinRounds || f.maxRounds > protocol.MaxRounds:
		return exitcode.Usagef("--max-rounds %d: must be %d to %d", f.maxRounds, protocol.MinRounds,
			protocol.MaxRounds)
	case window < time.Duration(protocol.MinResponseWindow)*time.Second,
		window > time.Duration(protocol.MaxResponseWindow)*time.Second:
		return exitcode.Usagef("--min-window %s: must be 60s to 1h", duration.Format(window))
	}
	return nil
}

// Allow raises the limits to the terms that the user names for a negotiation.
func (f *LimitFlags) Allow(rounds uint8, decayBps uint16) {
	f.maxRounds, f.maxDecayBps = max(f.maxRounds, rounds), max(f.maxDecayBps, decayBps)
}

// MaxFeeBps returns the highest protocol fee, in basis points of the price.
func (f *LimitFlags) MaxFeeBps() *uint16 { return new(f.maxFeeBps) }

// Limit sets an agent's limits.
func (f *LimitFlags) Limit(config *agent.Config) {
	config.MaxFeeBps, config.MaxDecayBps = f.MaxFeeBps(), new(f.maxDecayBps)
	config.MaxRounds, config.MinResponseWindow = f.maxRounds, time.Duration(f.minWindow)
}
