package party

import (
	"bytes"
	"cmp"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"time"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/hire"
)

// Config is shared by Worker and Seeker. The runtime calls functions from several goroutines, but
// sequentially per conversation.
type Config struct {
	// Home connects the agent to the home storing the conversations. It is required.
	Home *hire.Home
	// Resolver finds keys for agents and the home. It is required.
	Resolver *hire.Resolver
	// Assets lists the tokens for prices: see [escrow.Assets]. It is required.
	Assets []hire.Asset
	// Limits restricts the terms that the agent signs. It is required.
	Limits Limits
	// Chain settles the agreements. If nil, agreements end with both accepts.
	Chain *Chain

	// Patience limits the timeouts of the home, so that accepted prices do not bind the agent for long. If
	// zero, [DefaultPatience] is used. It does not limit a worker's own home: a [hire.Home] whose origin is
	// the agent's id.
	Patience time.Duration
	// Margin is how long before [Turn].Due the runtime rejects if a function is still undecided. If zero, 5
	// seconds are used, but no more than half the decision time.
	Margin time.Duration
	// Observe, if not nil, is called with every message sent or received by this process. It should return at once.
	Observe func(*hire.Message)
	// Acted, if not nil, is called after each action on chain. It should return at once.
	Acted func(agent.Act)
	// Ended, if not nil, is called with every ended deal. It should return at once.
	Ended func(Result)
	// Failed is called with function errors, each [*InvalidMove], and on-chain action errors. It should
	// return at once. If nil, they are only logged.
	Failed func(conversation string, err error)
	// Logger receives the same and all other errors. If nil, slog.Default() is used.
	Logger *slog.Logger
}

// Chain settles agreements on Solana.
type Chain struct {
	// Client should have a journal, so that no action is repeated if the process is killed.
	Client *haggle.Client
	// Wallet signs transactions with the agent's key.
	Wallet haggle.Signer
}

// DefaultPatience is the default of [Config].Patience.
const DefaultPatience = 10 * time.Minute

// DefaultMargin is the default of [Config].Margin.
const DefaultMargin = 5 * time.Second

func (c Config) withDefaults(role hire.Role) (Config, error) {
	switch {
	case c.Home == nil:
		return c, errors.New("party: Home not set")
	case c.Resolver == nil:
		return c, errors.New("party: Resolver not set")
	case len(c.Assets) == 0:
		return c, errors.New("party: Assets not set: list the tokens of prices")
	case c.Patience < 0:
		return c, errors.New("party: Patience must not be negative")
	case c.Margin < 0:
		return c, errors.New("party: Margin must not be negative")
	}
	if err := c.Limits.check(role, c.Assets); err != nil {
		return c, err
	}
	if c.Chain != nil {
		if c.Chain.Client == nil || c.Chain.Wallet == nil {
			return c, errors.New("party: Chain: Client or Wallet not set")
		}
		if wallet := c.Chain.Wallet.PublicKey(); !bytes.Equal(wallet[:], c.public()) {
			return c, fmt.Errorf("party: Chain: wallet %s is not the agent's key %s", wallet, hire.Address(c.public()))
		}
	}
	c.Patience = cmp.Or(c.Patience, DefaultPatience)
	c.Margin = cmp.Or(c.Margin, DefaultMargin)
	c.Logger = cmp.Or(c.Logger, slog.Default())
	return c, nil
}

func (c *Config) public() ed25519.PublicKey { return c.Home.Key.Public().(ed25519.PublicKey) }

// Worker is a worker's configuration.
type Worker struct {
	Config
	// Quote answers a seeker's proposal, answer or question. It is required.
	Quote func(ctx context.Context, turn Turn) (Move, error)
	// Deliver does the work and returns up to [hire.MaxDelivery] bytes; deliver larger results elsewhere, and
	// return a description. The price is in escrow. It is required with a Chain. It may take until
	// [Contract].Deadline. If it fails, it is called again.
	Deliver func(ctx context.Context, contract Contract) ([]byte, error)
	// Skills and Prices answer inquiries.
	Skills []string
	Prices []hire.UnitPrice
}

// Seeker is a seeker's configuration.
type Seeker struct {
	Config
	// Decide answers a worker's counter, question or answer. It is required.
	Decide func(ctx context.Context, turn Turn) (Move, error)
	// Review returns whether a delivery fulfils the contract. It is required with a Chain. It may take until
	// the end of the review window, 24 hours. If it fails, it is called again, and shortly before that
	// deadline the runtime disputes the delivery, because undisputed deliveries are paid.
	Review func(ctx context.Context, contract Contract, delivery Delivery) (Verdict, error)
}

// Delivery is a worker's result.
type Delivery struct {
	// Evidence is the SHA-256 in the worker's claim.
	Evidence [32]byte
	// Content is the result with this SHA-256. It is untrusted. It is nil if the home lacks it.
	Content []byte
}

// Verdict is a seeker's decision about a delivery.
type Verdict int

// The verdicts. The zero Verdict is invalid.
const (
	// Release pays the worker.
	Release Verdict = iota + 1
	// Dispute leaves the decision to the arbiter.
	Dispute
)
