package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/haggle-protocol/haggle/sdk/hire"
	"github.com/haggle-protocol/haggle/sdk/store/internal/queries"
)

// HirePins returns the pinned keys of agents whose ids are origins. All agents using the database share them.
// Use it as Pins in a [hire.Resolver].
func (s *Store) HirePins() hire.Pins { return hirePins{s} }

type hirePins struct{ store *Store }

// Pinned implements [hire.Pins].
func (p hirePins) Pinned(ctx context.Context, origin string) (hire.Pin, error) {
	row, err := p.store.queries.HirePin(ctx, origin)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return hire.Pin{}, nil
	case err != nil:
		return hire.Pin{}, p.store.failed(ctx, err)
	}
	_, keyErr := hire.KeyOf(row.Key)
	_, settlementErr := hire.KeyOf(row.Settlement)
	if keyErr != nil || settlementErr != nil && row.Settlement != "" {
		return hire.Pin{}, p.store.damaged("pin of "+origin, errors.New("not a key"))
	}
	return hire.Pin{Key: hire.Base58(row.Key), Settlement: hire.Base58(row.Settlement)}, nil
}

// Move implements [hire.Pins].
func (p hirePins) Move(ctx context.Context, origin string, from, to hire.Pin) (hire.Pin, error) {
	err := p.store.write(ctx, func(q *queries.Queries) error {
		if from == (hire.Pin{}) {
			return q.AddHirePin(ctx, origin, string(to.Key), string(to.Settlement))
		}
		return q.MoveHirePin(ctx, queries.MoveHirePinParams{
			Origin: origin, Key: string(to.Key), Settlement: string(to.Settlement),
			FromKey: string(from.Key), FromSettlement: string(from.Settlement),
		})
	})
	if err != nil {
		return hire.Pin{}, err
	}
	return p.Pinned(ctx, origin)
}
