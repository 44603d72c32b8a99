package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/gateway/engine"
)

// create opens a client's negotiation and returns the limit that forbids it.
func create(t require.TestingT, f *fixture, s *Store, client Client, publishers ...Publisher) *LimitError {
	c := f.creation(publishers...)
	c.Client = client.ID
	if len(publishers) > 1 {
		c.Bundle = json.RawMessage(`{}`)
	}
	for {
		_, err := s.CreateNegotiations(f.context(), c, counter)
		var limit *LimitError
		switch {
		case errors.As(err, &limit):
			return limit
		case errors.Is(err, ErrInProgress):
			continue
		}
		require.NoError(t, err)
		return nil
	}
}

// Anonymous clients share a single place with a publisher, registered clients three others.
func TestAnonymousClientsCannotHoldAPublisher(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		var anonymous []Client
		for i := range 3 {
			c, err := f.AnonymousClient(t.Context(), fmt.Sprintf("192.0.2.%d", i))
			require.NoError(t, err)
			again, err := f.AnonymousClient(t.Context(), c.Subject)
			require.NoError(t, err)
			require.Equal(t, c, again)
			anonymous = append(anonymous, c)
		}
		s := f.open(t, Limits{})
		require.Nil(t, create(t, f, s, anonymous[0], f.publisher))
		f.pass(time.Minute)
		require.Equal(t, &LimitError{LimitAnonymous, 1, f.publisher.ID, 59 * time.Minute},
			create(t, f, s, anonymous[1], f.publisher))
		for i := range 3 {
			require.Nil(t, create(t, f, s, f.addClient(t, fmt.Sprint("registered ", i)), f.publisher))
		}
		limit := create(t, f, s, f.client, f.publisher)
		require.Equal(t, &LimitError{LimitOpen, 3, f.publisher.ID, time.Hour}, limit)
		require.EqualError(t, limit, "limit reached: 3 open negotiations per publisher: try again in 1h0m0s")
		// After the deadline a negotiation holds no place, before a sweep too.
		f.pass(limit.RetryAfter)
		require.Nil(t, create(t, f, s, anonymous[2], f.publisher))
		_, err := Open(t.Context(), Config{Address: f.address, Limits: Limits{AnonymousPerPublisher: -1}})
		require.ErrorContains(t, err, "a limit must not be negative")
	})
}

// A client can open a single negotiation with a publisher, so that no client closes a publisher to others.
// Negotiations awaiting approval, which takes a day, take no places from other clients.
func TestLargeProposalsDoNotCloseAPublisher(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		s := f.open(t, Limits{})
		large := f.creation(f.publisher)
		for i := range 3 {
			large.Client = f.addClient(t, fmt.Sprint("large ", i)).ID
			_, err := s.CreateNegotiations(f.context(), large, approved)
			require.NoError(t, err)
		}
		stranger, err := f.AnonymousClient(t.Context(), "192.0.2.0")
		require.NoError(t, err)
		large.Client = stranger.ID
		_, err = s.CreateNegotiations(f.context(), large, approved)
		require.NoError(t, err)
		other, err := f.AnonymousClient(t.Context(), "192.0.2.1")
		require.NoError(t, err)
		require.Equal(t, &LimitError{LimitAnonymous, 1, f.publisher.ID, 24 * time.Hour},
			create(t, f, s, other, f.publisher), "the publisher's approvals are not for strangers alone")
		require.Nil(t, create(t, f, s, f.client, f.publisher))
		large.Client = f.client.ID
		_, err = s.CreateNegotiations(f.context(), large, approved)
		var limit *LimitError
		require.ErrorAs(t, err, &limit)
		require.Equal(t, &LimitError{LimitOpenClient, 1, f.publisher.ID, time.Hour}, limit)
	})
}

// A client opens negotiations with ten proposals in any hour. A bundle counts as a single proposal.
func TestAClientOpensTenNegotiationsAnHour(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		var publishers []Publisher
		for i := range 13 {
			publishers = append(publishers, f.addPublisher(t, fmt.Sprintf("site-%d.local", i)))
		}
		require.Nil(t, create(t, f, f.Store, f.client, publishers[0]))
		f.pass(time.Minute)
		require.Nil(t, create(t, f, f.Store, f.client, publishers[1:4]...))
		for i := range 8 {
			require.Nil(t, create(t, f, f.Store, f.client, publishers[4+i]))
		}
		require.Equal(t, &LimitError{LimitClientHour, 10, 0, 59 * time.Minute},
			create(t, f, f.Store, f.client, publishers[12]))
		require.Nil(t, create(t, f, f.Store, f.addClient(t, "other"), publishers[12]))
		f.pass(59 * time.Minute)
		require.Nil(t, create(t, f, f.Store, f.client, publishers[12]))
	})
}

// The limits hold for 50 requests at once, over two stores with their own connections.
func TestTheLimitsHoldUnderConcurrency(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		other := f.open(t, Limits{})
		var anonymous []Client
		for i := range 5 {
			c, err := f.AnonymousClient(t.Context(), fmt.Sprintf("192.0.2.%d", i))
			require.NoError(t, err)
			anonymous = append(anonymous, c)
		}
		var publishers []Publisher
		for i := range 26 {
			publishers = append(publishers, f.addPublisher(t, fmt.Sprintf("site-%d.local", i)))
		}
		var group sync.WaitGroup
		for i := range 50 {
			group.Go(func() {
				s := []*Store{f.Store, other}[i%2]
				if i < 25 {
					create(assertAll{t}, f, s, anonymous[i%5], f.publisher)
					return
				}
				// Bundles over the same publishers in different orders do not deadlock.
				create(assertAll{t}, f, s, f.client, publishers[i-25], publishers[50-i])
			})
		}
		group.Wait()
		require.EqualValues(t, 1, count(t, f.db, `SELECT COUNT(*) FROM negotiations WHERE publisher_id = $1`,
			f.publisher.ID))
		require.EqualValues(t, 10, count(t, f.db,
			`SELECT COUNT(DISTINCT bundle_id) FROM negotiations WHERE client_id = $1`, f.client.ID))
		require.LessOrEqual(t, count(t, f.db,
			`SELECT MAX(n) FROM (SELECT COUNT(*) AS n FROM negotiations GROUP BY publisher_id) AS counts`), int64(3))
	})
}

// approved answers a proposal with an agreement that waits for an approval.
func approved(states []State) (Outcome, error) {
	o, err := counter(states)
	for i := range o.Updates {
		o.Updates[i].Status = engine.AwaitingApproval
		o.Updates[i].Deadline = states[i].Now.Add(24 * time.Hour)
	}
	return o, err
}

// assertAll fails a test from another goroutine.
type assertAll struct{ t *testing.T }

func (a assertAll) Errorf(format string, arguments ...any) {
	assert.Fail(a.t, fmt.Sprintf(format, arguments...))
}
func (a assertAll) FailNow() { panic("see the failure above") }

// Of concurrent rounds with equal expected state, one round is executed; the others get the next state or
// ErrInProgress.
func TestOneOfConcurrentRoundsWins(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		other := f.open(t, Limits{})
		n := f.negotiate(t)
		moved := errors.New("moved on")
		const rounds = 10
		for round := 1; round <= rounds; round++ {
			var group sync.WaitGroup
			results := make(chan error, 8)
			for i := range 8 {
				group.Go(func() {
					s := []*Store{f.Store, other}[i%2]
					_, err := s.Round(t.Context(), RoundRequest{Negotiations: []string{n.ID}},
						func(states []State) (Outcome, error) {
							if states[0].CurrentRound != round {
								return Outcome{}, moved
							}
							return counter(states)
						})
					results <- err
				})
			}
			group.Wait()
			won := 0
			for range 8 {
				switch err := <-results; {
				case err == nil:
					won++
				case !errors.Is(err, moved):
					require.ErrorIs(t, err, ErrInProgress)
				}
			}
			require.Equal(t, 1, won)
		}
		stored, err := f.Negotiation(t.Context(), n.ID)
		require.NoError(t, err)
		require.Equal(t, rounds+1, stored.CurrentRound)
		require.EqualValues(t, 2*(rounds+1), count(t, f.db, `SELECT COUNT(*) FROM negotiation_rounds`))
	})
}

// While a transaction locks a negotiation, another store gets ErrInProgress at once in PostgreSQL, and after
// the file lock timeout in SQLite.
func TestALockedNegotiationIsInProgress(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		n := f.negotiate(t)
		other := f.open(t, Limits{})
		_, err := f.Round(t.Context(), RoundRequest{Negotiations: []string{n.ID}},
			func(states []State) (Outcome, error) {
				_, err := other.Round(t.Context(), RoundRequest{Negotiations: []string{n.ID}}, counter)
				require.ErrorIs(t, err, ErrInProgress)
				_, _, err = other.GenerateLicense(t.Context(), n.ID, nil)
				require.ErrorIs(t, err, ErrInProgress)
				if f.Dialect == Postgres {
					ended, err := other.Sweep(t.Context(), 1)
					require.NoError(t, err)
					require.Zero(t, ended)
				}
				// Readers never block.
				_, err = other.Negotiation(t.Context(), n.ID)
				require.NoError(t, err)
				return counter(states)
			})
		require.NoError(t, err)
	})
}

// Of concurrent requests sharing an idempotency key, only one is executed.
func TestOneOfConcurrentRepetitionsIsExecuted(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		other := f.open(t, Limits{})
		n, second := f.negotiate(t), f.negotiate(t)
		var group sync.WaitGroup
		results := make(chan Result, 16)
		for i := range 16 {
			group.Go(func() {
				s := []*Store{f.Store, other}[i%2]
				// Both negotiations use the same key, so that the row lock does not order the transactions.
				id := []string{n.ID, second.ID}[i/2%2]
				for {
					result, err := s.Round(t.Context(), RoundRequest{Negotiations: []string{id}, Key: &Key{"acme", "k", "body"}},
						func(states []State) (Outcome, error) {
							o, err := counter(states)
							o.Answer = json.RawMessage(fmt.Sprintf(`{"by":%d}`, i))
							return o, err
						})
					if errors.Is(err, ErrInProgress) {
						continue
					}
					assert.NoError(t, err)
					results <- result
					return
				}
			})
		}
		group.Wait()
		answers, executed := map[string]bool{}, 0
		for range 16 {
			result := <-results
			answers[string(result.Answer)] = true
			if !result.Replayed {
				executed++
			}
		}
		require.Equal(t, 1, executed)
		require.Len(t, answers, 1)
		require.EqualValues(t, 3, count(t, f.db, `SELECT SUM(current_round) FROM negotiations`))
	})
}

// A bundle is accepted as a whole: a single changed offer leaves all as they were.
func TestABundleIsAcceptedAsAWhole(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		c := f.creation(f.publisher, f.addPublisher(t, "site-b.local"))
		c.Bundle = json.RawMessage(`{"acceptance": "all"}`)
		result, err := f.CreateNegotiations(t.Context(), c, counter)
		require.NoError(t, err)
		a, b := result.Negotiations[0], result.Negotiations[1]
		require.Equal(t, a.Bundle, b.Bundle)
		found, err := f.Negotiations(t.Context(), Filter{Bundle: a.Bundle}, Page{})
		require.NoError(t, err)
		require.Len(t, found.Items, 2)
		_, err = f.Accept(t.Context(), AcceptRequest{Client: f.client.ID, Offers: []Offer{{a.ID, 1}, {b.ID, 2}}},
			at1800)
		require.ErrorIs(t, err, ErrOfferChanged)
		require.Zero(t, count(t, f.db, `SELECT COUNT(*) FROM negotiations WHERE status = 'accepted'`))
		_, err = f.Accept(t.Context(), AcceptRequest{Client: f.client.ID,
			Offers: []Offer{{a.ID, 1}, {b.ID, 1}}}, at1800)
		require.NoError(t, err)
		require.EqualValues(t, 2, count(t, f.db, `SELECT COUNT(*) FROM negotiations WHERE status = 'accepted'`))
	})
}
