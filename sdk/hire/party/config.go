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

// Config is what worker and seeker have in common. The runtime calls its functions from several goroutines, for one
// conversation one at a time.
type Config struct {
	// Home connects the agent to the home storing its conversations. It is required.
	Home *hire.Home
	// Resolver finds the keys of the other agents and of the home. It is required.
	Resolver *hire.Resolver
	// Assets lists the tokens for prices: see [escrow.Assets]. It is required.
	Assets []hire.Asset
	// Limits restricts the terms that the agent signs. It is required.
	Limits Limits
	// Chain settles the agreements. If nil, agreements end with both accepts.
	Chain *Chain

	// Patience limits the timeouts of the home, so that an accepted price does not bind the agent for long. If zero,
	// [DefaultPatience] is used. It does not limit a worker's own home, which is a [hire.Home] with its agent's id as
	// origin.
	Patience time.Duration
	// Margin is the time before [Turn].Due at which the runtime rejects if a function has not decided. If zero, 5
	// seconds are used, and at most half of the time to decide.
	Margin time.Duration
	// Observe, if not nil, is called with every message sent or received by this process. It should return at once.
	Observe func(*hire.Message)
	// Acted, if not nil, is called after each action on chain. It should return at once.
	Acted func(agent.Act)
	// Ended, if not nil, is called with every ended deal. It should return at once.
	Ended func(Result)
	// Failed is called with the errors of functions, each [*InvalidMove], and errors of actions on chain. It should
	// return at once. If nil, they are only logged.
	Failed func(conversation string, err error)
	// Logger gets the same and all other errors. If nil, slog.Default() is used.
	Logger *slog.Logger
}

// Chain settles agreements on Solana.
type Chain struct {
	// Client should have a journal, so that a killed process repeats no action.
	Client *haggle.Client
	// Wallet signs the transactions. Its address is the agent's key.
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
	// Quote returns the answer to a seeker's proposal, or to its answers and questions. It is required.
	Quote func(ctx context.Context, turn Turn) (Move, error)
	// Deliver does the work and returns its result, at most [hire.MaxDelivery] bytes; deliver larger ones elsewhere,
	// and return a description. The price is in escrow. It is required with a Chain. It may take until
	// [Contract].Deadline. After an error it is called again.
	Deliver func(ctx context.Context, contract Contract) ([]byte, error)
	// Skills and Prices answer inquiries.
	Skills []string
	Prices []hire.UnitPrice
}

// Seeker is a seeker's configuration.
type Seeker struct {
	Config
	// Decide returns the answer to a worker's counter, or to its questions and answers. It is required.
	Decide func(ctx context.Context, turn Turn) (Move, error)
	// Review returns whether a delivery fulfils the contract. It is required with a Chain. It may take until the end
	// of the review window, 24 hours. After an error it is called again, and shortly before the end the runtime
	// disputes the delivery, because an undisputed one is paid.
	Review func(ctx context.Context, contract Contract, delivery Delivery) (Verdict, error)
}

// Delivery is a worker's result.
type Delivery struct {
	// Evidence is the SHA-256 in the worker's claim.
	Evidence [32]byte
	// Content has this hash. It is untrusted. It is nil if the home does not have it.
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
