// Package chain is a market's log: an audit chain whose first entry describes the market, followed by entries
// containing message leaves. The chain alone is public. Given the messages and the seed for the speaking
// order, the market and all events can be reconstructed from the log.
package chain

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/haggle-protocol/haggle/internal/audit"
	"github.com/haggle-protocol/haggle/sdk/arena"
)

// Entry kinds: the first entry describes the market, all others are messages.
const (
	KindMarket  = "market"
	KindMessage = "message"
)

// description is the data of the first entry.
type description struct {
	Config arena.Config `json:"config"`
	// SeedHash is the SHA-256 of the seed, in lower-case hexadecimal digits.
	SeedHash string `json:"seed_hash"`
}

// leaf is the data in a message entry.
type leaf struct {
	Leaf string `json:"leaf"`
}

// Line is a chain entry and the secrets belonging to it, as exported in a log.
type Line struct {
	audit.Link
	// Seed belongs to the first entry, Salt and Message to the others. They are lower-case hexadecimal
	// digits, and a message in canonical form; "" if not public.
	Seed    string `json:"seed,omitempty"`
	Salt    string `json:"salt,omitempty"`
	Message string `json:"message,omitempty"`
}

// Log is a chain read from the start. It is not safe for concurrent use.
type Log struct {
	// Book is the market after all entries; nil until the first entry, and once a line lacks secrets.
	Book *arena.Book
	// Config describes the market, seed excluded.
	Config arena.Config
	// Messages counts the messages, and Shown the messages whose texts were read.
	Messages, Shown int

	head audit.Head
	last time.Time
}

// Public returns the line as everybody may see it: private message texts are hidden, and the seed until the
// market is resolved.
func (l Line) Public(resolved bool) Line {
	if !resolved {
		l.Seed = ""
	}
	if m, err := arena.Parse([]byte(l.Message)); err != nil || !arena.IsPublic(m.Draft().Action) {
		l.Salt, l.Message = "", ""
	}
	return l
}

// Leaf returns the salted hash of the line's message, and the message time; an empty leaf for the first line.
func (l Line) Leaf() (text string, at time.Time, err error) {
	var entry audit.Entry
	var d leaf
	if err := json.Unmarshal([]byte(l.Text), &entry); err != nil {
		return "", at, err
	}
	if entry.Kind == KindMessage {
		err = json.Unmarshal(entry.Data, &d)
	}
	return d.Leaf, entry.Time.UTC(), err
}

// Begin returns the first line in a market's log.
func Begin(config arena.Config, now time.Time) (Line, error) {
	data, err := json.Marshal(description{Config: config, SeedHash: config.SeedHash()})
	if err != nil {
		return Line{}, err
	}
	links, _, err := audit.Append(
		audit.Head{Chain: config.Market}, audit.Entry{Time: now.UTC(), Kind: KindMarket, Data: data})
	if err != nil {
		return Line{}, err
	}
	return Line{Link: links[0], Seed: hex.EncodeToString(config.Seed[:])}, nil
}

// Head returns the chain's state.
func (l *Log) Head() audit.Head { return l.head }

// Lines returns the lines of entries that the book has accepted after the log's lines. Follow is not needed for them:
// see [Log.Add].
func (l *Log) Lines(accepted ...arena.Entry) ([]Line, error) {
	entries := make([]audit.Entry, len(accepted))
	for i, entry := range accepted {
		data, err := json.Marshal(leaf{entry.Leaf()})
		if err != nil {
			return nil, err
		}
		entries[i] = audit.Entry{Time: entry.At, Kind: KindMessage, Data: data}
	}
	links, _, err := audit.Append(l.head, entries...)
	if err != nil {
		return nil, err
	}
	lines := make([]Line, len(links))
	for i, link := range links {
		lines[i] = Line{
			Link: link, Salt: hex.EncodeToString(accepted[i].Salt[:]), Message: string(accepted[i].Message.Text()),
		}
	}
	return lines, nil
}

// Add adds lines of [Log.Lines] whose entries the book has accepted already.
func (l *Log) Add(lines []Line) {
	for _, line := range lines {
		l.head = audit.Head{Chain: line.Chain, Length: line.Sequence, Hash: line.Hash}
		l.Messages++
		l.Shown++
	}
}

// Follow reads the next line, and returns the events caused by the message. It returns an error if the line
// does not follow the chain, if a secret does not match the hash, or if the book does not accept the message
// as it was.
func (l *Log) Follow(line Line) ([]arena.Event, error) {
	var entry audit.Entry
	if err := json.Unmarshal([]byte(line.Text), &entry); err != nil {
		return nil, err
	}
	if l.head.Chain == "" {
		l.head.Chain = entry.Chain
	}
	// The link is computed again, so that every byte of the line is checked.
	links, head, err := audit.Append(l.head, entry)
	switch {
	case err != nil:
		return nil, err
	case links[0] != line.Link:
		return nil, errors.New("does not follow the chain")
	case (entry.Kind == KindMarket) != (line.Sequence == 1):
		return nil, errors.New("is of another kind")
	case entry.Kind == KindMarket:
		err = l.begin(entry, line.Seed)
		l.head = head
		return nil, err
	case !entry.Time.After(l.last):
		return nil, errors.New("is not later than the entry before")
	}
	events, err := l.message(entry, line)
	if err == nil {
		l.head, l.last = head, entry.Time
		l.Messages++
	}
	return events, err
}

// begin reads the description, and opens the book if the seed is known.
func (l *Log) begin(entry audit.Entry, seed string) error {
	var d description
	if err := json.Unmarshal(entry.Data, &d); err != nil {
		return err
	}
	l.Config = d.Config
	if d.Config.Market != entry.Chain {
		return errors.New("describes another market")
	}
	if seed == "" {
		return nil
	}
	decoded, err := hex.DecodeString(seed)
	copy(d.Config.Seed[:], decoded)
	if err != nil || len(decoded) != len(d.Config.Seed) || d.Config.SeedHash() != d.SeedHash {
		return errors.New("has another seed")
	}
	l.Book, err = arena.NewBook(d.Config)
	return err
}

// message checks a message, and enters it in the book.
func (l *Log) message(entry audit.Entry, line Line) ([]arena.Event, error) {
	var d leaf
	if err := json.Unmarshal(entry.Data, &d); err != nil {
		return nil, err
	}
	if line.Message == "" && line.Salt == "" {
		l.Book = nil
		return nil, nil
	}
	salt, err := arena.ParseSalt(line.Salt)
	if err != nil {
		return nil, err
	}
	m, err := arena.Parse([]byte(line.Message))
	if err != nil {
		return nil, err
	}
	if (arena.Entry{Salt: salt, Message: m}).Leaf() != d.Leaf || string(m.Text()) != line.Message {
		return nil, errors.New("has another message or salt than its leaf")
	}
	l.Shown++
	if l.Book == nil {
		if m.Draft().Market != l.Config.Market {
			return nil, errors.New("has a message of another market")
		}
		return nil, m.Verify()
	}
	accepted, events, err := l.Book.Enter(m, entry.Time, salt)
	switch {
	case err != nil:
		return nil, fmt.Errorf("is not accepted: %w", err)
	case !accepted.At.Equal(entry.Time):
		return nil, errors.New("is accepted at another time")
	}
	return events, nil
}
