package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// Publisher is a site that licenses its content.
type Publisher struct {
	// ID is set by the store.
	ID int64
	// Hostname is unique.
	Hostname string
	Name     string
	// Currency is the currency of all prices of the publisher, such as USD.
	Currency string
	// PublishedFloorMicro is the lowest price per fetch that the publisher makes public, in millionths of the
	// currency. It is nil if there is none.
	PublishedFloorMicro *int64
	// Active reports whether the publisher accepts new negotiations.
	Active               bool
	CreatedAt, UpdatedAt time.Time
}

const publisherColumns = `id, hostname, name, currency, published_floor_micro, is_active, created_at,
	updated_at`

func scanPublisher(scan func(...any) error) (p Publisher, err error) {
	err = scan(&p.ID, &p.Hostname, &p.Name, &p.Currency, &p.PublishedFloorMicro, &p.Active,
		scanTime{&p.CreatedAt}, scanTime{&p.UpdatedAt})
	return p, err
}

// CreatePublisher adds a publisher. A repetition of a request with an idempotency key returns the publisher
// of the first one. It returns [ErrExists] if another one has the hostname, and [ErrKeyReused].
func (s *Store) CreatePublisher(ctx context.Context, p Publisher, key *Key) (Publisher, error) {
	added, _, err := addOnce(ctx, s, key, func(t *transaction) (Publisher, error) {
		return one(ctx, t, "publisher "+p.Hostname, scanPublisher, `INSERT INTO publishers
			(hostname, name, currency, published_floor_micro, is_active, created_at, updated_at)
			VALUES ($1, $2, $3, $4, $5, $6, $6) RETURNING `+publisherColumns,
			p.Hostname, p.Name, p.Currency, p.PublishedFloorMicro, p.Active, micro(s.now()))
	})
	return added, err
}

// UpdatePublisher locks the row of a publisher, calls change, and stores all fields but the id and the hostname.
// It returns [ErrNotFound] if no publisher has the id. An error of change is returned, and nothing is stored.
func (s *Store) UpdatePublisher(
	ctx context.Context, id int64, change func(*Publisher) error,
) (changed Publisher, err error) {
	name := fmt.Sprintf("publisher %d", id)
	err = s.transact(ctx, func(t *transaction) error {
		p, err := one(ctx, t, name, scanPublisher,
			t.lock(`SELECT `+publisherColumns+` FROM publishers WHERE id = $1`, "FOR NO KEY UPDATE"), id)
		if err != nil {
			return err
		}
		if err := change(&p); err != nil {
			return err
		}
		changed, err = one(ctx, t, name, scanPublisher, `UPDATE publishers
			SET name = $2, currency = $3, published_floor_micro = $4, is_active = $5, updated_at = $6
			WHERE id = $1 RETURNING `+publisherColumns,
			id, p.Name, p.Currency, p.PublishedFloorMicro, p.Active, micro(s.now()))
		return err
	})
	return changed, err
}

// Publisher returns a publisher, or [ErrNotFound].
func (s *Store) Publisher(ctx context.Context, id int64) (Publisher, error) {
	return one(ctx, s.reader, fmt.Sprintf("publisher %d", id), scanPublisher,
		`SELECT `+publisherColumns+` FROM publishers WHERE id = $1`, id)
}

// PublisherByHostname returns a publisher, or [ErrNotFound].
func (s *Store) PublisherByHostname(ctx context.Context, hostname string) (Publisher, error) {
	return one(ctx, s.reader, "publisher "+hostname, scanPublisher,
		`SELECT `+publisherColumns+` FROM publishers WHERE hostname = $1`, hostname)
}

// Publishers lists the active publishers, newest first.
func (s *Store) Publishers(ctx context.Context, page Page) (List[Publisher], error) {
	return list(ctx, s, page, scanPublisher, func(p Publisher) Cursor {
		return numberedCursor(p.CreatedAt,
			p.ID)
	},
		`SELECT `+publisherColumns+` FROM publishers`, where{{"is_active", nil}})
}

// one returns the only row of a statement. name is the object in the errors.
func one[T any](ctx context.Context, on querier, name string, scan func(func(...any) error) (T, error),
	statement string, arguments ...any,
) (T, error) {
	rows, err := on.query(ctx, statement, arguments...)
	found, err := scan(singleRow{rows, err}.Scan)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		err = fmt.Errorf("%s: %w", name, ErrNotFound)
	case isDuplicate(err):
		err = fmt.Errorf("%s: %w", name, ErrExists)
	}
	return found, classify(err)
}

// many returns all rows of a statement.
func many[T any](ctx context.Context, on querier, scan func(func(...any) error) (T, error), statement string,
	arguments ...any,
) (found []T, err error) {
	rows, err := on.query(ctx, statement, arguments...)
	if err != nil {
		return nil, classify(err)
	}
	defer rows.Close()
	for rows.Next() {
		row, err := scan(rows.Scan)
		if err != nil {
			return nil, err
		}
		found = append(found, row)
	}
	return found, classify(rows.Err())
}
