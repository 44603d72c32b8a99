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

// Defaults of a Config.
const (
	DefaultMargin       = 15 * time.Second
	DefaultDecisionTime = 30 * time.Second
	DefaultConcurrency  = 32
)

// Config is the configuration of an agent. Its functions are called from several goroutines, for one negotiation one
// at a time; their contexts end when their time is up, when the state they were called for is no longer current, and
// with [Runtime.Run].
type Config struct {
	// Decide is asked what to do whenever the agent can move: when it is its turn, and when there is a midpoint that it could accept.
	// It is required. Many negotiations are decided on at once: a Decide that needs a scarce resource has to wait for it.
	Decide func(ctx context.Context, turn Turn) (Decision, error)

	// Concerns says which of the wallet's negotiations the agent has to do with. It leaves the others to whoever else acts for the
	// wallet, also what is due to the wallet in them. It is asked at each look, and should answer at once. Nil is all.
	Concerns func(seen *haggle.NegotiationAccount) bool
	// Services are the hashes of what a seller sells: see [protocol.ServiceHash]. Invitations to sell anything else are left alone. If
	// there are none, that is for Admit to find out; without Admit no invitation is accepted.
	Services [][32]byte
	// Admit is asked before the agent engages: before a seller accepts an invitation, and before a buyer makes its first move. It is
	// where a counterparty's identity and the terms are checked. An error leaves the negotiation alone, and Admit is asked again after
	// 30 seconds, then ever more rarely, because a registry can be down; not after one that is [ErrRefused]. Nil admits everyone.
	Admit func(ctx context.Context, seen *haggle.NegotiationAccount) error
	// Bonds has a seller accept invitations that ask for a bond, of any size unless Admit objects. The seller
	// forfeits the bond if it rejects between the buyer's reveal and the buyer's first offer, and with
	// milestones the same share of it as the buyer gets back of the price.
	Bonds bool
	// Seal answers with the agent's reservation price, sealed for this negotiation: see [haggle.SealPrice]. It is asked when a
	// commitment is due and again when the price is to be revealed, perhaps by another process; both times it has to answer with the
	// same, so it keeps [haggle.SealedPrice.Secret]. Nil has nothing to do with negotiations that compare prices under seal.
	Seal func(ctx context.Context, seen *haggle.NegotiationAccount) (*haggle.SealedPrice, error)
	// Deliver is asked about milestones: a seller when it can claim one, a buyer when one is under its review. Nil has nothing to do
	// with negotiations that have milestones. Milestones that the buyer is silent on are released without being asked about.
	Deliver func(ctx context.Context, turn Turn) (MilestoneMove, error)

	// Margin is how long before the time to answer is over Decide is asked for the last time; at most half of the response window
	// is used. Zero is DefaultMargin.
	Margin time.Duration
	// DecisionTime is how long Decide, Admit, Seal and Deliver may take. Zero is DefaultDecisionTime.
	DecisionTime time.Duration
	// Fallback is what is done if Decide fails when it is asked for the last time, or its decision cannot be done: [Reject], [Accept]
	// or an [Offer]. Nil lets the negotiation expire; so does a Reject that would forfeit the bond.
	Fallback Decision
	// Patience is how long [Runtime.RunOne] waits for a negotiation to engage in. Zero is for ever.
	Patience time.Duration
	// Concurrency is how many negotiations are read, or acted on, at once. Zero is DefaultConcurrency.
	Concurrency int

	// Acted is told of everything that the agent has done on chain; but not of what it finds done by another process of the wallet's,
	// unless the journal knows of it. It should return at once.
	Acted func(Act)
	// Ended is told of each negotiation that has ended, when nothing of it is left to do. It should return at once.
	Ended func(Result)
	// Failed is told of everything that has gone wrong and been put off: errors of the agent's functions, an [*InvalidDecision], a
	// [*Refusal], an action's errors. It should return at once.
	Failed func(negotiation solana.PublicKey, err error)
	// Logger is told the same and more. Nil is silent.
	Logger *slog.Logger
}

// ErrRefused: Admit refuses for good.
var ErrRefused = errors.New("agent: refused")

// Refusal says why an agent has nothing to do with a negotiation. errors.Is finds [ErrRefused].
type Refusal struct {
	// Negotiation is the negotiation's address.
	Negotiation solana.PublicKey
	// Reason says what does not suit.
	Reason string
}

func (r *Refusal) Error() string {
	return fmt.Sprintf("agent: %s is left alone: %s", r.Negotiation, r.Reason)
}

// Unwrap is ErrRefused.
func (r *Refusal) Unwrap() error { return ErrRefused }

// Act is something that an agent has done on chain.
type Act struct {
	// Name is the instruction's name in the IDL.
	Name string
	// Before is the negotiation as it was.
	Before *haggle.NegotiationAccount
	// Side is the agent's.
	Side protocol.OfferSide
	// Receipt says what it took.
	Receipt *haggle.Receipt
}

// Result is how a negotiation has ended.
type Result struct {
	// Negotiation is its address.
	Negotiation solana.PublicKey
	// Side is the agent's.
	Side protocol.OfferSide
	// Counterpart is the other party.
	Counterpart solana.PublicKey
	// Status is Settled, Rejected or Expired; any other one of a negotiation that has been closed, and whose events the node does not
	// remember, and at [Runtime.RunOne] of an invitation whose time is over.
	Status protocol.NegotiationStatus
	// Price is what has been paid, in base units of the mint, the fee included; zero without a deal.
	Price uint64
	// Fee is the protocol's part of it.
	Fee uint64
	// Rounds is how many offers have been made.
	Rounds uint8
}

func (c Config) withDefaults() (Config, error) {
	switch {
	case c.Decide == nil:
		return c, errors.New("agent: Decide is not given")
	case c.Margin < 0, c.DecisionTime < 0, c.Patience < 0, c.Concurrency < 0:
		return c, errors.New("agent: Margin, DecisionTime, Patience and Concurrency cannot be negative")
	}
	if _, waits := c.Fallback.(Wait); waits {
		return c, errors.New("agent: Fallback cannot wait: there is no time left")
	}
	c.Margin = cmp.Or(c.Margin, DefaultMargin)
	c.DecisionTime = cmp.Or(c.DecisionTime, DefaultDecisionTime)
	c.Concurrency = cmp.Or(c.Concurrency, DefaultConcurrency)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}
