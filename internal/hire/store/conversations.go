package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/haggle-protocol/haggle/internal/audit"
	"github.com/haggle-protocol/haggle/internal/hire/store/queries"
	"github.com/haggle-protocol/haggle/sdk/hire"
)

// domain separates conversation ids from all other uses of SHA-256.
const domain = "haggle/hire/conversation\x00"

// ConversationID returns a conversation's id in the database: the SHA-256 over the protocol id and both
// parties, in any order. So strangers cannot occupy a conversation. It also names the audit chain.
func ConversationID(conversation, one, other string) string {
	h := sha256.New()
	h.Write([]byte(domain))
	for _, part := range []string{conversation, min(one, other), max(one, other)} {
		h.Write([]byte{byte(len(part) >> 8), byte(len(part))})
		h.Write([]byte(part))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Conversation is a locked conversation.
type Conversation struct {
	// ID is [ConversationID].
	ID    string
	State hire.State
	// Messages counts the parties' messages.
	Messages int64
	// AcceptedAt is when both had accepted, while a contract is missing; zero otherwise.
	AcceptedAt time.Time
	head       audit.Head
}

// Lock locks a conversation until the transaction ends. A missing conversation is created without messages.
func (t *Tx) Lock(ctx context.Context, conversation, from, to string, now time.Time) (*Conversation, error) {
	id := ConversationID(conversation, from, to)
	row, err := t.queries.LockConversation(ctx, queries.LockConversationParams{
		ID: id, ConversationID: conversation, Seeker: from, Worker: to, Now: micros(now),
	})
	if err != nil {
		return nil, t.store.failed(ctx, err)
	}
	return t.store.conversation(id, queries.LockExistingRow(row))
}

// LockExisting locks a conversation by [ConversationID]. It returns [ErrNotFound] if the conversation is
// missing.
func (t *Tx) LockExisting(ctx context.Context, id string) (*Conversation, error) {
	row, err := t.queries.LockExisting(ctx, id)
	if err != nil {
		return nil, t.store.failed(ctx, err)
	}
	return t.store.conversation(id, row)
}

func (s *Store) conversation(id string, row queries.LockExistingRow) (*Conversation, error) {
	state, err := s.state(id, row.State)
	if err != nil {
		return nil, err
	}
	return &Conversation{
		ID: id, State: state, Messages: row.Messages, AcceptedAt: timeOf(row.AcceptedAt),
		head: audit.Head{Chain: id, Length: row.AuditLength, Hash: row.AuditHead},
	}, nil
}

func (s *Store) state(id, text string) (state hire.State, err error) {
	if err := json.Unmarshal([]byte(text), &state); err != nil {
		return state, s.database.Damaged("state of conversation "+id, err)
	}
	return state, nil
}

// Arrival is an accepted message.
type Arrival struct {
	Message *hire.Message
	// At is the arrival time, in microseconds.
	At time.Time
	// State is the conversation state resulting from the message.
	State hire.State
	// Due is the open deal's deadline; zero if no deal is open.
	Due time.Time
	// AcceptedAt is when both had accepted, while a contract is missing; zero otherwise.
	AcceptedAt time.Time
	// Session is the session id if the message was the second accept; nil otherwise.
	Session *uint64
	// Pushes reports whether events are pushed to the recipient's inbox.
	Pushes bool
	// System reports whether the message is a contract.
	System bool
}

// ErrStored: the message is stored already.
var ErrStored = errors.New("hire: message stored before")

// EntryKind marks all audit entries.
const EntryKind = "message"

// Append adds a message to a locked conversation and to the recipient's events. It returns the event number,
// or [ErrStored] if the message is stored already.
func (t *Tx) Append(ctx context.Context, c *Conversation, a Arrival) (int64, error) {
	links, head, err := audit.Append(c.head, audit.Entry{Time: a.At, Kind: EntryKind, Data: a.Message.Text()})
	if err != nil {
		return 0, err
	}
	state, err := json.Marshal(a.State)
	if err != nil {
		return 0, err
	}
	added, err := t.queries.AddEntry(ctx, queries.AddEntryParams{
		Conversation: c.ID, Sequence: head.Length, Entry: links[0].Text, Hash: head.Hash,
		Message: string(a.Message.Hash()),
	})
	if err != nil {
		return 0, t.store.failed(ctx, err)
	}
	if added == 0 {
		return 0, ErrStored
	}
	if !a.System {
		c.Messages++
	}
	if err := t.queries.SaveConversation(ctx, queries.SaveConversationParams{
		ID: c.ID, State: string(state), Phase: string(a.State.Phase), Due: micros(a.Due),
		AcceptedAt: micros(a.AcceptedAt), Messages: c.Messages, AuditLength: head.Length, AuditHead: head.Hash,
		Now: micros(a.At),
	}); err != nil {
		return 0, t.store.failed(ctx, err)
	}
	if a.Session != nil {
		if err := t.queries.AddSession(ctx, strconv.FormatUint(*a.Session, 10), c.ID); err != nil {
			return 0, t.store.failed(ctx, err)
		}
	}
	c.State, c.head = a.State, head
	return t.addEvent(ctx, c, a)
}

// addEvent comes last: it blocks other messages to the recipient until the commit.
func (t *Tx) addEvent(ctx context.Context, c *Conversation, a Arrival) (int64, error) {
	number, err := t.queries.AddEventNumber(ctx, a.Message.To(), micros(a.At), a.Pushes)
	if err == nil {
		err = t.queries.AddEvent(ctx, queries.AddEventParams{
			Recipient: a.Message.To(), Number: number, Conversation: c.ID, Sequence: c.head.Length,
		})
	}
	return number, t.store.failed(ctx, err)
}

// Contains reports whether a message is in the conversation.
func (t *Tx) Contains(ctx context.Context, c *Conversation, message hire.Hash) (bool, error) {
	found, err := t.queries.HasMessage(ctx, string(message), c.ID)
	return found, t.store.failed(ctx, err)
}

// CountOpen counts open deals up to limit.
func (t *Tx) CountOpen(ctx context.Context, now time.Time, limit int) (int, error) {
	count, err := t.queries.CountOpen(ctx, micros(now), int32(limit))
	return int(count), t.store.failed(ctx, err)
}
