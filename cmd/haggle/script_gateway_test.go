package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"path/filepath"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/haggle-protocol/haggle/internal/audit"
	"github.com/haggle-protocol/haggle/internal/cli/gatewayfiles"
	"github.com/haggle-protocol/haggle/internal/cli/statefolder"
	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
	"github.com/haggle-protocol/haggle/internal/gateway/store/storetest"
)

// gateway writes a gateway's database and files: "gateway ADDRESS" with two negotiations of three entries,
// covered by a checkpoint, and a third, uncovered negotiation. It sets FIRST, SECOND and THIRD to the
// negotiation ids.
func gateway(ts *testscript.TestScript, _ bool, arguments []string) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	address := ""
	if len(arguments) > 0 {
		address = arguments[0]
	}
	files := gatewayfiles.In(filepath.Join(ts.Getenv("XDG_STATE_HOME"), "haggle", statefolder.Gateway), address)
	ts.Check(files.Create())
	s, err := store.Open(ctx, store.Config{Address: files.Database, Limits: store.Limits{OpenPerClient: 3}})
	ts.Check(err)
	defer func() { ts.Check(s.Close()) }()
	publisher, err := s.CreatePublisher(ctx, store.Publisher{
		Hostname: "site-a.local", Name: "A", Currency: "USD",
		Active: true,
	}, nil)
	ts.Check(err)
	_, err = s.AddStrategy(ctx, store.Strategy{Publisher: publisher.ID, Name: "s",
		Definition: json.RawMessage(`{}`), Active: true}, nil)
	ts.Check(err)
	client, err := s.RegisterClient(ctx, store.Client{
		Kind: store.ClientAPIKey, Subject: "acme", Name: "Acme",
	}, nil)
	ts.Check(err)
	negotiate := func(name string) {
		result, err := storetest.Decided(ctx, counterOffer)(
			s.BeginCreation(ctx, store.Creation{Client: client.ID, Proposals: []store.Proposal{{
				Publisher: publisher.ID, Terms: json.RawMessage(`{}`)}}}))
		ts.Check(err)
		ts.Setenv(name, result.Negotiations[0].ID)
	}
	negotiate("FIRST")
	negotiate("SECOND")
	key, err := audit.LoadOrCreateKey(files.Key)
	ts.Check(err)
	checkpoints, err := audit.OpenCheckpointer(files.Checkpoints, key)
	ts.Check(err)
	_, err = checkpoints.Write(ctx, s, time.Now())
	ts.Check(err)
	ts.Check(checkpoints.Close())
	negotiate("THIRD")
}

// counterOffer answers a proposal with a price.
func counterOffer(states []store.State) (store.Outcome, error) {
	return store.Outcome{Updates: []store.Update{{
		Rounds: []store.Round{
			{Actor: engine.PartyClient, Action: "propose", Terms: json.RawMessage(`{"price_per_fetch_micro":1500}`)},
			{
				Actor: engine.PartyPublisher, Action: "counter",
				Terms: json.RawMessage(`{"price_per_fetch_micro":1800}`),
			},
		},
		Status: engine.Negotiating, Deadline: states[0].Now.Add(time.Hour),
	}}}, nil
}

// tamper changes the audit log in a SQLite file as an attacker with all rights: "tamper FILE STATEMENT".
func tamper(ts *testscript.TestScript, _ bool, arguments []string) {
	db, err := sql.Open("sqlite", ts.MkAbs(arguments[0]))
	ts.Check(err)
	defer func() { ts.Check(db.Close()) }()
	for _, trigger := range []string{"not_updated", "not_deleted", "not_replaced"} {
		_, err = db.Exec("DROP TRIGGER IF EXISTS audit_entries_" + trigger)
		ts.Check(err)
	}
	done, err := db.Exec(arguments[1])
	ts.Check(err)
	rows, err := done.RowsAffected()
	ts.Check(err)
	if rows == 0 {
		ts.Fatalf("the statement changes nothing: %s", arguments[1])
	}
}
