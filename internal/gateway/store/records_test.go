package store

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/databases"
	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/store/queries"
	"github.com/haggle-protocol/haggle/internal/gateway/store/schema"
)

func (f *fixture) context() context.Context { return context.Background() }

// A strategy change adds a version, and a negotiation keeps the initial version.
func TestStrategiesAreVersions(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		n := f.negotiate(t)
		second, err := f.AddStrategy(t.Context(), Strategy{
			Publisher: f.publisher.ID, Name: "default", Definition: json.RawMessage(`{"max_rounds": 3}`), Active: true,
		}, nil)
		require.NoError(t, err)
		require.Equal(t, 2, second.Version)
		draft, err := f.AddStrategy(t.Context(),
			Strategy{Publisher: f.publisher.ID, Name: "draft", Definition: json.RawMessage(`{}`)}, nil)
		require.NoError(t, err)
		require.Equal(t, 1, draft.Version)
		active, err := f.ActiveStrategies(t.Context(), f.publisher.ID)
		require.NoError(t, err)
		require.Equal(t, []Strategy{second}, active)
		_, err = f.Round(t.Context(), RoundRequest{Negotiations: []string{n.ID}},
			func(states []State) (Outcome, error) {
				require.Equal(t, definition, string(states[0].Definition))
				return counter(states)
			})
		require.NoError(t, err)

		f.pass(time.Second)
		activated, err := f.SetActive(t.Context(), f.publisher.ID, f.strategy.ID, true)
		require.NoError(t, err)
		require.True(t, activated.Active)
		require.Equal(t, definition, string(activated.Definition))
		require.EqualValues(t, 1, count(t, f.db, `SELECT COUNT(*) FROM negotiation_strategies WHERE is_active`))
		_, err = f.SetActive(t.Context(), f.publisher.ID, 99, true)
		require.ErrorIs(t, err, ErrNotFound)
		require.EqualValues(t, 1, count(t, f.db, `SELECT COUNT(*) FROM negotiation_strategies WHERE is_active`))
		_, err = f.SetActive(t.Context(), f.publisher.ID, f.strategy.ID, false)
		require.NoError(t, err)
		active, err = f.ActiveStrategies(t.Context(), f.publisher.ID)
		require.NoError(t, err)
		require.Empty(t, active)
		_, err = f.CreateNegotiations(t.Context(), f.creation(f.publisher), counter)
		require.ErrorIs(t, err, ErrNoStrategy)
		_, err = f.AddStrategy(t.Context(), Strategy{Publisher: 99, Definition: json.RawMessage(`{}`)}, nil)
		require.ErrorIs(t, err, ErrNotFound)
		_, err = f.AddStrategy(t.Context(), Strategy{Publisher: f.publisher.ID,
			Definition: json.RawMessage(`{"max_rounds": "x"}`)}, nil)
		require.ErrorContains(t, err, "strategy definition: json: cannot unmarshal string")
		versions, err := f.Strategies(t.Context(), f.publisher.ID, Page{})
		require.NoError(t, err)
		require.Len(t, versions.Items, 3)
	})
}

// Each part of a definition is copied to the right column.
func TestADefinitionFillsEveryColumn(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		var parts map[string]json.RawMessage
		require.NoError(t, json.Unmarshal([]byte(definition), &parts))
		for field := range reflect.TypeFor[queries.AddStrategyParams]().Fields() {
			column := field.Tag.Get("json")
			if column == "-" {
				continue
			}
			var value string
			require.NoError(t, f.db.QueryRow(`SELECT CAST(`+column+` AS TEXT) FROM
				negotiation_strategies`).Scan(&value), column)
			want := strings.Trim(string(parts[column]), `"`)
			if strings.HasPrefix(want, "[") {
				require.JSONEq(t, want, value)
				continue
			}
			require.Equal(t, want, value, column)
		}
	})
}

// History cannot be changed by a mistake: the database refuses it.
func TestHistoryIsImmutable(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		f.negotiate(t)
		statements := []string{
			`UPDATE negotiation_strategies SET min_price_per_fetch_micro = 1`,
			`UPDATE negotiation_strategies SET definition = '{}'`,
			`INSERT INTO audit_entries SELECT * FROM audit_entries`,
		}
		for _, table := range schema.AppendOnly {
			statements = append(statements, `DELETE FROM `+table,
				`UPDATE `+table+` SET negotiation_id = negotiation_id`)
		}
		if f.Dialect == Postgres {
			statements = append(statements, `TRUNCATE audit_entries`)
		} else {
			statements = append(statements, `REPLACE INTO audit_entries SELECT * FROM audit_entries`)
		}
		for _, statement := range statements {
			_, err := f.db.Exec(statement)
			require.Error(t, err, statement)
			if !strings.HasPrefix(statement, "INSERT") {
				require.ErrorContains(t, err, "rows never change", statement)
			}
		}
	})
}

func TestAPIKeysAreRotatedAndRevoked(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		end := start.Add(time.Hour)
		key, _, err := f.CreateKey(t.Context(), APIKey{Hash: "h1", Name: "ci", Scopes: []string{"read"},
			Publisher: f.publisher.ID, ExpiresAt: end}, nil)
		require.NoError(t, err)
		_, _, err = f.CreateKey(t.Context(), APIKey{Hash: "h1", Name: "ci", Publisher: f.publisher.ID}, nil)
		require.ErrorIs(t, err, ErrExists)
		_, _, err = f.CreateKey(t.Context(), APIKey{Hash: "h9", Name: "of nobody"}, nil)
		require.Error(t, err)
		found, owner, err := f.KeyWithOwner(t.Context(), "h1")
		require.NoError(t, err)
		require.Equal(t, key, found)
		require.Equal(t, f.publisher.Name, owner)
		require.True(t, found.Valid(end.Add(-1)))
		require.False(t, found.Valid(end))

		f.pass(time.Minute)
		rotated, replaced, err := f.RotateKey(t.Context(), key.ID, "h2", 10*time.Minute)
		require.NoError(t, err)
		require.NotEqual(t, key.ID, rotated.ID)
		require.Equal(t, []any{"ci", []string{"read"}, f.publisher.ID, end, ""},
			[]any{rotated.Name, rotated.Scopes, rotated.Publisher, rotated.ExpiresAt, rotated.ReplacedBy})
		old, _, err := f.KeyWithOwner(t.Context(), "h1")
		require.NoError(t, err)
		require.Equal(t, replaced, old)
		require.Equal(t, rotated.ID, old.ReplacedBy)
		require.Equal(t, start.Add(11*time.Minute), old.ExpiresAt)
		_, _, err = f.RotateKey(t.Context(), key.ID, "h3", 0)
		require.ErrorIs(t, err, ErrKeyEnded, "the new key would end with the overlap")
		require.ErrorContains(t, err, "replaced by API key "+rotated.ID)
		_, replaced, err = f.RotateKey(t.Context(), rotated.ID, "h3", 2*time.Hour)
		require.NoError(t, err)
		require.Equal(t, end, replaced.ExpiresAt, "a rotation never prolongs a key")
		_, err = f.RevokeKey(t.Context(), "nonsense")
		require.ErrorIs(t, err, ErrNotFound)
		again, err := f.RevokeKey(t.Context(), key.ID)
		require.NoError(t, err)
		f.pass(time.Minute)
		again, err = f.RevokeKey(t.Context(), again.ID)
		require.NoError(t, err)
		require.Equal(t, start.Add(time.Minute), again.RevokedAt)
		_, err = f.db.Exec(`UPDATE api_keys SET replaced_by = NULL`)
		require.NoError(t, err)
		_, _, err = f.RotateKey(t.Context(), key.ID, "h4", time.Hour)
		require.ErrorContains(t, err, "expired or revoked")
		keys, err := f.Keys(t.Context(), f.publisher.ID, 0, Page{})
		require.NoError(t, err)
		require.Len(t, keys.Items, 3)
		keys, err = f.Keys(t.Context(), 0, f.client.ID, Page{})
		require.NoError(t, err)
		require.Empty(t, keys.Items)
	})
}

func TestPublishersAndClientsAreUnique(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		_, err := f.CreatePublisher(t.Context(), f.publisher, nil)
		require.ErrorIs(t, err, ErrExists)
		same := f.client
		same.Name = "Another"
		_, err = f.RegisterClient(t.Context(), same, nil)
		require.ErrorIs(t, err, ErrExists)
		_, err = f.RegisterClient(t.Context(), Client{Kind: ClientAnonymous, Subject: "x", Name: "OpenAI"}, nil)
		require.Error(t, err, "an anonymous client has no name")
		p, err := f.UpdatePublisher(t.Context(), f.publisher.ID, func(p *Publisher) error {
			p.FloorMicro, p.Active = 900, false
			return nil
		})
		require.NoError(t, err)
		found, err := f.PublisherByHostname(t.Context(), "site-a.local")
		require.NoError(t, err)
		require.Equal(t, p, found)
		_, err = f.CreateNegotiations(t.Context(), f.creation(p), counter)
		require.ErrorIs(t, err, ErrNotFound)
		client, err := f.ClientBySubject(t.Context(), ClientAPIKey, "acme")
		require.NoError(t, err)
		require.Equal(t, f.client, client)
		_, err = f.Client(t.Context(), 99)
		require.ErrorIs(t, err, ErrNotFound)
		_, err = f.UpdatePublisher(t.Context(), 99, func(*Publisher) error { return nil })
		require.ErrorIs(t, err, ErrNotFound)
	})
}

func TestConcurrentChangesOfAPublisherAreKept(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		changed := make(chan error)
		_, err := f.UpdatePublisher(t.Context(), f.publisher.ID, func(p *Publisher) error {
			go func() {
				_, err := f.UpdatePublisher(t.Context(), f.publisher.ID, func(p *Publisher) error {
					p.Currency = "EUR"
					return nil
				})
				changed <- err
			}()
			time.Sleep(50 * time.Millisecond) // the other change reads, or waits for this change
			p.Name = "Renamed"
			return nil
		})
		require.NoError(t, err)
		require.NoError(t, <-changed)
		p, err := f.Publisher(t.Context(), f.publisher.ID)
		require.NoError(t, err)
		require.Equal(t, []string{"Renamed", "EUR"}, []string{p.Name, p.Currency})
		refused := errors.New("refused")
		_, err = f.UpdatePublisher(t.Context(), p.ID, func(p *Publisher) error { p.Name = "Lost"; return refused })
		require.ErrorIs(t, err, refused)
		after, err := f.Publisher(t.Context(), p.ID)
		require.NoError(t, err)
		require.Equal(t, p, after)
	})
}

// Pages cover a list once, also if rows are added meanwhile.
func TestPagesCoverAListOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		var want []string
		for i := range 7 {
			p := f.addPublisher(t, fmt.Sprintf("site-%d.local", i))
			result, err := f.CreateNegotiations(t.Context(), f.creation(p), counter)
			require.NoError(t, err)
			want = append(want, result.Negotiations[0].ID)
			if i%3 == 0 {
				f.pass(time.Second) // some have the same time
			}
		}
		var found []string
		page := Page{Size: 2}
		for {
			got, err := f.Negotiations(t.Context(), Filter{Client: f.client.ID, Status: engine.Negotiating}, page)
			require.NoError(t, err)
			require.LessOrEqual(t, len(got.Items), 2)
			for _, n := range got.Items {
				found = append(found, n.ID)
			}
			if page.After = got.Next; got.Next == "" {
				break
			}
			if len(found) == 2 {
				f.negotiate(t)
			}
		}
		slices.Reverse(found)
		require.Equal(t, want, found)
		got, err := f.Negotiations(t.Context(), Filter{Publisher: f.publisher.ID}, Page{})
		require.NoError(t, err)
		require.Len(t, got.Items, 1)
		uuid := "1_00000000-0000-0000-0000-000000000000"
		for _, cursor := range []string{"!", "1_", "1_x", "_1", "1_1", uuid + "0", "-" + uuid} {
			_, err = f.Negotiations(t.Context(), Filter{}, Page{After: cursor})
			require.ErrorIs(t, err, ErrCursor, cursor)
		}
		_, err = f.Negotiations(t.Context(), Filter{}, Page{After: uuid})
		require.NoError(t, err)
		_, err = f.Publishers(t.Context(), Page{After: uuid})
		require.ErrorIs(t, err, ErrCursor, "the ids of publishers are numbers")
		for _, size := range []int{-1, MaxPage + 1} {
			_, err = f.Negotiations(t.Context(), Filter{}, Page{Size: size})
			require.ErrorIs(t, err, ErrPageSize)
			require.EqualError(t, err, fmt.Sprintf("limit: %d is not from 1 to 200", size))
		}
		sites, err := f.Publishers(t.Context(), Page{Size: 3})
		require.NoError(t, err)
		sites, err = f.Publishers(t.Context(), Page{Size: MaxPage, After: sites.Next})
		require.NoError(t, err)
		require.Len(t, sites.Items, 5)
		require.Empty(t, sites.Next)
	})
}

func TestAnalyticsCountsDaysAndStates(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		f.accepted(t)
		n := f.negotiate(t)
		f.pass(30 * time.Second)
		_, err := f.Accept(t.Context(), AcceptRequest{Client: n.Client, Offers: []Offer{{n.ID, 1}}},
			func(State) (Terms, error) { return Terms{PriceMicro: 1801}, nil })
		require.NoError(t, err)
		f.pass(24 * time.Hour)
		_, err = f.CreateNegotiations(t.Context(), f.creation(f.publisher), reject)
		require.NoError(t, err)
		f.negotiate(t)
		_, err = f.CreateNegotiations(t.Context(), f.creation(f.addPublisher(t, "other.local")), counter)
		require.NoError(t, err)
		day := start.Truncate(24 * time.Hour)
		days, err := f.Analytics(t.Context(), f.publisher.ID, day, day.AddDate(0, 0, 2))
		require.NoError(t, err)
		require.Equal(t, []Day{
			{day, engine.Accepted, 2, 2, 15, 1800.5},
			{day.AddDate(0, 0, 1), engine.Negotiating, 1, 1, 0, 0},
			{day.AddDate(0, 0, 1), engine.Rejected, 1, 1, 0, 0},
		}, days)
		days, err = f.Analytics(t.Context(), 0, day.AddDate(0, 0, 1), day.AddDate(0, 0, 2))
		require.NoError(t, err)
		require.EqualValues(t, 2, days[0].Count)
		_, err = f.Analytics(t.Context(), 0, day, day)
		require.ErrorContains(t, err, "the period must be positive")
		_, err = f.Analytics(t.Context(), 0, day, day.AddDate(2, 0, 0))
		require.ErrorContains(t, err, "at most 366 days")
	})
}

// Several processes that start on an empty database create a single schema, and refuse a newer schema.
func TestSeveralProcessesOpenANewDatabase(t *testing.T) {
	for dialect, address := range map[Dialect]string{
		SQLite: "sqlite:" + filepath.Join(t.TempDir(), "a b%20?#.db"), Postgres: server.Create(t),
	} {
		t.Run(string(dialect), func(t *testing.T) {
			var group sync.WaitGroup
			for range 4 {
				group.Go(func() {
					s, err := Open(t.Context(), Config{Address: address})
					if assert.NoError(t, err) {
						assert.NoError(t, s.Ready(t.Context()))
						assert.NoError(t, s.Close())
					}
				})
			}
			group.Wait()
			s, err := Open(t.Context(), Config{Address: address})
			require.NoError(t, err)
			defer s.Close()
			_, err = sqlOf(t, s).Exec(`UPDATE ` + tables.VersionTable + ` SET version_id = 99 WHERE version_id > 0`)
			require.NoError(t, err)
			_, err = Open(t.Context(), Config{Address: address})
			require.ErrorIs(t, err, ErrVersion)
		})
	}
}

// Two gateways that get the same request at once add a single object.
func TestACreationWithAKeyHappensOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		stores := []*Store{f.Store, f.open(t, Limits{})}
		for name, add := range map[string]func(s *Store, key *Key) (id any, err error){
			"publisher": func(s *Store, key *Key) (any, error) {
				p, err := s.CreatePublisher(t.Context(), Publisher{Hostname: "b.local", Name: "B", Currency: "USD"}, key)
				return p.ID, err
			},
			"client": func(s *Store, key *Key) (any, error) {
				c, err := s.RegisterClient(t.Context(), Client{Kind: ClientAPIKey, Subject: "b", Name: "B"}, key)
				return c.ID, err
			},
			"strategy": func(s *Store, key *Key) (any, error) {
				v, err := s.AddStrategy(t.Context(), Strategy{
					Publisher: f.publisher.ID, Name: "b", Definition: json.RawMessage(`{"max_rounds": 3}`),
				}, key)
				return v.ID, err
			},
			"key": func(s *Store, key *Key) (any, error) {
				k, _, err := s.CreateKey(t.Context(), APIKey{Hash: rand.Text(), Publisher: f.publisher.ID}, key)
				return k.ID, err
			},
		} {
			t.Run(name, func(t *testing.T) {
				ids := make([]any, 8)
				var group sync.WaitGroup
				for i := range ids {
					group.Go(func() {
						err := ErrInProgress
						for errors.Is(err, ErrInProgress) {
							ids[i], err = add(stores[i%2], &Key{Owner: "o", Key: name, BodyHash: "h"})
						}
						assert.NoError(t, err)
					})
				}
				group.Wait()
				for _, id := range ids {
					require.Equal(t, ids[0], id)
				}
				_, err := add(f.Store, &Key{Owner: "o", Key: name, BodyHash: "other"})
				require.ErrorIs(t, err, ErrKeyReused)
			})
		}
	})
}

// openOlder returns a new database with an older schema.
func openOlder(t *testing.T, config Config, version int) *Store {
	t.Helper()
	old := tables
	old.GoMigrations = func(postgres bool) ([]*goose.Migration, error) {
		all, err := migrations(postgres)
		return all[:version], err
	}
	created, err := databases.Open(t.Context(), strings.TrimPrefix(config.Address, "sqlite:"), old)
	require.NoError(t, err)
	require.NoError(t, created.Close())
	older, err := connect(t.Context(), config, false)
	require.NoError(t, err)
	return older
}

// A database with an older schema can contain a name twice. The first client reserves it.
func TestNamesOfOlderClientsAreTaken(t *testing.T) {
	for dialect, address := range map[Dialect]string{
		SQLite: "sqlite:" + filepath.Join(t.TempDir(), "gateway.db"), Postgres: server.Create(t),
	} {
		t.Run(string(dialect), func(t *testing.T) {
			config := Config{Address: address}
			older := openOlder(t, config, 4)
			_, err := sqlOf(t, older).Exec(`INSERT INTO clients (kind, subject, name, created_at) VALUES
				('api_key', 'k', 'Straße  AI', 1), ('ed25519', 'k', 'STRASSE AI', 2), ('anonymous', 'k', NULL, 3)`)
			require.NoError(t, err)
			require.NoError(t, older.Close())

			s, err := Open(t.Context(), config)
			require.NoError(t, err)
			defer s.Close()
			_, err = s.RegisterClient(t.Context(), Client{Kind: ClientAPIKey, Subject: "x", Name: "strasseai"}, nil)
			require.ErrorIs(t, err, ErrNameTaken)
			require.EqualValues(t, 1, count(t, sqlOf(t, s), `SELECT id FROM clients WHERE name_key = 'strasseai'`))
			list, err := s.Clients(t.Context(), Page{})
			require.NoError(t, err)
			require.Len(t, list.Items, 3, "all stay registered")
		})
	}
}

// The database contains key hashes and the publishers' hidden limits.
func TestOnlyTheOwnerReadsTheFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gateway.db")
	check := func() {
		t.Helper()
		s, err := Open(t.Context(), Config{Address: "sqlite:" + path})
		require.NoError(t, err)
		for _, suffix := range []string{"", "-wal", "-shm"} {
			info, err := os.Stat(path + suffix)
			require.NoError(t, err)
			require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), suffix)
		}
		require.NoError(t, s.Close())
	}
	check()
	require.NoError(t, os.Chmod(path, 0o644))
	check()
}

func TestAnInvalidAddressIsNotQuoted(t *testing.T) {
	for _, address := range []string{"", "sqlite:", "mysql://u:secret@h/d", "postgres://u:secret@h:port/d"} {
		_, err := Open(t.Context(), Config{Address: address})
		require.ErrorIs(t, err, ErrAddress)
		require.NotContains(t, err.Error(), "secret")
	}
	_, err := Open(t.Context(), Config{Address: strings.Replace(server.Create(t), "sslmode",
		"options=-csynchronous_commit%3Doff&sslmode", 1)})
	require.ErrorContains(t, err, "synchronous_commit is off")
	require.NotContains(t, err.Error(), "not-printed")
}
