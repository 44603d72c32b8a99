package store

import (
	"context"
	"strconv"
	"time"

	"github.com/haggle-protocol/haggle/internal/audit"
	"github.com/haggle-protocol/haggle/internal/hire/store/queries"
	"github.com/haggle-protocol/haggle/sdk/hire"
)

// MaxPage limits a page.
const MaxPage = 100

// Query selects an agent's conversations.
type Query struct {
	Agent string
	// Open selects conversations open at this time. If zero, all conversations are selected.
	Open time.Time
	// Session selects conversations by session id. Open is ignored then.
	Session *uint64
	// After is Next from the previous page; "" for the first page.
	After string
}

// Page is a page of conversations, sorted by [ConversationID].
type Page struct {
	// Latest is the agent's newest event number in the same snapshot, from 0.
	Latest int64
	States []hire.State
	// Next selects the next page; empty on the last page.
	Next string
}

// Conversations returns a page of conversations.
func (s *Store) Conversations(ctx context.Context, q Query) (page Page, err error) {
	tx, err := s.database.Snapshot(ctx)
	if err != nil {
		return page, s.failed(ctx, err)
	}
	defer tx.Rollback()
	read := s.read.WithTx(tx)
	if page.Latest, err = read.LatestEvent(ctx, q.Agent); err != nil {
		return page, s.failed(ctx, err)
	}
	rows, err := selected(ctx, read, q)
	if err != nil {
		return page, s.failed(ctx, err)
	}
	if len(rows) > MaxPage {
		rows = rows[:MaxPage]
		page.Next = rows[MaxPage-1].ID
	}
	page.States = make([]hire.State, len(rows))
	for i, row := range rows {
		if page.States[i], err = s.state(row.ID, row.State); err != nil {
			return page, err
		}
	}
	return page, nil
}

// selected selects rows for a page, and a further row if any.
func selected(
	ctx context.Context, read *queries.Queries, q Query,
) (rows []queries.ConversationsRow, err error) {
	switch {
	case q.Session != nil:
		found, err := read.ConversationsOfSession(ctx, queries.ConversationsOfSessionParams{
			Session: strconv.FormatUint(*q.Session, 10), Agent: q.Agent, After: q.After, MaxRows: MaxPage + 1,
		})
		for _, row := range found {
			rows = append(rows, queries.ConversationsRow(row))
		}
		return rows, err
	case !q.Open.IsZero():
		found, err := read.OpenConversations(ctx, queries.OpenConversationsParams{
			Now: micros(q.Open), Agent: q.Agent, After: q.After, MaxRows: MaxPage + 1,
		})
		for _, row := range found {
			rows = append(rows, queries.ConversationsRow(row))
		}
		return rows, err
	}
	return read.Conversations(ctx, MaxPage+1, q.Agent, q.After)
}

// State returns a conversation's state by [ConversationID]. It returns [ErrNotFound] if the conversation is
// missing.
func (s *Store) State(ctx context.Context, id string) (hire.State, error) {
	text, err := s.read.Conversation(ctx, id)
	if err != nil {
		return hire.State{}, s.failed(ctx, err)
	}
	return s.state(id, text)
}

// HasDeal reports whether the conversation's parties have accepted a deal.
func (s *Store) HasDeal(ctx context.Context, id string) (bool, error) {
	found, err := s.read.HasSession(ctx, id)
	return found, s.failed(ctx, err)
}

// Named returns the [ConversationID] values matching an agent, a protocol id and a seeker, at most two.
func (s *Store) Named(ctx context.Context, agent, conversation, seeker string) ([]string, error) {
	ids, err := s.read.ConversationsNamed(ctx, seeker, conversation, agent)
	return ids, s.failed(ctx, err)
}

// MaxLinks limits the result of Links.
const MaxLinks = 16

// Links returns links in a conversation's audit chain, at most [MaxLinks], starting after a sequence.
func (s *Store) Links(ctx context.Context, id string, after int64) ([]audit.Link, error) {
	rows, err := s.read.Entries(ctx, id, after, MaxLinks)
	if err != nil {
		return nil, s.failed(ctx, err)
	}
	links := make([]audit.Link, len(rows))
	for i, row := range rows {
		links[i] = audit.Link{Chain: id, Sequence: row.Sequence, Text: row.Entry, Hash: row.Hash}
	}
	return links, nil
}

// Latest returns the newest messages in a conversation, up to limit, oldest first.
func (s *Store) Latest(ctx context.Context, id string, limit int) ([]*hire.Message, error) {
	entries, err := s.read.LatestEntries(ctx, id, int32(limit))
	if err != nil {
		return nil, s.failed(ctx, err)
	}
	messages := make([]*hire.Message, len(entries))
	for i, text := range entries {
		if messages[len(entries)-1-i], _, err = s.Entry(audit.Link{Chain: id, Text: text}); err != nil {
			return nil, err
		}
	}
	return messages, nil
}

// Contains reports whether a message is in any conversation.
func (s *Store) Contains(ctx context.Context, message hire.Hash) (bool, error) {
	found, err := s.read.HasMessageAnywhere(ctx, string(message))
	return found, s.failed(ctx, err)
}

// Awaiting is a conversation that awaits a contract.
type Awaiting struct {
	// ID is [ConversationID].
	ID string
	// AcceptedAt is when both had accepted.
	AcceptedAt time.Time
}

// AwaitingContract lists conversations with a second accept since a given time and a missing contract, oldest
// first.
func (s *Store) AwaitingContract(ctx context.Context, since time.Time) ([]Awaiting, error) {
	rows, err := s.read.AwaitingContract(ctx, max(micros(since), 0))
	awaiting := make([]Awaiting, len(rows))
	for i, row := range rows {
		awaiting[i] = Awaiting{row.ID, timeOf(row.AcceptedAt)}
	}
	return awaiting, s.failed(ctx, err)
}

// Message returns a stored message by hash, with the arrival time. It returns [ErrNotFound] if it is missing.
func (s *Store) Message(ctx context.Context, id string, hash hire.Hash) (*hire.Message, time.Time, error) {
	text, err := s.read.EntryOfMessage(ctx, string(hash), id)
	if err != nil {
		return nil, time.Time{}, s.failed(ctx, err)
	}
	return s.Entry(audit.Link{Chain: id, Text: text})
}
