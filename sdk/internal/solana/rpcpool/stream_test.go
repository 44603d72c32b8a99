package rpcpool

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// streamServer returns a node whose response is a text where %s stands for the request's id.
func streamServer(t *testing.T, handler http.HandlerFunc) Node {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	transport := NewHTTP(server.URL, &http.Client{Transport: &http.Transport{}})
	t.Cleanup(transport.CloseIdleConnections)
	return Node{Host: "one", Transport: transport}
}

func newPool(t *testing.T, nodes ...Node) *Pool {
	t.Helper()
	p := New(Options{Nodes: nodes, Logger: slog.New(slog.DiscardHandler)})
	t.Cleanup(p.Close)
	for _, e := range p.endpoints {
		e.admitted.Store(true)
	}
	return p
}

// valuesOf returns the elements that a pool streams, which are numbers.
func valuesOf(t *testing.T, p *Pool) (values []int, slots []uint64, err error) {
	t.Helper()
	err = p.Values(t.Context(), "getProgramAccounts", nil, func(slot uint64, decode func(any) error) error {
		var value int
		if err := decode(&value); err != nil {
			return err
		}
		values, slots = append(values, value), append(slots, slot)
		return nil
	})
	return values, slots, err
}

func TestValuesAreReadWithTheirSlot(t *testing.T) {
	p := newPool(t, streamServer(t, answer(200,
		`{"jsonrpc":"2.0","result":{"context":{"slot":7,"apiVersion":"3"},"value":[1,2]},"id":%s}`)))
	values, slots, err := valuesOf(t, p)
	require.NoError(t, err)
	assert.Equal(t, []int{1, 2}, values)
	assert.Equal(t, []uint64{7, 7}, slots)
	assert.EqualValues(t, 7, p.Health()[0].Slot)
}

func TestMalformedStreams(t *testing.T) {
	for name, c := range map[string]struct {
		text, says string
		read       int
	}{
		"another's":      {`{"id":"1","result":{"context":{"slot":7},"value":[1]}}`, "an answer to another request", 0},
		"without an id":  {`{"result":{"context":{"slot":7},"value":[1]}}`, "an answer to another request", 1},
		"without a slot": {`{"id":%s,"result":{"context":{},"value":[1]}}`, "has no slot", 0},
		"the slot late":  {`{"id":%s,"result":{"value":[1],"context":{"slot":7}}}`, "before their slot", 0},
		"only a list":    {`{"id":%s,"result":[1]}`, "instead of", 0},
		"no result":      {`{"id":%s}`, "does not answer", 0},
		"null":           {`{"id":%s,"result":null}`, "instead of", 0},
		"another type":   {`{"id":%s,"result":{"context":{"slot":7},"value":["x"]}}`, "cannot be decoded", 0},
		"a page":         {`<html>`, "cannot be decoded", 0},
		"half":           {`{"id":%s,"result":{"context":{"slot":7},"value":[1,`, "truncated", 1},
		"a long element": {`{"id":%s,"result":{"context":{"slot":7},"value":[1,"` + strings.Repeat("x", 2*elementLimit) + `"]}}`, "longer than", 1},
		"a refusal":      {`{"id":%s,"error":{"code":-32602,"message":"too many"}}`, "too many", 0},
		"no end":         {`{"id":%s,"result":{"context":{"slot":7},"value":[1]}`, "truncated", 1},
	} {
		t.Run(name, func(t *testing.T) {
			values, _, err := valuesOf(t, newPool(t, streamServer(t, answer(200, c.text))))
			require.ErrorContains(t, err, c.says)
			assert.Len(t, values, c.read)
		})
	}
	_, _, err := valuesOf(t, newPool(t, streamServer(t, answer(403, ""))))
	require.ErrorContains(t, err, "403")
}

func TestStreamRetriesBeforeTheFirstValue(t *testing.T) {
	good := streamServer(t, answer(200, `{"id":%s,"result":{"context":{"slot":7},"value":[1]}}`))
	broken := streamServer(t, answer(200, `{"id":%s,"result":{"context":{"slot":7},"value":[`))
	p := newPool(t, broken, good)
	values, _, err := valuesOf(t, p)
	require.NoError(t, err)
	assert.Equal(t, []int{1}, values)
	assert.Equal(t, 1, p.Health()[0].Failures)

	behind := newPool(t, good)
	behind.slots.raise(finalized, 8)
	_, _, err = valuesOf(t, behind)
	require.ErrorIs(t, err, transaction.ErrBehind)
}

func TestCallersErrorIsNotTheNodesFailure(t *testing.T) {
	p := newPool(t, streamServer(t, answer(200, `{"id":%s,"result":{"context":{"slot":7},"value":[1,2]}}`)))
	enough := errors.New("enough")
	err := p.Values(t.Context(), "getProgramAccounts", nil, func(uint64, func(any) error) error { return enough })
	require.Equal(t, enough, err)
	assert.Zero(t, p.Health()[0].Errors)
}

// A list that is always behind the newest slot would never satisfy a floor that rises with every round.
func TestStreamMayBeBehindSlotsObservedAfterItsRequest(t *testing.T) {
	var p *Pool
	asked := uint64(0)
	p = newPool(t, streamServer(t, func(w http.ResponseWriter, r *http.Request) {
		asked++
		slot := 98 + asked
		p.slots.raise(finalized, slot+2)
		answer(200, fmt.Sprintf(`{"id":%%s,"result":{"context":{"slot":%d},"value":[1]}}`, slot))(w, r)
	}))
	p.slots.raise(finalized, 100)
	_, slots, err := valuesOf(t, p)
	require.NoError(t, err)
	assert.Equal(t, []uint64{100}, slots)
}
