package store

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.mau.fi/util/confusable"
)

// named adds a client or a publisher with a name.
func (f *fixture) named(t *testing.T, s *Store, owner, name, unique string) error {
	t.Helper()
	var err error
	if owner == "client" {
		_, err = s.RegisterClient(t.Context(), Client{Kind: ClientAPIKey, Subject: unique, Name: name}, nil)
	} else {
		_, err = s.CreatePublisher(t.Context(), Publisher{Hostname: unique + ".example", Name: name, Currency: "USD"}, nil)
	}
	return err
}

func TestConfusableNamesAreRefused(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		for _, owner := range []string{"client", "publisher"} {
			require.NoError(t, f.named(t, f.Store, owner, "OpenAI", "first"))
			for at, c := range []struct {
				name       string
				confusable bool
			}{
				{"OPENAI", false}, {"Open AI", false}, {"\uff2fpenAI", false},
				{"OpenAl", true},       // l
				{"0penAI", true},       // a digit
				{"OpenA1", true},       // a digit
				{"\u041epenAI", true},  // Cyrillic
				{"\u043epenai", true},  // Cyrillic in lower case
				{"Op\u0435nAI", true},  // Cyrillic
				{"OpenA|", true},       // a line
				{"\u039fpen AI", true}, // Greek, with a space
			} {
				err := f.named(t, f.Store, owner, c.name, fmt.Sprint("other", at))
				require.ErrorIs(t, err, ErrNameTaken, "%s %+q", owner, c.name)
				var taken *NameError
				require.ErrorAs(t, err, &taken)
				require.Equal(t, []any{owner, "OpenAI", c.confusable}, []any{taken.Owner, taken.Name, taken.Confusable},
					"%+q", c.name)
			}
			for at, name := range []string{"OpenAir", "Opel AI", "Bell", "Beil", "Site \U0001FADC", "Site \u1c89"} {
				require.NoError(t, f.named(t, f.Store, owner, name, fmt.Sprint("free", at)), "%+q", name)
			}
		}
		change := func(name string) error {
			_, err := f.UpdatePublisher(t.Context(), f.publisher.ID, func(p *Publisher) error { p.Name = name; return nil })
			return err
		}
		require.ErrorIs(t, change("0penAI"), ErrNameTaken)
		require.NoError(t, change("Daily News"))
		require.NoError(t, change("Dai1y News"), "its own name is no other one")
		require.ErrorIs(t, f.named(t, f.Store, "publisher", "Daily News", "late"), ErrNameTaken)
	})
}

// The database refuses the second of two names, not a search before it.
func TestConfusableNamesAtOnceAreRefused(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		stores := []*Store{f.Store, f.open(t, Limits{})}
		names := []string{"OpenAI", "0penAI", "OpenAl", "\u041epenAI"}
		for _, owner := range []string{"client", "publisher"} {
			var group sync.WaitGroup
			results := make([]error, len(names))
			for i, name := range names {
				group.Go(func() {
					results[i] = ErrInProgress
					for errors.Is(results[i], ErrInProgress) {
						results[i] = f.named(t, stores[i%2], owner, name, fmt.Sprint("at-once", i))
					}
				})
			}
			group.Wait()
			added := 0
			for _, err := range results {
				if err == nil {
					added++
					continue
				}
				assert.ErrorIs(t, err, ErrNameTaken)
			}
			require.Equal(t, 1, added, owner)
		}
	})
}

// A database with an older schema can contain confusable names. It opens, all names are kept, and a form's
// first owner reserves it.
func TestConfusableNamesOfOlderOwnersStay(t *testing.T) {
	for dialect, address := range map[Dialect]string{
		SQLite: "sqlite:" + filepath.Join(t.TempDir(), "gateway.db"), Postgres: server.Create(t),
	} {
		t.Run(string(dialect), func(t *testing.T) {
			config := Config{Address: address}
			older := openOlder(t, config, 9)
			for _, statement := range []string{
				`INSERT INTO clients (kind, subject, name, name_key, created_at) VALUES
					('api_key', 'a', 'OpenAI', 'openai', 1), ('api_key', 'b', '0penAI', '0penai', 2),
					('anonymous', 'c', NULL, NULL, 3)`,
				`INSERT INTO publishers (hostname, name, currency, is_active, created_at, updated_at) VALUES
					('a.example', 'Site', 'USD', TRUE, 1, 1), ('b.example', 'Site', 'USD', TRUE, 2, 2),
					('c.example', 'S` + "\u0456" + `te', 'USD', TRUE, 3, 3)`, // Cyrillic
			} {
				_, err := sqlOf(t, older).Exec(statement)
				require.NoError(t, err)
			}
			require.NoError(t, older.Close())

			s, err := Open(t.Context(), config)
			require.NoError(t, err)
			defer s.Close()
			clients, err := s.Clients(t.Context(), Page{})
			require.NoError(t, err)
			require.Len(t, clients.Items, 3)
			unreserved, err := s.UnreservedNames(t.Context())
			require.NoError(t, err)
			require.Equal(t, []NameOwner{
				{"client", 2, "0penAI"}, {"publisher", 2, "Site"}, {"publisher", 3, "S\u0456te"},
			}, unreserved)
			f := &fixture{Store: s}
			require.ErrorIs(t, f.named(t, s, "client", "\u041epenAI", "late"), ErrNameTaken)
			require.ErrorIs(t, f.named(t, s, "publisher", "SITE", "late"), ErrNameTaken)
			for _, table := range []string{"clients", "publishers"} {
				require.EqualValues(t, 1, count(t, sqlOf(t, s), `SELECT MIN(id) FROM `+table+` WHERE skeleton IS NOT NULL`))
			}
			changed, err := s.UpdatePublisher(t.Context(), 2, func(p *Publisher) error { p.FloorMicro = 7; return nil })
			require.NoError(t, err)
			require.Equal(t, "Site", changed.Name)
			_, err = s.UpdatePublisher(t.Context(), 2, func(p *Publisher) error { p.Name = "site"; return nil })
			require.ErrorIs(t, err, ErrNameTaken)
		})
	}
}

// The stored forms depend on the table of the library. With another table, add a migration that fills the forms again,
// and then change the digest.
func TestSkeletonTableMatchesTheStoredForms(t *testing.T) {
	table := sha256.New()
	for char := range rune(utf8.MaxRune + 1) {
		if prototype := confusable.GetReplacement(char); prototype != "" {
			fmt.Fprintf(table, "%U %+q\n", char, prototype)
		}
	}
	require.Equal(t, "b1ce5d8270da6a2eb9fed0f073489f4f3ab1ae3d2b2dc0fcd6d24dd8d05d4989",
		fmt.Sprintf("%x", table.Sum(nil)))
}
