package identity

import (
	"context"
	"errors"
	"fmt"

	"github.com/gagliardetto/solana-go"
)

// MaxScore is the highest trust score.
const MaxScore = 100

// Trust is what a source says about an agent.
type Trust struct {
	// Score is from 0, not at all, to MaxScore.
	Score float64
	// Registered says that the source knows the agent at all, and Verified that it has made sure who it is.
	Registered, Verified bool
}

// valid says whether the score is one. (No number is between others that is not a number.)
func (t Trust) valid() bool { return t.Score >= 0 && t.Score <= MaxScore }

// Source says how much an agent is trusted.
type Source interface {
	// Trust is about the agent with this address. An agent that is not known is no error: its Trust is zero.
	Trust(ctx context.Context, agent solana.PublicKey) (Trust, error)
}

// SourceFunc is a Source that is a function.
type SourceFunc func(ctx context.Context, agent solana.PublicKey) (Trust, error)

// Trust calls the function.
func (f SourceFunc) Trust(ctx context.Context, agent solana.PublicKey) (Trust, error) {
	return f(ctx, agent)
}

// FirstOf asks sources in their order, until one knows the agent. A source that fails ends it: who is refused further ahead must
// not get in further behind only because nobody could be asked.
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

// Gate decides whom an agent engages with. The zero value refuses everybody.
type Gate struct {
	// Source is asked. Nil refuses everybody.
	Source Source
	// Threshold is the least score that is let through, 0 to MaxScore. Agents that the source does not know are refused even at 0.
	Threshold float64
	// RequireVerified refuses agents that the source has not verified, whatever their score.
	RequireVerified bool
}

// ErrRefused is what every *Refusal is, for errors.Is.
var ErrRefused = errors.New("haggle: the counterparty is not engaged with")

// Refusal says why a counterparty is not engaged with.
type Refusal struct {
	// Agent is who is refused.
	Agent solana.PublicKey
	// Trust is what the source has said; zero if it has failed.
	Trust Trust
	// Threshold is the least score that would have been let through.
	Threshold float64
	// Cause is why the source has failed; otherwise nil.
	Cause error
}

func (r *Refusal) Error() string {
	reason := fmt.Sprintf("its trust score is %g, and %g is needed", r.Trust.Score, r.Threshold)
	switch {
	case r.Cause != nil:
		reason = fmt.Sprintf("nobody says how much it is trusted: %v", r.Cause)
	case !r.Trust.Registered:
		reason = "it is not known"
	case r.Trust.Score >= r.Threshold:
		reason = "it is not verified"
	}
	return fmt.Sprintf("haggle: %s is not engaged with: %s", r.Agent, reason)
}

// Unwrap is ErrRefused, and the cause.
func (r *Refusal) Unwrap() []error {
	if r.Cause == nil {
		return []error{ErrRefused}
	}
	return []error{ErrRefused, r.Cause}
}

var (
	errNoSource = errors.New("there is no source to ask")
	errNoScore  = errors.New("the source's score is not one of 0 to 100")
	errNoLimit  = errors.New("the threshold is not one of 0 to 100")
)

// Check is nil for an agent that may be engaged with, otherwise a *Refusal. Nobody is let through because something has failed.
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
