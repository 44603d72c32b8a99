package service

import (
	"context"
	"encoding/json"

	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/identity"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
)

// LeaveRequest ends an open negotiation, with no agreement.
type LeaveRequest struct {
	Negotiation    string             `json:"negotiation_id"`
	Reason         engine.LeaveReason `json:"reason"`
	IdempotencyKey string             `json:"-"`
}

// Leave ends a negotiation as rejected, so that the place among the open negotiations is free at once. The
// caller is the client, or the publisher with the scope approvals:write. The negotiation reason, the round
// and the message name the party that left. Errors are NotFound if the negotiation belongs to others,
// Conflict if it is over, awaits approval or is in progress, and Invalid.
func (s *Service) Leave(ctx context.Context, caller identity.Caller, r LeaveRequest) (_ Answer, err error) {
	defer translate(&err)
	if !r.Reason.IsValid() {
		return Answer{}, invalid("reason", "%.40q is unknown; use one of %v", string(r.Reason),
			engine.LeaveReasons())
	}
	by, owner, hostname, err := s.party(ctx, caller, r.Negotiation)
	if err != nil {
		return Answer{}, err
	}
	key, err := idempotency(owner, r.IdempotencyKey, "leave", r)
	if err != nil {
		return Answer{}, err
	}
	request := store.RoundRequest{Negotiations: []string{r.Negotiation}, Key: key}
	return s.round(acting(ctx, caller), request, func(state store.State) (store.Outcome, Answer, error) {
		decision, answer, err := s.left(state, by, r.Reason, hostname)
		return store.Outcome{Updates: []store.Update{decision}}, answer, err
	})
}

// party returns the caller's side in a negotiation, the owner of the caller's idempotency keys, and the
// publisher's name.
func (s *Service) party(
	ctx context.Context, caller identity.Caller, id string,
) (by engine.Party, owner, hostname string, err error) {
	if caller.Kind != identity.Publisher && !administers(caller) {
		client, hostnames, err := s.participant(ctx, caller, []string{id})
		for _, name := range hostnames {
			hostname = name
		}
		return engine.PartyClient, keyOwner(client), hostname, err
	}
	n, err := s.ownNegotiation(ctx, caller, identity.ApprovalsWrite, id)
	if err != nil {
		return "", "", "", err
	}
	hostname, err = s.hostname(ctx, n.Publisher)
	return engine.PartyPublisher, caller.LimitKey(), hostname, err
}

// left returns the change when a party ends a negotiation, and the answer.
func (s *Service) left(
	state store.State, by engine.Party, reason engine.LeaveReason, hostname string,
) (d store.Update, answer Answer, err error) {
	rules, before, err := s.load(state)
	if err != nil {
		return d, answer, err
	}
	decision, err := engine.Leave(rules, before, by, reason)
	if err != nil {
		return d, answer, err
	}
	data, err := json.Marshal(map[string]engine.LeaveReason{"reason": reason})
	if err != nil {
		return d, answer, err
	}
	d = store.Update{
		Status: decision.Status(), Reason: decision.Reason,
		Rounds: []store.Round{{
			Actor: by, Action: store.ActionLeave, Reasoning: decision.Reason,
			Messages: []store.Message{{Sender: by, Type: store.ActionLeave, Text: decision.Reason, Data: data}},
		}},
	}
	answer, err = answerOf(decision, state, d, hostname, rules.Currency)
	return d, answer, err
}
