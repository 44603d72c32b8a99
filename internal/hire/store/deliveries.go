package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/haggle-protocol/haggle/internal/hire/store/queries"
)

// AddDelivery stores a delivery. It has no effect if this content is stored already.
func (t *Tx) AddDelivery(ctx context.Context, c *Conversation, content []byte, now time.Time) error {
	sum := sha256.Sum256(content)
	return t.store.failed(ctx, t.queries.AddDelivery(ctx, queries.AddDeliveryParams{
		Hash: hex.EncodeToString(sum[:]), Conversation: c.ID, Now: micros(now), Size: int64(len(content)),
		Content: content,
	}))
}

// CountDeliveries returns the number of deliveries with different hashes in the conversation, and the total
// size of all stored deliveries in bytes.
func (t *Tx) CountDeliveries(
	ctx context.Context, c *Conversation, hash string,
) (count, size int64, err error) {
	if count, err = t.queries.CountDeliveries(ctx, c.ID, hash); err == nil {
		size, err = t.queries.SumDeliveries(ctx)
	}
	return count, size, t.store.failed(ctx, err)
}

// Delivery returns the delivery with a hash, in lower-case hexadecimal digits. It returns [ErrNotFound]
// unless the agent is a party.
func (s *Store) Delivery(ctx context.Context, hash, agent string) ([]byte, error) {
	content, err := s.read.Delivery(ctx, hash, agent)
	return content, s.failed(ctx, err)
}

// Delivered describes a delivery.
type Delivered struct {
	// Hash is the content's SHA-256, in lower-case hexadecimal digits.
	Hash string
	At   time.Time
	// Size is in bytes. It is -1 once the content was deleted.
	Size int64
}

// Deliveries describes a conversation's deliveries, the oldest first.
func (s *Store) Deliveries(ctx context.Context, id string) ([]Delivered, error) {
	rows, err := s.read.DeliveriesOf(ctx, id)
	delivered := make([]Delivered, len(rows))
	for i, row := range rows {
		delivered[i] = Delivered{row.Hash, timeOf(row.CreatedAt), row.Size}
	}
	return delivered, s.failed(ctx, err)
}

// DeleteDeliveries deletes the contents of deliveries older than a time, and returns their number.
func (s *Store) DeleteDeliveries(ctx context.Context, before time.Time) (int64, error) {
	tx, err := s.Begin(ctx)
	if err != nil {
		return 0, err
	}
	defer tx.Cancel()
	deleted, err := tx.queries.DeleteDeliveries(ctx, []byte{}, micros(before))
	if err != nil {
		return 0, s.failed(ctx, err)
	}
	return deleted, tx.Commit()
}
