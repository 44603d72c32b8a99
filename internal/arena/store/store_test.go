package store_test

import (
	"crypto/ed25519"
	"database/sql"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	"github.com/haggle-protocol/haggle/internal/arena/arenatest"
	"github.com/haggle-protocol/haggle/internal/arena/chain"
	"github.com/haggle-protocol/haggle/internal/arena/store"
	"github.com/haggle-protocol/haggle/internal/databases"
	"github.com/haggle-protocol/haggle/internal/testpostgres"
	"github.com/haggle-protocol/haggle/sdk/arena"
	"github.com/haggle-protocol/haggle/sdk/store/database"
)

// server runs PostgreSQL for all tests.
var server *testpostgres.Server

func TestMain(m *testing.M) { os.Exit(testpostgres.Run(m, &server)) }

var opens = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// hall is a store with a market "m" held by a process "p".
type hall struct {
	*store.Store
	t       *testing.T
	address string
	log     *chain.Log
	now     time.Time
}

func open(t *testing.T, address string) *store.Store {
	t.Helper()
	opened, err := store.Open(t.Context(), address)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, opened.Close()) })
	return opened
}

func onBoth(t *testing.T, test func(t *testing.T, h *hall)) {
	t.Helper()
	server.OnBoth(t, func(t *testing.T, address string) {
		h := &hall{Store: open(t, address), t: t, address: address, now: opens}
		require.NoError(t, h.Create(t.Context(), arenatest.Config("m", opens), opens))
		require.NoError(t, h.Take(t.Context(), "m", "p", h.now, h.now.Add(time.Minute)))
		h.log = h.load(nil)
		test(t, h)
	})
}

func (h *hall) load(each func([]arena.Event) error) *chain.Log {
	h.t.Helper()
	log, err := h.Load(h.t.Context(), "m", each)
	require.NoError(h.t, err)
	return log
}

// enter makes the log's book accept an action.
func (h *hall) enter(log *chain.Log, seed byte, action arena.Action) (arena.Entry, []arena.Event) {
	h.t.Helper()
	id := arenatest.ID(seed)
	m, err := arena.Sign(arenatest.Key(seed), arena.Draft{
		Market: "m", Sequence: log.Book.Next(id), Seen: log.Book.Market().Shown(id), Expires: h.now.Add(time.Minute),
		Action: action,
	})
	require.NoError(h.t, err)
	entry, events, err := log.Book.Enter(m, h.now, [arena.SaltSize]byte{seed})
	require.NoError(h.t, err)
	return entry, events
}

func TestMarketIsLoadedAsItWasAppended(t *testing.T) {
	onBoth(t, func(t *testing.T, h *hall) {
		var events []arena.Event
		var entries []arena.Entry
		for i, action := range []arena.Action{
			arena.Join{Name: "a"}, arena.Split{Sets: 20}, arena.State{}, arena.Merge{Sets: 5}, arena.Leave{},
		} {
			h.now = h.now.Add(time.Duration(i) * time.Second)
			entry, more := h.enter(h.log, 1, action)
			entries, events = append(entries, entry), append(events, more...)
		}
		// 300 agents: more entries than a page.
		for seed := range 300 {
			key := ed25519.NewKeyFromSeed(slices.Concat([]byte{byte(seed), byte(seed >> 8)}, make([]byte, 30)))
			m, err := arena.Sign(key, arena.Draft{
				Market: "m", Sequence: 1, Expires: h.now.Add(time.Minute), Action: arena.Join{Name: "crowd"},
			})
			require.NoError(t, err)
			entry, more, err := h.log.Book.Enter(m, h.now, [arena.SaltSize]byte{})
			require.NoError(t, err)
			entries, events = append(entries, entry), append(events, more...)
		}
		require.NoError(t, h.Append(t.Context(), h.log, "p", entries[0]))
		require.NoError(t, h.Append(t.Context(), h.log, "p", entries[1:]...))
		require.NoError(t, h.Append(t.Context(), h.log, "p"))

		var replayed []arena.Event
		loaded := h.load(func(more []arena.Event) error {
			replayed = append(replayed, more...)
			return nil
		})
		require.Equal(t, events, replayed)
		require.Equal(t, h.log.Head(), loaded.Head())
		require.Equal(t, h.log.Book.Market().View(), loaded.Book.Market().View())
		require.Equal(t, h.log.Book.Next(arenatest.ID(1)), loaded.Book.Next(arenatest.ID(1)))
	})
}

func TestMarketBelongsToOneProcess(t *testing.T) {
	onBoth(t, func(t *testing.T, h *hall) {
		first, _ := h.enter(h.log, 1, arena.Join{Name: "a"})
		require.NoError(t, h.Append(t.Context(), h.log, "p", first))
		err := h.Take(t.Context(), "m", "q", h.now.Add(time.Minute), h.now.Add(time.Hour))
		require.ErrorIs(t, err, store.ErrHeld)
		require.ErrorContains(t, err, "p has m until 2026-11-01T12:01:00Z")
		require.NoError(t, h.Take(t.Context(), "m", "p", h.now, h.now.Add(2*time.Minute)), "the holder extends its time")

		// The process stands still, another process takes over, and the first process wakes up.
		late, _ := h.enter(h.log, 1, arena.Split{Sets: 1})
		require.NoError(t, h.Take(t.Context(), "m", "q", h.now.Add(2*time.Minute+1000), h.now.Add(time.Hour)))
		taken := h.load(nil)
		require.ErrorIs(t, h.Append(t.Context(), h.log, "p", late), store.ErrLost)
		other, _ := h.enter(taken, 1, arena.Split{Sets: 2})
		require.NoError(t, h.Append(t.Context(), taken, "q", other))
		require.ErrorIs(t, h.Append(t.Context(), h.log, "q", late), store.ErrLost, "the chain is longer")
		require.Equal(t, taken.Head(), h.load(nil).Head())

		require.NoError(t, h.Give(t.Context(), "m", "p", h.now), "which no longer has it")
		require.ErrorIs(t, h.Take(t.Context(), "m", "p", h.now, h.now.Add(time.Hour)), store.ErrHeld)
		require.NoError(t, h.Give(t.Context(), "m", "q", h.now))
		require.ErrorIs(t, h.Take(t.Context(), "m", "p", h.now, h.now.Add(time.Hour)), store.ErrHeld)
		require.NoError(t, h.Take(t.Context(), "m", "p", h.now.Add(time.Millisecond), h.now.Add(time.Hour)))
	})
}

func TestUnknownAndRepeatedMarkets(t *testing.T) {
	onBoth(t, func(t *testing.T, h *hall) {
		require.ErrorIs(t, h.Create(t.Context(), arenatest.Config("m", opens), opens), store.ErrExists)
		require.Error(t, h.Create(t.Context(), arena.Config{Market: "n"}, opens))
		require.ErrorIs(t, h.Take(t.Context(), "n", "p", opens, opens), store.ErrNotFound)
		_, err := h.Load(t.Context(), "n", nil)
		require.ErrorIs(t, err, store.ErrNotFound)
		require.NoError(t, h.Create(t.Context(), arenatest.Config("n", opens), opens))
		markets, err := h.Markets(t.Context(), "")
		require.NoError(t, err)
		require.Equal(t, []string{"m", "n"}, markets)
		markets, err = h.Markets(t.Context(), "m")
		require.NoError(t, err)
		require.Equal(t, []string{"n"}, markets)
	})
}

func TestChangedEntryIsDamage(t *testing.T) {
	onBoth(t, func(t *testing.T, h *hall) {
		for _, action := range []arena.Action{arena.Join{Name: "a"}, arena.Split{Sets: 20}, arena.Merge{Sets: 20}} {
			entry, _ := h.enter(h.log, 1, action)
			require.NoError(t, h.Append(t.Context(), h.log, "p", entry))
		}
		driver := "sqlite"
		if databases.IsPostgres(h.address) {
			driver = "pgx"
		}
		db, err := sql.Open(driver, h.address)
		require.NoError(t, err)
		defer db.Close()
		for _, change := range []string{
			`UPDATE arena_entries SET message = replace(message, '20', '10') WHERE sequence = 3`,
			`UPDATE arena_entries SET salt = replace(salt, '0', '1') WHERE sequence = 3`,
			`UPDATE arena_entries SET entry = replace(entry, '12:00:00', '12:00:01') WHERE sequence = 3`,
			`DELETE FROM arena_entries WHERE sequence = 3`,
			`DELETE FROM arena_entries WHERE sequence >= 3`,
		} {
			h.load(nil)
			var entry, salt, message, hash string
			row := db.QueryRow(`SELECT entry, hash, salt, message FROM arena_entries WHERE sequence = 3`)
			require.NoError(t, row.Scan(&entry, &hash, &salt, &message))
			_, err := db.Exec(change)
			require.NoError(t, err)
			_, err = h.Load(t.Context(), "m", nil)
			require.ErrorIs(t, err, database.ErrDamaged, change)
			_, err = db.Exec(`DELETE FROM arena_entries WHERE sequence = 3`)
			require.NoError(t, err)
			if strings.Contains(change, ">=") {
				continue // it is the last entry
			}
			_, err = db.Exec(`INSERT INTO arena_entries (market, sequence, entry, hash, salt, message) VALUES ('m', 3, $1, $2, $3, $4)`,
				entry, hash, salt, message)
			require.NoError(t, err)
		}
	})
}
