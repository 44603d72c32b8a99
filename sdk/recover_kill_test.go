package haggle_test

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/programs/system"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/store/sqlite"
	"github.com/haggle-protocol/haggle/sdk/transaction"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// These tests kill a process with a journal, in the middle of an action, and start another process that wants
// the same.

const (
	// victimJournal is the path of the test process's journal, victimEndpoint the node, victimKey the key.
	victimJournal  = "HAGGLE_VICTIM_JOURNAL"
	victimEndpoint = "HAGGLE_VICTIM_ENDPOINT"
	victimKey      = "HAGGLE_VICTIM_KEY"
	// victimStops names the journal step to stop after, until the process is killed.
	victimStops = "HAGGLE_VICTIM_STOPS"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(victimJournal); path != "" {
		fmt.Println("outcome", transaction.OutcomeOf(act(path)))
		return
	}
	os.Exit(m.Run())
}

// act is the action of the process: it advances a nonce account, which stands for any action.
func act(path string) error {
	store, err := sqlite.Open(context.Background(), path)
	if err != nil {
		return err
	}
	var kept haggle.JournalStore = store
	if step := os.Getenv(victimStops); step != "" {
		kept = stopping{store, step}
	}
	client, err := haggle.NewClient(haggle.Config{Endpoint: os.Getenv(victimEndpoint), Journal: kept})
	if err != nil {
		return err
	}
	me, err := wallet.LoadKeypairFile(os.Getenv(victimKey))
	if err != nil {
		return err
	}
	ctx := context.Background()
	advance := system.NewAdvanceNonceAccountInstruction(solana.PublicKey{1},
		solana.SysVarRecentBlockHashesPubkey, me.PublicKey()).Build()
	_, err = client.NewAction("advance_nonce_account", me.PublicKey(), advance).Do(ctx, me)
	return err
}

// The steps that a process can stop after.
const (
	stopsAtBegin     = "begin"
	stopsAtAuthorize = "authorize"
)

// stopping is a journal that stops the process after a step, until the process is killed.
type stopping struct {
	haggle.JournalStore
	step string
}

func (s stopping) OpenJournal() haggle.Journal {
	return stoppingJournal{s.JournalStore.OpenJournal(), s.step}
}

type stoppingJournal struct {
	haggle.Journal
	step string
}

func (s stoppingJournal) Begin(ctx context.Context, entry haggle.JournalEntry) error {
	return s.stopAfter(stopsAtBegin, s.Journal.Begin(ctx, entry))
}

func (s stoppingJournal) Authorize(ctx context.Context, signature solana.Signature) error {
	return s.stopAfter(stopsAtAuthorize, s.Journal.Authorize(ctx, signature))
}

func (s stoppingJournal) stopAfter(step string, err error) error {
	if err != nil || s.step != step {
		return err
	}
	fmt.Println("begun")
	select {}
}

// endLeases ends a killed process's leases, which otherwise last longer.
func endLeases(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	defer db.Close()
	_, err = db.ExecContext(t.Context(), "UPDATE haggle_journal SET leased_until = 0")
	require.NoError(t, err)
}

// singleNodeChain is a node with the whole chain. It executes each transaction once, and counts.
type singleNodeChain struct {
	lock sync.Mutex
	// loses makes it accept transactions and execute none.
	loses bool
	// over reports whether the first transactions are no longer valid.
	over bool
	// received is called for each transaction that arrives.
	received func()

	executed    []solana.Signature
	bytes       map[solana.Signature][]byte
	arrived     map[solana.Signature]int
	blockhashes int
}

func (c *singleNodeChain) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var request struct {
		ID     any
		Method string
		Params []json.RawMessage
	}
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	answer := map[string]any{"jsonrpc": "2.0", "id": request.ID}
	result, err := c.answer(request.Method, request.Params)
	if err != nil {
		answer["error"] = map[string]any{"code": -32601, "message": err.Error()}
	} else {
		answer["result"] = result
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer)
}

func (c *singleNodeChain) answer(method string, params []json.RawMessage) (any, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	type object = map[string]any
	at := object{"slot": 1_000}
	switch method {
	case "getLatestBlockhash":
		c.blockhashes++
		return object{"context": at,
			"value": object{"blockhash": solana.Hash{byte(c.blockhashes)}.String(),
				"lastValidBlockHeight": 150}}, nil
	case "simulateTransaction":
		return object{"context": at,
			"value": object{"err": nil, "unitsConsumed": 150, "logs": []string{}}}, nil
	case "getEpochInfo":
		height := 100
		if c.over {
			height = 151
		}
		return object{"absoluteSlot": 1_000, "blockHeight": height, "epoch": 0, "slotIndex": 0,
			"slotsInEpoch": 432_000}, nil
	case "isBlockhashValid":
		return object{"context": at, "value": !c.over}, nil
	case "getFirstAvailableBlock":
		return 0, nil
	case "sendTransaction":
		return c.receive(params[0])
	case "getSignatureStatuses":
		var requested []solana.Signature
		if err := json.Unmarshal(params[0], &requested); err != nil {
			return nil, err
		}
		statuses := make([]any, len(requested))
		for i := range requested {
			if slices.Contains(c.executed, requested[i]) {
				statuses[i] = object{"slot": 1_000, "confirmations": nil, "err": nil,
					"confirmationStatus": "confirmed"}
			}
		}
		return object{"context": at, "value": statuses}, nil
	case "getTransaction":
		var requested solana.Signature
		if err := json.Unmarshal(params[0], &requested); err != nil {
			return nil, err
		}
		return object{
			"slot": 1_000, "blockTime": 1_700_000_000, "version": "legacy",
			"transaction": []any{base64.StdEncoding.EncodeToString(c.bytes[requested]), "base64"},
			"meta": object{"err": nil, "fee": 5_000, "computeUnitsConsumed": 150,
				"logMessages": []string{}, "preBalances": []int{}, "postBalances": []int{}},
		}, nil
	}
	return nil, fmt.Errorf("unexpected call of %s", method)
}

func (c *singleNodeChain) receive(param json.RawMessage) (any, error) {
	var encoded []byte
	if err := json.Unmarshal(param, &encoded); err != nil {
		return nil, err
	}
	tx, err := solana.TransactionFromBytes(encoded)
	if err != nil {
		return nil, err
	}
	signature := tx.Signatures[0]
	c.arrived[signature]++
	c.bytes[signature] = encoded
	if !c.loses && !slices.Contains(c.executed, signature) {
		c.executed = append(c.executed, signature)
	}
	if c.received != nil {
		c.received()
	}
	return signature.String(), nil
}

// passTime makes a killed process's entries old enough to expire.
func passTime(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	defer db.Close()
	_, err = db.ExecContext(t.Context(), "UPDATE haggle_journal SET entry = json_set(entry, '$.begun', $1)",
		time.Now().Add(-time.Hour).UTC().Format(time.RFC3339Nano))
	require.NoError(t, err)
}

func TestKilledProcessDoesNothingTwice(t *testing.T) {
	cases := map[string]struct {
		// stops is the step that the first process stops after to be killed; if empty, it is killed when the
		// node received the transaction.
		stops string
		// loses reports whether the node loses transactions until the first process is dead, and over whether
		// the transaction expired by then.
		loses, over bool
		// arrivals counts the different transactions that the chain receives, and executions the executed
		// transactions.
		arrivals, executions int
	}{
		"killed before authorising":                    {stops: stopsAtBegin, arrivals: 1, executions: 1},
		"killed before authorising, and late":          {stops: stopsAtBegin, over: true, arrivals: 1, executions: 1},
		"killed before sending":                        {stops: stopsAtAuthorize, arrivals: 1, executions: 1},
		"killed before sending, and late":              {stops: stopsAtAuthorize, over: true, arrivals: 1, executions: 1},
		"killed after sending":                         {arrivals: 1, executions: 1},
		"killed after sending, and late":               {over: true, arrivals: 1, executions: 1},
		"killed after sending what was lost":           {loses: true, arrivals: 1, executions: 1},
		"killed after sending what was lost, and late": {loses: true, over: true, arrivals: 2, executions: 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chain := &singleNodeChain{loses: c.loses, bytes: make(map[solana.Signature][]byte),
				arrived: make(map[solana.Signature]int)}
			server := httptest.NewServer(chain)
			defer server.Close()
			folder := t.TempDir()
			key, err := wallet.GenerateKeypair()
			require.NoError(t, err)
			require.NoError(t, key.Save(filepath.Join(folder, "key.json")))
			book := filepath.Join(folder, "journal")
			start := func(more ...string) *exec.Cmd {
				program, err := os.Executable()
				require.NoError(t, err)
				process := exec.CommandContext(t.Context(), program)
				process.Env = append(append(os.Environ(), victimJournal+"="+book,
					victimEndpoint+"="+server.URL, victimKey+"="+filepath.Join(folder, "key.json")), more...)
				process.Stderr = os.Stderr
				return process
			}

			// The node responds only once the process to kill is known.
			chain.lock.Lock()
			var victim *exec.Cmd
			if c.stops != "" {
				victim = start(victimStops + "=" + c.stops)
			} else {
				victim = start()
				chain.received = sync.OnceFunc(func() { _ = victim.Process.Kill() })
			}
			out, err := victim.StdoutPipe()
			if err == nil {
				err = victim.Start()
			}
			chain.lock.Unlock()
			require.NoError(t, err)
			for lines := bufio.NewScanner(out); lines.Scan(); {
				require.Equal(t, "begun", lines.Text())
				require.NoError(t, victim.Process.Kill())
			}
			require.Error(t, victim.Wait(), "it has been killed")

			chain.lock.Lock()
			chain.loses, chain.over, chain.received = false, c.over, nil
			chain.lock.Unlock()
			endLeases(t, book)
			if c.over {
				passTime(t, book)
			}
			said, err := start().Output()
			require.NoError(t, err)
			assert.Equal(t, "outcome confirmed", strings.TrimSpace(string(said)))
			chain.lock.Lock()
			defer chain.lock.Unlock()
			assert.Len(t, chain.arrived, c.arrivals)
			assert.Len(t, chain.executed, c.executions, "once, whatever happens")

			store, err := sqlite.Open(t.Context(), book)
			require.NoError(t, err)
			defer func() { assert.NoError(t, store.Close()) }()
			for entry, err := range store.OpenJournal().Unfinished(t.Context(), key.PublicKey()) {
				require.NoError(t, err)
				t.Errorf("transaction %s is unfinished", entry.Signature)
			}
		})
	}
}
