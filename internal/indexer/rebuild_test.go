package indexer

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// hidingMemos is how many empty memos fill the logs completely.
const hidingMemos = 44

// hide puts memos before an action, so that the validator truncates the event logs.
func hide(t *testing.T, action *haggle.Action) {
	t.Helper()
	var memos []solana.Instruction
	for range hidingMemos {
		memos = append(memos, solana.NewInstruction(solana.MemoProgramID, nil, nil))
	}
	action.Instructions = append(memos, action.Instructions...)
}

// A party cannot hide a settlement by memos: the rows equal a settlement's rows without memos.
func TestMemosDoNotHideASettlement(t *testing.T) {
	s := newScenario(t)
	s.endow()
	settle := func(session uint64, hidden bool) solana.PublicKey {
		n := s.invited(session, nil)
		s.offer(n, s.Buyer, 2_000_000)
		action, err := s.Client.Negotiation(n).AcceptOffer(s.Seller.PublicKey(), 2_000_000).Build(s.ctx)
		require.NoError(t, err)
		if hidden {
			hide(t, action)
		}
		if _, err = action.Do(s.ctx, s.Seller); hidden {
			require.ErrorIs(t, err, protocol.ErrLogsTruncated) // The SDK returns no events for the receipt.
		} else {
			require.NoError(t, err)
		}
		return n
	}
	plain, hidden := settle(1, false), settle(2, true)
	for name, database := range map[string]*Database{"sqlite": newSQLite(t), "postgres": openAt(t, server.Create(t))} {
		t.Run(name, func(t *testing.T) {
			runOnce(t, s.ctx, database, s.Client.RPC(), rpc.CommitmentConfirmed)
			require.Equal(t, 1, single[int](t, s.ctx, database, `SELECT COUNT(*) FROM transactions WHERE flaw = 'truncated'`))
			outcome := func(n solana.PublicKey) string {
				return single[string](t, s.ctx, database, `SELECT status || ' ' || rounds || ' ' || CAST(settled_amount AS TEXT) || ' ' ||
					CAST(net_amount AS TEXT) || ' ' || CAST(fee AS TEXT) || ' ' || CAST(decay AS TEXT) || ' ' || CAST(refund AS TEXT) || ' ' ||
					accepted_by || ' ' || bond_state || ' ' || COALESCE(mint, '') FROM outcomes WHERE complete AND negotiation = $1`, n.String())
			}
			require.Contains(t, outcome(plain), "Settled 1 2000000 1990000 10000 100000 2900000 "+s.Seller.PublicKey().String())
			require.Equal(t, outcome(plain), outcome(hidden))
			events := func(n solana.PublicKey) (names, rebuilt []string) {
				require.NoError(t, database.statements().each(s.ctx, func(scan scanner) error {
					var name string
					var isRebuilt bool
					err := scan(&name, &isRebuilt)
					names = append(names, name)
					if isRebuilt {
						rebuilt = append(rebuilt, name)
					}
					return err
				}, `SELECT name, rebuilt FROM events WHERE negotiation = $1 ORDER BY slot, position, event_index`, n.String()))
				return names, rebuilt
			}
			names, rebuilt := events(plain)
			require.Equal(t, []string{"NegotiationCreated", "InvitationAccepted", "OfferSubmitted", "OfferAccepted", "NegotiationSettled"}, names)
			require.Empty(t, rebuilt)
			again, rebuilt := events(hidden)
			require.Equal(t, names, again)
			require.Equal(t, names[3:], rebuilt)
			require.Zero(t, single[int](t, s.ctx, database, `SELECT COUNT(*) FROM violations`))
			require.Zero(t, single[int](t, s.ctx, database, `SELECT incomplete FROM totals`))
		})
	}
}

// truncatingNode forwards requests and truncates the logs of every transaction before a line. clocks holds
// the program's time in each slot: a validator returns it as the block's time, and the local chain an
// estimate.
func truncatingNode(t *testing.T, url string, line func(lines int) int, clocks map[uint64]int64) *rpc.Client {
	t.Helper()
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		request, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		answer, err := http.Post(url, "application/json", bytes.NewReader(request))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err == nil && bytes.Contains(request, []byte(`"getTransaction"`)) {
			body, err = withoutLogs(body, line)
		}
		if err == nil && bytes.Contains(request, []byte(`"getBlock"`)) {
			body, err = withClock(request, body, clocks)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body)
	}))
	t.Cleanup(proxy.Close)
	client, err := haggle.NewClient(haggle.Config{Endpoint: proxy.URL})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	return client.RPC()
}

func withoutLogs(body []byte, line func(lines int) int) ([]byte, error) {
	answer, err := decodeObject(body)
	if err != nil {
		return nil, err
	}
	if result, is := answer["result"].(map[string]any); is {
		meta := result["meta"].(map[string]any)
		logs := meta["logMessages"].([]any)
		meta["logMessages"] = append(logs[:line(len(logs)):line(len(logs))], "Log truncated")
	}
	return json.Marshal(answer)
}

func withClock(request, body []byte, clocks map[uint64]int64) ([]byte, error) {
	var asked struct{ Params []any }
	if err := json.Unmarshal(request, &asked); err != nil {
		return nil, err
	}
	answer, err := decodeObject(body)
	if err != nil {
		return nil, err
	}
	if result, is := answer["result"].(map[string]any); is {
		if now, is := clocks[uint64(asked.Params[0].(float64))]; is {
			result["blockTime"] = now
		}
	}
	return json.Marshal(answer)
}

func decodeObject(text []byte) (object map[string]any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	err = decoder.Decode(&object)
	return object, err
}

// flawColumns matches the columns that mark truncated logs, in the export and in transactions.
var flawColumns = regexp.MustCompile(`(?m),(true|false)(,[^,\n]*)$`)

// Every event of every instruction can be rebuilt: an index built from no logs holds the same events,
// outcomes and totals. So does an index with logs truncated between an instruction's events.
func TestEveryEventCanBeRebuilt(t *testing.T) {
	s := newScenario(t)
	s.all()
	for i, ending := range s.endings() {
		n := ending.play(uint64(100 + i))
		if i%2 == 0 {
			s.close(n)
		}
	}
	s.unusual(200)
	expected := newSQLite(t)
	runOnce(t, s.ctx, expected, s.Client.RPC(), rpc.CommitmentConfirmed)
	for _, event := range []string{"PayoutRecorded", "PayoutClaimed", "ConfigInitialized", "ConfigUpdated", "DeadlineSettled", "AgreementSettled"} {
		require.Positive(t, single[int](t, s.ctx, expected, `SELECT COUNT(*) FROM events WHERE name = $1`, event), event)
	}
	clocks := make(map[uint64]int64)
	require.NoError(t, expected.statements().each(s.ctx, func(scan scanner) error {
		var slot uint64
		var now int64
		err := scan(&slot, &now)
		clocks[slot] = now
		return err
	}, `SELECT slot, timestamp FROM events WHERE timestamp IS NOT NULL`))
	for name, line := range map[string]func(int) int{
		"no logs": func(int) int { return 0 }, "half of the logs": func(lines int) int { return lines / 2 },
	} {
		for kind, database := range map[string]*Database{"sqlite": newSQLite(t), "postgres": openAt(t, server.Create(t))} {
			t.Run(name+" "+kind, func(t *testing.T) {
				runOnce(t, s.ctx, database, truncatingNode(t, s.Chain.RPCURL(), line, clocks), rpc.CommitmentConfirmed)
				for _, table := range Tables {
					require.Equal(t, exported(t, s.ctx, expected, table), exported(t, s.ctx, database, table), table.Name)
				}
				require.Zero(t, single[int](t, s.ctx, database, `SELECT COUNT(*) FROM events WHERE name = 'LogsTruncated' OR data IS NULL`))
				require.Positive(t, single[int](t, s.ctx, database, `SELECT COUNT(*) FROM events WHERE rebuilt`))
				require.Zero(t, single[int](t, s.ctx, database, `SELECT COUNT(*) FROM violations`))
			})
		}
	}
}

// A configuration instruction that is not rebuilt makes the configuration unknown.
func TestEveryConfigInstructionIsRebuilt(t *testing.T) {
	for _, instruction := range protocol.Instructions() {
		effects := instruction.Effects()
		if !effects.IsFor(protocol.RoleAuthority) {
			continue
		}
		r := &rebuilder{config: &protocol.ConfigUpdated{}, readConfig: true}
		events, known, err := r.configEvents(t.Context(), &call{instruction: instruction})
		require.NoError(t, err)
		require.True(t, known, instruction.InstructionName())
		require.Len(t, events, 1)
		require.Equal(t, effects.Events, []string{events[0].EventName()})
	}
}

// exported returns a table except the column "rebuilt".
func exported(t *testing.T, ctx context.Context, d *Database, table Table) string {
	t.Helper()
	var written bytes.Buffer
	_, err := d.Export(ctx, table, CSV, &written)
	require.NoError(t, err)
	if table.Name != "events" {
		return written.String()
	}
	return flawColumns.ReplaceAllString(written.String(), "$2")
}
