package hire

import (
	"context"
	"crypto/ed25519"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

// memoryPins are pins that end with the test.
type memoryPins struct {
	lock sync.Mutex
	pins map[string]Pin
	// reading, if set, is called after reads.
	reading func()
}

func (p *memoryPins) Pinned(_ context.Context, origin string) (Pin, error) {
	if p.reading != nil {
		defer p.reading()
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	return p.pins[origin], nil
}

func (p *memoryPins) Move(_ context.Context, origin string, from, to Pin) (Pin, error) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.pins == nil {
		p.pins = map[string]Pin{}
	}
	if p.pins[origin] == from {
		p.pins[origin] = to
	}
	return p.pins[origin], nil
}

// agent is an agent whose id is an origin.
type agent struct {
	t        *testing.T
	origin   string
	requests atomic.Int32
	// during, if set, is called with each request.
	during func(*http.Request)

	lock sync.Mutex
	card []byte
	// status replaces the card.
	status int
}

func newAgent(t *testing.T) *agent {
	a := &agent{t: t}
	a.origin = endpoint(t, func(w http.ResponseWriter, r *http.Request) {
		a.requests.Add(1)
		if a.during != nil {
			a.during(r)
		}
		a.lock.Lock()
		defer a.lock.Unlock()
		if a.status != 0 {
			w.WriteHeader(a.status)
			return
		}
		w.Header().Set("Content-Type", jsonType)
		_, _ = w.Write(a.card)
	})
	a.publish(worker, "", system)
	return a
}

// publish replaces the card; another key may have signed the new key.
func (a *agent) publish(key, previous, settlement string) {
	a.t.Helper()
	var before ed25519.PrivateKey
	if previous != "" {
		before = keyOf(previous)
	}
	text, err := SignCard(keyOf(key), before, Card{
		ID: a.origin, Inbox: a.origin + InboxPath, Settlement: Base58(Address(publicOf(settlement))),
	})
	require.NoError(a.t, err)
	a.lock.Lock()
	defer a.lock.Unlock()
	a.card, a.status = text, 0
}

func (a *agent) fail(status int) {
	a.lock.Lock()
	defer a.lock.Unlock()
	a.status = status
}

// message makes an agent message signed with the given key.
func (a *agent) message(key string) *Message {
	a.t.Helper()
	m, err := Sign(keyOf(key), Draft{
		From: a.origin, To: seeker, At: start, Conversation: "conv_xyz", Payload: &Clarification{},
	})
	require.NoError(a.t, err)
	return m
}

// resolver returns a resolver with a clock that the test moves.
func resolver(t *testing.T, pins Pins) (*Resolver, *time.Duration) {
	passed := new(time.Duration)
	return &Resolver{Client: local(t), Pins: pins, clock: func() time.Time { return start.Add(*passed) }}, passed
}

func requireReason(t *testing.T, reason Reason, err error) {
	t.Helper()
	var refusal *Refusal
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, reason, refusal.Reason, refusal.Text)
}

func TestIDsWithKeysNeedNoCard(t *testing.T) {
	r := new(Resolver)
	id := DIDKey(publicOf(worker))
	identity, err := r.Resolve(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, Identity{ID: id, Key: publicOf(worker)}, identity)

	for _, id := range []string{origin, "agent_abc123", "http://agent.example", ""} {
		_, err := r.Resolve(t.Context(), id)
		requireReason(t, ReasonIdentity, err)
	}
	_, err = (&Resolver{Pins: new(memoryPins)}).Resolve(t.Context(), newAgent(t).origin)
	requireReason(t, ReasonIdentity, err) // not a public address
}

func TestFirstUsePinsTheKeys(t *testing.T) {
	a, pins := newAgent(t), new(memoryPins)
	r, _ := resolver(t, pins)
	identity, err := r.Resolve(t.Context(), a.origin)
	require.NoError(t, err)
	require.Equal(t, publicOf(worker), identity.Key)
	require.Equal(t, a.origin+InboxPath, identity.Inbox)
	require.Equal(t, Base58(Address(publicOf(system))), identity.Settlement)
	require.Equal(t, a.origin, identity.Card.ID)

	// If the key changes while restarting, neither messages nor the settlement key are accepted.
	a.publish("thief", "", "thief")
	r, _ = resolver(t, pins)
	requireReason(t, ReasonKey, r.Verify(t.Context(), a.message("thief")))
	_, err = r.Resolve(t.Context(), a.origin)
	requireReason(t, ReasonKey, err)
	require.Equal(t, Pin{Base58(Address(publicOf(worker))), Base58(Address(publicOf(system)))}, pins.pins[a.origin])

	// The pinned key needs no card.
	a.fail(http.StatusServiceUnavailable)
	r, _ = resolver(t, pins)
	require.NoError(t, r.Verify(t.Context(), a.message(worker)))
}

func TestPinMovesToAKeyThatItHasSigned(t *testing.T) {
	a, pins := newAgent(t), new(memoryPins)
	r, passed := resolver(t, pins)
	require.NoError(t, r.Verify(t.Context(), a.message(worker)))
	a.publish("next", worker, "other settlement")
	requireReason(t, ReasonSignature, r.Verify(t.Context(), a.message("next"))) // the card is not a minute old
	*passed += cardInterval
	require.NoError(t, r.Verify(t.Context(), a.message("next")))
	requireReason(t, ReasonSignature, r.Verify(t.Context(), a.message(worker)))
	identity, err := r.Resolve(t.Context(), a.origin)
	require.NoError(t, err)
	require.Equal(t, publicOf("next"), identity.Key)
	require.Equal(t, Base58(Address(publicOf("other settlement"))), identity.Settlement)

	a.publish(worker, "", system) // the card before
	*passed += cardInterval
	requireReason(t, ReasonKey, r.Verify(t.Context(), a.message(worker)))
}

func TestPinnedKeyChangesTheSettlementKey(t *testing.T) {
	a, pins := newAgent(t), new(memoryPins)
	r, passed := resolver(t, pins)
	settlement := func() Base58 {
		identity, err := r.Resolve(t.Context(), a.origin)
		require.NoError(t, err)
		require.Equal(t, pins.pins[a.origin].Settlement, identity.Settlement)
		return identity.Settlement
	}
	require.Equal(t, Base58(Address(publicOf(system))), settlement())
	a.publish(worker, "", "other settlement")
	require.Equal(t, Base58(Address(publicOf(system))), settlement())
	*passed += cardLifetime
	require.Equal(t, Base58(Address(publicOf("other settlement"))), settlement())
}

func TestForgedMessagesReadTheCardOnceAMinute(t *testing.T) {
	a := newAgent(t)
	r, passed := resolver(t, new(memoryPins))
	for minute := range int32(3) {
		for range 10 {
			requireReason(t, ReasonSignature, r.Verify(t.Context(), a.message("thief")))
			require.NoError(t, r.Verify(t.Context(), a.message(worker)))
		}
		require.Equal(t, minute+1, a.requests.Load())
		*passed += cardInterval
	}
}

func TestFailingOriginIsRequestedOnceAMinute(t *testing.T) {
	a := newAgent(t)
	r, passed := resolver(t, new(memoryPins))
	a.fail(http.StatusServiceUnavailable)
	for range 10 {
		err := r.Verify(t.Context(), a.message(worker))
		require.ErrorContains(t, err, "status 503")
		require.NotErrorAs(t, err, new(*Refusal), "the sender tries again")
	}
	a.fail(http.StatusNotFound)
	*passed += cardInterval
	for range 10 {
		requireReason(t, ReasonIdentity, r.Verify(t.Context(), a.message(worker)))
	}
	require.EqualValues(t, 2, a.requests.Load())
	_, err := r.Resolve(t.Context(), a.origin)
	requireReason(t, ReasonIdentity, err)
	a.publish(worker, "", system)
	*passed += cardInterval
	_, err = r.Resolve(t.Context(), a.origin)
	require.NoError(t, err)
	require.NoError(t, r.Verify(t.Context(), a.message(worker)))

	a.fail(http.StatusNotFound)
	*passed += cardInterval
	requireReason(t, ReasonSignature, r.Verify(t.Context(), a.message("thief")))
	*passed += cardLifetime
	identity, err := r.Resolve(t.Context(), a.origin)
	require.NoError(t, err, "the card before has the pinned keys")
	require.Equal(t, a.origin+InboxPath, identity.Inbox)
}

func TestAwaitRepeatsUntilTheOriginResponds(t *testing.T) {
	a := newAgent(t)
	r, _ := resolver(t, new(memoryPins))
	a.fail(http.StatusServiceUnavailable)
	_, err := r.Resolve(t.Context(), a.origin)
	require.ErrorContains(t, err, "status 503")
	a.during = func(*http.Request) {
		if a.requests.Load() > 2 {
			a.publish(worker, "", system)
		}
	}
	identity, err := r.Await(t.Context(), a.origin)
	require.NoError(t, err, "although the failed request is remembered")
	require.Equal(t, a.origin+InboxPath, identity.Inbox)
	_, err = r.Await(t.Context(), "https://worker.example/path")
	requireReason(t, ReasonIdentity, err)
}

func TestEndedContextIsNoResult(t *testing.T) {
	a := newAgent(t)
	r, _ := resolver(t, new(memoryPins))
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := errors.New("ended")
	a.during = func(request *http.Request) {
		cancel(ended)
		<-request.Context().Done()
	}
	_, err := r.Resolve(ctx, a.origin)
	require.ErrorIs(t, err, ended)
	a.during = nil
	_, err = r.Resolve(t.Context(), a.origin)
	require.NoError(t, err)
}

func TestOneRequestForManyMessages(t *testing.T) {
	a := newAgent(t)
	r, _ := resolver(t, new(memoryPins))
	var group errgroup.Group
	for range 50 {
		m := a.message(worker)
		group.Go(func() error { return r.Verify(t.Context(), m) })
	}
	require.NoError(t, group.Wait())
	require.EqualValues(t, 1, a.requests.Load())
}

// Two processes that read different cards at the same time pin one key.
func TestConcurrentFirstUsesAgree(t *testing.T) {
	a, pins := newAgent(t), new(memoryPins)
	var both sync.WaitGroup
	both.Add(2)
	pins.reading = func() { both.Done(); both.Wait() }
	keys := []string{worker, "thief"}
	var results [2]error
	var group errgroup.Group
	for i, key := range keys {
		a.publish(key, "", system)
		card, err := ParseCard(a.card, a.origin)
		require.NoError(t, err)
		group.Go(func() error {
			_, results[i] = repin(t.Context(), pins, card)
			return nil
		})
	}
	require.NoError(t, group.Wait())
	first := 0
	if results[0] != nil {
		first = 1
	}
	require.NoError(t, results[first])
	requireReason(t, ReasonKey, results[1-first])
	require.Equal(t, Base58(Address(publicOf(keys[first]))), pins.pins[a.origin].Key)
}

func TestCardsInMemoryAreBounded(t *testing.T) {
	r, _ := resolver(t, new(memoryPins))
	for n := range maxCards + 100 {
		r.cached(string(rune(n)))
	}
	require.Equal(t, maxCards, r.cards.Len())
}
