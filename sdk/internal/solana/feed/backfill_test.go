package feed

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/gagliardetto/solana-go/rpc/jsonrpc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/transaction"
)

type object = map[string]any

// ledger is a node that lists an address's transactions: the newest first, a page at a time.
type ledger struct {
	jsonrpc.RPCClient
	newestFirst []object
	// ignoresUntil makes the node ignore the transaction that should end a list, as if deleted.
	ignoresUntil bool
}

func numbered(n int) solana.Signature { return solana.Signature{byte(n >> 8), byte(n), 1} }

// newLedger returns a feed and a node with two transactions in each slot.
func newLedger(length int) (*Feed, *ledger) {
	l := &ledger{}
	for n := length; n >= 1; n-- {
		l.newestFirst = append(l.newestFirst, object{"signature": numbered(n), "slot": n / 2, "err": nil})
	}
	return New(Options{RPC: rpc.NewWithCustomRPCClient(l), Commitment: rpc.CommitmentConfirmed}), l
}

// CallForInto responds as a node does.
func (l *ledger) CallForInto(_ context.Context, out any, method string, params []any) error {
	if method != "getSignaturesForAddress" {
		return fmt.Errorf("unexpected call of %s", method)
	}
	encoded, err := json.Marshal(l.list(params[1].(rpc.M)))
	if err != nil {
		return err
	}
	return json.Unmarshal(encoded, out)
}

func (l *ledger) list(options rpc.M) any {
	page := []object{}
	begun := options["before"] == nil
	for _, item := range l.newestFirst {
		if !begun {
			begun = item["signature"] == options["before"]
			continue
		}
		if !l.ignoresUntil && item["signature"] == options["until"] || len(page) == *options["limit"].(*int) {
			break
		}
		page = append(page, item)
	}
	return page
}

func TestHistoryIsOrderedFromTheOldest(t *testing.T) {
	f, node := newLedger(2_500)
	cases := map[string]struct {
		from  position
		first int
	}{
		"everything":              {position{}, 1},
		"after a transaction":     {position{signature: numbered(900), slot: 450}, 901},
		"after the newest":        {position{signature: numbered(2_500), slot: 1_250}, 2_501},
		"from a slot on":          {position{slot: 1_000}, 2_000},
		"in the middle of a slot": {position{signature: numbered(2_000), slot: 1_000}, 2_001},
	}
	for _, forgets := range []bool{false, true} {
		node.ignoresUntil = forgets
		for name, c := range cases {
			t.Run(name, func(t *testing.T) {
				entries, err := f.since(t.Context(), solana.PublicKey{1}, c.from, 0)
				require.NoError(t, err)
				require.Len(t, entries, 2_500-c.first+1)
				for i, item := range entries {
					require.Equal(t, numbered(c.first+i), item.Signature)
				}
			})
		}
	}
}

func TestPositionAdvancesOnlyOverSettledSlots(t *testing.T) {
	entries := []transaction.Listed{{Signature: numbered(1), Slot: 100}, {Signature: numbered(2), Slot: 110},
		{Signature: numbered(3), Slot: 141}}
	assert.Equal(t, position{signature: numbered(2), slot: 110}, position{}.advance(entries, 142))
	assert.Equal(t, position{signature: numbered(3), slot: 141}, position{}.advance(entries, 173))
	assert.Equal(t, position{signature: numbered(9), slot: 90},
		position{signature: numbered(9), slot: 90}.advance(entries, 100))
	assert.Equal(t, position{signature: numbered(9), slot: 500},
		position{signature: numbered(9), slot: 90}.advance(nil, 532), "nothing happened until then")
	assert.Equal(t, position{}, position{}.advance(nil, 5))
}

// A node returned a slot beyond the chain's, and a list up to it. Later transactions must not be missed.
func TestFalseSlotDoesNotHideLaterTransactions(t *testing.T) {
	const ahead = 1_000_000_000
	wrong := position{signature: numbered(900), slot: 450}.advance(nil, ahead)
	f, _ := newLedger(1_000)
	entries, err := f.since(t.Context(), solana.PublicKey{1}, wrong, 520)
	require.NoError(t, err)
	require.Len(t, entries, 100)
	assert.Equal(t, numbered(901), entries[0].Signature)
	assert.Equal(t, position{signature: numbered(977), slot: 488}, wrong.advance(entries, 520))

	assert.EqualValues(t, 500, f.advanceHead(500))
	assert.EqualValues(t, 500, f.advanceHead(499), "an answer that was on its way for longer")
	assert.EqualValues(t, ahead, f.advanceHead(ahead))
	assert.EqualValues(t, 520, f.advanceHead(520), "the client has found out, or it would not take that")
}

func TestHandledTransactionsAreKeptForLateHints(t *testing.T) {
	w := &watcher{
		backlog: backlog{handled: map[solana.Signature]uint64{numbered(1): 100, numbered(2): 101}},
	}
	w.cursors.add(&cursor{address: solana.PublicKey{42}, complete: position{slot: 101 + lateSlots}})
	w.forget()
	assert.Equal(t, map[solana.Signature]uint64{numbered(2): 101}, w.backlog.handled)
}

// A cursor skips slots only if the account is known not to have changed: another account's transactions must
// still be listed.
func TestCursorSkipsOnlySlotsWithoutAChange(t *testing.T) {
	w := &watcher{}
	waiting := &cursor{address: solana.PublicKey{1}, complete: position{slot: 10}, listedAt: 100}
	quiet := &cursor{address: solana.PublicKey{2}, complete: position{slot: 10}, listedAt: 100}
	w.cursors.add(waiting)
	w.cursors.add(quiet)
	require.False(t, w.recordUnchanged(waiting.address, 101, 1_000))
	require.True(t, w.recordUnchanged(quiet.address, 100, 1_000))
	w.forget()
	assert.EqualValues(t, 10, waiting.complete.slot)
	assert.EqualValues(t, 1_000-transaction.SettledSlots, quiet.complete.slot)
}
