package party

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/hire"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// findLimit bounds the search for a negotiation's conversation at the home.
const findLimit = time.Minute

// errNoAgreement: no conversation at the home leads to the negotiation.
var errNoAgreement = errors.New("party: no agreement at the home leads to this negotiation")

// of returns the negotiation's agreement.
func (s *settler) of(ctx context.Context, n *haggle.Snapshot) (*agreement, error) {
	return s.lookUp(ctx, n.Address, func(context.Context) (uint64, error) { return n.SessionID, nil })
}

// find returns a negotiation's agreement, even after the negotiation was closed.
func (s *settler) find(ctx context.Context, address solana.PublicKey) (*agreement, error) {
	return s.lookUp(ctx, address, func(ctx context.Context) (uint64, error) {
		for envelope, err := range s.runtime.Chain.Client.History(ctx, address) {
			if err != nil {
				return 0, err
			}
			if created, is := envelope.Event.(*protocol.NegotiationCreated); is {
				return created.SessionID, nil
			}
		}
		return 0, errNoAgreement
	})
}

func (s *settler) lookUp(
	ctx context.Context, address solana.PublicKey, session func(context.Context) (uint64, error),
) (*agreement, error) {
	s.mu.Lock()
	known := s.agreements[address]
	s.mu.Unlock()
	if known != nil {
		return known, nil
	}
	id, err := session(ctx)
	if err != nil {
		return nil, err
	}
	page, err := s.runtime.Home.Conversations(ctx, hire.ConversationQuery{Session: id})
	if err != nil {
		return nil, err
	}
	for _, listed := range page.Conversations {
		if !s.runtime.isMine(listed.Seeker, listed.Worker) {
			continue
		}
		if a, err := s.inConversation(ctx, listed, address); a != nil || err != nil {
			return a, err
		}
	}
	return nil, errNoAgreement
}

// inConversation returns the conversation's agreement that leads to address, or nil.
func (s *settler) inConversation(
	ctx context.Context, listed hire.Conversation, address solana.PublicKey,
) (*agreement, error) {
	counterpart := listed.Worker
	if s.runtime.role == hire.RoleWorker {
		counterpart = listed.Seeker
	}
	t := &tracked{place: place{listed.ID, counterpart}, runtime: s.runtime}
	arrivals, err := s.runtime.history(ctx, t.place)
	if err != nil {
		return nil, err
	}
	c := t.empty()
	for _, arrival := range arrivals {
		if err := c.apply(arrival.Message, arrival.At); err != nil {
			return nil, fmt.Errorf("log of the home: %w", err)
		}
	}
	for _, d := range c.deals {
		a, err := s.agreementOf(ctx, t.contractOf(d), d)
		if err == nil && a.Negotiation == address {
			kept, _ := s.keep(a)
			return kept, nil
		}
	}
	return nil, nil
}

// conversationAt names a negotiation's conversation in reports, or the negotiation if it is not known.
func (s *settler) conversationAt(negotiation solana.PublicKey) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.agreements[negotiation]; a != nil {
		return a.Conversation
	}
	return negotiation.String()
}

// admit checks n against the agreement.
func (s *settler) admit(ctx context.Context, n *haggle.Snapshot) error {
	a, err := s.of(ctx, n)
	if err == nil {
		err = a.terms.Check(n)
	} else if !errors.Is(err, errNoAgreement) {
		return err
	}
	if err != nil {
		return fmt.Errorf("%w: %w", agent.ErrRefused, err)
	}
	return nil
}

// decide offers the agreed price as the seeker, and accepts it as the worker.
func (s *settler) decide(ctx context.Context, turn agent.Turn) (agent.Decision, error) {
	a, err := s.of(ctx, turn.Negotiation)
	if err != nil {
		return nil, err
	}
	if err := a.terms.Check(turn.Negotiation); err != nil {
		return agent.Reject{}, nil
	}
	switch {
	case turn.CanAccept():
		return agent.Accept{}, nil
	case turn.Side == protocol.OfferSideBuyer && turn.CanOffer():
		return agent.Offer{Amount: a.Price}, nil
	}
	return agent.Wait{}, nil
}

// move returns the agent's move about the milestone.
func (s *settler) move(ctx context.Context, turn agent.Turn) (agent.MilestoneMove, error) {
	a, err := s.of(ctx, turn.Negotiation)
	if err != nil {
		return nil, err
	}
	return s.milestone(ctx, a, turn)
}
