// Package storetest runs tests of packages that use the gateway's database with both database kinds.
package storetest

import (
	"context"
	"database/sql"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
	"github.com/haggle-protocol/haggle/internal/testpostgres"
)

// Database is an empty database.
type Database struct {
	Dialect store.Dialect
	// Address is for [store.Config].
	Address string
	// file is SQLite's file.
	file string
}

// OnBoth runs a test on an empty database of each kind.
func OnBoth(t *testing.T, server *testpostgres.Server, test func(t *testing.T, d Database)) {
	t.Helper()
	for _, dialect := range []store.Dialect{store.SQLite, store.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "gateway.db")
			d := Database{dialect, "sqlite:" + file, file}
			if dialect == store.Postgres {
				d.Address = server.Create(t)
			}
			test(t, d)
		})
	}
}

// Open opens the database beside the store, with all rights. The end of the test closes it.
func (d Database) Open(t *testing.T) *sql.DB {
	t.Helper()
	driver, name := "sqlite", d.file+"?_pragma=busy_timeout(5000)"
	if d.Dialect == store.Postgres {
		driver, name = "pgx", d.Address
	}
	db, err := sql.Open(driver, name)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

// Decided returns a function that finishes a unit of work with a decision.
func Decided(
	ctx context.Context, decide func([]store.State) (store.Outcome, error),
) func(*store.Unit, error) (store.Result, error) {
	return func(unit *store.Unit, err error) (store.Result, error) {
		if err != nil {
			return store.Result{}, err
		}
		defer unit.End(ctx)
		var o store.Outcome
		if !unit.Replayed() {
			o, err = decide(unit.States)
		}
		return unit.Finish(ctx, o, err)
	}
}

// Move records a counter offer in an open negotiation, as a job does: round without the action. A client's counter
// offer leaves the publisher's answer pending.
func Move(ctx context.Context, s *store.Store, negotiation string, round store.Round) error {
	round.Action = string(engine.Counter)
	decided := Decided(ctx, func(states []store.State) (store.Outcome, error) {
		return store.Outcome{Updates: []store.Update{{
			Rounds: []store.Round{round}, Status: engine.Negotiating, Terms: round.Terms, OfferBy: round.Actor,
			Deadline: states[0].Deadline,
		}}}, nil
	})
	_, err := decided(s.BeginRound(ctx, store.RoundRequest{Negotiations: []string{negotiation}}))
	return err
}

// Fill adds the publisher site-a.local with an active strategy, and the client Acme. It returns their IDs.
func Fill(t *testing.T, s *store.Store) (publisher, client int64) {
	t.Helper()
	p, err := s.CreatePublisher(t.Context(), store.Publisher{
		Hostname: "site-a.local", Name: "A", Currency: "USD", Active: true,
	}, nil)
	require.NoError(t, err)
	_, err = s.AddStrategy(t.Context(), store.Strategy{
		Publisher: p.ID, Name: "s", Definition: json.RawMessage(`{}`), Active: true,
	}, nil)
	require.NoError(t, err)
	c, err := s.RegisterClient(t.Context(), store.Client{
		Kind: store.ClientAPIKey, Subject: "acme", Name: "Acme",
	}, nil)
	require.NoError(t, err)
	return p.ID, c.ID
}
