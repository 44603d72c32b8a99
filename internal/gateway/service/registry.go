package service

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/haggle-protocol/haggle/internal/gateway/identity"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
)

// Registry implements [identity.Registry] with a database.
type Registry struct{ Store *store.Store }

var _ identity.Registry = Registry{}

// KeyByHash implements [identity.Registry].
func (r Registry) KeyByHash(ctx context.Context, hash string) (identity.KeyRecord, error) {
	k, owner, err := r.Store.KeyWithOwner(ctx, hash)
	if errors.Is(err, store.ErrNotFound) {
		return r.administrator(ctx, hash)
	}
	if err != nil {
		return identity.KeyRecord{}, err
	}
	record := identity.KeyRecord{
		ID: k.ID, Hash: k.Hash, Scopes: keyView(k).Scopes, Expires: k.ExpiresAt, Revoked: k.RevokedAt,
		Kind: identity.Publisher, Owner: k.Publisher, OwnerName: owner,
	}
	if k.Client != 0 {
		record.Kind, record.Owner, record.Suspended = identity.Client, k.Client, k.OwnerSuspendedAt
	}
	return record, nil
}

func (r Registry) administrator(ctx context.Context, hash string) (identity.KeyRecord, error) {
	k, err := r.Store.AdministratorKeyByHash(ctx, hash)
	if errors.Is(err, store.ErrNotFound) {
		err = identity.ErrUnknown
	}
	return identity.KeyRecord{
		ID: k.ID, Hash: k.Hash, Kind: identity.Administrator, OwnerName: "administrator",
		Scopes: identity.ScopesOf(identity.Administrator), Revoked: k.RevokedAt,
	}, err
}

// ClientByPublicKey implements [identity.Registry].
func (r Registry) ClientByPublicKey(
	ctx context.Context, key ed25519.PublicKey,
) (identity.Registration, error) {
	return r.signing(ctx, store.ClientEd25519, base64.RawURLEncoding.EncodeToString(key))
}

// ClientByAgent implements [identity.Registry].
func (r Registry) ClientByAgent(
	ctx context.Context, agent, thumbprint string,
) (identity.Registration, error) {
	return r.signing(ctx, store.ClientWebBotAuth, agent+" "+thumbprint)
}

func (r Registry) signing(
	ctx context.Context, kind store.ClientKind, subject string,
) (identity.Registration, error) {
	c, err := r.Store.ClientBySubject(ctx, kind, subject)
	if errors.Is(err, store.ErrNotFound) {
		former, err := r.Store.FormerKey(ctx, kind, subject)
		if errors.Is(err, store.ErrNotFound) {
			err = identity.ErrUnknown
		}
		if err != nil {
			return identity.Registration{}, err
		}
		c = store.Client{ID: former.Client, PublicKey: former.PublicKey, KeyRevokedAt: former.EndedAt}
	} else if err != nil {
		return identity.Registration{}, err
	}
	key, err := publicKey(c.PublicKey)
	if err != nil {
		return identity.Registration{}, fmt.Errorf("client %d: %w", c.ID, err)
	}
	return identity.Registration{
		ID: c.ID, Name: c.Name, PublicKey: key, Revoked: c.KeyRevokedAt, Suspended: c.SuspendedAt,
	}, nil
}

// UseNonce implements [identity.Registry].
func (r Registry) UseNonce(ctx context.Context, keyID, nonce string, until time.Time) error {
	err := r.Store.UseNonce(ctx, keyID, nonce, until)
	switch {
	case errors.Is(err, store.ErrExists):
		return identity.ErrReplayed
	case errors.Is(err, store.ErrNonces):
		return fmt.Errorf("%w: %w", identity.ErrTooManyNonces, err)
	}
	return err
}
