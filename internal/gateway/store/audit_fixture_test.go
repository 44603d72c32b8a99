package store

import (
	"crypto/ed25519"
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/audit"
	"github.com/haggle-protocol/haggle/internal/gateway/engine"
)

// history is a store with negotiations, a checkpoint file, and an attacker with all rights in the database.
type history struct {
	*fixture
	attacker    *sql.DB
	path        string
	public      ed25519.PublicKey
	private     ed25519.PrivateKey
	ids         []string
	checkpoints *audit.Checkpointer
}

// onBothHistories runs a test on a store with three negotiations of two rounds each. A checkpoint covers both
// rounds of the first two, and the first round of the third.
func onBothHistories(t *testing.T, test func(t *testing.T, h *history)) {
	t.Helper()
	onBoth(t, func(t *testing.T, f *fixture) {
		h := &history{fixture: f, path: filepath.Join(t.TempDir(), "checkpoints.jsonl")}
		driver, name := "pgx", f.address
		if file, is := strings.CutPrefix(f.address, "sqlite:"); is {
			driver, name = "sqlite", file+"?_pragma=busy_timeout(5000)"
		}
		var err error
		h.attacker, err = sql.Open(driver, name)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, h.attacker.Close()) })
		h.fill(t)
		test(t, h)
	})
}

func (h *history) fill(t *testing.T) {
	t.Helper()
	for range 3 {
		result, err := h.CreateNegotiations(t.Context(), Creation{
			Client: h.client.ID, Proposals: []Proposal{{Publisher: h.publisher.ID, Terms: json.RawMessage(`{}`)}},
		}, counterInMicros)
		require.NoError(t, err)
		h.ids = append(h.ids, result.Negotiations[0].ID)
	}
	for _, id := range h.ids[:2] {
		h.round(t, id)
	}
	var err error
	h.public, h.private, err = ed25519.GenerateKey(nil)
	require.NoError(t, err)
	h.reopen(t)
	h.checkpoint(t)
	h.round(t, h.ids[2])
}

// reopen opens the checkpoint file as a new process.
func (h *history) reopen(t *testing.T) {
	t.Helper()
	if h.checkpoints != nil {
		require.NoError(t, h.checkpoints.Close())
	}
	var err error
	h.checkpoints, err = audit.OpenCheckpointer(h.path, h.private)
	require.NoError(t, err)
	t.Cleanup(func() { _ = h.checkpoints.Close() }) // a test can close it first
}

func (h *history) checkpoint(t *testing.T) *audit.Checkpoint {
	t.Helper()
	c, err := h.checkpoints.Write(t.Context(), h, h.now())
	require.NoError(t, err)
	return c
}

// counterInMicros returns a counter-offer: three entries for a new negotiation, two for a further round.
func counterInMicros(states []State) (Outcome, error) {
	return Outcome{Updates: []Update{{
		Rounds: []Round{
			{Actor: engine.PartyClient, Action: "propose", Terms: json.RawMessage(`{"price_per_fetch_micro": 1500}`)},
			{Actor: engine.PartyPublisher, Action: "counter",
				Terms: json.RawMessage(`{"price_per_fetch_micro": 9007199254740993}`)},
		},
		Status: engine.Negotiating, Deadline: states[0].Now.Add(time.Hour),
	}}}, nil
}

func (h *history) round(t *testing.T, id string) {
	t.Helper()
	_, err := h.Round(t.Context(), RoundRequest{Negotiations: []string{id}}, counterInMicros)
	require.NoError(t, err)
}

func (h *history) verify(t *testing.T) *audit.Report {
	t.Helper()
	report, err := audit.Verify(t.Context(), h, audit.VerifyOptions{Path: h.path, Key: h.public})
	require.NoError(t, err)
	return report
}

// attack drops the triggers and keys that protect the history, and executes statements.
func (h *history) attack(t *testing.T, statements ...string) {
	t.Helper()
	all := []string{`ALTER TABLE audit_entries DISABLE TRIGGER ALL`,
		`ALTER TABLE negotiations DISABLE TRIGGER ALL`}
	if h.Dialect == SQLite {
		all = []string{
			`DROP TRIGGER audit_entries_not_updated`, `DROP TRIGGER audit_entries_not_deleted`,
			`DROP TRIGGER audit_entries_not_replaced`,
		}
	}
	for _, statement := range append(all, statements...) {
		_, err := h.attacker.Exec(statement)
		require.NoError(t, err, statement)
	}
}

// entriesFrom returns the condition for a negotiation's entries from a sequence on.
func entriesFrom(id string, from int) string {
	return fmt.Sprintf(` WHERE negotiation_id = '%s' AND sequence >= %d`, id, from)
}

// rewrite replaces a word in a negotiation's entries and computes all hashes again, in the negotiation too.
func (h *history) rewrite(t *testing.T, id string, from int64) {
	t.Helper()
	links, err := h.AuditEntries(t.Context(), id, 0, 100)
	require.NoError(t, err)
	previous := ""
	h.attack(t)
	for _, l := range links {
		if l.Sequence >= from {
			l.Text = strings.ReplaceAll(l.Text, "counter", "accept")
			l.Text = strings.ReplaceAll(l.Text, "propose", "demand")
			l.Hash = audit.Hash(previous, l.Text)
			_, err = h.attacker.Exec(`UPDATE audit_entries SET entry = $1, hash = $2 WHERE negotiation_id = $3 AND
				sequence = $4`,
				l.Text, l.Hash, id, l.Sequence)
			require.NoError(t, err)
		}
		previous = l.Hash
	}
	_, err = h.attacker.Exec(`UPDATE negotiations SET audit_head = $1 WHERE id = $2`, previous, id)
	require.NoError(t, err)
}
