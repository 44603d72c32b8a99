package service

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"time"

	"github.com/haggle-protocol/haggle/internal/gateway/identity"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
	"github.com/haggle-protocol/haggle/internal/gateway/terms"
	"github.com/haggle-protocol/haggle/sdk/httpsig"
)

// Client is a registered client.
type Client struct {
	ID   int64            `json:"id"`
	Kind store.ClientKind `json:"kind"`
	// Name is the verified name used in licenses; empty if the client is anonymous.
	Name string `json:"client_name,omitempty"`
	// PublicKey is a signing client's Ed25519 key in base64url.
	PublicKey string `json:"public_key,omitempty"`
	// Agent is a Web Bot Auth client's origin, such as https://agent.example.
	Agent     string    `json:"signature_agent,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	// SuspendedAt is zero unless the client is suspended.
	SuspendedAt time.Time `json:"suspended_at,omitzero"`
	// KeyRevokedAt is zero unless the public key is revoked.
	KeyRevokedAt time.Time `json:"key_revoked_at,omitzero"`
	// IdempotencyKey makes repeated RegisterClient requests get the first answer.
	IdempotencyKey string `json:"-"`
}

func clientView(c store.Client) Client {
	v := Client{
		ID: c.ID, Kind: c.Kind, Name: c.Name, PublicKey: c.PublicKey, CreatedAt: c.CreatedAt,
		SuspendedAt: c.SuspendedAt, KeyRevokedAt: c.KeyRevokedAt,
	}
	if c.Kind == store.ClientWebBotAuth {
		v.Agent = c.Subject[:len(c.Subject)-thumbprintLength-1]
	}
	return v
}

// signingSubject returns the subject for a client that signs with a key; agent is empty unless Web Bot Auth
// is used.
func signingSubject(agent string, key ed25519.PublicKey) string {
	if agent == "" {
		return base64.RawURLEncoding.EncodeToString(key)
	}
	return agent + " " + httpsig.Thumbprint(key)
}

// thumbprintLength is the length of SHA-256 hashes in base64url.
const thumbprintLength = (sha256.Size*8 + 5) / 6

// RegisterClient registers a client under a name that the administrator has verified. The kind follows from
// the fields: with an Agent and a PublicKey Web Bot Auth, with a PublicKey signed requests, and otherwise API
// keys, which CreateKey makes. It is for administrators only. It returns Conflict if the name, the key, or
// the pair of agent and key is registered already or was before: a license contains the name, so it must
// identify a single client. Names that differ only in case, letter width or spaces count as equal, and so do
// names with the same UTS 39 skeleton, which look alike.
func (s *Service) RegisterClient(
	ctx context.Context, caller identity.Caller, c Client,
) (_ Client, err error) {
	defer translate(&err)
	if err := caller.Require(identity.Administer); err != nil {
		return Client{}, err
	}
	if err := terms.CheckName(c.Name); err != nil {
		return Client{}, invalid("client_name", "%s", err)
	}
	row := store.Client{Kind: store.ClientAPIKey, Subject: c.Name, Name: c.Name, PublicKey: c.PublicKey}
	if c.PublicKey != "" {
		key, err := publicKey(c.PublicKey)
		if err != nil {
			return Client{}, err
		}
		agent := ""
		row.Kind = store.ClientEd25519
		if c.Agent != "" {
			if agent, err = identity.NormalizeAgent(c.Agent); err != nil {
				return Client{}, invalid("signature_agent", "%s", err)
			}
			row.Kind = store.ClientWebBotAuth
		}
		row.Subject = signingSubject(agent, key)
	} else if c.Agent != "" {
		return Client{}, invalid("public_key", "missing; a client of Web Bot Auth has one")
	}
	key, err := idempotency(caller.LimitKey(), c.IdempotencyKey, "register-client", c)
	if err != nil {
		return Client{}, err
	}
	added, err := s.store.RegisterClient(ctx, row, key)
	if err != nil {
		return Client{}, nameTaken("client_name", c.Name, err)
	}
	return clientView(added), nil
}

func publicKey(text string) (ed25519.PublicKey, error) {
	key, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(key) != ed25519.PublicKeySize {
		return nil, invalid("public_key", "not an Ed25519 key: 43 characters of base64url")
	}
	return key, nil
}

// Clients lists the clients, including anonymous clients, for administrators only.
func (s *Service) Clients(
	ctx context.Context, caller identity.Caller, page store.Page,
) (_ store.List[Client], err error) {
	defer translate(&err)
	if err := caller.Require(identity.Administer); err != nil {
		return store.List[Client]{}, err
	}
	return listed(infallible(clientView))(s.store.Clients(ctx, page))
}

// Client returns a client to itself and to administrators.
func (s *Service) Client(ctx context.Context, caller identity.Caller, id int64) (_ Client, err error) {
	defer translate(&err)
	if !administers(caller) && (caller.Kind != identity.Client || caller.ID != id) {
		return Client{}, notFound("client", id)
	}
	c, err := s.store.Client(ctx, id)
	if err != nil {
		return Client{}, err
	}
	return clientView(c), nil
}

// WarnOfConfusableNames logs a warning for each name stored by an older haggle although it looks like an
// earlier client's or publisher's name, for at most [store.MaxPage] names.
func (s *Service) WarnOfConfusableNames(ctx context.Context) error {
	unreserved, err := s.store.UnreservedNames(ctx)
	for _, n := range unreserved {
		s.log.WarnContext(ctx, "name is confusable with an earlier one", n.Owner, n.ID, "name", n.Name)
	}
	return err
}

// Key is a publisher's or client's API key, except the text.
type Key struct {
	ID          string           `json:"id"`
	Name        string           `json:"name"`
	Scopes      []identity.Scope `json:"scopes"`
	PublisherID int64            `json:"publisher_id,omitempty"`
	ClientID    int64            `json:"client_id,omitempty"`
	CreatedAt   time.Time        `json:"created_at"`
	// ExpiresAt is zero if the key does not expire, RevokedAt if it was not revoked.
	ExpiresAt time.Time `json:"expires_at,omitzero"`
	RevokedAt time.Time `json:"revoked_at,omitzero"`
	// ReplacedBy is the key ID added by a rotation.
	ReplacedBy string `json:"replaced_by,omitempty" format:"uuid"`
}

func keyView(k store.APIKey) Key {
	v := Key{
		ID: k.ID, Name: k.Name, PublisherID: k.Publisher, ClientID: k.Client, CreatedAt: k.CreatedAt,
		ExpiresAt: k.ExpiresAt, RevokedAt: k.RevokedAt, ReplacedBy: k.ReplacedBy,
		Scopes: []identity.Scope{},
	}
	for _, scope := range k.Scopes {
		v.Scopes = append(v.Scopes, identity.Scope(scope))
	}
	return v
}

// KeyRequest requests an API key.
type KeyRequest struct {
	// PublisherID or ClientID is the owner. If both are 0, the caller is the owner.
	PublisherID int64 `json:"publisher_id,omitempty"`
	ClientID    int64 `json:"client_id,omitempty"`
	// Name helps the owner to tell keys apart.
	Name string `json:"name"`
	// Scopes must not exceed the caller's scopes. If empty, all scopes allowed for the owner are used.
	Scopes []string `json:"scopes,omitempty"`
	// ExpiresAt is zero if the key does not expire.
	ExpiresAt time.Time `json:"expires_at,omitzero"`
	// IdempotencyKey is chosen by the caller. A repeated request with it adds no further key.
	IdempotencyKey string `json:"-"`
}

// keyOwnerOf returns the owner's kind, after checking that the caller manages the owner's keys.
func keyOwnerOf(caller identity.Caller, publisher, client int64) (identity.Kind, error) {
	if err := caller.Require(identity.KeysWrite); err != nil {
		return "", err
	}
	kind, id := identity.Publisher, publisher
	if client != 0 {
		kind, id = identity.Client, client
	}
	switch {
	case (publisher == 0) == (client == 0):
		return "", invalid("publisher_id", "set either publisher_id or client_id")
	case !administers(caller) && (caller.Kind != kind || caller.ID != id):
		return "", notFound(string(kind), id)
	}
	return kind, nil
}

// ownerOrSelf replaces an unset owner by the caller.
func ownerOrSelf(caller identity.Caller, publisher, client int64) (int64, int64) {
	if publisher == 0 && client == 0 {
		switch caller.Kind {
		case identity.Publisher:
			publisher = caller.ID
		case identity.Client:
			client = caller.ID
		}
	}
	return publisher, client
}

// CreateKey adds an API key. The result contains the key text, which is never shown again: a repeated request
// with the idempotency key returns Conflict with [CodeKeyShown], because the gateway keeps only a hash. It
// needs the scope keys:write.
func (s *Service) CreateKey(
	ctx context.Context, caller identity.Caller, r KeyRequest,
) (text identity.APIKey, key Key, err error) {
	defer translate(&err)
	publisher, client := ownerOrSelf(caller, r.PublisherID, r.ClientID)
	kind, err := keyOwnerOf(caller, publisher, client)
	if err != nil {
		return text, key, err
	}
	if err := terms.CheckName(r.Name); err != nil {
		return text, key, invalid("name", "%s", err)
	}
	scopes := identity.ScopesOf(kind)
	if len(r.Scopes) > 0 {
		if scopes, err = identity.ParseScopes(kind, r.Scopes); err != nil {
			return text, key, invalid("scopes", "%s", err)
		}
	}
	if !administers(caller) {
		if err := caller.RequireAll(scopes); err != nil {
			return text, key, err
		}
	}
	if err := toUTC("expires_at", &r.ExpiresAt); err != nil {
		return text, key, err
	}
	if endsLater(r.ExpiresAt, caller) {
		return text, key, invalid("expires_at", "after the end of the caller's key, %s",
			caller.Expires.UTC().Format(time.RFC3339))
	}
	if !r.ExpiresAt.IsZero() && !r.ExpiresAt.After(s.store.Now()) {
		return text, key, invalid("expires_at", "in the past; choose a later time")
	}
	if kind == identity.Client {
		owner, err := s.store.Client(ctx, client)
		if err != nil {
			return text, key, err
		}
		if owner.Kind != store.ClientAPIKey {
			return text, key, conflict(CodeClientKind,
				"client %d: its kind is %s; only clients of kind %s have API keys", client, owner.Kind,
				store.ClientAPIKey)
		}
	} else if _, err := s.store.Publisher(ctx, publisher); err != nil {
		return text, key, err
	}
	text = identity.NewAPIKey()
	row := store.APIKey{
		Hash: text.Hash(), Name: r.Name, Publisher: publisher, Client: client, ExpiresAt: r.ExpiresAt,
	}
	for _, scope := range scopes {
		row.Scopes = append(row.Scopes, string(scope))
	}
	once, err := idempotency(caller.LimitKey(), r.IdempotencyKey, "create-key", r)
	if err != nil {
		return text, key, err
	}
	added, replayed, err := s.store.CreateKey(ctx, row, once)
	if err != nil {
		return text, key, err
	}
	if replayed {
		return identity.APIKey{}, key, conflict(CodeKeyShown, "API key %s: created by the first request with this "+
			"idempotency key, whose answer showed its text once; if that answer is lost, revoke the key and create "+
			"another one with another idempotency key", added.ID)
	}
	s.log.InfoContext(ctx, "API key created", "key", added.ID, "publisher", publisher, "client", client,
		"by", actor(caller))
	return text, keyView(added), nil
}

// Keys lists a publisher's or a client's API keys; if both ids are 0, the caller's. It needs the scope
// keys:write.
func (s *Service) Keys(
	ctx context.Context, caller identity.Caller, publisher, client int64, page store.Page,
) (_ store.List[Key], err error) {
	defer translate(&err)
	publisher, client = ownerOrSelf(caller, publisher, client)
	if _, err := keyOwnerOf(caller, publisher, client); err != nil {
		return store.List[Key]{}, err
	}
	return listed(infallible(keyView))(s.store.Keys(ctx, publisher, client, page))
}

// ownKey returns an API key that the caller manages.
func (s *Service) ownKey(ctx context.Context, caller identity.Caller, id string) (store.APIKey, error) {
	if err := caller.Require(identity.KeysWrite); err != nil {
		return store.APIKey{}, err
	}
	k, err := s.store.Key(ctx, id)
	if err != nil {
		return k, err
	}
	if _, err := keyOwnerOf(caller, k.Publisher, k.Client); err != nil {
		return k, notFound("API key", id)
	}
	return k, nil
}

// endsLater reports whether an API key that expires at end outlives the caller's. A zero end means no expiry.
func endsLater(end time.Time, caller identity.Caller) bool {
	return !caller.Expires.IsZero() && (end.IsZero() || end.After(caller.Expires))
}

// requireNoLaterEnd returns an error if an API key outlives the caller's.
func requireNoLaterEnd(k store.APIKey, caller identity.Caller) error {
	if endsLater(k.ExpiresAt, caller) {
		return forbidden("scope-missing", "API key %s: ends after the caller's key; use a key that lasts longer",
			k.ID)
	}
	return nil
}

// Rotation overlaps: how long the old key stays valid beside the new key.
const (
	DefaultOverlap = 24 * time.Hour
	MaxOverlap     = 30 * 24 * time.Hour
)

// RotateKey adds an API key with the owner, name, scopes and end of another key. The old key expires after an
// overlap, or at the original end if earlier. overlap is 0 to [MaxOverlap]; with 0 the old key ends at once.
// The caller needs all scopes of the key and keys:write. It returns Conflict if the key is expired, revoked
// or replaced.
func (s *Service) RotateKey(
	ctx context.Context, caller identity.Caller, id string, overlap time.Duration,
) (text identity.APIKey, added, replaced Key, err error) {
	defer translate(&err)
	if overlap < 0 || overlap > MaxOverlap {
		return text, added, replaced, invalid("overlap_seconds", "%d is not from 0 to %d",
			int64(overlap.Seconds()), int64(MaxOverlap.Seconds()))
	}
	old, err := s.ownKey(ctx, caller, id)
	if err != nil {
		return text, added, replaced, err
	}
	if !administers(caller) {
		if err := caller.RequireAll(keyView(old).Scopes); err != nil {
			return text, added, replaced, err
		}
	}
	if err := requireNoLaterEnd(old, caller); err != nil {
		return text, added, replaced, err
	}
	text = identity.NewAPIKey()
	stored, retired, err := s.store.RotateKey(ctx, id, text.Hash(), overlap)
	if err != nil {
		return text, added, replaced, err
	}
	s.log.InfoContext(ctx, "API key rotated", "key", id, "new_key", stored.ID,
		"old_key_until", retired.ExpiresAt, "by", actor(caller))
	return text, keyView(stored), keyView(retired), nil
}

// RevokeKey revokes an API key. It needs the scope keys:write. A key cannot revoke a key that ends later: a
// stolen key that was replaced cannot end the key that replaces it.
func (s *Service) RevokeKey(ctx context.Context, caller identity.Caller, id string) (_ Key, err error) {
	defer translate(&err)
	found, err := s.ownKey(ctx, caller, id)
	if err != nil {
		return Key{}, err
	}
	if id != caller.KeyID {
		if err := requireNoLaterEnd(found, caller); err != nil {
			return Key{}, err
		}
	}
	revoked, err := s.store.RevokeKey(ctx, id)
	if err != nil {
		return Key{}, err
	}
	s.log.InfoContext(ctx, "API key revoked", "key", id, "by", actor(caller))
	return keyView(revoked), nil
}
