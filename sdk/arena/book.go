package arena

import (
	"bytes"
	"time"
)

// Entry is an accepted message in a market log.
type Entry struct {
	// At is the operator's time, in microseconds. It is later than the previous entry's time.
	At time.Time
	// Salt hides the message from readers of the public log.
	Salt    [SaltSize]byte
	Message *Message
}

// Leaf returns the entry's hash in the public log.
func (e Entry) Leaf() string { return Leaf(e.Salt, e.Message.text) }

// Book is a market with a message log. Replaying all entries in order reproduces the same market and events.
// It is not safe for concurrent use.
type Book struct {
	market *Market
	// latest maps agents to their latest entries, and last is the time of the newest entry.
	latest map[string]Entry
	last   time.Time
}

// NewBook returns an opening market's book.
func NewBook(config Config) (*Book, error) {
	market, err := New(config)
	if err != nil {
		return nil, err
	}
	return &Book{market: market, latest: map[string]Entry{}}, nil
}

// Market returns the market. Do not change it.
func (b *Book) Market() *Market { return b.market }

// Next returns the sequence number for the agent's next message.
func (b *Book) Next(agent string) uint64 {
	if latest := b.latest[agent]; latest.Message != nil {
		return latest.Message.draft.Sequence + 1
	}
	return 1
}

// Enter checks and applies msg, at the time now or, if a logged entry is later, directly afterwards. It
// returns the message's entry, and the events caused by the time and the action.
//
// If the agent's latest accepted message is entered again, nothing changes: Enter returns the earlier entry,
// but no action events. A [*Refusal] means that the message changed nothing and was not logged; time events
// may still have occurred. Any other error means that the market must not continue.
func (b *Book) Enter(m *Message, now time.Time, salt [SaltSize]byte) (Entry, []Event, error) {
	at := now.UTC().Truncate(time.Microsecond)
	for _, not := range []time.Time{b.last, b.market.now} {
		if !at.After(not) {
			at = not.Add(time.Microsecond)
		}
	}
	if err := m.Verify(); err != nil {
		return Entry{}, nil, err
	}
	latest := b.latest[m.agent]
	switch {
	case m.draft.Market != b.market.config.Market:
		return Entry{}, nil, refuse(CodeUnknown, "market: another one")
	case latest.Message != nil && bytes.Equal(latest.Message.text, m.text):
		return latest, nil, nil
	case m.draft.Sequence != b.Next(m.agent):
		return Entry{}, nil, refuse(CodeSequence, "sequence: must be %d", b.Next(m.agent))
	case m.draft.Expires.Before(at):
		return Entry{}, nil, refuse(CodeExpired, "expires: has passed")
	case m.draft.Expires.After(at.Add(MaxExpiry)):
		return Entry{}, nil, refuse(CodeExpired, "expires: more than %s from now", MaxExpiry)
	}
	events, err := b.market.Apply(Input{At: at, Agent: m.agent, Seen: m.draft.Seen, Action: m.draft.Action})
	if err != nil {
		return Entry{}, events, err
	}
	entry := Entry{At: at, Salt: salt, Message: m}
	b.latest[m.agent], b.last = entry, at
	return entry, events, nil
}

// Pass advances time, and returns the resulting events. Times earlier than the market's change nothing.
func (b *Book) Pass(now time.Time) ([]Event, error) {
	if !now.After(b.market.now) {
		return nil, nil
	}
	return b.market.Apply(Input{At: now})
}

// Standing is the market state shown to an agent.
type Standing struct {
	View View `json:"view"`
	// Shown is the number of the latest event; for a spectator, of the latest public one.
	Shown uint64 `json:"shown"`
	// Next is the sequence number of the agent's next message; 0 for a spectator.
	Next uint64 `json:"next,omitempty"`
	// Review is the agent's own state, or nil before joining.
	Review *Review `json:"review,omitempty"`
	// Chats lists the agent's side chats, and Invitations the unanswered invitations.
	Chats       []OwnChat `json:"chats,omitempty"`
	Invitations []Invited `json:"invitations,omitempty"`
}

// Standing returns the market state shown to the agent, or to spectators if agent is empty: then Shown is
// unset.
func (b *Book) Standing(agent string) Standing {
	s := Standing{View: b.market.View(), Shown: b.market.Shown(agent)}
	if agent == "" {
		return s
	}
	s.Next = b.Next(agent)
	if review, joined := b.market.Review(agent); joined {
		s.Review = &review
		s.Chats, s.Invitations = b.market.ChatsOf(agent)
	}
	return s
}
