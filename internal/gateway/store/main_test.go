package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/testpostgres"
)

// server runs PostgreSQL for all tests. Each test uses separate databases.
var server *testpostgres.Server

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		os.Exit(child())
	}
	os.Exit(testpostgres.Run(m, &server))
}

// onBoth runs a test on an empty database of each kind.
func onBoth(t *testing.T, test func(t *testing.T, f *fixture)) {
	t.Helper()
	for _, dialect := range []Dialect{SQLite, Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			address := "sqlite:" + filepath.Join(t.TempDir(), "gateway.db")
			if dialect == Postgres {
				address = server.Create(t)
			}
			test(t, newFixture(t, address))
		})
	}
}

// fixture is a store with a publisher and a client. The clock moves only when a test moves it.
type fixture struct {
	*Store
	// db is a handle of database/sql on the store's connections.
	db        *sql.DB
	address   string
	offset    atomic.Int64
	publisher Publisher
	strategy  Strategy
	client    Client
	messages  messages
}

// messages counts the messages to PostgreSQL: a batch counts as a single message.
type messages struct{ count atomic.Int64 }

func (m *messages) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	m.count.Add(1)
	return ctx
}
func (m *messages) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (m *messages) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	m.count.Add(1)
	return ctx
}
func (m *messages) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}
func (m *messages) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData)     {}

var start = time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)

// definition is a strategy with every column.
const definition = `{"negotiation_style":"balanced","min_price_per_fetch_micro":1000,` +
	`"preferred_price_per_fetch_micro":2000,"max_price_per_fetch_micro":5000,` +
	`"min_token_ttl_seconds":60,"preferred_token_ttl_seconds":600,` +
	`"max_token_ttl_seconds":3600,"min_burst_rps":1,"preferred_burst_rps":10,` +
	`"max_burst_rps":100,"allowed_purposes":["inference","search"],` +
	`"preferred_purposes":["inference"],` +
	`"deal_breakers":[{"field":"price_per_fetch_micro","operator":"<","value":500}],` +
	`"max_rounds":10,"auto_accept_threshold":0.9,"timeout_seconds":3600,"llm_provider":"openai",` +
	`"llm_model":"gpt-4","llm_temperature":0.2,"system_prompt":"Be brief.",` +
	`"tiers":[{"from_fetches":9007199254740993,"price_micro":7}]}`

const price = `{"price_per_fetch_micro": 1800}`

func newFixture(t *testing.T, address string) *fixture {
	t.Helper()
	f := &fixture{address: address}
	f.Store = f.open(t, Limits{OpenPerClient: 100})
	f.db = sqlOf(t, f.Store)
	f.publisher = f.addPublisher(t, "site-a.local")
	f.client = f.addClient(t, "acme")
	return f
}

// sqlOf returns a database/sql handle for a store's connections.
func sqlOf(t *testing.T, s *Store) *sql.DB {
	t.Helper()
	p, is := s.database.(*postgres)
	if !is {
		return s.database.(sqliteFile).DB
	}
	db := stdlib.OpenDBFromPool(p.pool)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

// open opens another store on the same database.
func (f *fixture) open(t *testing.T, limits Limits) *Store {
	t.Helper()
	s, err := Open(t.Context(), Config{Address: f.address, Limits: limits, tracer: &f.messages, Now: func() time.Time {
		return start.Add(time.Duration(f.offset.Load()))
	}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func (f *fixture) pass(d time.Duration) { f.offset.Add(int64(d)) }

func (f *fixture) addPublisher(t *testing.T, hostname string) Publisher {
	t.Helper()
	p, err := f.CreatePublisher(t.Context(), Publisher{Hostname: hostname, Name: "Site " + hostname,
		Currency: "USD", Active: true}, nil)
	require.NoError(t, err)
	f.strategy, err = f.AddStrategy(t.Context(), Strategy{
		Publisher: p.ID, Name: "default", Definition: json.RawMessage(definition), Active: true,
	}, nil)
	require.NoError(t, err)
	return p
}

func (f *fixture) addClient(t *testing.T, subject string) Client {
	t.Helper()
	c, err := f.RegisterClient(t.Context(), Client{Kind: ClientAPIKey, Subject: subject,
		Name: "Company " + subject}, nil)
	require.NoError(t, err)
	return c
}

// Decide decides on negotiations.
type Decide func(states []State) (Outcome, error)

// decided finishes a unit of work with a decision.
func decided(ctx context.Context, decide Decide) func(*Unit, error) (Result, error) {
	return func(u *Unit, err error) (Result, error) {
		if err != nil {
			return Result{}, err
		}
		defer u.End(ctx)
		var o Outcome
		if !u.Replayed() {
			o, err = decide(u.States)
		}
		return u.Finish(ctx, o, err)
	}
}

func (s *Store) CreateNegotiations(ctx context.Context, c Creation, decide Decide) (Result, error) {
	return decided(ctx, decide)(s.BeginCreation(ctx, c))
}

func (s *Store) Round(ctx context.Context, request RoundRequest, decide Decide) (Result, error) {
	return decided(ctx, decide)(s.BeginRound(ctx, request))
}

// Offer is an offer in a round.
type Offer struct {
	Negotiation string
	Round       int
}

// AcceptRequest accepts offers.
type AcceptRequest struct {
	Client int64
	Offers []Offer
	Key    *Key
}

func (s *Store) Accept(ctx context.Context, request AcceptRequest, read func(State) (Terms, error)) (Result, error) {
	round := RoundRequest{Key: request.Key}
	for _, offer := range request.Offers {
		round.Negotiations = append(round.Negotiations, offer.Negotiation)
	}
	return s.Round(ctx, round, func(states []State) (o Outcome, err error) {
		for i, state := range states {
			if err := state.CheckOffer(request.Client, request.Offers[i].Round); err != nil {
				return o, err
			}
			terms, err := read(state)
			if err != nil {
				return o, err
			}
			o.Updates = append(o.Updates, state.Accept(terms))
		}
		return o, nil
	})
}

// counter answers each proposal with the same counter-offer.
func counter(states []State) (o Outcome, err error) {
	for _, state := range states {
		o.Updates = append(o.Updates, Update{
			Rounds: []Round{
				{Actor: engine.PartyClient, Action: "propose", Terms: json.RawMessage(`{"price_per_fetch_micro": 1500}`)},
				{
					Actor: engine.PartyPublisher, Action: "counter", Terms: json.RawMessage(price), Reasoning: "close",
					LLMModel:  "m",
					LLMTokens: 245, LLMTime: 3 * time.Second, Analysis: json.RawMessage(`{"score": 0.7}`),
					Messages: []Message{{Sender: engine.PartyPublisher, Type: "reason", Text: "Closer.",
						Data: json.RawMessage(`{"tone": "friendly"}`)}},
				},
			},
			Status: engine.Negotiating, Terms: json.RawMessage(price), OfferBy: engine.PartyPublisher,
			Deadline: state.Now.Add(time.Hour),
		})
	}
	o.Answer = json.RawMessage(fmt.Sprintf(`{"round":%d}`, states[0].CurrentRound+1))
	return o, nil
}

// reject rejects each proposal.
func reject(states []State) (o Outcome, err error) {
	for range states {
		o.Updates = append(o.Updates, Update{
			Rounds: []Round{
				{Actor: engine.PartyClient, Action: "propose"}, {Actor: engine.PartyPublisher, Action: "reject"},
			},
			Status: engine.Rejected, Reason: "Price below minimum threshold",
		})
	}
	return o, nil
}

func (f *fixture) creation(publishers ...Publisher) Creation {
	c := Creation{Client: f.client.ID, Deadline: f.now().Add(time.Hour)}
	for _, p := range publishers {
		c.Proposals = append(c.Proposals, Proposal{Publisher: p.ID,
			Terms: json.RawMessage(`{"price_per_fetch_micro": 1500}`)})
	}
	return c
}

// negotiate opens a negotiation with a counter-offer in round 1.
func (f *fixture) negotiate(t *testing.T) Negotiation {
	t.Helper()
	result, err := f.CreateNegotiations(t.Context(), f.creation(f.publisher), counter)
	require.NoError(t, err)
	require.Len(t, result.Negotiations, 1)
	return result.Negotiations[0]
}

// accepted opens a negotiation and accepts the counter-offer.
func (f *fixture) accepted(t *testing.T) Negotiation {
	t.Helper()
	n := f.negotiate(t)
	result, err := f.Accept(t.Context(), AcceptRequest{Client: n.Client, Offers: []Offer{{n.ID, 1}}}, at1800)
	require.NoError(t, err)
	return result.Negotiations[0]
}

func at1800(State) (Terms, error) { return Terms{PriceMicro: 1800}, nil }

// count returns the number that a query returns.
func count(t *testing.T, db *sql.DB, statement string, arguments ...any) (n int64) {
	t.Helper()
	require.NoError(t, db.QueryRowContext(context.Background(), statement, arguments...).Scan(&n))
	return n
}
