package service

import (
	"context"
	"errors"
	"time"

	"github.com/haggle-protocol/haggle/internal/gateway/identity"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
)

// ClientChange lists the client fields to change; nil leaves a field unchanged.
type ClientChange struct {
	// Suspended refuses all requests of the client, or permits them again.
	Suspended *bool `json:"suspended,omitempty"`
	// PublicKey replaces the client's signing key, and ends a revocation.
	PublicKey *string `json:"public_key,omitempty"`
}

// UpdateClient suspends or restores a client, or replaces the public key, for administrators only. A
// suspended client's requests, including requests with API keys, are refused with [identity.CodeSuspended];
// the negotiations stay, and end by the publisher or by their timeout. A new public key is valid at once, and
// the former key becomes invalid: no client can register it again. API keys are replaced by RotateKey
// instead.
func (s *Service) UpdateClient(
	ctx context.Context, caller identity.Caller, id int64, c ClientChange,
) (_ Client, err error) {
	defer translate(&err)
	return s.changeClient(ctx, caller, id, func(row *store.Client) error {
		if c.PublicKey != nil {
			if err := replacePublicKey(row, *c.PublicKey); err != nil {
				return err
			}
		}
		switch {
		case c.Suspended == nil:
		case !*c.Suspended:
			row.SuspendedAt = time.Time{}
		case row.SuspendedAt.IsZero():
			row.SuspendedAt = s.store.Now()
		}
		return nil
	})
}

// RevokePublicKey revokes a client's signing key, for administrators only. The client keeps the name and
// negotiations, and can sign again after UpdateClient sets another key. A key revoked before keeps the
// earlier time.
func (s *Service) RevokePublicKey(ctx context.Context, caller identity.Caller, id int64) (_ Client, err error) {
	defer translate(&err)
	return s.changeClient(ctx, caller, id, func(row *store.Client) error {
		if err := requireSigning(*row); err != nil {
			return err
		}
		if row.KeyRevokedAt.IsZero() {
			row.KeyRevokedAt = s.store.Now()
		}
		return nil
	})
}

// changeClient changes a client on behalf of an administrator, and logs the change.
func (s *Service) changeClient(
	ctx context.Context, caller identity.Caller, id int64, change func(*store.Client) error,
) (Client, error) {
	if err := caller.Require(identity.Administer); err != nil {
		return Client{}, err
	}
	var before store.Client
	after, err := s.store.UpdateClient(ctx, id, func(row *store.Client) error {
		before = *row
		return change(row)
	})
	if errors.Is(err, store.ErrExists) {
		taken := conflict(CodeExists, "public_key: another client has the key; choose another one")
		taken.Field = "public_key"
		return Client{}, taken
	}
	if err != nil {
		return Client{}, err
	}
	for event, happened := range map[string]bool{
		"client suspended":                before.SuspendedAt.IsZero() && !after.SuspendedAt.IsZero(),
		"client restored":                 !before.SuspendedAt.IsZero() && after.SuspendedAt.IsZero(),
		"public key of a client replaced": before.PublicKey != after.PublicKey,
		"public key of a client revoked":  before.KeyRevokedAt.IsZero() && !after.KeyRevokedAt.IsZero(),
	} {
		if happened {
			s.log.InfoContext(ctx, event, "client", id, "by", actor(caller))
		}
	}
	return clientView(after), nil
}

// requireSigning returns an error for a client that does not sign requests.
func requireSigning(c store.Client) error {
	if c.Kind == store.ClientEd25519 || c.Kind == store.ClientWebBotAuth {
		return nil
	}
	return conflict(CodeClientKind, "client %d: its kind is %s; only clients of kind %s or %s have a public key", c.ID,
		c.Kind, store.ClientEd25519, store.ClientWebBotAuth)
}

// replacePublicKey gives a client another public key.
func replacePublicKey(row *store.Client, text string) error {
	if err := requireSigning(*row); err != nil {
		return err
	}
	key, err := publicKey(text)
	if err != nil {
		return err
	}
	if text == row.PublicKey {
		if !row.KeyRevokedAt.IsZero() {
			return store.ErrFormerKey
		}
		return nil
	}
	row.Subject, row.PublicKey = signingSubject(clientView(*row).Agent, key), text
	row.KeyRevokedAt = time.Time{}
	return nil
}
