package service

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"

	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/identity"
	"github.com/haggle-protocol/haggle/internal/gateway/model"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
)

// Config configures a [Service].
type Config struct {
	// Store is the database. The store's negotiation limits apply to the service.
	Store *store.Store
	// Models lists the language models that strategies can name. If nil, there are none.
	Models *model.Models
	// Enqueue adds a job that calls [Service.Answer] for each negotiation, in a transaction of the store. It is
	// required with Models.
	Enqueue func(ctx context.Context, tx store.Tx, negotiations []string) error
	// Log receives an entry for each change of API keys. If nil, [slog.Default] is used.
	Log *slog.Logger
}

// Service implements the use cases. All methods are safe for concurrent use.
type Service struct {
	store      *store.Store
	models     *model.Models
	enqueue    func(context.Context, store.Tx, []string) error
	log        *slog.Logger
	strategies cache[int64, *engine.Strategy]
	hostnames  cache[int64, string]
	// publishers maps host names to ids.
	publishers cache[string, int64]
	parties    cache[string, parties]
	watches    watches
}

// parties identifies a negotiation's parties.
type parties struct{ client, publisher int64 }

// New returns a Service.
func New(c Config) (*Service, error) {
	if c.Store == nil {
		return nil, errors.New("service: store not set; set Config.Store")
	}
	if c.Models != nil && c.Enqueue == nil {
		return nil, errors.New("service: Enqueue not set; Config.Models requires Config.Enqueue")
	}
	return &Service{
		store: c.Store, models: c.Models, enqueue: c.Enqueue, log: cmp.Or(c.Log, slog.Default()),
	}, nil
}

// listed returns a function that converts a page of the store, unless converting an item fails.
func listed[F, T any](convert func(F) (T, error)) func(store.List[F], error) (store.List[T], error) {
	return func(from store.List[F], err error) (store.List[T], error) {
		if err != nil {
			return store.List[T]{}, err
		}
		to := store.List[T]{Items: make([]T, 0, len(from.Items)), Next: from.Next}
		for _, item := range from.Items {
			v, err := convert(item)
			if err != nil {
				return store.List[T]{}, err
			}
			to.Items = append(to.Items, v)
		}
		return to, nil
	}
}

// infallible returns a conversion that never fails as a function that can.
func infallible[F, T any](convert func(F) T) func(F) (T, error) {
	return func(item F) (T, error) { return convert(item), nil }
}

// maxCached is the number of objects kept in a cache.
const maxCached = 10_000

// cache keeps objects that never change.
type cache[K comparable, T any] struct {
	mutex sync.Mutex
	known map[K]T
}

// get returns an object from the cache. If it is not there, get reads it with read.
func (c *cache[K, T]) get(id K, read func() (T, error)) (T, error) {
	c.mutex.Lock()
	found, ok := c.known[id]
	c.mutex.Unlock()
	if ok {
		return found, nil
	}
	found, err := read()
	if err != nil {
		return found, err
	}
	c.put(id, found)
	return found, nil
}

// put adds an object to the cache.
func (c *cache[K, T]) put(id K, object T) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.known == nil || len(c.known) >= maxCached {
		c.known = map[K]T{}
	}
	c.known[id] = object
}

// publisher returns the id of the publisher with a host name.
func (s *Service) publisher(ctx context.Context, hostname string) (int64, error) {
	return s.publishers.get(hostname, func() (int64, error) {
		p, err := s.byHostname(ctx, hostname)
		return p.ID, err
	})
}

// hostname returns a publisher's name.
func (s *Service) hostname(ctx context.Context, publisher int64) (string, error) {
	return s.hostnames.get(publisher, func() (string, error) {
		p, err := s.store.Publisher(ctx, publisher)
		return p.Hostname, err
	})
}

// actor names a caller in the log and in the audit log: kind, ID, and key. Publishers read their audit log,
// so it omits an anonymous caller's address.
func actor(caller identity.Caller) string {
	switch {
	case caller.Kind == identity.Anonymous:
		return string(identity.Anonymous)
	case caller.Kind == identity.Administrator, caller.KeyID == "":
		return caller.LimitKey()
	}
	return caller.LimitKey() + " key:" + caller.KeyID
}

// acting returns a context for changes by a caller, named in the audit log.
func acting(ctx context.Context, caller identity.Caller) context.Context {
	return store.WithActor(ctx, actor(caller))
}

// administers reports whether the caller acts for every publisher and client.
func administers(caller identity.Caller) bool { return caller.Has(identity.Administer) }

// publisherOf returns the publisher that a caller with a scope acts for. asked is the requested id;
// publishers can leave it 0.
func publisherOf(caller identity.Caller, scope identity.Scope, asked int64) (int64, error) {
	if err := caller.Require(scope); err != nil {
		return 0, err
	}
	switch {
	case administers(caller):
		return asked, nil
	case caller.Kind != identity.Publisher:
		return 0, forbidden("scope-missing", "the caller is not a publisher; use a publisher's API key")
	case asked != 0 && asked != caller.ID:
		return 0, notFound("publisher", asked)
	}
	return caller.ID, nil
}

// owner is publisherOf for operations that need one publisher.
func owner(caller identity.Caller, scope identity.Scope, asked int64) (int64, error) {
	id, err := publisherOf(caller, scope, asked)
	if err == nil && id == 0 {
		err = invalid("publisher_id", "missing; an administrator names the publisher")
	}
	return id, err
}

// clientOf returns the caller's client. For an anonymous caller it is the client for the address prefix. If
// missing, it is added if add is set; otherwise clientOf returns [store.ErrNotFound].
func (s *Service) clientOf(ctx context.Context, caller identity.Caller, add bool) (id int64, err error) {
	if err := caller.Require(identity.Negotiate); err != nil {
		return 0, err
	}
	var c store.Client
	switch {
	case caller.Kind == identity.Client:
		return caller.ID, nil
	case caller.Kind != identity.Anonymous:
		return 0, forbidden("scope-missing", "the caller is not a client; use a client's API key")
	case add:
		c, err = s.store.AnonymousClient(ctx, caller.LimitKey())
	default:
		c, err = s.store.ClientBySubject(ctx, store.ClientAnonymous, caller.LimitKey())
	}
	if err == nil {
		err = c.Permitted() // the authenticator does not know the clients of networks
	}
	return c.ID, err
}

// maxKey is the maximum length of idempotency keys in bytes.
const maxKey = 255

// idempotency returns a request's key for the store; nil if key is empty. body is the request.
func idempotency(owner, key, operation string, body any) (*store.Key, error) {
	if key == "" {
		return nil, nil
	}
	if len(key) > maxKey {
		return nil, invalid("idempotency_key", "%d bytes; use at most %d", len(key), maxKey)
	}
	for _, char := range []byte(key) {
		if char < ' ' || char > '~' {
			return nil, invalid("idempotency_key", "has a character that is not printable ASCII")
		}
	}
	text, err := json.Marshal([]any{operation, body})
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	return &store.Key{Owner: owner, Key: key, BodyHash: hex.EncodeToString(sum[:])}, nil
}
