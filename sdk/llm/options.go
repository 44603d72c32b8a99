package llm

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"time"
	"unicode/utf8"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
)

// Defaults of Options.
const (
	// DefaultStrategy is the name of [strategy.Linear].
	DefaultStrategy    = "linear"
	DefaultLeadBps     = 1_000
	DefaultMaxTokens   = 4_096
	DefaultCallTimeout = 30 * time.Second
	DefaultReserve     = 10 * time.Second
	DefaultAttempts    = 3
	DefaultConcurrency = 32
)

// MaxPrincipal is the largest size of [Options].Principal, in bytes.
const MaxPrincipal = 16_384

// Options configure a [Player] or [Chooser].
type Options struct {
	// Principal states the owner's wishes in plain text, up to MaxPrincipal bytes. Prompts include it; it
	// changes no limit.
	Principal string
	// Budget limits tokens and cost. It is required.
	Budget Budget
	// Ensemble lists further models. All are asked at once: a majority accepts or ends, otherwise the median
	// offer is made. Late answers are ignored.
	Ensemble []Model

	// Strategy computes the band, and decides when no model returns a usable answer. If nil, [strategy.Linear]
	// is used. Records show Name.
	Strategy bargain.Strategy
	Name     string
	// Opening is the first price of strategies with a curve, in base units of the mint. If zero, the best price
	// is used.
	Opening uint64
	// Reservation is a buyer's highest price, or what a seller receives at least after the fee, in base units of
	// the mint. If zero, or less strict than the agent's limits, agent.Config.Mints applies.
	Reservation uint64
	// Seed selects the strategy's random numbers.
	Seed uint64

	// SlackBps permits utilities below the strategy's target, in basis points of the range from reservation
	// value to best utility, 0 to 10,000. Nothing below the reservation value is permitted.
	SlackBps uint16
	// LeadBps permits offers above the strategy's target, in the same unit, up to 10,000. If zero,
	// DefaultLeadBps is used.
	LeadBps uint16
	// MayWalkAway lets a model end a negotiation. If false, only the strategy can.
	MayWalkAway bool
	// DeclineOnFailure declines invitations when no model returns a usable answer. If false, the agent accepts
	// them within its limits.
	DeclineOnFailure bool

	// MaxTokens limits each response, in output tokens, reasoning included: 64 to 1,000,000. If zero,
	// DefaultMaxTokens is used.
	MaxTokens int
	// CallTimeout limits each request. If zero, DefaultCallTimeout is used.
	CallTimeout time.Duration
	// Reserve is kept for signing and sending before the end of the response window. If zero, DefaultReserve is
	// used.
	Reserve time.Duration
	// Attempts limits the requests for one answer, retries included. If zero, DefaultAttempts is used.
	Attempts int
	// Concurrency limits simultaneous questions to each model; further ones wait. If zero, DefaultConcurrency is
	// used.
	Concurrency int

	// Decided receives each decision before the runtime carries it out. If it returns an error, that error
	// replaces the decision, so that no decision goes unrecorded.
	Decided func(Record) error
	// Logger receives model failures as warnings, and decisions at debug level. If nil, slog.Default() is used.
	Logger *slog.Logger
	// LogPrompts also logs prompts and responses, at info level. They contain the principal's text, the limits
	// and untrusted model output.
	LogPrompts bool
}

func checkPrincipal(text string) error {
	if len(text) > MaxPrincipal || !utf8.ValidString(text) {
		return fmt.Errorf("llm: Principal must be UTF-8 text of at most %d bytes", MaxPrincipal)
	}
	return nil
}

func (o Options) withDefaults(models []Model) (Options, error) {
	if err := checkPrincipal(o.Principal); err != nil {
		return o, err
	}
	switch {
	case o.LeadBps > bps || o.SlackBps > bps:
		return o, fmt.Errorf("llm: LeadBps and SlackBps must be at most %d", bps)
	case o.CallTimeout < 0 || o.Reserve < 0 || o.Attempts < 0 || o.Concurrency < 0 || o.MaxTokens < 0:
		return o, errors.New("llm: CallTimeout, Reserve, Attempts, Concurrency and MaxTokens must not be negative")
	case o.MaxTokens != 0 && (o.MaxTokens < 64 || o.MaxTokens > 1_000_000):
		return o, errors.New("llm: MaxTokens must be from 64 to 1,000,000")
	}
	if err := o.Budget.check(models); err != nil {
		return o, err
	}
	if o.Strategy == nil {
		o.Strategy, o.Name = strategy.Linear(), DefaultStrategy
	}
	o.LeadBps = cmp.Or(o.LeadBps, DefaultLeadBps)
	o.MaxTokens = cmp.Or(o.MaxTokens, DefaultMaxTokens)
	o.CallTimeout = cmp.Or(o.CallTimeout, DefaultCallTimeout)
	o.Reserve = cmp.Or(o.Reserve, DefaultReserve)
	o.Attempts = cmp.Or(o.Attempts, DefaultAttempts)
	o.Concurrency = cmp.Or(o.Concurrency, DefaultConcurrency)
	o.Logger = cmp.Or(o.Logger, slog.Default())
	return o, nil
}
