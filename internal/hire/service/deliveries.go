package service

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"github.com/haggle-protocol/haggle/internal/hire/store"
	"github.com/haggle-protocol/haggle/sdk/hire"
)

const (
	// maxDeliveries limits the deliveries per conversation.
	maxDeliveries = 8
	// deleteEvery is the interval between deletions of old deliveries.
	deleteEvery = time.Hour
)

// Delivery identifies a worker's delivery.
type Delivery struct {
	// Agent is the worker's id.
	Agent string
	// Seeker and Conversation identify the conversation.
	Seeker, Conversation string
	// Hash is the content's SHA-256 in lower-case hexadecimal digits.
	Hash string
}

// CheckDelivery checks that the agent is the worker and that the parties have accepted a deal. It returns a
// [*hire.Refusal] otherwise. Call it before reading the content.
func (s *Service) CheckDelivery(ctx context.Context, d Delivery) error {
	id := store.ConversationID(d.Conversation, d.Agent, d.Seeker)
	state, err := s.config.Store.State(ctx, id)
	if errors.Is(err, store.ErrNotFound) || err == nil && (state.Worker != d.Agent || state.Seeker != d.Seeker) {
		return refuse(hire.ReasonParty, "agent: not the worker of the conversation")
	}
	if err != nil {
		return err
	}
	switch accepted, err := s.config.Store.HasDeal(ctx, id); {
	case err != nil:
		return err
	case !accepted:
		return refuse(hire.ReasonState, "delivery: no deal that both sides have accepted")
	}
	return nil
}

// Deliver stores a delivery. Repeated content changes nothing. It returns the errors listed for
// [Service.CheckDelivery], a [*hire.Refusal] for a different hash, for more than 8 MiB or a ninth delivery,
// and an [*Overload] if the home is full.
func (s *Service) Deliver(ctx context.Context, d Delivery, content []byte) error {
	sum := sha256.Sum256(content)
	switch {
	case len(content) > hire.MaxDelivery:
		return refuse(hire.ReasonMalformed, "delivery: longer than 8 MiB")
	case hex.EncodeToString(sum[:]) != d.Hash:
		return refuse(hire.ReasonMalformed, "delivery: not the content with this SHA-256")
	}
	if err := s.CheckDelivery(ctx, d); err != nil {
		return err
	}
	tx, err := s.config.Store.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Cancel()
	c, err := tx.LockExisting(ctx, store.ConversationID(d.Conversation, d.Agent, d.Seeker))
	if err != nil {
		return err
	}
	count, size, err := tx.CountDeliveries(ctx, c, d.Hash)
	switch {
	case err != nil:
		return err
	case count >= maxDeliveries:
		return refuse(hire.ReasonTooMany, "delivery: the conversation has 8")
	case size+int64(len(content)) > s.config.Limits.DeliveryBytes:
		return &Overload{After: time.Hour, Text: "too many deliveries are stored"}
	}
	if err := tx.AddDelivery(ctx, c, content, s.now()); err != nil {
		return err
	}
	return tx.Commit()
}

// Delivery returns the delivery with the given hash. It returns [store.ErrNotFound] unless the agent is a
// party.
func (s *Service) Delivery(ctx context.Context, agent, hash string) ([]byte, error) {
	return s.config.Store.Delivery(ctx, hash, agent)
}

func (s *Service) deleteDeliveries(ctx context.Context) {
	every(ctx, deleteEvery, func() {
		_, err := s.config.Store.DeleteDeliveries(ctx, s.now().Add(-s.config.Limits.DeliveryAge))
		s.failed(ctx, "deleting old deliveries", err)
	})
}
