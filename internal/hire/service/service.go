package service

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"

	"github.com/haggle-protocol/haggle/internal/hire/store"
	"github.com/haggle-protocol/haggle/sdk/hire"
)

// Config describes a home. Store, ID and Key are required.
type Config struct {
	Store *store.Store
	// ID is the home's own worker, an origin. Key is the worker's public key.
	ID  string
	Key ed25519.PublicKey
	// Hosts lists the ids of further workers.
	Hosts []string
	// Open hosts every id.
	Open bool
	// Rules contains the conversations' rules. New sets System to the settlement key's id.
	Rules hire.Rules
	// Settlement signs contracts. If nil, the home signs none.
	Settlement *Settlement
	// Client fetches cards and pushes events. If nil, a client for public addresses is used.
	Client *hire.Client
	// Checkpoints configures checkpoints. If nil, the home writes none.
	Checkpoints *Checkpoints
	// Limits bound the home's work.
	Limits Limits
	// Now returns the time. If nil, time.Now is used.
	Now func() time.Time
	// Log receives problems. If nil, slog.Default is used.
	Log *slog.Logger
}

// Limits bounds a home's work. Zero limits are replaced by defaults.
type Limits struct {
	// Messages limits messages in progress. If zero, 256 is used.
	Messages int
	// OpenConversations limits open deals. If zero, 10,000 is used.
	OpenConversations int
	// Streams limits event streams. If zero, 1,000 is used. A quarter is reserved for hosted agents.
	Streams int
	// StreamsPerAgent limits an agent's streams: a further stream ends the oldest. If zero, 4 is used.
	StreamsPerAgent int
	// Lookups limits requests for unknown cards per second, with bursts of five times the limit. If zero, 10
	// is used.
	Lookups int
	// Pushes limits concurrent pushes. If zero, 32 is used.
	Pushes int
	// DeliveryBytes limits the total size of deliveries. If zero, 4 GiB is used.
	DeliveryBytes int64
	// DeliveryAge is the lifetime of deliveries. If zero, 90 days are used.
	DeliveryAge time.Duration
}

func (l Limits) withDefaults() Limits {
	return Limits{
		Messages: cmp.Or(l.Messages, 256), OpenConversations: cmp.Or(l.OpenConversations, 10_000),
		Streams: cmp.Or(l.Streams, 1000), StreamsPerAgent: cmp.Or(l.StreamsPerAgent, 4),
		Lookups: cmp.Or(l.Lookups, 10), Pushes: cmp.Or(l.Pushes, 32),
		DeliveryBytes: cmp.Or(l.DeliveryBytes, 4<<30), DeliveryAge: cmp.Or(l.DeliveryAge, 90*24*time.Hour),
	}
}

// Overload is returned when a limit is reached. The request changes nothing.
type Overload struct {
	// After is how long to wait before retrying.
	After time.Duration
	// Text describes the limit.
	Text string
}

// RetryAfter returns After, for [hire.Inbox].
func (o *Overload) RetryAfter() time.Duration { return o.After }

func (o *Overload) Error() string { return "hire: overloaded: " + o.Text }

// Service is a home. It is safe for concurrent use.
type Service struct {
	config   Config
	hub      *hub
	pusher   *pusher
	resolver *hire.Resolver
	messages *semaphore.Weighted
	lookups  *rate.Limiter
	deals    map[string]*deal
}

// New returns a home. It starts nothing: see [Service.Run].
func New(config Config) (*Service, error) {
	config.Limits = config.Limits.withDefaults()
	switch {
	case config.Store == nil:
		return nil, errors.New("hire: home: store not set")
	case hire.CheckOrigin(config.ID) != nil:
		return nil, fmt.Errorf("hire: home: id: %w", hire.CheckOrigin(config.ID))
	case len(config.Key) != ed25519.PublicKeySize:
		return nil, errors.New("hire: home: key not set")
	}
	config.Rules.System = ""
	if config.Settlement != nil {
		if err := config.Settlement.check(); err != nil {
			return nil, err
		}
		config.Rules.System = config.Settlement.id()
	}
	if config.Client == nil {
		config.Client = new(hire.Client)
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	if config.Log == nil {
		config.Log = slog.Default()
	}
	limits := config.Limits
	return &Service{
		config: config, hub: newHub(limits), pusher: newPusher(limits.Pushes),
		resolver: &hire.Resolver{Client: config.Client, Pins: config.Store},
		deals:    make(map[string]*deal), messages: semaphore.NewWeighted(int64(limits.Messages)),
		lookups: rate.NewLimiter(rate.Limit(limits.Lookups), 5*limits.Lookups),
	}, nil
}

// Run executes the background work until ctx ends: it wakes streams for messages to other processes, pushes
// events, signs contracts, writes checkpoints and deletes old deliveries. Then it ends all streams. Call it
// once.
func (s *Service) Run(ctx context.Context) error {
	defer s.EndStreams()
	group, ctx := errgroup.WithContext(ctx)
	for _, work := range []func(context.Context){
		s.wakeStreams, s.pushEvents, s.signContracts, s.writeCheckpoints, s.deleteDeliveries,
	} {
		group.Go(func() error {
			work(ctx)
			return nil
		})
	}
	return group.Wait()
}

// Ready returns an error if the database does not respond.
func (s *Service) Ready(ctx context.Context) error { return s.config.Store.Ready(ctx) }

// now returns the time in UTC, rounded to microseconds like the database.
func (s *Service) now() time.Time { return s.config.Now().UTC().Truncate(time.Microsecond) }

// hosts reports whether the worker's conversations live here.
func (s *Service) hosts(id string) bool { return s.config.Open || s.lists(id) }

// lists reports whether the id equals ID or is in Hosts.
func (s *Service) lists(id string) bool {
	return id == s.config.ID || slices.Contains(s.config.Hosts, id)
}

// pushes reports whether the recipient's events are pushed to an inbox.
func (s *Service) pushes(id string) bool {
	return !s.lists(id) && hire.CheckOrigin(id) == nil
}

// every calls act now and then periodically until ctx ends.
func every(ctx context.Context, interval time.Duration, act func()) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		act()
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// failed logs an error unless the context has ended.
func (s *Service) failed(ctx context.Context, work string, err error) {
	if err != nil && ctx.Err() == nil {
		s.config.Log.ErrorContext(ctx, work+" failed", "error", err)
	}
}
