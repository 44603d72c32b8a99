package store

import (
	"context"
	"errors"

	"github.com/haggle-protocol/haggle/internal/hire/store/queries"
	"github.com/haggle-protocol/haggle/sdk/hire"
)

var _ hire.Pins = (*Store)(nil)

// Pinned implements [hire.Pins].
func (s *Store) Pinned(ctx context.Context, origin string) (hire.Pin, error) {
	row, err := s.read.Pin(ctx, origin)
	if err = s.failed(ctx, err); errors.Is(err, ErrNotFound) {
		return hire.Pin{}, nil
	}
	return hire.Pin{Key: hire.Base58(row.Key), Settlement: hire.Base58(row.Settlement)}, err
}

// Move implements [hire.Pins].
func (s *Store) Move(ctx context.Context, origin string, from, to hire.Pin) (hire.Pin, error) {
	tx, err := s.Begin(ctx)
	if err != nil {
		return hire.Pin{}, err
	}
	defer tx.Cancel()
	if from == (hire.Pin{}) {
		err = tx.queries.AddPin(ctx, origin, string(to.Key), string(to.Settlement))
	} else {
		err = tx.queries.MovePin(ctx, queries.MovePinParams{
			Origin: origin, Key: string(to.Key), Settlement: string(to.Settlement),
			FromKey: string(from.Key), FromSettlement: string(from.Settlement),
		})
	}
	if err != nil {
		return hire.Pin{}, s.failed(ctx, err)
	}
	if err := tx.Commit(); err != nil {
		return hire.Pin{}, err
	}
	return s.Pinned(ctx, origin)
}
