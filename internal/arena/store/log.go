package store

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/haggle-protocol/haggle/internal/arena/store/queries"
	"github.com/haggle-protocol/haggle/internal/audit"
	"github.com/haggle-protocol/haggle/sdk/arena"
)

// Log is a market with its book, as it was loaded and appended to. It is not safe for concurrent use.
type Log struct {
	Book *arena.Book
	head audit.Head
}

// Head returns the state of the audit chain.
func (l *Log) Head() audit.Head { return l.head }

// Load reads a market: its book has all entries of the chain. each, if not nil, gets the events of every entry in their
// order. It returns [ErrNotFound], or an error that wraps database.ErrDamaged if the chain is broken, or if an entry
// is not accepted again as it was.
func (s *Store) Load(ctx context.Context, market string, each func([]arena.Event)) (*Log, error) {
	row, err := s.read.Market(ctx, market)
	if err != nil {
		return nil, s.failed(ctx, err)
	}
	l := &Log{head: audit.Head{Chain: market}}
	if l.Book, err = bookOf(row.Config, row.Seed); err != nil {
		return nil, s.database.Damaged("market "+market, err)
	}
	for {
		rows, err := s.read.Entries(ctx, market, l.head.Length, pageRows)
		if err != nil {
			return nil, s.failed(ctx, err)
		}
		for _, row := range rows {
			events, err := l.follow(row)
			if err != nil {
				return nil, s.database.Damaged(fmt.Sprintf("entry %d of market %s", row.Sequence, market), err)
			}
			if each != nil {
				each(events)
			}
		}
		if len(rows) < pageRows {
			return l, nil
		}
	}
}

func bookOf(config, seed string) (*arena.Book, error) {
	var decoded arena.Config
	if err := json.Unmarshal([]byte(config), &decoded); err != nil {
		return nil, err
	}
	bytes, err := hex.DecodeString(seed)
	if err != nil || len(bytes) != len(decoded.Seed) {
		return nil, errors.New("seed of another size")
	}
	copy(decoded.Seed[:], bytes)
	return arena.NewBook(decoded)
}

// follow enters a row of the chain in the book.
func (l *Log) follow(row queries.EntriesRow) ([]arena.Event, error) {
	var entry audit.Entry
	if err := json.Unmarshal([]byte(row.Entry), &entry); err != nil {
		return nil, err
	}
	// The link is computed again, so that every byte of the row is checked.
	links, head, err := audit.Append(l.head, entry)
	switch {
	case err != nil:
		return nil, err
	case head.Length != row.Sequence || links[0].Text != row.Entry || head.Hash != row.Hash:
		return nil, errors.New("does not follow the chain")
	}
	l.head = head
	if entry.Kind == KindMarket {
		return nil, nil
	}
	var leaf Leaf
	if err := json.Unmarshal(entry.Data, &leaf); err != nil {
		return nil, err
	}
	salt, err := saltOf(row.Salt)
	if err != nil {
		return nil, err
	}
	m, err := arena.Parse([]byte(row.Message))
	if err != nil {
		return nil, err
	}
	accepted, events, err := l.Book.Enter(m, entry.Time, salt)
	switch {
	case err != nil:
		return nil, err
	case !accepted.At.Equal(entry.Time) || accepted.Leaf() != leaf.Leaf:
		return nil, errors.New("message, salt or time are not those of the leaf")
	}
	return events, nil
}

func saltOf(text string) (salt [arena.SaltSize]byte, err error) {
	decoded, err := hex.DecodeString(text)
	if err != nil || len(decoded) != len(salt) {
		return salt, errors.New("salt of another size")
	}
	copy(salt[:], decoded)
	return salt, nil
}

// Append stores entries that the log's book has accepted, in their order, all or none. It returns [ErrLost] if the
// holder no longer has the market; then the book is ahead of the chain and must be loaded again, as after any other
// error.
func (s *Store) Append(ctx context.Context, l *Log, holder string, accepted ...arena.Entry) error {
	if len(accepted) == 0 {
		return nil
	}
	entries := make([]audit.Entry, len(accepted))
	for i, entry := range accepted {
		data, err := json.Marshal(Leaf{Leaf: entry.Leaf()})
		if err != nil {
			return err
		}
		entries[i] = audit.Entry{Time: entry.At, Kind: KindMessage, Data: data}
	}
	links, head, err := audit.Append(l.head, entries...)
	if err != nil {
		return err
	}
	err = s.in(ctx, func(q *queries.Queries) error {
		extended, err := q.ExtendChain(ctx, queries.ExtendChainParams{
			AuditLength: head.Length, AuditHead: head.Hash, ID: head.Chain,
			Now:    accepted[len(accepted)-1].At.UnixMicro(),
			Holder: holder, Before: l.head.Length,
		})
		switch {
		case err != nil:
			return s.failed(ctx, err)
		case extended == 0:
			return fmt.Errorf("%w: %s", ErrLost, head.Chain)
		}
		for i, link := range links {
			if err := q.AddEntry(ctx, queries.AddEntryParams{
				Market: head.Chain, Sequence: link.Sequence, Entry: link.Text, Hash: link.Hash,
				Salt: hex.EncodeToString(accepted[i].Salt[:]), Message: string(accepted[i].Message.Text()),
			}); err != nil {
				return s.failed(ctx, err)
			}
		}
		return nil
	})
	if err == nil {
		l.head = head
	}
	return err
}
