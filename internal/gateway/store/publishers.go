package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/haggle-protocol/haggle/internal/gateway/store/queries"
)

// Publisher is a site that licenses content. All fields are public.
type Publisher struct {
	// ID is set by the store.
	ID int64 `json:"id"`
	// Hostname is unique, and never changes.
	Hostname string `json:"hostname"`
	Name     string `json:"name"`
	// Currency applies to all the publisher's prices, such as USD.
	Currency string `json:"currency"`
	// FloorMicro is the lowest price per fetch that any of the publisher's strategies accepts, in millionths
	// of the currency; 0 for none.
	FloorMicro int64 `json:"published_floor_micro"`
	// Active reports whether the publisher accepts new negotiations.
	Active bool `json:"is_active"`
	// CreatedAt is set by the store.
	CreatedAt time.Time `json:"created_at"`
}

func publisherOf(row queries.Publisher) Publisher {
	return Publisher{
		ID: row.ID, Hostname: row.Hostname, Name: row.Name, Currency: row.Currency,
		FloorMicro: int64(row.PublishedFloorMicro), Active: row.IsActive, CreatedAt: time.Time(row.CreatedAt),
	}
}

// CreatePublisher adds a publisher. Repeating a request with an idempotency key returns the first request's
// publisher. It returns [ErrExists] if another publisher uses the hostname, a [NameError] if another uses the
// name or a confusable name, and [ErrKeyReused].
func (s *Store) CreatePublisher(ctx context.Context, p Publisher, key *Key) (Publisher, error) {
	names := formsOf(p.Name)
	added, _, err := addOnce(ctx, s, key, func(t *transaction) (Publisher, error) {
		return single("publisher "+p.Hostname, publisherOf)(t.AddPublisher(ctx, queries.AddPublisherParams{
			Hostname: p.Hostname, Name: p.Name, NameKey: names.key, Skeleton: names.skeleton, Currency: p.Currency,
			PublishedFloorMicro: queries.NullNumber(p.FloorMicro), IsActive: p.Active,
			Now: queries.NullTime(s.now()),
		}))
	})
	if errors.Is(err, ErrExists) {
		if _, found := s.PublisherByHostname(ctx, p.Hostname); errors.Is(found, ErrNotFound) {
			err = s.publisherNameTaken(ctx, p.Name, err)
		}
	}
	return added, err
}

// publisherNameTaken returns a [NameError] if a publisher holds a form of the name, and otherwise err.
func (s *Store) publisherNameTaken(ctx context.Context, name string, err error) error {
	names := formsOf(name)
	other, found := single("publisher", publisherOf)(s.read.PublisherByForms(ctx, names.key, names.skeleton))
	switch {
	case found == nil:
		return nameError("publisher", other.ID, other.Name, name)
	case errors.Is(found, ErrNotFound):
		return err
	}
	return found
}

// UpdatePublisher locks a publisher row, calls change, and stores all fields but the id, the hostname and the
// time. It returns [ErrNotFound] for an unknown id, and a [NameError] if another publisher uses the new name
// or a confusable name. An error from change is returned, and nothing is stored.
func (s *Store) UpdatePublisher(
	ctx context.Context, id int64, change func(*Publisher) error,
) (changed Publisher, err error) {
	result := single(publisherName(id), publisherOf)
	name := ""
	err = s.transact(ctx, func(t *transaction) error {
		row, err := t.LockPublisher(ctx, id)
		p, err := result(row, err)
		if err != nil {
			return err
		}
		if err := change(&p); err != nil {
			return err
		}
		// An older name can lack the forms, because another publisher holds them.
		names := forms{row.NameKey, row.Skeleton}
		if name = p.Name; name != row.Name {
			names = formsOf(name)
		}
		changed, err = result(t.UpdatePublisher(ctx, queries.UpdatePublisherParams{
			ID: id, Name: p.Name, NameKey: names.key, Skeleton: names.skeleton, Currency: p.Currency,
			PublishedFloorMicro: queries.NullNumber(p.FloorMicro), IsActive: p.Active, UpdatedAt: queries.NullTime(s.now()),
		}))
		return err
	})
	if errors.Is(err, ErrExists) {
		err = s.publisherNameTaken(ctx, name, err)
	}
	return changed, err
}

func publisherName(id int64) string { return fmt.Sprintf("publisher %d", id) }

// Publisher returns a publisher, or [ErrNotFound].
func (s *Store) Publisher(ctx context.Context, id int64) (Publisher, error) {
	return single(publisherName(id), publisherOf)(s.read.Publisher(ctx, id))
}

// PublisherByHostname returns a publisher, or [ErrNotFound].
func (s *Store) PublisherByHostname(ctx context.Context, hostname string) (Publisher, error) {
	return single("publisher "+hostname, publisherOf)(s.read.PublisherByHostname(ctx, hostname))
}

// Publishers lists the active publishers, newest first.
func (s *Store) Publishers(ctx context.Context, page Page) (List[Publisher], error) {
	return list(ctx, s, page, publisherOf, func(p Publisher) Cursor { return numberedCursor(p.CreatedAt, p.ID) },
		"publishers", where{{"is_active", nil}})
}
