package arena

import (
	"bytes"
	"time"
)

// Entry is an accepted message in the log of a market.
type Entry struct {
	// At is the operator's time, in microseconds. It is later than that of the entry before.
	At time.Time
	// Salt hides the message in the public log.
	Salt    [SaltSize]byte
	Message *Message
}

// Leaf returns the entry's hash in the public log.
func (e Entry) Leaf() string { return Leaf(e.Salt, e.Message.text) }

// Book is a market with the log of its messages. Its entries, in their order, lead to the same market and to the same
// events again. It is not safe for concurrent use.
type Book struct {
	market *Market
	// latest has the latest entry of each agent, and last the time of the latest of all.
	latest map[string]Entry
	last   time.Time
}

// NewBook returns the book of a market at its opening.
func NewBook(config Config) (*Book, error) {
	market, err := New(config)
	if err != nil {
		return nil, err
	}
	return &Book{market: market, latest: map[string]Entry{}}, nil
}

// Market returns the market. Do not change it.
func (b *Book) Market() *Market { return b.market }

// Next returns the sequence number of the agent's next message.
func (b *Book) Next(agent string) uint64 {
	if latest := b.latest[agent]; latest.Message != nil {
		return latest.Message.draft.Sequence + 1
	}
	return 1
}

// Enter checks a message and applies it, at the time now or, if the log has a later one, directly after it. It returns
// the message's entry, and the events of the time and of the action.
//
// A message that is entered again right after it was accepted changes nothing: the entry is the one from before, with
// no events of the action. A [*Refusal] means that the message has changed nothing and is in no log; events of the time
// may still have come. Any other error means that the market must not continue.
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

// Pass lets time pass, and returns its events. A time before the market's changes nothing.
func (b *Book) Pass(now time.Time) ([]Event, error) {
	if !now.After(b.market.now) {
		return nil, nil
	}
	return b.market.Apply(Input{At: now})
}

// Standing is a market at a time, as one agent sees it.
type Standing struct {
	View View `json:"view"`
	// Shown is the number of the latest event; for a spectator, of the latest public one.
	Shown uint64 `json:"shown"`
	// Next is the sequence number of the agent's next message; 0 for a spectator.
	Next uint64 `json:"next,omitempty"`
	// Review is the agent's own state; nil if it has not joined.
	Review *Review `json:"review,omitempty"`
	// Chats are the agent's side chats, and Invitations those that it has not replied to.
	Chats       []OwnChat `json:"chats,omitempty"`
	Invitations []Invited `json:"invitations,omitempty"`
}

// Standing returns the market as an agent sees it, or a spectator if agent is empty: that one has no Shown.
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
