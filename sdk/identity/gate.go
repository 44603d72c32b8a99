package identity

import (
	"context"
	"errors"
	"fmt"

	"github.com/gagliardetto/solana-go"
)

// MaxScore is the highest trust score.
const MaxScore = 100

// Trust is a source's information about an agent.
type Trust struct {
	// Score is from 0, untrusted, to MaxScore.
	Score float64
	// Registered reports whether the source knows the agent, Verified whether it has verified the agent's
	// identity.
	Registered, Verified bool
}

// valid reports whether the score is in range. NaN compares false.
func (t Trust) valid() bool { return t.Score >= 0 && t.Score <= MaxScore }

// Source returns the trust in agents.
type Source interface {
	// Trust returns the trust in the agent with this address. For unknown agents it returns a zero Trust and
	// a nil error.
	Trust(ctx context.Context, agent solana.PublicKey) (Trust, error)
}

// SourceFunc is a function as a Source.
type SourceFunc func(ctx context.Context, agent solana.PublicKey) (Trust, error)

// Trust calls the function.
func (f SourceFunc) Trust(ctx context.Context, agent solana.PublicKey) (Trust, error) {
	return f(ctx, agent)
}

// FirstOf returns a Source that queries sources in order until one knows the agent. A failure ends the query:
// when an earlier source fails, a later source must not admit an agent that the earlier source would refuse.
func FirstOf(sources ...Source) Source {
	return SourceFunc(func(ctx context.Context, agent solana.PublicKey) (Trust, error) {
		for _, source := range sources {
			trust, err := source.Trust(ctx, agent)
			if err != nil || trust.Registered {
				return trust, err
			}
		}
		return Trust{}, nil
	})
}

// Gate decides which agents an agent engages with. The zero value refuses all.
type Gate struct {
	// Source is queried for each agent. If nil, all agents are refused.
	Source Source
	// Threshold is the lowest admitted score, 0 to MaxScore. Agents that the source does not know are refused
	// even at 0.
	Threshold float64
	// RequireVerified refuses agents not verified by the source, whatever their score.
	RequireVerified bool
}

// ErrRefused matches every *Refusal with errors.Is.
var ErrRefused = errors.New("haggle: counterparty refused")

// Refusal is the reason why an agent is refused.
type Refusal struct {
	// Agent is the refused agent.
	Agent solana.PublicKey
	// Trust is the source's answer, if it succeeded.
	Trust Trust
	// Threshold is the lowest score that the gate admits.
	Threshold float64
	// Cause is the source's error, or nil.
	Cause error
}

func (r *Refusal) Error() string {
	reason := fmt.Sprintf("the trust score %g is below %g", r.Trust.Score, r.Threshold)
	switch {
	case r.Cause != nil:
		reason = fmt.Sprintf("its trust score is unavailable: %v", r.Cause)
	case !r.Trust.Registered:
		reason = "unknown agent"
	case r.Trust.Score >= r.Threshold:
		reason = "not verified"
	}
	return fmt.Sprintf("haggle: counterparty %s refused: %s", r.Agent, reason)
}

// Unwrap returns ErrRefused and the cause.
func (r *Refusal) Unwrap() []error {
	if r.Cause == nil {
		return []error{ErrRefused}
	}
	return []error{ErrRefused, r.Cause}
}

var (
	errNoSource = errors.New("no source configured")
	errNoScore  = errors.New("the source's score is not between 0 and 100")
	errNoLimit  = errors.New("the threshold is not between 0 and 100")
)

// Check admits agents by returning nil, and otherwise returns a *Refusal. A failure never admits an agent.
func (g *Gate) Check(ctx context.Context, agent solana.PublicKey) error {
	refusal := &Refusal{Agent: agent, Threshold: g.Threshold}
	switch {
	case g.Source == nil:
		refusal.Cause = errNoSource
		return refusal
	case !(Trust{Score: g.Threshold}).valid():
		refusal.Cause = errNoLimit
		return refusal
	}
	trust, err := g.Source.Trust(ctx, agent)
	if err == nil && !trust.valid() {
		err = errNoScore
	}
	if err != nil {
		refusal.Cause = err
		return refusal
	}
	refusal.Trust = trust
	if !trust.Registered || trust.Score < g.Threshold || g.RequireVerified && !trust.Verified {
		return refusal
	}
	return nil
}
