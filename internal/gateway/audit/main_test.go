package audit_test

import (
	"crypto/ed25519"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/gateway/audit"
	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
	"github.com/haggle-protocol/haggle/internal/gateway/store/storetest"
	"github.com/haggle-protocol/haggle/internal/testpostgres"
)

var server *testpostgres.Server

func TestMain(m *testing.M) { os.Exit(testpostgres.Run(m, &server)) }

// gateway is a store with negotiations, a checkpoint file, and an attacker with all rights in the database.
type gateway struct {
	*store.Store
	attacker    *sql.DB
	path        string
	public      ed25519.PublicKey
	private     ed25519.PrivateKey
	ids         []string
	checkpoints *audit.Checkpointer
}

// onBoth runs a test on a gateway with three negotiations of two rounds each. A checkpoint covers both rounds
// of the first two, and the first round of the third.
func onBoth(t *testing.T, test func(t *testing.T, g *gateway)) {
	t.Helper()
	storetest.OnBoth(t, server, func(t *testing.T, d storetest.Database) {
		g := &gateway{path: filepath.Join(t.TempDir(), "checkpoints.jsonl")}
		var err error
		g.Store, err = store.Open(t.Context(), store.Config{Address: d.Address})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, g.Store.Close()) })
		g.attacker = d.Open(t)
		g.fill(t)
		test(t, g)
	})
}

func (g *gateway) fill(t *testing.T) {
	t.Helper()
	publisher, client := storetest.Fill(t, g.Store)
	for range 3 {
		result, err := g.CreateNegotiations(t.Context(), store.Creation{
			Client: client, Proposals: []store.Proposal{{Publisher: publisher, Terms: json.RawMessage(`{}`)}},
		}, counter)
		require.NoError(t, err)
		g.ids = append(g.ids, result.Negotiations[0].ID)
	}
	for _, id := range g.ids[:2] {
		g.round(t, id)
	}
	var err error
	g.public, g.private, err = ed25519.GenerateKey(nil)
	require.NoError(t, err)
	g.reopen(t)
	g.checkpoint(t)
	g.round(t, g.ids[2])
}

// reopen opens the checkpoint file as a new process.
func (g *gateway) reopen(t *testing.T) {
	t.Helper()
	if g.checkpoints != nil {
		require.NoError(t, g.checkpoints.Close())
	}
	var err error
	g.checkpoints, err = audit.OpenCheckpointer(g.path, g.private)
	require.NoError(t, err)
	t.Cleanup(func() { _ = g.checkpoints.Close() }) // a test can close it first
}

func (g *gateway) checkpoint(t *testing.T) *audit.Checkpoint {
	t.Helper()
	c, err := g.checkpoints.Write(t.Context(), g, time.Now())
	require.NoError(t, err)
	return c
}

// counter answers with a counter-offer: three entries for a new negotiation, two for a further round.
func counter(states []store.State) (store.Outcome, error) {
	return store.Outcome{Decisions: []store.Decision{{
		Rounds: []store.Round{
			{Actor: engine.PartyClient, Action: "propose", Terms: json.RawMessage(`{"price_per_fetch_micro": 1500}`)},
			{Actor: engine.PartyPublisher, Action: "counter",
				Terms: json.RawMessage(`{"price_per_fetch_micro": 9007199254740993}`)},
		},
		Status: engine.Negotiating, Deadline: states[0].Now.Add(time.Hour),
	}}}, nil
}

func (g *gateway) round(t *testing.T, id string) {
	t.Helper()
	_, err := g.Round(t.Context(), store.RoundRequest{Negotiations: []string{id}}, counter)
	require.NoError(t, err)
}

func (g *gateway) verify(t *testing.T) *audit.Report {
	t.Helper()
	report, err := audit.Verify(t.Context(), g, audit.VerifyOptions{Path: g.path, Key: g.public})
	require.NoError(t, err)
	return report
}

// attack executes statements after it has dropped the triggers and the keys that protect the history.
func (g *gateway) attack(t *testing.T, statements ...string) {
	t.Helper()
	all := []string{`ALTER TABLE audit_entries DISABLE TRIGGER ALL`,
		`ALTER TABLE negotiations DISABLE TRIGGER ALL`}
	if g.Dialect == store.SQLite {
		all = []string{
			`DROP TRIGGER audit_entries_not_updated`, `DROP TRIGGER audit_entries_not_deleted`,
			`DROP TRIGGER audit_entries_not_replaced`,
		}
	}
	for _, statement := range append(all, statements...) {
		_, err := g.attacker.Exec(statement)
		require.NoError(t, err, statement)
	}
}

// where returns the condition of an entry.
func where(id string, from int) string {
	return fmt.Sprintf(` WHERE negotiation_id = '%s' AND sequence >= %d`, id, from)
}

// rewrite replaces a word in the entries of a negotiation and computes all hashes again, in the negotiation
// too.
func (g *gateway) rewrite(t *testing.T, id string, from int64) {
	t.Helper()
	links, err := g.AuditEntries(t.Context(), id, 0, 100)
	require.NoError(t, err)
	previous := ""
	g.attack(t)
	for _, l := range links {
		if l.Sequence >= from {
			l.Text = strings.ReplaceAll(l.Text, "counter", "accept")
			l.Text = strings.ReplaceAll(l.Text, "propose", "demand")
			l.Hash = audit.Hash(previous, l.Text)
			_, err = g.attacker.Exec(`UPDATE audit_entries SET entry = $1, hash = $2 WHERE negotiation_id = $3 AND
				sequence = $4`,
				l.Text, l.Hash, id, l.Sequence)
			require.NoError(t, err)
		}
		previous = l.Hash
	}
	_, err = g.attacker.Exec(`UPDATE negotiations SET audit_head = $1 WHERE id = $2`, previous, id)
	require.NoError(t, err)
}
