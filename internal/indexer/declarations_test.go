package indexer

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/identity"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

func newKey(t *testing.T) *wallet.Keypair {
	t.Helper()
	key, err := wallet.GenerateKeypair()
	require.NoError(t, err)
	return key
}

func declaredBy(t *testing.T, key *wallet.Keypair, strategy string, at int64) identity.Declaration {
	t.Helper()
	d, err := identity.Declare(t.Context(), key, identity.Declaration{
		Strategy: strategy, Model: "a/model-1", PromptHash: identity.PromptHash([]byte(strategy)), DeclaredAt: at,
	})
	require.NoError(t, err)
	return d
}

func bothDatabases(t *testing.T) map[string]*Database {
	t.Helper()
	chain := newScriptedChain()
	chain.reach(200, 190)
	databases := map[string]*Database{"sqlite": newSQLite(t), "postgres": openAt(t, server.Create(t))}
	for _, database := range databases {
		runOnce(t, t.Context(), database, chain.client(), rpc.CommitmentConfirmed)
	}
	return databases
}

func rowsOf(t *testing.T, d *Database, name string) string {
	t.Helper()
	table, is := TableNamed(name)
	require.True(t, is)
	var written bytes.Buffer
	_, err := d.Export(t.Context(), table, CSV, &written)
	require.NoError(t, err)
	return written.String()
}

// A declaration that the agent did not sign as such changes nothing, and neither do valid declarations in the
// same call.
func TestInvalidDeclarationsChangeNothing(t *testing.T) {
	key, now := newKey(t), time.Unix(1_700_000_000, 0)
	valid := declaredBy(t, key, "linear", 1_699_999_999)
	foreign := valid
	message, err := valid.Message()
	require.NoError(t, err)
	// The same statement but no off-chain message header, as another application could request.
	const header = 20
	foreign.Signature, err = key.SignMessage(t.Context(), message[header:])
	require.NoError(t, err)
	altered, forged := valid, valid
	altered.Strategy = "boulware"
	forged.Agent = newKey(t).PublicKey()
	for name, database := range bothDatabases(t) {
		before := rowsOf(t, database, "declarations")
		for problem, item := range map[string]struct {
			declaration identity.Declaration
			text        string
		}{
			"foreign":  {foreign, "the signature is not that of " + key.PublicKey().String()},
			"altered":  {altered, "the signature is not that of " + key.PublicKey().String()},
			"forged":   {forged, "the signature is not that of " + forged.Agent.String()},
			"future":   {declaredBy(t, key, "x", 1_700_000_061), "declared_at 1700000061 is in the future, the time is 1700000000"},
			"no time":  {declaredBy(t, key, "x", 0), "declared_at not set"},
			"negative": {declaredBy(t, key, "x", -5), "declared_at not set"},
		} {
			t.Run(name+", "+problem, func(t *testing.T) {
				_, err := database.declare(t.Context(), []identity.Declaration{valid, item.declaration}, now)
				require.ErrorIs(t, err, ErrDeclaration)
				require.ErrorContains(t, err, "number 2: ")
				require.ErrorContains(t, err, item.text)
				require.Equal(t, before, rowsOf(t, database, "declarations"))
			})
		}
		_, err := database.declare(t.Context(), []identity.Declaration{valid, declaredBy(t, key, "x", 1_700_000_060)}, now)
		require.NoError(t, err, "the clocks may differ by a minute")
	}
}

func TestFilesOfDeclarationsAreLimited(t *testing.T) {
	folder := t.TempDir()
	key := newKey(t)
	line, err := json.Marshal(declaredBy(t, key, "linear", 100))
	require.NoError(t, err)
	read := func(content string) error {
		path := filepath.Join(folder, "x.jsonl")
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		_, err := ReadDeclarationFile(path)
		return err
	}
	full := strings.Repeat(string(line)+"\n", MaxDeclarationFile/(len(line)+1))
	full += strings.Repeat(" ", MaxDeclarationFile-len(full))
	require.NoError(t, read(full))
	for content, text := range map[string]string{
		full + " ": "x.jsonl: larger than 1048576 bytes",
		"":         "x.jsonl: no declaration in the file",
		string(line) + strings.Replace(string(line), "linear", "lineal", 1):                        "x.jsonl: number 2: identity: invalid",
		strings.Replace(string(line), "linear", strings.Repeat("l", 65), 1):                        "more than 64",
		strings.Replace(string(line), `"declared_at"`, `"domain":"other","declared_at"`, 1):        `unknown field "domain"`,
		strings.Replace(string(line), key.PublicKey().String(), newKey(t).PublicKey().String(), 1): "the signature is not that of",
	} {
		err := read(content)
		require.ErrorIs(t, err, ErrDeclaration)
		require.ErrorContains(t, err, text)
	}
}

// A repetition changes nothing, not even the time of receipt. Of two declarations at the same time the
// arrival order does not matter.
func TestRepeatedDeclarations(t *testing.T) {
	key := newKey(t)
	first, second := declaredBy(t, key, "linear", 100), declaredBy(t, key, "boulware", 100)
	kept, ok := identity.DeclarationAt([]identity.Declaration{first, second}, key.PublicKey(), 100)
	require.True(t, ok)
	for name, database := range bothDatabases(t) {
		t.Run(name, func(t *testing.T) {
			for i, order := range [][]identity.Declaration{{first, second}, {second, first}, {first, second, first}} {
				_, err := database.statements().exec(t.Context(), `DELETE FROM declarations`)
				require.NoError(t, err)
				for _, d := range order {
					_, err := database.declare(t.Context(), []identity.Declaration{d}, time.Unix(1000, 0))
					require.NoError(t, err)
				}
				before := rowsOf(t, database, "declarations")
				require.Contains(t, before, kept.Signature.String(), i)
				require.Contains(t, before, ","+kept.Strategy+",")
				result, err := database.declare(t.Context(), order, time.Unix(2000, 0))
				require.NoError(t, err)
				require.Equal(t, Declared{Unchanged: len(order)}, result)
				require.Equal(t, before, rowsOf(t, database, "declarations"))
			}
		})
	}
}

// The agent's latest declaration at or before the creation holds, for each side, in whatever order
// negotiations and declarations arrive.
func TestTheDeclarationAtTheCreationHolds(t *testing.T) {
	const created = 1_700_000_000 // of the scripted scenario 0
	keys := []*wallet.Keypair{newKey(t), newKey(t), newKey(t)}
	var declarations []identity.Declaration
	random := rand.New(rand.NewPCG(1, 2))
	for range 30 {
		at := created - 6 + random.Int64N(30)
		declarations = append(declarations, declaredBy(t, keys[random.IntN(2)], fmt.Sprint("s", at), at))
	}
	chain := newScriptedChain()
	var scenarios []*scriptedScenario
	for number := range uint64(20) {
		s := newScriptedScenario(number, 1)
		s.buyer, s.seller = keys[number%3].PublicKey(), keys[(number+1)%3].PublicKey()
		scenarios = append(scenarios, s)
		chain.add(300+number, 1, newTransaction(t, number, nil, logsOf(s.steps()[0].events...)))
	}
	var want int
	for name, database := range bothDatabases(t) {
		t.Run(name, func(t *testing.T) {
			half := len(declarations) / 2
			_, err := database.declare(t.Context(), declarations[:half], time.Unix(created+100, 0))
			require.NoError(t, err)
			runOnce(t, t.Context(), database, chain.client(), rpc.CommitmentConfirmed)
			_, err = database.declare(t.Context(), declarations[half:], time.Unix(created+100, 0))
			require.NoError(t, err)
			want = 0
			for _, s := range scenarios {
				for side, agent := range map[string]solana.PublicKey{"Buyer": s.buyer, "Seller": s.seller} {
					expected, ok := identity.DeclarationAt(declarations, agent, created+int64(s.number))
					found := single[string](t, t.Context(), database, `SELECT COALESCE(MAX(strategy), 'none') FROM declared
						WHERE negotiation = $1 AND side = $2 AND late`, s.address.String(), side)
					if !ok {
						require.Equal(t, "none", found)
						continue
					}
					want++
					require.Equal(t, expected.Strategy, found)
				}
			}
			require.Positive(t, want)
			require.Equal(t, want, single[int](t, t.Context(), database, `SELECT COUNT(*) FROM declared`))
		})
	}
}

// An agent's declarations are limited, and another agent's are not affected.
func TestTheDeclarationsOfAnAgentAreLimited(t *testing.T) {
	key, now := newKey(t), time.Unix(10_000, 0)
	for name, database := range bothDatabases(t) {
		t.Run(name, func(t *testing.T) {
			_, err := database.declare(t.Context(), []identity.Declaration{declaredBy(t, key, "first", 5000)}, now)
			require.NoError(t, err)
			var all []identity.Declaration
			for i := range int64(MaxDeclarations) {
				all = append(all, declaredBy(t, key, "x", i+1))
			}
			_, err = database.declare(t.Context(), all, now)
			require.ErrorIs(t, err, ErrDeclaration)
			require.ErrorContains(t, err, key.PublicKey().String()+": the agent has 1000 declarations, which is the limit")
			require.Equal(t, 1, single[int](t, t.Context(), database, `SELECT COUNT(*) FROM declarations`))
			result, err := database.declare(t.Context(), all[1:], now)
			require.NoError(t, err)
			require.Equal(t, Declared{Added: MaxDeclarations - 1}, result)
			_, err = database.declare(t.Context(), append(all[1:], declaredBy(t, newKey(t), "x", 1)), now)
			require.NoError(t, err)
		})
	}
}

// Run reads a directory when it starts, and changes later. A refused file is logged and stops nothing, and
// the indexer continues after another process adds declarations.
func TestRunReadsAFolderOfDeclarations(t *testing.T) {
	for name, database := range bothDatabases(t) {
		t.Run(name, func(t *testing.T) {
			folder, key := t.TempDir(), newKey(t)
			write := func(file string, declarations ...identity.Declaration) {
				var content bytes.Buffer
				for _, d := range declarations {
					require.NoError(t, json.NewEncoder(&content).Encode(d))
				}
				require.NoError(t, os.WriteFile(filepath.Join(folder, file), content.Bytes(), 0o600))
			}
			forged := declaredBy(t, key, "forged", 300)
			forged.DeclaredAt = 301
			write("a.jsonl", declaredBy(t, key, "one", 100))
			write("forged.json", declaredBy(t, key, "two", 200), forged)
			write("other.txt", declaredBy(t, key, "three", 300))
			require.NoError(t, os.Mkdir(filepath.Join(folder, "folder.json"), 0o700))

			var log bytes.Buffer
			chain := newScriptedChain()
			chain.reach(300, 290)
			x, err := New(database, Config{
				RPC: chain.client(), Once: true, Declarations: folder, Logger: slog.New(slog.NewTextHandler(&log, nil)),
			})
			require.NoError(t, err)
			strategies := func() string {
				x.folder.last = time.Time{}
				require.NoError(t, x.Run(t.Context()))
				table := ""
				require.NoError(t, database.statements().each(t.Context(), func(scan scanner) error {
					var strategy string
					defer func() { table += strategy + " " }()
					return scan(&strategy)
				}, `SELECT strategy FROM declarations ORDER BY declared_at`))
				return table
			}
			require.Equal(t, "one ", strategies())
			require.Equal(t, 1, strings.Count(log.String(), "level=WARN"), log.String())
			require.Contains(t, log.String(), "the signature is not that of "+key.PublicKey().String())
			require.Equal(t, "one ", strategies())
			require.Equal(t, 1, strings.Count(log.String(), "level=WARN"), "an unchanged file is not read again")

			_, err = database.Declare(context.Background(), []identity.Declaration{declaredBy(t, key, "by hand", 50)})
			require.NoError(t, err)
			write("a.jsonl", declaredBy(t, key, "one", 100), declaredBy(t, key, "four", 400))
			require.Equal(t, "by hand one four ", strategies())
			require.NoError(t, os.RemoveAll(folder))
			require.Equal(t, "by hand one four ", strategies())
			require.Equal(t, "by hand one four ", strategies())
			require.Equal(t, 1, strings.Count(log.String(), "folder of declarations not read"))
		})
	}
}

// Declarations need an index: nothing is created in another place.
func TestDeclarationsNeedAnIndex(t *testing.T) {
	path := filepath.Join(t.TempDir(), "missing.db")
	_, err := OpenExisting(t.Context(), "sqlite:"+path)
	require.ErrorIs(t, err, ErrNotIndexed)
	require.NoFileExists(t, path)
	empty := newSQLite(t)
	_, err = empty.Declare(t.Context(), []identity.Declaration{declaredBy(t, newKey(t), "x", 1)})
	require.ErrorIs(t, err, ErrNotIndexed)
}
