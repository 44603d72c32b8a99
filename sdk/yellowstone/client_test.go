package yellowstone_test

import (
	"encoding/base64"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/yellowstone"
)

type object = map[string]any

// node is a JSON-RPC node with a negotiation, whose offers a plugin streams.
type node struct {
	plugin *plugin
	lock   sync.Mutex
	slot   uint64
	listed []object // the newest first
	found  map[string]object
}

func (n *node) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var request struct {
		ID     any
		Method string
		Params []json.RawMessage
	}
	if json.NewDecoder(r.Body).Decode(&request) != nil {
		return
	}
	_ = json.NewEncoder(w).Encode(object{"jsonrpc": "2.0", "id": request.ID, "result": n.answer(request.Method, request.Params)})
}

func (n *node) answer(method string, params []json.RawMessage) any {
	n.lock.Lock()
	defer n.lock.Unlock()
	switch method {
	case "getSlot":
		return n.slot
	case "getSignaturesForAddress":
		var options struct {
			Until string
			Limit int
		}
		_ = json.Unmarshal(params[1], &options)
		page := n.listed
		if end := slices.IndexFunc(page, func(item object) bool { return item["signature"] == options.Until }); end >= 0 {
			page = page[:end]
		}
		return page[:min(len(page), options.Limit)]
	case "getTransaction":
		var signature string
		_ = json.Unmarshal(params[0], &signature)
		return n.found[signature]
	case "getMultipleAccounts":
		content := base64.StdEncoding.EncodeToString([]byte{byte(len(n.listed) >> 8), byte(len(n.listed))})
		return object{"context": object{"slot": n.slot}, "value": []any{object{"owner": protocol.ProgramID, "data": []string{content, "base64"}}}}
	}
	return nil
}

// happens executes an offer.
func (n *node) happens(t *testing.T, round byte) {
	offer := &protocol.OfferSubmitted{NegotiationID: watched, Round: round}
	logs := append(slices.Clone(ours), "Program data: "+base64.StdEncoding.EncodeToString(offer.AppendTo(nil)), "Program "+protocol.ProgramAddress+" success")
	signature := solana.Signature{round, 1}
	executed := solana.Transaction{Signatures: []solana.Signature{signature}, Message: solana.Message{
		AccountKeys: []solana.PublicKey{{1}}, Header: solana.MessageHeader{NumRequiredSignatures: 1},
	}}
	encoded, err := executed.MarshalBinary()
	require.NoError(t, err)
	n.lock.Lock()
	n.slot++
	slot := n.slot
	n.listed = append([]object{{"signature": signature.String(), "slot": slot, "err": nil, "confirmationStatus": "confirmed"}}, n.listed...)
	n.found[signature.String()] = object{
		"slot": slot, "version": "legacy", "transaction": []string{base64.StdEncoding.EncodeToString(encoded), "base64"},
		"meta": object{"err": nil, "fee": 5_000, "logMessages": logs},
	}
	n.lock.Unlock()
	n.plugin.publish(transaction(round, slot, logs, watched, protocol.ProgramID))
}

// A client returns the chain's events even if the stream is cut and the service stops and restarts.
func TestClientReturnsTheEventsOfTheChain(t *testing.T) {
	p := servePlugin(t, nil)
	n := &node{plugin: p, slot: 1_000, found: make(map[string]object)}
	server := httptest.NewServer(n)
	defer server.Close()
	source, err := yellowstone.New(yellowstone.Config{Endpoint: "http://" + p.address})
	require.NoError(t, err)
	client, err := haggle.NewClient(haggle.Config{Endpoint: server.URL, Source: source})
	require.NoError(t, err)
	defer client.Close()
	n.happens(t, 1)
	subscription, err := client.Watch(t.Context(), watched, haggle.FromBeginning())
	require.NoError(t, err)

	const rounds = 60
	random := rand.New(rand.NewPCG(3, 4))
	go func() {
		for round := byte(2); round <= rounds; round++ {
			switch random.IntN(8) {
			case 0:
				p.hangUp(status.Error(codes.Unavailable, "maintenance"))
			case 1:
				p.setAway(true)
				p.hangUp(status.Error(codes.Unavailable, "maintenance"))
			}
			n.happens(t, round)
			p.setAway(random.IntN(2) == 0 && round < rounds)
			time.Sleep(time.Duration(random.IntN(20)) * time.Millisecond)
		}
	}()
	var received []haggle.EventEnvelope
	for len(received) < rounds {
		select {
		case seen, open := <-subscription.Events():
			require.True(t, open, "ended: %v", subscription.Err())
			received = append(received, seen)
		case <-time.After(60 * time.Second):
			t.Fatalf("%d of %d events", len(received), rounds)
		}
	}
	var history []haggle.EventEnvelope
	for seen, err := range client.History(t.Context(), watched) {
		require.NoError(t, err)
		history = append(history, seen)
	}
	assert.Equal(t, history, received)
	assert.Len(t, history, rounds)
}
