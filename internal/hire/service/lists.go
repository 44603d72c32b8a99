package service

import (
	"context"
	"errors"
	"iter"

	"github.com/haggle-protocol/haggle/internal/audit"
	"github.com/haggle-protocol/haggle/internal/hire/store"
	"github.com/haggle-protocol/haggle/sdk/hire"
)

// Selection selects an agent's conversations.
type Selection struct {
	Agent string
	// Open selects conversations that expect a message or a contract.
	Open bool
	// Session selects conversations by the session id on chain. Open is ignored then.
	Session *uint64
	// After is Next from the previous page. If it is "", the first page is returned.
	After string
}

// Conversations returns a page of conversations.
func (s *Service) Conversations(ctx context.Context, selected Selection) (store.Page, error) {
	query := store.Query{Agent: selected.Agent, Session: selected.Session, After: selected.After}
	if selected.Open {
		query.Open = s.now()
	}
	page, err := s.config.Store.Conversations(ctx, query)
	// An overdue deal is abandoned.
	for i, state := range page.States {
		page.States[i] = state.Expire(s.now())
	}
	return page, err
}

// Log returns a conversation's audit links. It returns a [*hire.Refusal] with [hire.ReasonParty] if the
// conversation does not exist or the agent is not a party, or with [hire.ReasonConversation] if the seeker
// used the id with several workers.
func (s *Service) Log(
	ctx context.Context, agent, conversation, seeker string,
) (iter.Seq2[audit.Link, error], error) {
	id := store.ConversationID(conversation, agent, seeker)
	if agent == seeker {
		ids, err := s.config.Store.Named(ctx, agent, conversation, seeker)
		if err != nil {
			return nil, err
		}
		switch len(ids) {
		case 0:
			return nil, refuse(hire.ReasonParty, "agent: not a party of the conversation")
		case 1:
			id = ids[0]
		default:
			return nil, refuse(hire.ReasonConversation, "conversation_id: the seeker has used it with several workers")
		}
	} else if state, err := s.config.Store.State(ctx, id); errors.Is(err, store.ErrNotFound) ||
		err == nil && state.Seeker != seeker {
		return nil, refuse(hire.ReasonParty, "agent: not a party of the conversation")
	} else if err != nil {
		return nil, err
	}
	return s.links(ctx, id), nil
}

// links yields a chain's links, page by page.
func (s *Service) links(ctx context.Context, id string) iter.Seq2[audit.Link, error] {
	return func(yield func(audit.Link, error) bool) {
		for after := int64(0); ; {
			page, err := s.config.Store.Links(ctx, id, after)
			if err != nil {
				yield(audit.Link{}, err)
				return
			}
			for _, link := range page {
				if after = link.Sequence; !yield(link, nil) {
					return
				}
			}
			if len(page) < store.MaxLinks {
				return
			}
		}
	}
}
