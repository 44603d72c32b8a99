package service

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/haggle-protocol/haggle/internal/arena/store"
	"github.com/haggle-protocol/haggle/sdk/arena"
)

var (
	// ErrUnknown: the message may or may not be stored. Send it again: it counts once.
	ErrUnknown = errors.New("arena: not known whether the message is stored")
	// ErrBusy: too many messages wait in the market.
	ErrBusy = errors.New("arena: too many messages wait")
)

// DefaultLease is how long a killed process's market stays leased until another process can take it.
const DefaultLease = 5 * time.Second

// Config describes an arena process. Store, Key and Holder are required.
type Config struct {
	Store *store.Store
	// Key signs receipts. It is the key of the markets' operator.
	Key ed25519.PrivateKey
	// Holder names this process; no other process may use this name, ever.
	Holder string
	// Lease is how long a market is taken: 5 s by default.
	Lease time.Duration
	// Now returns the time. If nil, time.Now is used.
	Now func() time.Time
	// Log receives problems. If nil, slog.Default is used.
	Log *slog.Logger
}

// Service runs an arena's markets. It is safe for concurrent use.
type Service struct {
	config Config
	lock   sync.Mutex
	rooms  map[string]*room
	// arrivals is the latest Arrival.
	arrivals atomic.Uint64
}

// New returns a service. It starts nothing: see [Service.Run].
func New(config Config) (*Service, error) {
	if config.Store == nil || len(config.Key) != ed25519.PrivateKeySize || config.Holder == "" {
		return nil, errors.New("arena: Store, Key or Holder not set")
	}
	config.Lease = cmp.Or(config.Lease, DefaultLease)
	if config.Now == nil {
		config.Now = time.Now
	}
	config.Log = cmp.Or(config.Log, slog.Default())
	return &Service{config: config, rooms: map[string]*room{}}, nil
}

// Run takes the markets not held by other processes, and runs them, until the context ends. Then it gives
// them back.
func (s *Service) Run(ctx context.Context) error {
	var rooms sync.WaitGroup
	defer rooms.Wait()
	ticker := time.NewTicker(s.config.Lease / 3)
	defer ticker.Stop()
	for {
		if err := s.takeMarkets(ctx, &rooms); err != nil && ctx.Err() == nil {
			s.config.Log.ErrorContext(ctx, "markets not taken", "error", err)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
		}
	}
}

func (s *Service) takeMarkets(ctx context.Context, rooms *sync.WaitGroup) error {
	for after := ""; ; {
		markets, err := s.config.Store.Markets(ctx, after)
		if err != nil || len(markets) == 0 {
			return err
		}
		for _, market := range markets {
			after = market
			if s.room(market) != nil {
				continue
			}
			now := s.config.Now()
			until := now.Add(s.config.Lease)
			switch err := s.config.Store.Take(ctx, market, s.config.Holder, now, until); {
			case errors.Is(err, store.ErrHeld):
				continue
			case err != nil:
				return err
			}
			r := newRoom(s, market, until)
			s.lock.Lock()
			s.rooms[market] = r
			s.lock.Unlock()
			rooms.Go(func() {
				if err := r.run(ctx); err != nil && ctx.Err() == nil {
					s.config.Log.ErrorContext(ctx, "market stopped", "market", market, "error", err)
				}
				s.lock.Lock()
				delete(s.rooms, market)
				s.lock.Unlock()
			})
		}
	}
}

func (s *Service) room(market string) *room {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.rooms[market]
}

// Accept enters a message in the market it names, and returns the receipt once the message is stored. It
// returns a [*arena.Refusal], [ErrStopped] if this process does not run the market, [ErrBusy], or
// [ErrUnknown]. If the context ends first, the message may or may not be stored.
func (s *Service) Accept(ctx context.Context, m *arena.Message) (arena.Receipt, error) {
	r := s.room(m.Draft().Market)
	if r == nil {
		return arena.Receipt{}, ErrStopped
	}
	waiting := request{m, make(chan answer, 1)}
	select {
	case r.requests <- waiting:
	default:
		return arena.Receipt{}, ErrBusy
	}
	select {
	case got := <-waiting.answer:
		return got.receipt, got.err
	case <-r.gone:
		// The last answer may have come just before the end.
		select {
		case got := <-waiting.answer:
			return got.receipt, got.err
		default:
			return arena.Receipt{}, ErrStopped
		}
	case <-ctx.Done():
		return arena.Receipt{}, errors.Join(ErrUnknown, context.Cause(ctx))
	}
}

// Arrival orders an agent's connections: later connections replace earlier connections.
type Arrival uint64

// Arrive returns the arrival for a connection whose agent is authenticated.
func (s *Service) Arrive() Arrival { return Arrival(s.arrivals.Add(1)) }

// Follow returns an agent's events in a market, after the given number, or the public events if agent is
// empty. Each agent has a single stream, belonging to the agent's latest connection. An earlier connection's
// stream ends with [ErrReplaced], and Follow returns that error to a connection that arrived before the
// stream's. If agent is empty, arrived is not used. The caller must authenticate the agent first. Call end
// once.
func (s *Service) Follow(market, agent string, arrived Arrival, after uint64) (stream *Stream, end func(), err error) {
	r := s.room(market)
	if r == nil {
		return nil, nil, ErrStopped
	}
	if stream, err = r.follow(agent, arrived, after); err != nil {
		return nil, nil, err
	}
	return stream, func() { r.unfollow(agent, stream) }, nil
}

// Runs reports whether this process runs a market.
func (s *Service) Runs(market string) bool { return s.room(market) != nil }

// Standing returns a market as seen by an agent, or by a spectator if agent is empty.
func (s *Service) Standing(ctx context.Context, market, agent string) (standing arena.Standing, err error) {
	r := s.room(market)
	if r == nil {
		return standing, ErrStopped
	}
	read := make(chan arena.Standing, 1)
	ask := func() {
		standing := r.log.Book.Standing(agent)
		if agent == "" {
			r.lock.Lock()
			defer r.lock.Unlock()
			standing.Shown = r.public.last
		}
		read <- standing
	}
	select {
	case r.asked <- ask:
		return <-read, nil
	case <-r.gone:
		return standing, ErrStopped
	case <-ctx.Done():
		return standing, context.Cause(ctx)
	}
}
