package party

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/haggle-protocol/haggle/sdk/hire"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// PriceLimits contains limits in the mint's base units.
type PriceLimits struct {
	// Least is a worker's lowest proceeds, after the protocol's fee. A worker requires it.
	Least uint64
	// Most is a seeker's highest price, including the fee. A seeker requires it.
	Most uint64
	// FinalizedAbove and SingleSourceUpTo set how the worker proves the escrow (before delivering) and the
	// payment: see [agent.Limits].
	FinalizedAbove, SingleSourceUpTo uint64
}

// Limits restricts the terms signed by the agent. Every field except MaxFeeBps is required.
type Limits struct {
	// Prices maps the symbols of all accepted assets to limits.
	Prices map[string]PriceLimits
	// Arbiters lists all acceptable arbiters.
	Arbiters []hire.Base58
	// Shortest and Longest limit the time from the agreement to the deadline of the delivery.
	Shortest, Longest time.Duration
	// MaxFeeBps is the highest protocol fee in basis points of the price, at most 500. If nil,
	// [protocol.DefaultProtocolFeeBps] is used.
	MaxFeeBps *uint16
}

// ErrBeyondLimit: the terms are beyond the agent's own limits.
var ErrBeyondLimit = errors.New("party: beyond the agent's limits")

func beyond(format string, values ...any) error {
	return fmt.Errorf("%w: %s", ErrBeyondLimit, fmt.Sprintf(format, values...))
}

func (l Limits) feeBps() uint16 {
	if l.MaxFeeBps == nil {
		return protocol.DefaultProtocolFeeBps
	}
	return *l.MaxFeeBps
}

// check rejects limits that are incomplete for a role.
func (l Limits) check(role hire.Role, assets []hire.Asset) error {
	switch {
	case len(l.Prices) == 0:
		return errors.New("party: Limits.Prices not set: list the symbols in which the agent deals")
	case len(l.Arbiters) == 0:
		return errors.New("party: Limits.Arbiters not set: list the arbiters that the agent accepts")
	case l.Shortest <= 0 || l.Longest < l.Shortest:
		return errors.New("party: Limits.Shortest must be positive, and Longest at least as long")
	case l.feeBps() > protocol.MaxProtocolFeeBps:
		return fmt.Errorf("party: Limits.MaxFeeBps must be at most %d", protocol.MaxProtocolFeeBps)
	}
	for symbol, prices := range l.Prices {
		known := slices.ContainsFunc(assets, func(a hire.Asset) bool { return a.Symbol == symbol })
		switch {
		case !known:
			return fmt.Errorf("party: Limits.Prices: no asset has the symbol %q", symbol)
		case role == hire.RoleWorker && prices.Least == 0:
			return fmt.Errorf("party: Limits.Prices: no Least for %s: a worker needs it", symbol)
		case role == hire.RoleSeeker && prices.Most == 0:
			return fmt.Errorf("party: Limits.Prices: no Most for %s: a seeker needs it", symbol)
		case prices.Most != 0 && prices.Most < prices.Least:
			return fmt.Errorf("party: Limits.Prices: Most is less than Least for %s", symbol)
		}
	}
	for _, arbiter := range l.Arbiters {
		if _, err := hire.KeyOf(string(arbiter)); err != nil {
			return fmt.Errorf("party: Limits.Arbiters: %q is not a Solana address", string(arbiter))
		}
	}
	return nil
}

// allow returns an [ErrBeyondLimit] unless an agent may agree to an offer now.
func (l Limits) allow(role hire.Role, asset hire.Asset, offer Offer, now time.Time) error {
	if err := l.allowTerms(role, asset, offer); err != nil {
		return err
	}
	switch left := offer.Deadline.Sub(now); {
	case left < l.Shortest:
		return beyond("%s until the deadline, at least %s", left.Round(time.Second), l.Shortest)
	case left > l.Longest:
		return beyond("%s until the deadline, at most %s", left.Round(time.Second), l.Longest)
	}
	return nil
}

// allowTerms returns an [ErrBeyondLimit] if an agent must not agree to a price and an arbiter.
func (l Limits) allowTerms(role hire.Role, asset hire.Asset, offer Offer) error {
	prices, listed := l.Prices[asset.Symbol]
	net := offer.Price - protocol.ShareOf(offer.Price, l.feeBps(), 0)
	switch {
	case !listed:
		return beyond("no limits for %s", asset.Symbol)
	case role == hire.RoleWorker && net < prices.Least:
		return beyond("%s are %s after the fee, at least %s", asset.Price(offer.Price), asset.Price(net),
			asset.Price(prices.Least))
	case role == hire.RoleSeeker && offer.Price > prices.Most:
		return beyond("%s, at most %s", asset.Price(offer.Price), asset.Price(prices.Most))
	case offer.Arbiter == "":
		return beyond("no arbiter: a settlement requires one")
	case !slices.Contains(l.Arbiters, offer.Arbiter):
		return beyond("arbiter %s is not one of the agent's", offer.Arbiter)
	}
	return nil
}
