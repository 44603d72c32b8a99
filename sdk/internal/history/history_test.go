package history

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
	// pageLimit limits the transactions in a list, if it is not zero.
	pageLimit int
	// status answers getSignatureStatuses, refusal is a list's error; if they are set.
	status  object
	refusal error
	lists   int
}

func numbered(n int) solana.Signature { return solana.Signature{byte(n >> 8), byte(n), 1} }

// newLedger returns a node with two transactions in each slot.
func newLedger(length int) *ledger {
	l := &ledger{}
	for n := length; n >= 1; n-- {
		l.newestFirst = append(l.newestFirst, object{"signature": numbered(n), "slot": n / 2, "err": nil})
	}
	return l
}

// CallForInto responds as a node does.
func (l *ledger) CallForInto(_ context.Context, out any, method string, params []any) error {
	var answer any
	switch method {
	case "getSignaturesForAddress":
		if l.refusal != nil {
			return l.refusal
		}
		l.lists++
		answer = l.list(params[1].(rpc.M))
	case "getSignatureStatuses":
		answer = l.status
	default:
		return fmt.Errorf("unexpected call of %s", method)
	}
	encoded, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	return json.Unmarshal(encoded, out)
}

func (l *ledger) list(options rpc.M) any {
	page := []object{}
	limit := *options["limit"].(*int)
	if l.pageLimit > 0 {
		limit = min(limit, l.pageLimit)
	}
	begun := options["before"] == nil
	for _, item := range l.newestFirst {
		if !begun {
			begun = item["signature"] == options["before"]
			continue
		}
		if item["signature"] == options["until"] || len(page) == limit {
			break
		}
		page = append(page, item)
	}
	return page
}

// list returns the transactions of all pages and the error that ended them.
func list(t *testing.T, served *ledger, query Query) (all []transaction.Listed, err error) {
	t.Helper()
	for page, failed := range Pages(t.Context(), rpc.NewWithCustomRPCClient(served), query) {
		if failed != nil {
			return all, failed
		}
		require.NotEmpty(t, page)
		all = append(all, page...)
	}
	return all, nil
}

func TestShortPagesEndWithAnEmptyOne(t *testing.T) {
	served := newLedger(20)
	served.pageLimit = 7
	listed := object{"slot": 0, "confirmationStatus": "finalized"}
	served.status = object{"context": object{"slot": 10}, "value": []any{listed}}
	all, err := list(t, served, Query{})
	require.NoError(t, err)
	require.Len(t, all, 7)
	all, err = list(t, served, Query{ShortPages: true, MinContextSlot: 10})
	require.NoError(t, err)
	require.Len(t, all, 20)
	assert.Equal(t, 5, served.lists)
	listed["slot"] = 1
	all, err = list(t, served, Query{ShortPages: true, Before: all[16], Until: numbered(1)})
	require.NoError(t, err)
	assert.Equal(t, []transaction.Listed{{Signature: numbered(3), Slot: 1}, {Signature: numbered(2), Slot: 1}}, all)
}

func TestListAfterARemovedTransactionIsAnError(t *testing.T) {
	for name, c := range map[string]struct {
		status any
		slot   int
		want   error
	}{
		"removed":   {nil, 10, transaction.ErrChainChanged},
		"moved":     {object{"slot": 7, "confirmationStatus": "confirmed"}, 10, transaction.ErrChainChanged},
		"processed": {object{"slot": 0, "confirmationStatus": "processed"}, 10, transaction.ErrChainChanged},
		"lagging":   {nil, 9, transaction.ErrBehind},
	} {
		t.Run(name, func(t *testing.T) {
			served := newLedger(3)
			served.status = object{"context": object{"slot": c.slot}, "value": []any{c.status}}
			all, err := list(t, served, Query{ShortPages: true, MinContextSlot: 10})
			require.ErrorIs(t, err, c.want)
			require.Len(t, all, 3, "the pages before are valid")
		})
	}
}

func TestListOfALaggingOrLyingNodeIsAnError(t *testing.T) {
	served := newLedger(3)
	served.newestFirst[2]["slot"] = 9
	_, err := list(t, served, Query{})
	require.ErrorIs(t, err, transaction.ErrMalformed)
	served.newestFirst[2] = object{"signature": solana.Signature{}, "slot": 0}
	_, err = list(t, served, Query{})
	require.ErrorIs(t, err, transaction.ErrMalformed)
	served.refusal = &transaction.NodeError{Code: transaction.CodeMinContextSlotNotReached}
	_, err = list(t, served, Query{})
	require.ErrorIs(t, err, transaction.ErrBehind)
	served.refusal = assert.AnError
	_, err = list(t, served, Query{})
	require.ErrorIs(t, err, assert.AnError)
}
