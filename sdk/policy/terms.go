package policy

import (
	"fmt"
	"time"

	"github.com/haggle-protocol/haggle/sdk/internal/optional"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// TermLimits limit negotiation terms when the wallet creates or joins. The zero value allows the default
// terms of package protocol; worse ones must be named.
type TermLimits struct {
	// MaxDecayRateBps is the highest decay of the escrow per round, in basis points, 0 to 1,000. If nil,
	// protocol.DefaultDecayRateBps (200) is used.
	MaxDecayRateBps *uint16 `file:"maxDecayRateBps"`
	// MaxRounds is the highest number of offers, 1 to 20. If zero, protocol.DefaultMaxRounds (10) is used.
	MaxRounds uint8 `file:"maxRounds"`
	// MinResponseWindow is the shortest response window, 60 seconds to an hour. If zero,
	// protocol.DefaultResponseWindow (5 minutes) is used.
	MinResponseWindow time.Duration `file:"minResponseWindow"`
	// MaxFeeBps is the highest protocol fee, in basis points of the paid price, 0 to 500: as buyer the
	// creation's fee limit, as seller the negotiation's fee. If nil, protocol.DefaultProtocolFeeBps (50) is
	// used.
	MaxFeeBps *uint16 `file:"maxFeeBps"`
}

// WithDefaults returns the limits with the default terms for those that are not set.
func (l TermLimits) WithDefaults() TermLimits {
	l.MaxDecayRateBps = new(optional.Or(l.MaxDecayRateBps, protocol.DefaultDecayRateBps))
	l.MaxFeeBps = new(optional.Or(l.MaxFeeBps, protocol.DefaultProtocolFeeBps))
	if l.MaxRounds == 0 {
		l.MaxRounds = protocol.DefaultMaxRounds
	}
	if l.MinResponseWindow == 0 {
		l.MinResponseWindow = time.Duration(protocol.DefaultResponseWindow) * time.Second
	}
	return l
}

// terms holds the limited negotiation terms. The response window is in seconds.
type terms struct {
	decayRateBps, feeBps uint16
	maxRounds            uint8
	responseWindow       int64
}

// check rejects terms beyond the limits.
func (l TermLimits) check(t terms) error {
	l = l.WithDefaults()
	window := int64((l.MinResponseWindow + time.Second - 1) / time.Second)
	switch {
	case t.decayRateBps > *l.MaxDecayRateBps:
		return fmt.Errorf("decay of %d basis points per round, at most %d", t.decayRateBps, *l.MaxDecayRateBps)
	case t.maxRounds > l.MaxRounds:
		return fmt.Errorf("up to %d rounds, at most %d", t.maxRounds, l.MaxRounds)
	case t.responseWindow < window:
		return fmt.Errorf("response window of %d seconds, at least %d", t.responseWindow, window)
	case t.feeBps > *l.MaxFeeBps:
		return fmt.Errorf("protocol fee of up to %d basis points, at most %d", t.feeBps, *l.MaxFeeBps)
	}
	return nil
}
