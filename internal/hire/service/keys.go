package service

import (
	"context"
	"crypto/ed25519"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/haggle-protocol/haggle/sdk/hire"
)

func refuse(reason hire.Reason, text string) error { return &hire.Refusal{Reason: reason, Text: text} }

// Verify checks a message's signature with the sender's key.
func (s *Service) Verify(ctx context.Context, m *hire.Message) error {
	if m.From() == s.config.ID {
		return m.Verify(s.config.Key)
	}
	if err := s.allow(ctx, m.From()); err != nil {
		return err
	}
	return s.resolver.Verify(ctx, m)
}

// Key returns an agent's key. For an origin it is the pinned key, or the card's key at first use. It returns
// a [*hire.Refusal] with [hire.ReasonIdentity] if no key is known, and an [*Overload] if too many cards are
// fetched.
func (s *Service) Key(ctx context.Context, id string) (ed25519.PublicKey, error) {
	if id == s.config.ID {
		return s.config.Key, nil
	}
	if key, err := hire.KeyOf(id); err == nil {
		return key, nil
	}
	if pin, err := s.config.Store.Pinned(ctx, id); err != nil || pin != (hire.Pin{}) {
		key, _ := hire.KeyOf(string(pin.Key)) // the resolver has checked it
		return key, err
	}
	return s.CurrentKey(ctx, id)
}

// CurrentKey returns the key in an agent's card, which may have changed. In addition to errors from
// [Service.Key], it returns a [*hire.Refusal] with [hire.ReasonKey] if the change is not signed by the pinned
// key.
func (s *Service) CurrentKey(ctx context.Context, id string) (ed25519.PublicKey, error) {
	if id == s.config.ID {
		return s.config.Key, nil
	}
	if err := s.allow(ctx, id); err != nil {
		return nil, err
	}
	found, err := s.resolver.Resolve(ctx, id)
	return found.Key, err
}

// allow limits card requests. Strangers choose the origins, so an unlimited home would flood others with
// requests.
func (s *Service) allow(ctx context.Context, id string) error {
	if hire.CheckOrigin(id) != nil {
		return nil
	}
	pin, err := s.config.Store.Pinned(ctx, id)
	if err == nil && pin == (hire.Pin{}) && !s.lookups.Allow() {
		err = &Overload{After: time.Second, Text: "too many requests for cards"}
	}
	return err
}

// IsID reports whether the text is valid as an id. PostgreSQL cannot store U+0000.
func IsID(text string) bool {
	return text != "" && len(text) <= hire.MaxIDLength && utf8.ValidString(text) &&
		!strings.Contains(text, "\x00")
}
