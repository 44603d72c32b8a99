package hire

import (
	"context"
	"crypto/ed25519"
	"errors"
	"sync"
	"time"

	"github.com/haggle-protocol/haggle/sdk/internal/fifocache"
)

const (
	// cardInterval is the shortest time between fetches of the same origin's card.
	cardInterval = time.Minute
	// cardLifetime limits how long cards are used.
	cardLifetime = 5 * time.Minute
	// maxCards limits the cards in memory.
	maxCards = 1024
)

// Identity describes an agent.
type Identity struct {
	// ID is the agent's id.
	ID string
	// Key verifies the agent's messages.
	Key ed25519.PublicKey
	// Inbox accepts the agent's messages. Only origins have inboxes: other agents read the events of homes.
	Inbox string
	// Settlement is the origin's settlement key, or "" if the agent settles nothing.
	Settlement Base58
	// Card is the origin's card. Do not change it.
	Card *Card
}

// Resolver finds the keys of agents. Ids that contain a key need nothing else. For origins, the resolver
// fetches the card and pins the keys at first use. Later it accepts new keys only in a card signed by the
// pinned key. It requests each card at most once a minute, even after errors, and caches 1,024 cards for five
// minutes. Resolver is safe for concurrent use.
type Resolver struct {
	// Client fetches the cards. If nil, the zero Client is used.
	Client *Client
	// Pins stores the keys of origins. If nil, origins are refused.
	Pins Pins

	lock  sync.Mutex
	cards *fifocache.Map[string, *cachedCard]
	// clock replaces time.Now in tests.
	clock func() time.Time
}

// cachedCard caches the latest request's result.
type cachedCard struct {
	// turn is a lock that guards the fields below.
	turn chan struct{}
	// card is the latest card. A later request may have failed with err.
	card *Card
	err  error
	at   time.Time
}

// Resolve returns an agent's identity. It returns a [*Refusal] with [ReasonIdentity] if the id contains no key
// or no valid card is served at the origin, or [ReasonKey] for new keys not signed by the pinned key. Other
// errors, such as timeouts, may be temporary.
func (r *Resolver) Resolve(ctx context.Context, id string) (Identity, error) {
	if key, err := KeyOf(id); err == nil {
		return Identity{ID: id, Key: key}, nil
	}
	pin, err := r.pinned(ctx, id)
	if err != nil {
		return Identity{}, err
	}
	card, err := r.card(ctx, id, cardLifetime)
	// While an origin fails, an older card with the pinned keys is used.
	if card == nil || card.pin() != pin {
		if err == nil {
			card, err = r.card(ctx, id, cardInterval)
		}
		if err == nil {
			pin, err = repin(ctx, r.Pins, card)
		}
		if err != nil {
			return Identity{}, err
		}
	}
	return Identity{ID: id, Key: pin.public(), Inbox: card.Inbox, Settlement: pin.Settlement, Card: card}, nil
}

// Await resolves an agent's identity as Resolve does. While the agent's origin fails, it repeats the request with
// growing pauses, until the context ends.
func (r *Resolver) Await(ctx context.Context, id string) (Identity, error) {
	return retry(ctx, func() (Identity, error) {
		identity, err := r.Resolve(ctx, id)
		if errors.As(err, new(*transient)) {
			r.forget(ctx, id)
		}
		return identity, err
	})
}

// forget lets the next call request an origin's card again, although the latest request failed.
func (r *Resolver) forget(ctx context.Context, origin string) {
	cached := r.cached(origin)
	select {
	case cached.turn <- struct{}{}:
		cached.at, cached.err = time.Time{}, nil
		<-cached.turn
	case <-ctx.Done():
	}
}

// Verify checks a message's signature with the sender's key. If an origin's pinned key does not match, Verify
// reads the card again. It returns a [*Refusal] with [ReasonSignature], or [Resolver.Resolve]'s error.
func (r *Resolver) Verify(ctx context.Context, m *Message) error {
	return r.check(ctx, m.from, m.Verify)
}

// check calls verify with an agent's key. If verify fails, check calls it again with the key of the latest card.
func (r *Resolver) check(ctx context.Context, id string, verify func(ed25519.PublicKey) error) error {
	if key, err := KeyOf(id); err == nil {
		return verify(key)
	}
	pin, err := r.pinned(ctx, id)
	if err != nil {
		return err
	}
	var refused error
	if pin != (Pin{}) {
		if refused = verify(pin.public()); refused == nil {
			return nil
		}
	}
	card, err := r.card(ctx, id, cardInterval)
	if err == nil {
		pin, err = repin(ctx, r.Pins, card)
	}
	switch {
	case refused != nil && isRefusal(err, ReasonIdentity):
		return refused
	case err != nil:
		return err
	}
	return verify(pin.public())
}

func isRefusal(err error, reason Reason) bool {
	var refusal *Refusal
	return errors.As(err, &refusal) && refusal.Reason == reason
}

// pinned returns an origin's pin, or a zero Pin if none is stored.
func (r *Resolver) pinned(ctx context.Context, id string) (Pin, error) {
	switch {
	case CheckOrigin(id) != nil:
		return Pin{}, refuse(ReasonIdentity, "id: neither a Solana address nor a did:key nor an origin")
	case r.Pins == nil:
		return Pin{}, refuse(ReasonIdentity, "id: the receiver knows no origins")
	}
	return r.Pins.Pinned(ctx, id)
}

// card returns an origin's card. It fetches the card if the latest request is older than age. If the request
// fails, card returns the error with the card before.
func (r *Resolver) card(ctx context.Context, origin string, age time.Duration) (*Card, error) {
	cached := r.cached(origin)
	select {
	case cached.turn <- struct{}{}:
		defer func() { <-cached.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	now := time.Now
	if r.clock != nil {
		now = r.clock
	}
	if cached.err != nil {
		age = cardInterval
	}
	if !cached.at.IsZero() && now().Sub(cached.at) < age {
		return cached.card, cached.err
	}
	card, err := clientOr(r.Client).Card(ctx, origin)
	if err != nil && ctx.Err() != nil {
		return cached.card, context.Cause(ctx)
	}
	if err != nil && !errors.As(err, new(*transient)) {
		err = refuse(ReasonIdentity, "id: the origin has no valid card at a public address")
	}
	if err == nil {
		cached.card = card
	}
	cached.err, cached.at = err, now()
	return cached.card, err
}

func (r *Resolver) cached(origin string) *cachedCard {
	r.lock.Lock()
	defer r.lock.Unlock()
	if r.cards == nil {
		r.cards = fifocache.NewMap[string, *cachedCard](maxCards)
	}
	cached, known := r.cards.Get(origin)
	if !known {
		cached = &cachedCard{turn: make(chan struct{}, 1)}
		r.cards.Put(origin, cached)
	}
	return cached
}

// defaultClient replaces a nil client.
var defaultClient Client

func clientOr(client *Client) *Client {
	if client == nil {
		return &defaultClient
	}
	return client
}
