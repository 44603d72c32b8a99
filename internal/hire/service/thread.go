package service

import (
	"context"
	"slices"
	"time"

	"github.com/haggle-protocol/haggle/internal/hire/store"
	"github.com/haggle-protocol/haggle/sdk/hire"
)

// maxMessages limits the result of Messages.
const maxMessages = 32

// Progress is what changes in a conversation.
type Progress struct {
	// State is the current state: an overdue deal is abandoned.
	State hire.State
	// Deliveries lists the worker's deliveries in the conversation, oldest first.
	Deliveries []store.Delivered
	// Now is the home's time when reading the conversation.
	Now time.Time
}

// Equal reports whether nothing has changed.
func (p Progress) Equal(other Progress) bool {
	return p.State == other.State && slices.Equal(p.Deliveries, other.Deliveries)
}

// Thread is a conversation with the latest message from either party.
type Thread struct {
	Progress
	Last *hire.Message
	// LastAt is when Last arrived: once both have accepted, the arrival of the second accept.
	LastAt time.Time
}

// Progress returns a conversation's progress by [store.ConversationID]. It returns [store.ErrNotFound] if it does
// not exist.
func (s *Service) Progress(ctx context.Context, id string) (Progress, error) {
	now := s.now()
	state, err := s.config.Store.State(ctx, id)
	if err != nil {
		return Progress{}, err
	}
	deliveries, err := s.config.Store.Deliveries(ctx, id)
	return Progress{State: state.Expire(now), Deliveries: deliveries, Now: now}, err
}

// Thread returns a conversation by [store.ConversationID]. It returns [store.ErrNotFound] if it does not exist.
func (s *Service) Thread(ctx context.Context, id string) (*Thread, error) {
	progress, err := s.Progress(ctx, id)
	if err != nil {
		return nil, err
	}
	last, at, err := s.config.Store.Message(ctx, id, progress.State.Last)
	return &Thread{Progress: progress, Last: last, LastAt: at}, err
}

// Messages returns a conversation's latest messages, at most 32, oldest first.
func (s *Service) Messages(ctx context.Context, id string) ([]*hire.Message, error) {
	return s.config.Store.Latest(ctx, id, maxMessages)
}

// Contains reports whether the home has stored a message.
func (s *Service) Contains(ctx context.Context, m *hire.Message) (bool, error) {
	return s.config.Store.Contains(ctx, m.Hash())
}

// Settles reports whether the home signs contracts.
func (s *Service) Settles() bool { return s.config.Settlement != nil }

// Rules returns the rules of the home's conversations.
func (s *Service) Rules() hire.Rules { return s.config.Rules }

// Now returns the home's time.
func (s *Service) Now() time.Time { return s.now() }
