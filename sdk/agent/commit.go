package agent

import (
	"context"
	"errors"
	"fmt"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// errDocument reports an offer that cannot carry a commitment.
var errDocument = errors.New("an offer with a terms document cannot carry a commitment")

// WithCommitment returns a [Config].Decide whose offers carry a commitment as their strategy hash: for
// decision functions that package proof cannot replay, such as a language model, which commits to the model
// and the prompt. Commit is called before every move, also before moves that publish nothing, and must return
// the same for the same negotiation, even across restarts. An offer with a Document is invalid.
func WithCommitment(
	decide func(context.Context, Turn) (Decision, error),
	commit func(negotiation *haggle.Snapshot) ([32]byte, error),
) func(context.Context, Turn) (Decision, error) {
	return func(ctx context.Context, turn Turn) (Decision, error) {
		// First, so that the decision cannot depend on a commitment that is still missing.
		carried, err := commitTo(commit, turn.Negotiation)
		if err != nil {
			return nil, err
		}
		decision, err := decide(ctx, turn)
		offer, is := decision.(Offer)
		switch {
		case err != nil || !is:
			return decision, err
		case offer.Document != nil:
			return nil, fmt.Errorf("agent: %w", errDocument)
		case offer.Terms != nil:
			terms := *offer.Terms
			terms.StrategyHash, carried = carried.StrategyHash, &terms
		}
		offer.Terms = carried
		return offer, nil
	}
}

// commitTo returns the terms that carry a commitment.
func commitTo(
	commit func(*haggle.Snapshot) ([32]byte, error), negotiation *haggle.Snapshot,
) (*protocol.Terms, error) {
	commitment, err := commit(negotiation)
	if err != nil {
		return nil, fmt.Errorf("agent: commit to the strategy: %w", err)
	}
	return &protocol.Terms{StrategyHash: commitment}, nil
}
