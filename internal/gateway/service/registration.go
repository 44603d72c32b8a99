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
	// Name is the verified name, which licences have. It is empty for an anonymous client.
	Name string `json:"client_name,omitempty"`
	// PublicKey is the Ed25519 key in base64url of a client that signs its requests.
	PublicKey string `json:"public_key,omitempty"`
	// Agent is the origin of a client of Web Bot Auth, such as https://agent.example.
	Agent     string    `json:"signature_agent,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	// SuspendedAt is zero for a client that is not suspended.
	SuspendedAt time.Time `json:"suspended_at,omitzero"`
	// KeyRevokedAt is zero for a public key that is not revoked.
	KeyRevokedAt time.Time `json:"key_revoked_at,omitzero"`
	// IdempotencyKey is that of a request: a repetition of RegisterClient gets the first answer.
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

// signingSubject returns the subject of a client that signs with a key; agent is empty without Web Bot Auth.
func signingSubject(agent string, key ed25519.PublicKey) string {
	if agent == "" {
		return base64.RawURLEncoding.EncodeToString(key)
	}
	return agent + " " + httpsig.Thumbprint(key)
}

// thumbprintLength is the length of a SHA-256 in base64url.
const thumbprintLength = (sha256.Size*8 + 5) / 6

// RegisterClient registers a client under a name that the administrator has verified. The kind follows from
// the fields: with an Agent and a PublicKey Web Bot Auth, with a PublicKey signed requests, and otherwise API
// keys, which CreateKey makes. It is for administrators only. It returns Conflict if the name, the key, or
// the pair of agent and key is registered already or was before: a licence has the name, so it must identify one
// client. Names that differ only in case, in the width of letters or in spaces are the same, and so are those with an
// equal skeleton by UTS 39, which look alike.
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

// Clients lists the clients, including anonymous ones, for administrators only.
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

// WarnOfConfusableNames logs a warning for each name that an older version stored although it looks like the name
// of an earlier client or publisher, for at most [store.MaxPage] names.
func (s *Service) WarnOfConfusableNames(ctx context.Context) error {
	unreserved, err := s.store.UnreservedNames(ctx)
	for _, n := range unreserved {
		s.log.WarnContext(ctx, "name is confusable with an earlier one", n.Owner, n.ID, "name", n.Name)
	}
	return err
}

// Key is an API key of a publisher or of a client, without its text.
type Key struct {
	ID          string           `json:"id"`
	Name        string           `json:"name"`
	Scopes      []identity.Scope `json:"scopes"`
	PublisherID int64            `json:"publisher_id,omitempty"`
	ClientID    int64            `json:"client_id,omitempty"`
	CreatedAt   time.Time        `json:"created_at"`
	// ExpiresAt and RevokedAt are zero for a key that does not expire, or is not revoked.
	ExpiresAt time.Time `json:"expires_at,omitzero"`
	RevokedAt time.Time `json:"revoked_at,omitzero"`
	// ReplacedBy is the ID of the key that a rotation has added.
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

// KeyRequest asks for an API key.
type KeyRequest struct {
	// PublisherID or ClientID is the owner. If both are 0, it is the caller.
	PublisherID int64 `json:"publisher_id,omitempty"`
	ClientID    int64 `json:"client_id,omitempty"`
	// Name helps the owner to tell keys apart.
	Name string `json:"name"`
	// Scopes are at most those of the caller. If empty, all that the owner can have.
	Scopes []string `json:"scopes,omitempty"`
	// ExpiresAt is zero for a key that does not expire.
	ExpiresAt time.Time `json:"expires_at,omitzero"`
	// IdempotencyKey is the caller's choice. A repetition of the request with it adds no further key.
	IdempotencyKey string `json:"-"`
}

// keyOwnerOf returns the kind of the owner, after it checks that the caller manages its keys.
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

// ownerOrSelf replaces an owner that is not set by the caller.
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

// CreateKey adds an API key. The result has its text, which is never shown again: a repetition of the request
// with its idempotency key returns Conflict with [CodeKeyShown], because the gateway keeps only a hash. It
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

// Keys lists the API keys of a publisher or of a client; if both ids are 0, those of the caller. It needs the
// scope keys:write.
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

// endsLater reports whether an API key that expires at end outlives the caller's. If end is zero, it does not
// expire.
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

// The overlap of a rotation: the time for which the old key stays valid beside the new one.
const (
	DefaultOverlap = 24 * time.Hour
	MaxOverlap     = 30 * 24 * time.Hour
)

// RotateKey adds an API key with the owner, name, scopes and end of another one, which expires after an
// overlap, or at its own end if that is earlier. overlap is 0 to [MaxOverlap]; with 0 the old key ends at
// once. The caller needs all scopes of the key and keys:write. It returns Conflict for a key that is expired,
// revoked or replaced.
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

// RevokeKey revokes an API key. It needs the scope keys:write. A key revokes no other one that ends later: a
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
