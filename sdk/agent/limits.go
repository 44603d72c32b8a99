package agent

import (
	"errors"
	"fmt"
	"time"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// DefaultMaxReviewHours is the longest milestone review window that a seller accepts, in hours.
const DefaultMaxReviewHours = 72

// Limits are an agent's limits in a mint, in the mint's base units. The runtime carries out no decision
// beyond them.
type Limits struct {
	// Decimals is the number of mint decimals used to compute the limits: a token is ten to this power of
	// base units. If the mint's decimals differ, the agent does not start. If zero, the mint must use no
	// decimals.
	Decimals uint8
	// MinPrice is the least that the agent accepts as a seller, net of the protocol's fee, and with the bond
	// part saved by the deal: see [protocol.Negotiation.BondForDelay]. If no deal is made, that part pays the
	// buyer the decay of the agent's offers. If MinPrice is zero, the agent does not sell in this mint.
	MinPrice uint64
	// MaxTotal is the most that the agent pays in all as a buyer: the price, which includes the fee, and the
	// decay of all offers of both sides until the deal. So each offer's decay lowers the highest price: see
	// [Turn.InRange]. A total never exceeds the escrow. If zero, the agent does not buy in this mint.
	MaxTotal uint64
	// MaxBond is the highest bond that the agent deposits as a seller. If zero, the agent accepts no
	// invitation that requires a bond.
	MaxBond uint64
	// FinalizedAbove and SingleSourceUpTo are a seller's proof of payment, in base units. The runtime calls
	// [Config].Ended for a settlement, and [Config].OnMilestone for the first time on a deal, only when
	// [haggle.Client.VerifySettlement] verified the payment, or the agreed price in escrow, with these
	// values. Until then the seller must not deliver.
	//
	// FinalizedAbove is the price above which a settlement must be finalized, which takes about 13 seconds.
	// If zero, every settlement must be finalized.
	FinalizedAbove uint64
	// SingleSourceUpTo is the highest price that a single node may confirm. If zero, nodes of two hosts must
	// confirm every settlement. If the client uses a single node, it must be at least MinPrice.
	SingleSourceUpTo uint64
}

// ErrBeyondLimit: the price, for a buyer with the decay, is beyond the agent's own limit for the mint: see
// [Config].Mints.
var ErrBeyondLimit = errors.New("agent: price beyond the agent's limit")

// mostAfter returns the highest price that a buyer can pay once the given decay is lost.
func (l Limits) mostAfter(decay uint64) uint64 { return l.MaxTotal - min(decay, l.MaxTotal) }

// leastAfterFee returns the least that a seller accepts after the fee.
func (l Limits) leastAfterFee(n *haggle.Snapshot) uint64 {
	return l.MinPrice - min(n.BondForDelay(), l.MinPrice)
}

// check returns ErrBeyondLimit if the agent must not agree to a price. The decay is the escrow's loss until
// then.
func (l Limits) check(n *haggle.Snapshot, side protocol.OfferSide, price, decay uint64) error {
	if side == protocol.OfferSideBuyer {
		if price > l.mostAfter(decay) {
			return amount.Errorf(n.TokenMint, "%w: price %v and decay %v, at most %v in all", ErrBeyondLimit,
				amount.Units(price), amount.Units(decay), amount.Units(l.MaxTotal))
		}
		return nil
	}
	if l.MinPrice == 0 {
		return fmt.Errorf("%w: Config.Mints has no MinPrice for mint %s", ErrBeyondLimit, n.TokenMint)
	}
	if net := price - n.FeeOn(price); net < l.leastAfterFee(n) {
		return amount.Errorf(n.TokenMint, "%w: %v are %v after the fee, at least %v", ErrBeyondLimit,
			amount.Units(price), amount.Units(net), amount.Units(l.leastAfterFee(n)))
	}
	return nil
}

const longestWindow = time.Duration(protocol.MaxResponseWindow) * time.Second

// checkLimits reports a configuration that leaves out a limit on money, or with a limit out of range.
func (c Config) checkLimits() error {
	if len(c.Mints) == 0 {
		return errors.New(
			"agent: Mints not set: list the mints in which the agent sells or buys, with price limits")
	}
	for mint, limits := range c.Mints {
		switch {
		case mint.IsZero():
			return errors.New("agent: Mints: the zero address is not a mint")
		case limits.MinPrice == 0 && limits.MaxTotal == 0:
			return fmt.Errorf("agent: Mints: no limits for mint %s: set MinPrice to sell, MaxTotal to buy", mint)
		case limits.MaxBond > 0 && limits.MinPrice == 0:
			return fmt.Errorf("agent: Mints: MaxBond without MinPrice for mint %s: only a seller deposits a bond",
				mint)
		}
	}
	switch {
	case c.OnMilestone != nil && len(c.Arbiters) == 0:
		return errors.New("agent: Arbiters not set: OnMilestone is set, so list the arbiters that the agent accepts")
	case *c.MaxFeeBps > protocol.MaxProtocolFeeBps:
		return fmt.Errorf("agent: MaxFeeBps must be at most %d", protocol.MaxProtocolFeeBps)
	case *c.MaxDecayBps > protocol.MaxDecayRateBps:
		return fmt.Errorf("agent: MaxDecayBps must be at most %d", protocol.MaxDecayRateBps)
	case c.MaxRounds > protocol.MaxRounds:
		return fmt.Errorf("agent: MaxRounds must be at most %d", protocol.MaxRounds)
	case c.MinResponseWindow > longestWindow:
		return fmt.Errorf("agent: MinResponseWindow and twice Margin must be at most %s", longestWindow)
	case c.MinResponseWindow < 2*c.Margin:
		return errors.New("agent: MinResponseWindow must be at least twice Margin")
	case c.MaxReviewHours > protocol.MaxReviewHours:
		return fmt.Errorf("agent: MaxReviewHours must be at most %d", protocol.MaxReviewHours)
	}
	return nil
}

// checkTerms returns the reason why the agent does not engage on a negotiation's fee, decay, rounds and time to
// answer; nil if there is none.
func (c *Config) checkTerms(n *haggle.Snapshot) error {
	window := time.Duration(n.ResponseWindow) * time.Second
	switch {
	case n.ProtocolFeeBps > *c.MaxFeeBps:
		return fmt.Errorf("its protocol fee is %d basis points, at most %d", n.ProtocolFeeBps, *c.MaxFeeBps)
	case n.DecayRateBps > *c.MaxDecayBps:
		return fmt.Errorf("its decay is %d basis points for each offer, at most %d", n.DecayRateBps, *c.MaxDecayBps)
	case n.MaxRounds > c.MaxRounds:
		return fmt.Errorf("it allows %d offers, at most %d", n.MaxRounds, c.MaxRounds)
	case window < c.MinResponseWindow:
		return fmt.Errorf("its time to answer is %s, at least %s", window, c.MinResponseWindow)
	}
	return nil
}

// sells reports whether the agent acts as a seller in any mint. Other agents buy.
func (c Config) sells() bool {
	for _, limits := range c.Mints {
		if limits.MinPrice > 0 {
			return true
		}
	}
	return false
}
