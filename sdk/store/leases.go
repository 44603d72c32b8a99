package store

import (
	"context"
	"crypto/rand"
	"maps"
	"slices"
	"sync"
	"time"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/store/internal/queries"
)

// A lease's length bounds how long a restarted agent waits for transactions of the killed process. A client
// that loses a lease because it stalls does no harm: it can no longer authorize anything.
const (
	sqliteLease   = 3 * time.Second
	postgresLease = 10 * time.Second // a network may delay renewals
)

// releaseLimit is how long a release of leases may take. If it fails, the leases end by themselves.
const releaseLimit = 5 * time.Second

// leases renews a process's leases. The client that begins an entry holds a lease on it, by the database's
// clock. Other clients wait for the outcome, and resolve the transaction if the lease has ended because the
// client was closed or the process died.
type leases struct {
	length time.Duration
	// unrenewed leaves out the renewal, for tests.
	unrenewed bool

	lock sync.Mutex
	// owners contains the names of the open clients in the table.
	owners map[string]bool
	// stop ends the renewal. It is nil until a client opens a journal.
	stop    context.CancelFunc
	renewal sync.WaitGroup
}

func newLeases(postgres bool) *leases {
	length := sqliteLease
	if postgres {
		length = postgresLease
	}
	return &leases{length: length, owners: make(map[string]bool)}
}

// OpenJournal implements [haggle.JournalStore]. A lease lasts 3 seconds in SQLite and 10 seconds in
// PostgreSQL; the store renews the leases on authorized entries until they are finished. An entry never
// authorized is revoked once the lease ends, so the transaction is never sent.
func (s *Store) OpenJournal() haggle.Journal {
	l := s.leases
	l.lock.Lock()
	defer l.lock.Unlock()
	opened := &journal{store: s, owner: rand.Text()}
	l.owners[opened.owner] = true
	if l.stop == nil {
		ctx, stop := context.WithCancel(context.Background())
		l.stop = stop
		if !l.unrenewed {
			l.renewal.Go(func() { s.renewLeases(ctx) })
		}
	}
	return opened
}

func (l *leases) open() []string {
	l.lock.Lock()
	defer l.lock.Unlock()
	return slices.Collect(maps.Keys(l.owners))
}

// renewLeases extends the leases of all clients until the context ends. A failed renewal is repeated at the
// next interval: a lease is longer than two intervals.
func (s *Store) renewLeases(ctx context.Context) {
	interval := s.leases.length / 3
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if owners := s.leases.open(); len(owners) > 0 {
			limited, cancel := context.WithTimeout(ctx, interval)
			_ = s.write(limited, func(q *queries.Queries) error {
				now, err := s.now(limited, q)
				for _, owner := range owners {
					if err == nil {
						err = q.RenewLeases(limited, now+s.leases.length.Milliseconds(), owner)
					}
				}
				return err
			})
			cancel()
		}
	}
}

// closeJournal ends a client's leases.
func (s *Store) closeJournal(owner string) {
	s.leases.lock.Lock()
	delete(s.leases.owners, owner)
	s.leases.lock.Unlock()
	s.release(owner)
}

func (s *Store) release(owners ...string) {
	if len(owners) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), releaseLimit)
	defer cancel()
	_ = s.write(ctx, func(q *queries.Queries) error {
		for _, owner := range owners {
			if err := q.ReleaseLeases(ctx, owner); err != nil {
				return err
			}
		}
		return nil
	})
}

// closeLeases ends the renewal and releases the leases of all clients.
func (s *Store) closeLeases() {
	l := s.leases
	l.lock.Lock()
	stop := l.stop
	l.lock.Unlock()
	if stop != nil {
		stop()
		l.renewal.Wait()
		s.release(l.open()...)
	}
}
