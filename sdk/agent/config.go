package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Config defaults.
const (
	DefaultMargin       = 15 * time.Second
	DefaultDecisionTime = 2 * time.Minute
	DefaultConcurrency  = 32
	// DefaultMaxOpen and DefaultMaxOpenPerCounterpart limit a seller's open negotiations.
	DefaultMaxOpen               = 100
	DefaultMaxOpenPerCounterpart = 3
	DefaultBackoff               = 30 * time.Second
)

// Config is the configuration of an agent. The runtime calls the functions from several goroutines, but
// sequentially for each negotiation. Their contexts end when their time is up, when the negotiation changed,
// and with [Runtime.Run].
type Config struct {
	// Decide returns the agent's next move, on the agent's turn and when the agent can accept a midpoint. A
	// seller accepts midpoints without calling Decide: see RevealOnly. Decide is required. It is called once per
	// negotiation state, may take as long as the time to answer lasts, and the decision is carried out if the
	// negotiation did not change meanwhile. The runtime calls it for many negotiations at once: a Decide that
	// needs a scarce resource must wait for it.
	Decide func(ctx context.Context, turn Turn) (Decision, error)
	// Mints lists the mints that the agent sells and buys in, with the agent's limits. They are required. The
	// agent takes no part in negotiations in other mints, and carries out no decision beyond the limits.
	Mints map[solana.PublicKey]Limits

	// Concerns reports whether the agent handles a negotiation of the wallet. In the others the runtime does
	// nothing, and claims no payout. It is called for each snapshot and should return at once. If nil, the
	// agent handles all.
	Concerns func(negotiation *haggle.Snapshot) bool
	// Services lists the hashes of the services for sale: see [protocol.ServiceHash]. The agent declines
	// invitations to sell anything else. If empty, a seller accepts invitations only if Admit is set.
	Services [][32]byte
	// Admit is called before the agent engages: before a seller accepts an invitation, and before a buyer's
	// first move. It checks the counterparty's identity and the terms. On error it is called again, at first
	// 30 seconds later, then less and less often; after [ErrRefused] never again. If nil, the agent engages
	// in every negotiation within the limits.
	Admit func(ctx context.Context, negotiation *haggle.Snapshot) error
	// MaxFeeBps is the highest protocol fee that the agent accepts, 0 to 500 basis points of the price. If
	// nil, [protocol.DefaultProtocolFeeBps] is used.
	MaxFeeBps *uint16
	// MaxDecayBps is the highest decay that the agent accepts, 0 to 1,000 basis points of the effective
	// escrow for each offer. The buyer loses the decay, and the seller is paid from the rest. If nil,
	// [protocol.DefaultDecayRateBps] is used.
	MaxDecayBps *uint16
	// MaxRounds is the largest number of offers per negotiation that the agent accepts, 1 to 20. If zero,
	// [protocol.DefaultMaxRounds] is used.
	MaxRounds uint8
	// MinResponseWindow is the shortest time to answer that the agent accepts, not more than 1 hour and at
	// least twice Margin. If zero, one minute or twice Margin is used, whichever is longer.
	MinResponseWindow time.Duration
	// MaxOpen and MaxOpenPerCounterpart limit a seller's open negotiations, in total and per buyer. A
	// negotiation is open until it reaches a deal or ends. Further invitations wait, the oldest first, until
	// a place is free or their time is over. If zero, DefaultMaxOpen and DefaultMaxOpenPerCounterpart are
	// used.
	MaxOpen, MaxOpenPerCounterpart int
	// Backoff is how long a seller waits, once a negotiation was rejected or expired, until it accepts the
	// buyer's next invitation. It doubles with each further failure, up to an hour, and ends with a deal. A
	// restart forgets it. If zero, DefaultBackoff is used.
	Backoff time.Duration
	// Seal returns the agent's reservation price, sealed for this negotiation: see [protocol.SealPrice]. It
	// is called for the commitment and again for the reveal, perhaps in different processes. Both calls must
	// return the same price, so store [protocol.SealedPrice.Secret]. If nil, the agent takes no part in
	// negotiations that compare sealed prices.
	Seal func(ctx context.Context, negotiation *haggle.Snapshot) (*protocol.SealedPrice, error)
	// RevealOnly makes a seller reveal the price without accepting the midpoint in the same transaction.
	// Decide is then called about the midpoint, and the buyer can replace it by an offer of the seller's
	// revealed price. If false, a seller accepts the midpoint with the reveal and Decide is not called; it
	// reveals only if the midpoint is beyond the limits, or if the program or signer refused the acceptance.
	RevealOnly bool
	// OnMilestone returns the agent's next move about milestones: when a seller can claim, and when a buyer
	// must review. Before OnMilestone is first called on a deal, a seller's escrow is verified: see
	// [Limits].SingleSourceUpTo. If nil, the agent takes no part in negotiations with milestones. The runtime
	// releases milestones whose review window is over without calling it.
	OnMilestone func(ctx context.Context, turn Turn) (MilestoneMove, error)
	// Arbiters lists the arbiters that the agent accepts. They are required with OnMilestone.
	Arbiters []solana.PublicKey
	// MaxReviewHours is the longest milestone review window that a seller accepts, in hours, up to
	// [protocol.MaxReviewHours]. If zero, DefaultMaxReviewHours is used.
	MaxReviewHours uint8

	// Margin is the time between the last call of Decide and the time limit for an answer, up to 30 minutes,
	// and up to half of the response window. If zero, DefaultMargin is used.
	Margin time.Duration
	// DecisionTime is how long Decide, Admit, Seal and OnMilestone may take. A call ends earlier if the time to
	// answer is over. If zero, DefaultDecisionTime is used.
	DecisionTime time.Duration
	// Fallback is carried out on the last call if Decide returns no valid decision: [Reject], [Accept] or an
	// [Offer]. If nil, or if it is not possible either, the agent rejects. A seller whose rejection would
	// forfeit the bond lets the negotiation expire instead.
	Fallback Decision
	// Patience is how long [Runtime.RunOne] waits for a negotiation to engage in. If zero, there is no limit.
	Patience time.Duration
	// Concurrency is how many negotiations are read at once, and how many actions are prepared at once.
	// Actions that have waited for two seconds do not count. If zero, DefaultConcurrency is used.
	Concurrency int

	// Acted is called after each of the agent's actions on chain; not for actions of another process of the
	// same wallet, unless they are in the journal. It should return at once.
	Acted func(Act)
	// Ended is called for each ended negotiation, when nothing is left to do. A seller's settlement is
	// verified before: see [Limits].SingleSourceUpTo. It should return at once.
	Ended func(Result)
	// Failed is called with errors of the agent's functions, each [*InvalidDecision], each [*Refusal], each
	// [*UnverifiedError], and errors of actions. It is not called after errors that the runtime expects to
	// pass: unresponsive nodes, changed negotiations, unknown outcomes, [ErrOffersMissing]. It should return
	// at once.
	Failed func(negotiation solana.PublicKey, err error)
	// Logger receives the same, all other errors, and the warnings of actions ([haggle.Action.Warnings]); at
	// [LevelNotice] the course of each negotiation, and at [slog.LevelInfo] the actions and the calls of the
	// agent's functions. Amounts use the decimals of Mints, times are UTC. If nil, slog.Default() is used.
	Logger *slog.Logger
	// Names holds the setting names used in the advice of [*StartError].
	Names Names
}

// ErrRefused: Admit declines the negotiation for good. It is not called for the negotiation again.
var ErrRefused = errors.New("agent: refused")

// Refusal is the reason why an agent declines a negotiation. errors.Is finds [ErrRefused].
type Refusal struct {
	// Negotiation is the negotiation's address.
	Negotiation solana.PublicKey
	// Reason is the term that the agent does not accept.
	Reason string
	// Err is the error that Reason prints: an [amount.Error] if Reason contains amounts. It can be nil.
	Err error
}

func (r *Refusal) Error() string {
	return fmt.Sprintf("agent: negotiation %s declined: %s", r.Negotiation, r.Reason)
}

// Unwrap returns ErrRefused and Err.
func (r *Refusal) Unwrap() []error {
	if r.Err == nil {
		return []error{ErrRefused}
	}
	return []error{ErrRefused, r.Err}
}

// Act is an executed on-chain action.
type Act struct {
	// Name is the instruction's name in the IDL.
	Name string
	// Before is the negotiation as it was when the action was sent.
	Before *haggle.Snapshot
	// Side is the agent's side.
	Side protocol.OfferSide
	// Receipt is the action's receipt.
	Receipt *haggle.Receipt
}

// Result is a negotiation's end.
type Result struct {
	// Negotiation is the negotiation's address.
	Negotiation solana.PublicKey
	// Side is the agent's side.
	Side protocol.OfferSide
	// Counterpart is the counterparty.
	Counterpart solana.PublicKey
	// CreatedAt is the negotiation's creation time in Unix seconds, and Mint the payment mint. They are zero
	// if no node returns a closed negotiation's events.
	CreatedAt int64
	Mint      solana.PublicKey
	// Status is Settled, Rejected or Expired. It differs if the negotiation is closed and the node no longer
	// returns the events, and in the result of [Runtime.RunOne] for an invitation whose time is over.
	Status protocol.NegotiationStatus
	// Price is the paid price in the mint's base units, the fee included; zero if there is no deal.
	Price uint64
	// Fee is the protocol's part of the price, in the mint's base units.
	Fee uint64
	// Rounds is the number of offers.
	Rounds uint8
}

func (c Config) withDefaults() (Config, error) {
	switch {
	case c.Decide == nil:
		return c, errors.New("agent: Decide not set")
	case c.MaxOpen < 0, c.MaxOpenPerCounterpart < 0, c.Backoff < 0:
		return c, errors.New("agent: MaxOpen, MaxOpenPerCounterpart and Backoff must not be negative")
	case c.Margin < 0, c.DecisionTime < 0, c.Patience < 0, c.Concurrency < 0:
		return c, errors.New("agent: Margin, DecisionTime, Patience and Concurrency must not be negative")
	}
	if _, waits := c.Fallback.(Wait); waits {
		return c, errors.New("agent: Fallback must not be Wait: no time is left then")
	}
	c.Margin = cmp.Or(c.Margin, DefaultMargin)
	c.MinResponseWindow = cmp.Or(c.MinResponseWindow,
		max(time.Duration(protocol.MinResponseWindow)*time.Second, 2*c.Margin))
	c.DecisionTime = cmp.Or(c.DecisionTime, DefaultDecisionTime)
	c.Concurrency = cmp.Or(c.Concurrency, DefaultConcurrency)
	c.MaxOpen = cmp.Or(c.MaxOpen, DefaultMaxOpen)
	c.MaxOpenPerCounterpart = cmp.Or(c.MaxOpenPerCounterpart, DefaultMaxOpenPerCounterpart)
	c.Backoff = cmp.Or(c.Backoff, DefaultBackoff)
	c.MaxFeeBps = cmp.Or(c.MaxFeeBps, new(protocol.DefaultProtocolFeeBps))
	c.MaxDecayBps = cmp.Or(c.MaxDecayBps, new(protocol.DefaultDecayRateBps))
	c.MaxRounds = cmp.Or(c.MaxRounds, protocol.DefaultMaxRounds)
	c.MaxReviewHours = cmp.Or(c.MaxReviewHours, DefaultMaxReviewHours)
	c.Logger = cmp.Or(c.Logger, slog.Default())
	return c, c.checkLimits()
}
