package service

import (
	"context"
	"slices"
	"time"

	"github.com/haggle-protocol/haggle/internal/hire/store"
	"github.com/haggle-protocol/haggle/sdk/hire"
)

// maxThread limits the messages of a thread.
const maxThread = 32

// Progress is what changes in a conversation.
type Progress struct {
	// State is the state now: an overdue deal is abandoned.
	State hire.State
	// Deliveries are the worker's in the conversation, the oldest first.
	Deliveries []store.Delivered
}

// Equal reports whether nothing has changed.
func (p Progress) Equal(other Progress) bool {
	return p.State == other.State && slices.Equal(p.Deliveries, other.Deliveries)
}

// Thread is a conversation with its latest messages.
type Thread struct {
	Progress
	// Messages are the latest ones, at most 32, the oldest first.
	Messages []*hire.Message
	// AcceptedAt is the arrival of the second accept of the current deal; zero if there is none.
	AcceptedAt time.Time
}

// Progress returns the progress of a conversation by [store.ConversationID]. It returns [store.ErrNotFound] if it does
// not exist.
func (s *Service) Progress(ctx context.Context, id string) (Progress, error) {
	state, err := s.config.Store.State(ctx, id)
	if err != nil {
		return Progress{}, err
	}
	deliveries, err := s.config.Store.Deliveries(ctx, id)
	return Progress{State: state.Expire(s.now()), Deliveries: deliveries}, err
}

// Thread returns a conversation by [store.ConversationID]. It returns [store.ErrNotFound] if it does not exist.
func (s *Service) Thread(ctx context.Context, id string) (*Thread, error) {
	progress, err := s.Progress(ctx, id)
	if err != nil {
		return nil, err
	}
	thread := &Thread{Progress: progress}
	for link, err := range s.links(ctx, id) {
		if err != nil {
			return nil, err
		}
		m, at, err := s.config.Store.Entry(link)
		if err != nil {
			return nil, err
		}
		if hash := m.Hash(); progress.State.SeekerAccept != "" && progress.State.WorkerAccept != "" &&
			(hash == progress.State.SeekerAccept || hash == progress.State.WorkerAccept) {
			thread.AcceptedAt = at
		}
		thread.Messages = append(thread.Messages, m)
		if len(thread.Messages) > maxThread {
			thread.Messages = thread.Messages[1:]
		}
	}
	return thread, nil
}

// Settles reports whether the home signs contracts.
func (s *Service) Settles() bool { return s.config.Settlement != nil }

// Rules returns the rules of the home's conversations.
func (s *Service) Rules() hire.Rules { return s.config.Rules }

// Now returns the home's time.
func (s *Service) Now() time.Time { return s.now() }
