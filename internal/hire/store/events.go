package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/haggle-protocol/haggle/internal/audit"
)

// MaxEvents limits the result of Events: each can take 64 KiB.
const MaxEvents = 16

// Event carries a message.
type Event struct {
	// Number counts the recipient's events from 1, without gaps.
	Number int64
	// At is the arrival time.
	At time.Time
	// Message is in canonical form.
	Message []byte
}

// Events returns up to [MaxEvents] events for a recipient, in order, starting after a number.
func (s *Store) Events(ctx context.Context, recipient string, after int64) ([]Event, error) {
	rows, err := s.read.Events(ctx, recipient, after, MaxEvents)
	if err != nil {
		return nil, s.failed(ctx, err)
	}
	events := make([]Event, len(rows))
	for i, row := range rows {
		var entry audit.Entry
		if err := json.Unmarshal([]byte(row.Entry), &entry); err != nil {
			return nil, s.database.Damaged(fmt.Sprintf("event %d of %s", row.Number, recipient), err)
		}
		events[i] = Event{Number: row.Number, At: entry.Time, Message: entry.Data}
	}
	return events, nil
}

// ChangedRecipients calls each with every recipient of events since a time, and their newest event number.
func (s *Store) ChangedRecipients(
	ctx context.Context, since time.Time, each func(agent string, last int64),
) error {
	rows, err := s.read.ChangedRecipients(ctx, micros(since))
	for _, row := range rows {
		each(row.Agent, row.Last)
	}
	return s.failed(ctx, err)
}
