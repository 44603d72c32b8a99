package service

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/haggle-protocol/haggle/internal/hire/store"
	"github.com/haggle-protocol/haggle/sdk/hire"
	"github.com/haggle-protocol/haggle/sdk/hire/escrow"
)

// storeLimit bounds the transaction that stores a message.
const storeLimit = 15 * time.Second

// ContractWindow is the time from the second accept until the home stops polling for the escrow.
const ContractWindow = time.Hour

// Receive accepts a message: it checks the signature and the conversation's rules, stores the message with
// the recipient's event, and wakes the recipient's streams. The message is durable when it returns nil. It
// returns a [*hire.Refusal] if the message changes nothing, with [hire.ReasonDuplicate] for a stored message,
// and an [*Overload] if the sender must retry later.
func (s *Service) Receive(ctx context.Context, m *hire.Message) error {
	if !s.messages.TryAcquire(1) {
		return &Overload{After: time.Second, Text: "too many messages at once"}
	}
	defer s.messages.Release(1)
	if !IsID(m.To()) || !IsID(m.Conversation()) {
		return refuse(hire.ReasonMalformed, "to, conversation_id: must not contain U+0000")
	}
	if s.isSystem(m) {
		return s.receiveContract(ctx, m)
	}
	if err := s.Verify(ctx, m); err != nil {
		return err
	}
	return s.accept(ctx, m, "")
}

// isSystem reports whether the sender is the home's settlement key.
func (s *Service) isSystem(m *hire.Message) bool {
	return s.config.Settlement != nil && m.From() == s.config.Rules.System
}

// receiveContract confirms a stored contract copy. Only the home holds the settlement key, and it stores each
// copy before delivery.
func (s *Service) receiveContract(ctx context.Context, m *hire.Message) error {
	switch stored, err := s.config.Store.Contains(ctx, m.Hash()); {
	case err != nil:
		return err
	case stored:
		return duplicate()
	}
	return refuse(hire.ReasonParty, "from: the settlement key of this home")
}

func duplicate() error { return refuse(hire.ReasonDuplicate, "the message is stored") }

// accept stores a verified message in a single transaction. id identifies the conversation for contracts;
// messages between the parties use "".
func (s *Service) accept(ctx context.Context, m *hire.Message, id string) error {
	ctx, cancel := context.WithTimeout(ctx, storeLimit)
	defer cancel()
	tx, err := s.config.Store.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Cancel()
	var c *store.Conversation
	if id == "" {
		c, err = tx.Lock(ctx, m.Conversation(), m.From(), m.To(), s.now())
	} else {
		c, err = tx.LockExisting(ctx, id)
	}
	if err != nil {
		return err
	}
	// The clock is read under the lock, so arrival times follow message order.
	arrival, err := s.next(ctx, tx, c, m)
	if err != nil {
		return err
	}
	number, err := tx.Append(ctx, c, arrival)
	if errors.Is(err, store.ErrStored) {
		return duplicate()
	}
	if err != nil {
		return err
	}
	err = tx.Commit()
	// If this fails, the message may still be stored. A spurious wake-up is harmless.
	s.hub.wake(m.To(), number)
	if arrival.Pushes {
		s.pusher.wake()
	}
	if err == nil && s.config.Rules.Lenient && m.InReplyTo() == "" && c.Messages > 1 {
		s.config.Log.WarnContext(ctx, "message without in_reply_to accepted", "conversation", m.Conversation(),
			"from", m.From(), "message", m.Hash())
	}
	return err
}

// next applies the protocol's rules and the home's limits.
func (s *Service) next(
	ctx context.Context, tx *store.Tx, c *store.Conversation, m *hire.Message,
) (store.Arrival, error) {
	now, system := s.now(), s.isSystem(m)
	if c.Messages == 0 && !s.hosts(m.To()) {
		return store.Arrival{}, refuse(hire.ReasonParty, "to: its conversations do not live here")
	}
	next, err := c.State.Next(m, now, s.config.Rules)
	if err == nil && c.Messages >= hire.MaxMessages && !system {
		err = refuse(hire.ReasonTooMany, "the conversation is full: begin another one")
	}
	if err != nil {
		// State knows only the latest message. The log contains all messages.
		switch stored, readErr := tx.Contains(ctx, c, m.Hash()); {
		case readErr != nil:
			err = readErr
		case stored:
			err = duplicate()
		}
		return store.Arrival{}, err
	}
	if c.Messages == 0 || next.Deal != c.State.Deal {
		limit := s.config.Limits.OpenConversations
		switch open, err := tx.CountOpen(ctx, now, limit); {
		case err != nil:
			return store.Arrival{}, err
		case open >= limit:
			return store.Arrival{}, &Overload{After: 10 * time.Second, Text: "too many open conversations"}
		}
	}
	a := store.Arrival{Message: m, At: now, State: next, Pushes: s.pushes(m.To()), System: system}
	return a, s.schedule(&a, c)
}

// schedule sets the deal's deadlines, and the session id on the second accept.
func (s *Service) schedule(a *store.Arrival, c *store.Conversation) error {
	next := a.State
	switch accepted := next.SeekerAccept != "" && next.WorkerAccept != ""; {
	case next.Phase == hire.PhaseContracted && accepted:
		a.AcceptedAt = cmp.Or(c.AcceptedAt, a.At)
		if !a.System {
			session, err := escrow.Session(next.SeekerAccept, next.WorkerAccept)
			if err != nil {
				return err
			}
			a.AcceptedAt, a.Session = a.At, &session
		}
		if s.config.Settlement == nil || next.SeekerContract != "" && next.WorkerContract != "" {
			a.AcceptedAt = time.Time{}
		} else {
			a.Due = a.AcceptedAt.Add(ContractWindow)
		}
	case !next.Due.IsZero():
		a.Due = next.Due
	case next.Phase == hire.PhaseIdle:
		// An inquiry can be followed by a capability or a proposal.
		a.Due = a.At.Add(s.config.Rules.Timeouts.WithDefaults().Acceptance)
	}
	return nil
}
