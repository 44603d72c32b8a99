package keeper

import (
	"cmp"
	"errors"
	"log/slog"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk"
)

// Defaults of a Config.
const (
	DefaultScanEvery        = 5 * time.Minute
	DefaultGrace            = 15 * time.Second
	DefaultJitter           = 10 * time.Second
	DefaultActionsPerMinute = 60
	DefaultConcurrency      = 4
	// DefaultMaxFee is in lamports. It does not suffice for the rent of a token account.
	DefaultMaxFee = 100_000
	// DefaultDailyBudget is in lamports: that of 2,000 transactions without a priority fee.
	DefaultDailyBudget = 10_000_000
)

// Unlimited is a MaxFee or DailyBudget that is never reached.
const Unlimited = ^uint64(0)

// Config says how a keeper works. The zero value is complete.
type Config struct {
	// ScanEvery is how often all negotiations are scanned. If zero, DefaultScanEvery is used. While no hints arrive, they are
	// scanned at least every 30 s.
	ScanEvery time.Duration
	// Grace is how long the parties have to do themselves what has fallen due. Zero is DefaultGrace; negative is none.
	Grace time.Duration
	// Jitter is the most that a keeper waits beyond that, each another time for each negotiation, so that of several keepers one is
	// first. Zero is DefaultJitter; negative is none.
	Jitter time.Duration
	// ActionsPerMinute is the most actions that are begun in a minute. Zero is DefaultActionsPerMinute.
	ActionsPerMinute int
	// Concurrency is how many actions are under way at once. Zero is DefaultConcurrency.
	Concurrency int
	// MaxFee is the most that one action may cost, in lamports, the rent of accounts that it creates included. Zero is DefaultMaxFee.
	MaxFee uint64
	// DailyBudget is the most that all actions of this keeper may cost within 24 hours, in lamports. An action that could exceed
	// it waits. If zero, DefaultDailyBudget is used. Without BudgetFile a restarted keeper has the whole budget again.
	DailyBudget uint64
	// BudgetFile is the path of a file that keeps the expenses when the keeper ends. The highest cost of an action is written to
	// it before the action is sent. Two keepers cannot share it. If empty, the expenses are kept in memory.
	BudgetFile string
	// DryRun says what would be done and at what cost, and signs nothing.
	DryRun bool

	// Acted is told of everything that the keeper has done, or tried in vain and means to try again; not of what somebody else has
	// done before it. It is called by several goroutines, one at a time, and should return at once.
	Acted func(Action)
	// Logger is told the same and more. Nil is silent.
	Logger *slog.Logger
}

// Kind is what is done to a negotiation.
type Kind string

// The kinds.
const (
	// Expire ends a negotiation whose time is over: [haggle.Client.Expire].
	Expire Kind = "expire"
	// Release has a milestone paid that the buyer has been silent on: [haggle.Client.ReleaseMilestone].
	Release Kind = "release"
	// Settle has the milestones decided whose time is over: [haggle.Client.SettleDeadline].
	Settle Kind = "settle"
	// Close clears a negotiation away that is over: [haggle.Client.CloseNegotiation].
	Close Kind = "close"
)

// Outcome is what has come of it.
type Outcome string

// The outcomes.
const (
	// Done: it is done.
	Done Outcome = "done"
	// WouldDo: with Config.DryRun, it could be done.
	WouldDo Outcome = "would do"
	// TooExpensive: it would cost more than Config.MaxFee.
	TooExpensive Outcome = "too expensive"
	// OverBudget: Config.DailyBudget is used up.
	OverBudget Outcome = "over budget"
	// Pending: a payout cannot be delivered, so that the negotiation cannot be closed.
	Pending Outcome = "payout pending"
	// Failed: it failed for another reason, or it is not known whether it has been done.
	Failed Outcome = "failed"
	// lost: somebody else was faster.
	lost Outcome = "lost"
)

// Action is something that a keeper has done, or tried.
type Action struct {
	// Kind is what.
	Kind Kind
	// Negotiation is to which one.
	Negotiation solana.PublicKey
	// Outcome is what has come of it.
	Outcome Outcome
	// Cost is what it has cost in lamports, rent of created accounts included; what it would cost if it has not been done.
	Cost uint64
	// Receipt is the transaction's; nil unless Outcome is Done.
	Receipt *haggle.Receipt
	// Again is when it is tried again at the earliest, by the machine's clock; zero if it is not.
	Again time.Time
	// Err says why it has not been done; nil with Done and WouldDo.
	Err error
}

func (c *Config) budgetFile() *budgetFile {
	if c.BudgetFile == "" {
		return nil
	}
	return &budgetFile{path: c.BudgetFile}
}

func (c Config) withDefaults() (Config, error) {
	if c.ScanEvery < 0 || c.ActionsPerMinute < 0 || c.Concurrency < 0 {
		return c, errors.New("keeper: ScanEvery, ActionsPerMinute and Concurrency cannot be negative")
	}
	c.ScanEvery = cmp.Or(c.ScanEvery, DefaultScanEvery)
	c.Grace = max(cmp.Or(c.Grace, DefaultGrace), 0)
	c.Jitter = max(cmp.Or(c.Jitter, DefaultJitter), 0)
	c.ActionsPerMinute = cmp.Or(c.ActionsPerMinute, DefaultActionsPerMinute)
	c.Concurrency = cmp.Or(c.Concurrency, DefaultConcurrency)
	c.MaxFee = cmp.Or(c.MaxFee, DefaultMaxFee)
	c.DailyBudget = cmp.Or(c.DailyBudget, DefaultDailyBudget)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}
