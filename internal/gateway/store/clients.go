package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/haggle-protocol/haggle/internal/gateway/store/queries"
)

// ClientKind names how a client proves an identity.
type ClientKind string

// The kinds.
const (
	ClientAPIKey     ClientKind = "api_key"
	ClientEd25519    ClientKind = "ed25519"
	ClientWebBotAuth ClientKind = "web_bot_auth"
	ClientAnonymous  ClientKind = "anonymous"
)

// Client opens negotiations.
type Client struct {
	// ID is set by the store.
	ID   int64
	Kind ClientKind
	// Subject is the verified identity, unique among clients of the same kind.
	Subject string
	// Name is the verified registration's name, unique among clients; empty for anonymous clients.
	Name string
	// PublicKey is a signing client's Ed25519 key in base64url; otherwise empty.
	PublicKey string
	CreatedAt time.Time
	// SuspendedAt is zero unless the client is suspended.
	SuspendedAt time.Time
	// KeyRevokedAt is zero unless PublicKey is revoked.
	KeyRevokedAt time.Time
}

// Permitted returns [ErrSuspended] for a suspended client.
func (c Client) Permitted() error {
	if c.SuspendedAt.IsZero() {
		return nil
	}
	return fmt.Errorf("%s: %w", clientName(c.ID), ErrSuspended)
}

func clientName(id int64) string { return fmt.Sprintf("client %d", id) }

func clientOf(row queries.Client) Client {
	return Client{
		ID: row.ID, Kind: ClientKind(row.Kind), Subject: row.Subject, Name: string(row.Name),
		PublicKey: string(row.PublicKey), CreatedAt: time.Time(row.CreatedAt),
		SuspendedAt: time.Time(row.SuspendedAt), KeyRevokedAt: time.Time(row.KeyRevokedAt),
	}
}

// RegisterClient adds a client. Repeating a request with an idempotency key returns the first request's
// client. It returns a [NameError] if another client uses the name or a confusable name, [ErrExists] if
// another client of the kind uses the subject, [ErrFormerKey] if a client had the public key before, and
// [ErrKeyReused].
func (s *Store) RegisterClient(ctx context.Context, c Client, key *Key) (Client, error) {
	names := formsOf(c.Name)
	added, _, err := addOnce(ctx, s, key, func(t *transaction) (Client, error) {
		added, err := single("client "+c.Subject, clientOf)(t.AddClient(ctx, queries.AddClientParams{
			Kind: string(c.Kind), Subject: c.Subject, Name: queries.NullText(c.Name),
			NameKey: names.key, Skeleton: names.skeleton, PublicKey: queries.NullText(c.PublicKey),
			CreatedAt: queries.NullTime(s.now()),
		}))
		if err != nil {
			return added, err
		}
		return added, t.refuseFormerKey(ctx, added)
	})
	if errors.Is(err, ErrExists) {
		other, found := single("client", clientOf)(s.read.ClientByForms(ctx, names.key, names.skeleton))
		switch {
		case found == nil:
			err = nameError("client", other.ID, other.Name, c.Name)
		case !errors.Is(found, ErrNotFound):
			err = found
		}
	}
	return added, err
}

// AnonymousClient returns the anonymous client with a subject. It adds the client if missing.
func (s *Store) AnonymousClient(ctx context.Context, subject string) (Client, error) {
	return single("anonymous client", clientOf)(
		s.write.AnonymousClient(ctx, subject, queries.NullTime(s.now())))
}

// UpdateClient locks a client row, calls change, and stores the subject, the public key, the key revocation
// and the suspension. If the subject changes, the previous subject is stored as a former key. It returns
// [ErrNotFound] for an unknown id, [ErrExists] if another client of the kind uses the new subject, and
// [ErrFormerKey] if a client had the new public key before. An error from change is returned, and nothing is
// stored.
func (s *Store) UpdateClient(
	ctx context.Context, id int64, change func(*Client) error,
) (changed Client, err error) {
	result := single(clientName(id), clientOf)
	err = s.transact(ctx, func(t *transaction) error {
		before, err := result(t.LockClient(ctx, id))
		if err != nil {
			return err
		}
		c := before
		if err := change(&c); err != nil {
			return err
		}
		changed, err = result(t.UpdateClient(ctx, queries.UpdateClientParams{
			ID: id, Subject: c.Subject, PublicKey: queries.NullText(c.PublicKey),
			SuspendedAt: queries.NullTime(c.SuspendedAt), KeyRevokedAt: queries.NullTime(c.KeyRevokedAt),
		}))
		if err != nil || changed.Subject == before.Subject {
			return err
		}
		if err := t.refuseFormerKey(ctx, changed); err != nil {
			return err
		}
		ended := before.KeyRevokedAt
		if ended.IsZero() {
			ended = s.now()
		}
		return t.AddFormerKey(ctx, queries.AddFormerKeyParams{
			Kind: string(before.Kind), Subject: before.Subject, ClientID: id, PublicKey: before.PublicKey,
			EndedAt: queries.NullTime(ended),
		})
	})
	s.keys.forget("")
	return changed, err
}

// refuseFormerKey returns [ErrFormerKey] if a client of any kind replaced or revoked the client's public key.
// Call it after the subject is written: that write waits for any transaction that replaces the same subject.
func (t *transaction) refuseFormerKey(ctx context.Context, c Client) error {
	if c.PublicKey == "" {
		return nil
	}
	_, err := t.EndedPublicKey(ctx, c.PublicKey, c.ID)
	switch err := named("former key", err); {
	case errors.Is(err, ErrNotFound):
		return nil
	case err != nil:
		return err
	}
	return ErrFormerKey
}

// FormerKey is a public key that a client replaced.
type FormerKey struct {
	Client    int64
	PublicKey string
	// EndedAt is when the key was replaced, or revoked if that was earlier.
	EndedAt time.Time
}

// FormerKey returns the key that a client of the kind used with a subject before, or [ErrNotFound].
func (s *Store) FormerKey(ctx context.Context, kind ClientKind, subject string) (FormerKey, error) {
	return single("former key", func(row queries.FormerClientKey) FormerKey {
		return FormerKey{row.ClientID, row.PublicKey, time.Time(row.EndedAt)}
	})(s.read.FormerKey(ctx, string(kind), subject))
}

// Client returns a client, or [ErrNotFound].
func (s *Store) Client(ctx context.Context, id int64) (Client, error) {
	return single(clientName(id), clientOf)(s.read.Client(ctx, id))
}

// ClientBySubject returns a client, or [ErrNotFound].
func (s *Store) ClientBySubject(ctx context.Context, kind ClientKind, subject string) (Client, error) {
	return single("client "+subject, clientOf)(s.read.ClientBySubject(ctx, string(kind), subject))
}

// Clients lists the clients, newest first.
func (s *Store) Clients(ctx context.Context, page Page) (List[Client], error) {
	return list(ctx, s, page, clientOf, func(c Client) Cursor { return numberedCursor(c.CreatedAt, c.ID) },
		"clients", nil)
}

// APIKey is a publisher's or a client's key. The key itself is not stored.
type APIKey struct {
	// ID is set by the store.
	ID string
	// Hash is the key's SHA-256 in lowercase hexadecimal digits. It is unique.
	Hash   string `json:"-"`
	Name   string
	Scopes []string
	// Publisher or Client is the owner; the other field is zero.
	Publisher, Client int64
	CreatedAt         time.Time
	// ExpiresAt is zero if the key does not expire, RevokedAt if it was not revoked.
	ExpiresAt, RevokedAt time.Time
	// ReplacedBy is the key ID added by a rotation; empty if not rotated.
	ReplacedBy string
	// OwnerSuspendedAt is when the client was suspended. Only [Store.KeyWithOwner] sets it.
	OwnerSuspendedAt time.Time
}

// Valid reports whether the key is neither expired nor revoked.
func (k APIKey) Valid(now time.Time) bool {
	return k.RevokedAt.IsZero() && (k.ExpiresAt.IsZero() || now.Before(k.ExpiresAt))
}

func keyOf(row queries.APIKey) APIKey {
	return APIKey{
		ID: row.ID, Hash: row.Hash, Name: row.Name, Scopes: row.Scopes, Publisher: int64(row.PublisherID),
		Client: int64(row.ClientID), CreatedAt: time.Time(row.CreatedAt), ExpiresAt: time.Time(row.ExpiresAt),
		RevokedAt: time.Time(row.RevokedAt), ReplacedBy: string(row.ReplacedBy),
	}
}

func (s *Store) addKey(ctx context.Context, run queries.Querier, k APIKey) (APIKey, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return k, err
	}
	return single("API key", keyOf)(run.AddKey(ctx, queries.AddKeyParams{
		ID: id.String(), Hash: k.Hash, Name: k.Name, Scopes: k.Scopes, PublisherID: queries.NullNumber(k.Publisher),
		ClientID: queries.NullNumber(k.Client), CreatedAt: queries.NullTime(s.now()),
		ExpiresAt: queries.NullTime(k.ExpiresAt),
	}))
}

// CreateKey adds an API key. It returns [ErrKeyReused], and for a repeated request with an idempotency key
// the first request's API key with replayed true and no hash: the database cannot return the key text.
func (s *Store) CreateKey(ctx context.Context, k APIKey, key *Key) (added APIKey, replayed bool, err error) {
	return addOnce(ctx, s, key, func(t *transaction) (APIKey, error) { return s.addKey(ctx, t, k) })
}

// KeyWithOwner returns an API key and the owner's name, or [ErrNotFound]. The key can be expired or revoked.
// Each request with a key calls it first, so it executes a single statement, and at most once in keyLifetime.
func (s *Store) KeyWithOwner(ctx context.Context, hash string) (APIKey, string, error) {
	return s.keys.get(hash, func() (APIKey, string, error) {
		row, err := s.read.KeyWithOwner(ctx, hash)
		k, err := single("API key", keyOf)(row.APIKey, err)
		if row.OwnerSuspendedAt != 0 {
			k.OwnerSuspendedAt = time.UnixMicro(row.OwnerSuspendedAt).UTC()
		}
		return k, row.Owner, err
	})
}

// Key returns an API key, or [ErrNotFound]. The key can be expired or revoked.
func (s *Store) Key(ctx context.Context, id string) (APIKey, error) {
	if err := checkID("API key", id); err != nil {
		return APIKey{}, err
	}
	return single("API key "+id, keyOf)(s.read.Key(ctx, id))
}

// RevokeKey revokes an API key. A key revoked before keeps the earlier time. It returns [ErrNotFound] for an
// unknown id.
func (s *Store) RevokeKey(ctx context.Context, id string) (APIKey, error) {
	if err := checkID("API key", id); err != nil {
		return APIKey{}, err
	}
	revoked, err := single("API key "+id, keyOf)(s.write.RevokeKey(ctx, queries.NullTime(s.now()), id))
	s.keys.forget(revoked.Hash)
	return revoked, err
}

// RotateKey adds an API key with another key's owner, name, scopes and end, atomically. The old key expires
// after an overlap, or at the original end if earlier. It returns [ErrNotFound] for an unknown id, and
// [ErrKeyEnded] if the key is expired, revoked or replaced already.
func (s *Store) RotateKey(ctx context.Context, id, newHash string, overlap time.Duration) (
	added, replaced APIKey, err error,
) {
	if err := checkID("API key", id); err != nil {
		return added, replaced, err
	}
	result := single("API key "+id, keyOf)
	err = s.transact(ctx, func(t *transaction) error {
		old, err := result(t.LockKey(ctx, id))
		if err != nil {
			return err
		}
		now := s.now()
		switch {
		case old.ReplacedBy != "":
			return fmt.Errorf("API key %s: %w: replaced by API key %s; if its text is lost, ask the administrator "+
				"for another key", id, ErrKeyEnded, old.ReplacedBy)
		case !old.Valid(now):
			return fmt.Errorf("API key %s: %w: expired or revoked; create another key", id, ErrKeyEnded)
		}
		end := now.Add(overlap)
		if !old.ExpiresAt.IsZero() && old.ExpiresAt.Before(end) {
			end = old.ExpiresAt
		}
		old.Hash = newHash
		if added, err = s.addKey(ctx, t, old); err != nil {
			return err
		}
		replaced, err = result(t.ReplaceKey(ctx, queries.ReplaceKeyParams{
			ID: id, ExpiresAt: queries.NullTime(end), ReplacedBy: queries.NullText(added.ID),
		}))
		return err
	})
	s.keys.forget(replaced.Hash)
	return added, replaced, err
}

// Keys lists a publisher's or a client's API keys, newest first. The other owner is zero.
func (s *Store) Keys(ctx context.Context, publisher, client int64, page Page) (List[APIKey], error) {
	owner := condition{"publisher_id = ", publisher}
	if client != 0 {
		owner = condition{"client_id = ", client}
	}
	return list(ctx, s, page, keyOf, func(k APIKey) Cursor { return Cursor{k.CreatedAt, k.ID} },
		"api_keys", where{owner})
}

// checkID returns [ErrNotFound] unless id is a UUID.
func checkID(object, id string) error {
	if parsed, err := uuid.Parse(id); err != nil || parsed.String() != id {
		return fmt.Errorf("%s %q: %w", object, id, ErrNotFound)
	}
	return nil
}
