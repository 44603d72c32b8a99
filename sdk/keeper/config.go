package keeper

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/token"
)

// Defaults for Config.
const (
	DefaultScanEvery        = 5 * time.Minute
	DefaultGrace            = 15 * time.Second
	DefaultJitter           = 10 * time.Second
	DefaultActionsPerMinute = 60
	DefaultConcurrency      = 4
	// DefaultMaxFee is in lamports. It does not cover token account rent.
	DefaultMaxFee = 100_000
	// DefaultDailyBudget is in lamports: the cost of 2,000 transactions with no priority fee.
	DefaultDailyBudget = 10_000_000
	// DefaultCloseShareBps is a quarter, in basis points.
	DefaultCloseShareBps = 2_500
)

// Unlimited as MaxFee or DailyBudget sets no limit.
const Unlimited = ^uint64(0)

// Config configures a keeper. The zero value uses the defaults.
type Config struct {
	// ScanEvery is the time between scans of all negotiations. If zero, DefaultScanEvery is used. While no
	// hints arrive, scans run at least every 30 s.
	ScanEvery time.Duration
	// Grace is the time left to the parties, once a deadline has passed, to act themselves. If zero,
	// DefaultGrace is used; if negative, there is none.
	Grace time.Duration
	// Jitter is the longest delay after Grace. The delay differs by keeper and negotiation, so that several
	// keepers rarely act at the same moment. If zero, DefaultJitter is used; if negative, there is none.
	Jitter time.Duration
	// ActionsPerMinute limits how many actions start per minute. If zero, DefaultActionsPerMinute is used.
	ActionsPerMinute int
	// Concurrency limits the expiries, releases and settlements in flight. If zero, DefaultConcurrency is
	// used. One close is in flight beside them.
	Concurrency int
	// CloseShareBps is the part of ActionsPerMinute and DailyBudget reserved for closes, in basis points, 1
	// to 9,999. Expiries, releases and settlements use the rest, and closes start only while no such task
	// waits: so closes neither delay them nor use up their budget. If zero, DefaultCloseShareBps is used.
	CloseShareBps uint16
	// Mints lists the mints with a value. While more tasks are due than the keeper can start, every second
	// task uses one of these mints, larger escrows earlier, so that negotiations of worthless mints delay
	// each such task by one task at most. If nil, the mints with a [token].WellKnownSymbol are used.
	Mints []solana.PublicKey
	// MaxFee limits an action's cost in lamports, including the rent of accounts that it creates. If zero,
	// DefaultMaxFee is used.
	MaxFee uint64
	// DailyBudget limits the cost of all actions within 24 hours, in lamports. Closes use the part
	// CloseShareBps, other actions the rest; an action that could exceed this part waits. If zero,
	// DefaultDailyBudget is used.
	DailyBudget uint64
	// Store stores the expenses. The wallet's keepers that use the same database share DailyBudget, even
	// across restarts. If nil, the expenses are kept in memory, and a restarted keeper starts with the whole
	// budget again.
	Store Store
	// DryRun reports the due actions and their costs, and signs nothing.
	DryRun bool
	// Check, if set, is called in a dry run for each action whose simulation succeeds. An error from Check
	// becomes the action's error. Check can call a policy's CheckRun.
	Check func(context.Context, *haggle.DryRun) error

	// Acted is called with every action that succeeded, or that failed and will be retried, but not with
	// actions that another sender did first. Calls come from several goroutines, never concurrently, and
	// should return at once.
	Acted func(Action)
	// Logger logs the same actions and more. If nil, nothing is logged.
	Logger *slog.Logger
}

// Kind is an action's kind.
type Kind string

// The kinds of actions.
const (
	// Expire ends a negotiation past the deadline: [haggle.Client.Expire].
	Expire Kind = "expire"
	// Release pays a milestone that the buyer did not review in time: [haggle.Client.ReleaseMilestone].
	Release Kind = "release"
	// Settle decides the open milestones after their deadline: [haggle.Client.SettleDeadline].
	Settle Kind = "settle"
	// Close closes a negotiation that is over: [haggle.Client.CloseNegotiation].
	Close Kind = "close"
)

// Outcome is an action's outcome.
type Outcome string

// The outcomes.
const (
	// Done: the action is confirmed.
	Done Outcome = "done"
	// WouldDo: with Config.DryRun, the simulation succeeded.
	WouldDo Outcome = "would do"
	// TooExpensive: the action would cost more than Config.MaxFee.
	TooExpensive Outcome = "too expensive"
	// OverBudget: Config.DailyBudget is used up.
	OverBudget Outcome = "over budget"
	// Pending: a payout cannot be delivered, so the negotiation cannot be closed.
	Pending Outcome = "payout pending"
	// Failed: the action failed for another reason, or the outcome is unknown.
	Failed Outcome = "failed"
	// lost: another sender was faster.
	lost Outcome = "lost"
)

// Action is a keeper's attempt to carry out a task.
type Action struct {
	// Kind is the action's kind.
	Kind Kind
	// Negotiation is the negotiation's address.
	Negotiation solana.PublicKey
	// Outcome is the outcome of the attempt.
	Outcome Outcome
	// Cost is the wallet's net loss in lamports: fees and the rent of created accounts, less returned rent,
	// but not less than the fee; an upper estimate if the action was not done.
	Cost uint64
	// Receipt is the receipt of the transaction; nil unless Outcome is Done.
	Receipt *haggle.Receipt
	// Again is the earliest time for the next attempt, by the machine's clock. It is zero if no attempt
	// follows.
	Again time.Time
	// Err is the reason why the action was not done; nil with Done and WouldDo.
	Err error
}

// lists reports whether Mints, or their default, contain the mint.
func (c *Config) lists(mint solana.PublicKey) bool {
	if c.Mints == nil {
		return token.WellKnownSymbol(mint) != ""
	}
	return slices.Contains(c.Mints, mint)
}

func (c Config) withDefaults() (Config, error) {
	if c.ScanEvery < 0 || c.ActionsPerMinute < 0 || c.Concurrency < 0 {
		return c, errors.New("keeper: ScanEvery, ActionsPerMinute and Concurrency cannot be negative")
	}
	if c.CloseShareBps >= wholeBps {
		return c, fmt.Errorf("keeper: CloseShareBps %d: must be 1 to %d, or 0 for the default", c.CloseShareBps, wholeBps-1)
	}
	c.ScanEvery = cmp.Or(c.ScanEvery, DefaultScanEvery)
	c.Grace = max(cmp.Or(c.Grace, DefaultGrace), 0)
	c.Jitter = max(cmp.Or(c.Jitter, DefaultJitter), 0)
	c.ActionsPerMinute = cmp.Or(c.ActionsPerMinute, DefaultActionsPerMinute)
	c.Concurrency = cmp.Or(c.Concurrency, DefaultConcurrency)
	c.CloseShareBps = cmp.Or(c.CloseShareBps, DefaultCloseShareBps)
	c.MaxFee = cmp.Or(c.MaxFee, DefaultMaxFee)
	c.DailyBudget = cmp.Or(c.DailyBudget, DefaultDailyBudget)
	if c.Store == nil {
		c.Store = &memoryStore{}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}
