package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/haggle-protocol/haggle/internal/gateway/engine"
)

// Offer names the publisher's offer that a client accepts.
type Offer struct {
	Negotiation string
	// Round is the round of the offer: CurrentRound of the negotiation that the client has read.
	Round int
}

// AcceptRequest is the acceptance of one or several offers. All of them are accepted or none.
type AcceptRequest struct {
	// Client is the client of every negotiation.
	Client int64
	Offers []Offer
	Key    *Key
}

// Terms are the parts of an accepted offer that the store needs.
type Terms struct {
	// PriceMicro is the price per fetch in millionths of the publisher's currency.
	PriceMicro int64
	// ApprovalDeadline is the time until which the publisher can approve the terms. If zero, no approval is
	// needed.
	ApprovalDeadline time.Time
}

// Accept accepts the publisher's current offers for a client. read returns the terms of each; answer returns
// the answer that is stored with the key, and can be nil. The new status is accepted or awaiting_approval.
//
// It returns [ErrOfferChanged] if an offer is not the current one or not of the publisher, [ErrNotFound] if
// the negotiation is of another client, and the errors of [Store.Round].
func (s *Store) Accept(ctx context.Context, request AcceptRequest, read func(State) (Terms, error),
	answer func([]Decision) (json.RawMessage, error),
) (Result, error) {
	round := RoundRequest{Key: request.Key}
	for _, offer := range request.Offers {
		round.Negotiations = append(round.Negotiations, offer.Negotiation)
	}
	return s.Round(ctx, round, func(states []State) (outcome Outcome, err error) {
		for i, state := range states {
			switch {
			case state.Client != request.Client:
				return outcome, fmt.Errorf("negotiation %s: %w", state.ID, ErrNotFound)
			case state.OfferBy != engine.PartyPublisher || state.CurrentRound != request.Offers[i].Round:
				return outcome, fmt.Errorf("negotiation %s: %w", state.ID, ErrOfferChanged)
			}
			terms, err := read(state)
			if err != nil {
				return outcome, err
			}
			decision := Decision{
				Rounds:     []Round{{Actor: engine.PartyClient, Action: "accept", Terms: state.CurrentTerms}},
				Status:     engine.Accepted,
				FinalTerms: state.CurrentTerms, AgreedPriceMicro: &terms.PriceMicro,
			}
			if !terms.ApprovalDeadline.IsZero() {
				decision.Status, decision.Deadline = engine.AwaitingApproval, terms.ApprovalDeadline
				decision.FinalTerms, decision.AgreedPriceMicro = nil, nil
			}
			outcome.Decisions = append(outcome.Decisions, decision)
		}
		if answer != nil {
			outcome.Answer, err = answer(outcome.Decisions)
		}
		return outcome, err
	})
}

// Approval is the publisher's decision on terms that await it.
type Approval struct {
	Negotiation string
	Publisher   int64
	Approved    bool
	// Reason is recorded.
	Reason string
	Key    *Key
}

// Approve ends a negotiation that awaits approval as accepted, with its current terms, or as rejected. price
// returns the price per fetch of the terms in millionths. It returns [ErrNotFound] if the negotiation is of
// another publisher, and the errors of [Store.Round].
func (s *Store) Approve(ctx context.Context, a Approval, price func(State) (int64, error)) (Result, error) {
	return s.change(ctx, RoundRequest{Negotiations: []string{a.Negotiation}, Key: a.Key}, true,
		func(states []State) (Outcome, error) {
			state := states[0]
			if state.Publisher != a.Publisher {
				return Outcome{}, fmt.Errorf("negotiation %s: %w", state.ID, ErrNotFound)
			}
			decision := Decision{
				Status: engine.Rejected, Reason: a.Reason,
				Rounds: []Round{{Actor: engine.PartyPublisher, Action: "refuse_approval", Reasoning: a.Reason}},
			}
			if a.Approved {
				agreed, err := price(state)
				if err != nil {
					return Outcome{}, err
				}
				decision.Status, decision.FinalTerms, decision.AgreedPriceMicro = engine.Accepted, state.CurrentTerms,
					&agreed
				decision.Rounds[0].Action, decision.Rounds[0].Terms = "approve", state.CurrentTerms
			}
			answer, err := json.Marshal(map[string]engine.Status{"status": decision.Status})
			return Outcome{Decisions: []Decision{decision}, Answer: answer}, err
		})
}
