package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// ClientKind is the way in which a client proves its identity.
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
	// Subject is unique among the clients of a kind: the identity that was verified.
	Subject string
	// Name is the name of the verified registration, which no other client has. It is empty for an anonymous
	// client.
	Name string
	// PublicKey is the Ed25519 key in base64url of a client that signs its requests; otherwise it is empty.
	PublicKey string
	CreatedAt time.Time
}

const clientColumns = `id, kind, subject, name, public_key, created_at`

func scanClient(scan func(...any) error) (c Client, err error) {
	err = scan(&c.ID, &c.Kind, &c.Subject, text(&c.Name), text(&c.PublicKey), scanTime{&c.CreatedAt})
	return c, err
}

// RegisterClient adds a client. A repetition of a request with an idempotency key returns the client of the
// first one. It returns [ErrNameTaken] if another one has the name, [ErrExists] if another one of the kind
// has the subject, and [ErrKeyReused]. Names are compared in the form of nameKey.
func (s *Store) RegisterClient(ctx context.Context, c Client, key *Key) (Client, error) {
	folded := nameKey(c.Name)
	added, _, err := addOnce(ctx, s, key, func(t *transaction) (Client, error) {
		return one(ctx, t, fmt.Sprintf("client %s", c.Subject), scanClient,
			`INSERT INTO clients (kind, subject, name, name_key, public_key, created_at)
			VALUES ($1, $2, $3, $4, $5, $6) RETURNING `+clientColumns, string(c.Kind), c.Subject, orNull(c.Name),
			orNull(folded), orNull(c.PublicKey), micro(s.now()))
	})
	if errors.Is(err, ErrExists) {
		_, found := one(ctx, s.reader, "client", scanClient,
			`SELECT `+clientColumns+` FROM clients WHERE name_key = $1`, folded)
		if !errors.Is(found, ErrNotFound) {
			err = errors.Join(fmt.Errorf("client %s: %w", c.Name, ErrNameTaken), found)
		}
	}
	return added, err
}

// AnonymousClient returns the anonymous client with a subject. It adds one if there is none.
func (s *Store) AnonymousClient(ctx context.Context, subject string) (Client, error) {
	return one(ctx, s.writer, "anonymous client", scanClient, `INSERT INTO clients (kind, subject, created_at)
		VALUES ('anonymous', $1, $2) ON CONFLICT (kind, subject) DO UPDATE SET subject = excluded.subject
		RETURNING `+clientColumns, subject, micro(s.now()))
}

// Client returns a client, or [ErrNotFound].
func (s *Store) Client(ctx context.Context, id int64) (Client, error) {
	return one(ctx, s.reader, fmt.Sprintf("client %d", id), scanClient,
		`SELECT `+clientColumns+` FROM clients WHERE id = $1`, id)
}

// ClientBySubject returns a client, or [ErrNotFound].
func (s *Store) ClientBySubject(ctx context.Context, kind ClientKind, subject string) (Client, error) {
	return one(ctx, s.reader, "client "+subject, scanClient,
		`SELECT `+clientColumns+` FROM clients WHERE kind = $1 AND subject = $2`, string(kind), subject)
}

// Clients lists the clients, newest first.
func (s *Store) Clients(ctx context.Context, page Page) (List[Client], error) {
	return list(ctx, s, page, scanClient, func(c Client) Cursor { return numberedCursor(c.CreatedAt, c.ID) },
		`SELECT `+clientColumns+` FROM clients`, nil)
}

// APIKey is a key of a publisher or of a client. The key itself is not stored.
type APIKey struct {
	// ID is set by the store.
	ID string
	// Hash is the SHA-256 of the key in lowercase hexadecimal digits. It is unique.
	Hash   string `json:"-"`
	Name   string
	Scopes []string
	// Publisher or Client is the owner; the other one is zero.
	Publisher, Client int64
	CreatedAt         time.Time
	// ExpiresAt is zero for a key that does not expire. RevokedAt is zero for a key that is not revoked.
	ExpiresAt, RevokedAt time.Time
	// ReplacedBy is the ID of the key that a rotation has added; empty without a rotation.
	ReplacedBy string
}

// Valid reports whether the key is neither expired nor revoked.
func (k APIKey) Valid(now time.Time) bool {
	return k.RevokedAt.IsZero() && (k.ExpiresAt.IsZero() || now.Before(k.ExpiresAt))
}

const keyColumns = `id, hash, name, scopes, publisher_id, client_id, created_at, expires_at, revoked_at,
	replaced_by`

func scanKey(scan func(...any) error) (k APIKey, err error) {
	var scopes []byte
	var publisher, client *int64
	err = scan(&k.ID, &k.Hash, &k.Name, text(&scopes), &publisher, &client, scanTime{&k.CreatedAt},
		scanTime{&k.ExpiresAt}, scanTime{&k.RevokedAt}, text(&k.ReplacedBy))
	if err != nil {
		return k, err
	}
	if publisher != nil {
		k.Publisher = *publisher
	}
	if client != nil {
		k.Client = *client
	}
	return k, json.Unmarshal(scopes, &k.Scopes)
}

func (s *Store) addKey(ctx context.Context, on querier, k APIKey) (APIKey, error) {
	if k.Scopes == nil {
		k.Scopes = []string{}
	}
	scopes, err := json.Marshal(k.Scopes)
	if err != nil {
		return k, err
	}
	id, err := uuid.NewV7()
	if err != nil {
		return k, err
	}
	return one(ctx, on, "API key", scanKey, `INSERT INTO api_keys (id, hash, name, scopes, publisher_id,
		client_id, created_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING `+keyColumns, id.String(), k.Hash, k.Name, string(scopes),
		numberOrNull(k.Publisher), numberOrNull(k.Client), micro(s.now()), micro(k.ExpiresAt))
}

func numberOrNull(id int64) any {
	if id == 0 {
		return nil
	}
	return id
}

// CreateKey adds an API key. It returns [ErrKeyReused], and for a repetition of a request with an idempotency
// key the API key of the first one with replayed true, without its hash: the database cannot return the text
// of a key.
func (s *Store) CreateKey(ctx context.Context, k APIKey, key *Key) (added APIKey, replayed bool, err error) {
	return addOnce(ctx, s, key, func(t *transaction) (APIKey, error) { return s.addKey(ctx, t, k) })
}

// KeyWithOwner returns an API key with the name of its owner, or [ErrNotFound]. The key can be expired or
// revoked. Each request with a key begins with it, so it is one statement, and at most one in keyLifetime.
func (s *Store) KeyWithOwner(ctx context.Context, hash string) (APIKey, string, error) {
	return s.keys.get(hash, func() (k APIKey, owner string, err error) {
		k, err = one(ctx, s.reader, "API key", func(scan func(...any) error) (APIKey, error) {
			return scanKey(func(targets ...any) error { return scan(append(targets, text(&owner))...) })
		}, `SELECT `+keyColumns+`, COALESCE((SELECT clients.name FROM clients WHERE clients.id = client_id),
			(SELECT publishers.name FROM publishers WHERE publishers.id = publisher_id))
			FROM api_keys WHERE hash = $1`, hash)
		return k, owner, err
	})
}

// Key returns an API key, or [ErrNotFound]. The key can be expired or revoked.
func (s *Store) Key(ctx context.Context, id string) (APIKey, error) {
	if err := checkID("API key", id); err != nil {
		return APIKey{}, err
	}
	return one(ctx, s.reader, "API key "+id, scanKey, `SELECT `+keyColumns+` FROM api_keys WHERE id = $1`, id)
}

// RevokeKey revokes an API key. A key that is revoked already keeps its time. It returns [ErrNotFound] if no
// key has the id.
func (s *Store) RevokeKey(ctx context.Context, id string) (APIKey, error) {
	if err := checkID("API key", id); err != nil {
		return APIKey{}, err
	}
	revoked, err := one(ctx, s.writer, "API key "+id, scanKey,
		`UPDATE api_keys SET revoked_at = COALESCE(revoked_at, $2) WHERE id = $1
		RETURNING `+keyColumns, id, micro(s.now()))
	s.keys.forget(revoked.Hash)
	return revoked, err
}

// RotateKey adds an API key with the owner, name, scopes and end of another one, which expires after an
// overlap, or at its own end if that is earlier, in one transaction. It returns [ErrNotFound] if no key has
// the id, and [ErrKeyEnded] if the key is expired, revoked or replaced already.
func (s *Store) RotateKey(ctx context.Context, id, newHash string, overlap time.Duration) (
	added, replaced APIKey, err error,
) {
	if err := checkID("API key", id); err != nil {
		return added, replaced, err
	}
	err = s.transact(ctx, func(t *transaction) error {
		old, err := one(ctx, t, "API key "+id, scanKey,
			t.lock(`SELECT `+keyColumns+` FROM api_keys WHERE id = $1`, "FOR UPDATE"), id)
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
		replaced, err = one(ctx, t, "API key "+id, scanKey,
			`UPDATE api_keys SET expires_at = $2, replaced_by = $3 WHERE id = $1 RETURNING `+keyColumns,
			id, micro(end), added.ID)
		return err
	})
	s.keys.forget(replaced.Hash)
	return added, replaced, err
}

// Keys lists the API keys of a publisher or of a client, newest first. The other one is zero.
func (s *Store) Keys(ctx context.Context, publisher, client int64, page Page) (List[APIKey], error) {
	owner := condition{"publisher_id = ", publisher}
	if client != 0 {
		owner = condition{"client_id = ", client}
	}
	return list(ctx, s, page, scanKey, func(k APIKey) Cursor { return Cursor{k.CreatedAt, k.ID} },
		`SELECT `+keyColumns+` FROM api_keys`, where{owner})
}

// checkID returns [ErrNotFound] for an id that is not a UUID.
func checkID(object, id string) error {
	if parsed, err := uuid.Parse(id); err != nil || parsed.String() != id {
		return fmt.Errorf("%s %q: %w", object, id, ErrNotFound)
	}
	return nil
}
