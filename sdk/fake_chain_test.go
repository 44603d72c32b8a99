package haggle

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/gagliardetto/solana-go/rpc/jsonrpc"
	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// fakeChain is a node with a scripted chain. It responds to JSON-RPC without using the network, and uses a
// WebSocket server that sends notifications as reliably as the test requires.
type fakeChain struct {
	jsonrpc.RPCClient
	socket *httptest.Server

	lock     sync.Mutex
	slot     uint64
	count    int
	executed []*chainTransaction
	accounts map[solana.PublicKey][]byte
	calls    map[string]int
	// unlisted hides the newest transactions from lists, and withheld hides them from getTransaction.
	unlisted int
	withheld map[solana.Signature]int
	// failing makes every call fail.
	failing bool
	// processed makes the newest slot incomplete: the transactions are listed in reverse.
	processed bool
	// listed, if set, is called when an address was listed.
	listed func()

	sockets []*pubsub
	number  uint64
	// notifications returns how often to send a transaction's notification: 0, 1 or more; nil is once.
	notifications func(n int) int
	// refuse answers requests for subscriptions with an error, if it returns one.
	refuse func(onConnection int) (code int, message string)
	dials  int
}

// chainTransaction is a transaction in the chain.
type chainTransaction struct {
	signature solana.Signature
	slot      uint64
	addresses []solana.PublicKey
	answer    any
	failed    any
	logs      []string
}

type pubsub struct {
	conn  *websocket.Conn
	write sync.Mutex
	lock  sync.Mutex
	on    map[solana.PublicKey]uint64
}

func newFakeChain(t testing.TB) *fakeChain {
	t.Helper()
	chain := newChainWithoutWebSocket()
	chain.socket = httptest.NewServer(http.HandlerFunc(chain.serve))
	t.Cleanup(chain.socket.Close)
	return chain
}

// newChainWithoutWebSocket returns a chain that lacks a WebSocket server.
func newChainWithoutWebSocket() *fakeChain {
	return &fakeChain{slot: 1_000, accounts: make(map[solana.PublicKey][]byte), calls: make(map[string]int),
		withheld: make(map[solana.Signature]int)}
}

// serveClient makes a client use the chain.
func (c *fakeChain) serveClient(client *Client) {
	client.rpc, client.pool = rpc.NewWithCustomRPCClient(c), scriptedPool(c)
}

// client returns a client that uses the chain.
func (c *fakeChain) client(t testing.TB) *Client {
	t.Helper()
	client, err := NewClient(Config{Endpoint: "http://localhost", WSEndpoint: c.url()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	c.serveClient(client)
	return client
}

func (c *fakeChain) url() string { return strings.Replace(c.socket.URL, "http", "ws", 1) }

func (c *fakeChain) Close() error { return nil }

// next begins another slot.
func (c *fakeChain) next() {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.slot++
}

// emit executes a transaction of this program with events, and sends the notifications.
func (c *fakeChain) emit(events ...protocol.Event) *chainTransaction {
	var addresses []solana.PublicKey
	for _, event := range events {
		if negotiation, ok := event.NegotiationAddress(); ok && !slices.Contains(addresses, negotiation) {
			addresses = append(addresses, negotiation)
		}
	}
	executed := c.execute(addresses, eventLogs(events...), addresses...)
	for _, event := range events {
		if closed, ok := event.(*protocol.NegotiationClosed); ok {
			c.change(func() { delete(c.accounts, closed.NegotiationID) })
		}
	}
	return executed
}

// created executes a transaction that creates a negotiation, and sends the notifications.
func (c *fakeChain) created(created *protocol.NegotiationCreated) *chainTransaction {
	return c.execute([]solana.PublicKey{created.NegotiationID, created.Buyer, created.Seller},
		eventLogs(created), created.NegotiationID)
}

// eventLogs returns an instruction's logs for these events.
func eventLogs(events ...protocol.Event) []string {
	logs := []string{"Program " + protocol.ProgramAddress + " invoke [1]"}
	for _, event := range events {
		logs = append(logs, "Program data: "+base64.StdEncoding.EncodeToString(event.(interface{ AppendTo([]byte) []byte }).AppendTo(nil)))
	}
	return append(logs, "Program "+protocol.ProgramAddress+" success")
}

// mention executes a transaction that only mentions addresses.
func (c *fakeChain) mention(addresses ...solana.PublicKey) *chainTransaction {
	return c.execute(addresses,
		[]string{"Program 11111111111111111111111111111111 invoke [1]",
			"Program 11111111111111111111111111111111 success"})
}

func (c *fakeChain) execute(
	addresses []solana.PublicKey, logs []string, changed ...solana.PublicKey,
) *chainTransaction {
	c.lock.Lock()
	c.count++
	e := &chainTransaction{signature: signatureOf(c.count), slot: c.slot, addresses: addresses, logs: logs}
	e.answer = object{
		"slot": c.slot, "version": "legacy", "transaction": []any{encodedTransaction(e.signature), "base64"},
		"meta": object{"err": nil, "fee": 5_000, "logMessages": logs},
	}
	c.executed = append(c.executed, e)
	for _, negotiation := range changed {
		c.accounts[negotiation] = binary.LittleEndian.AppendUint64(nil, uint64(c.count))
	}
	times := 1
	if c.notifications != nil {
		times = c.notifications(c.count)
	}
	c.lock.Unlock()
	for range times {
		c.announce(e)
	}
	return e
}

// announce notifies the subscribers of the addresses.
func (c *fakeChain) announce(e *chainTransaction) {
	c.lock.Lock()
	sockets := slices.Clone(c.sockets)
	c.lock.Unlock()
	logs, _ := json.Marshal(e.logs)
	for _, socket := range sockets {
		for _, address := range e.addresses {
			socket.lock.Lock()
			number, subscribed := socket.on[address]
			socket.lock.Unlock()
			if subscribed {
				socket.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"logsNotification","params":{"subscription":%d,"result":{"context":{"slot":%d},"value":{"signature":"%s","err":null,"logs":%s}}}}`,
					number, e.slot, e.signature, logs))
			}
		}
	}
}

func signatureOf(n int) (signature solana.Signature) {
	binary.BigEndian.PutUint64(signature[:], uint64(n)*0x9e3779b97f4a7c15) // in no order
	signature[63] = 1
	return signature
}

func encodedTransaction(signature solana.Signature) string {
	tx := solana.Transaction{
		Signatures: []solana.Signature{signature},
		Message: solana.Message{
			AccountKeys:  []solana.PublicKey{{1}, protocol.ProgramID},
			Header:       solana.MessageHeader{NumRequiredSignatures: 1, NumReadonlyUnsignedAccounts: 1},
			Instructions: []solana.CompiledInstruction{{ProgramIDIndex: 1}},
		},
	}
	encoded, _ := tx.MarshalBinary()
	return base64.StdEncoding.EncodeToString(encoded)
}

// CallForInto responds as a node does.
func (c *fakeChain) CallForInto(ctx context.Context, out any, method string, params []any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.lock.Lock()
	answer, err := c.answer(method, params)
	listed := c.listed
	c.lock.Unlock()
	if method == "getSignaturesForAddress" && listed != nil {
		listed()
	}
	if err != nil {
		return err
	}
	encoded, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	return json.Unmarshal(encoded, out)
}

func (c *fakeChain) answer(method string, params []any) (any, error) {
	c.calls[method]++
	if c.failing {
		return nil, fmt.Errorf("the node is away")
	}
	switch method {
	case "getSlot":
		return c.slot, nil
	case "getSignaturesForAddress":
		return c.list(params[0].(solana.PublicKey), params[1].(rpc.M)), nil
	case "getTransaction":
		signature := params[0].(solana.Signature)
		if c.withheld[signature] > 0 {
			c.withheld[signature]--
			return nil, nil
		}
		for _, e := range c.executed {
			if e.signature == signature {
				return e.answer, nil
			}
		}
		return nil, nil
	case "getMultipleAccounts":
		values := []any{}
		for _, address := range params[0].([]solana.PublicKey) {
			if data, ok := c.accounts[address]; ok {
				values = append(values,
					object{"owner": protocol.ProgramID, "lamports": 1,
						"data": []any{base64.StdEncoding.EncodeToString(data), "base64"}})
			} else {
				values = append(values, nil)
			}
		}
		return object{"context": object{"slot": c.slot}, "value": values}, nil
	case "getProgramAccounts":
		return object{"context": object{"slot": c.slot}, "value": []any{}}, nil
	case "getBlock":
		signatures := []any{}
		for _, e := range c.executed {
			if e.slot == params[0].(uint64) {
				signatures = append(signatures, e.signature)
			}
		}
		return object{"blockhash": solana.Hash{1}, "previousBlockhash": solana.Hash{1}, "parentSlot": 1,
			"signatures": signatures}, nil
	}
	return nil, fmt.Errorf("unexpected call of %s", method)
}

// list returns the newest first. If until is unknown, it lists everything, as a node does.
func (c *fakeChain) list(address solana.PublicKey, options rpc.M) any {
	page := []object{}
	known := c.executed[:len(c.executed)-c.unlisted]
	if c.processed {
		known = slices.Clone(known)
		first := slices.IndexFunc(known, func(e *chainTransaction) bool { return e.slot == c.slot })
		if first >= 0 {
			slices.Reverse(known[first:])
		}
	}
	begun := options["before"] == nil
	for _, e := range slices.Backward(known) {
		if !slices.Contains(e.addresses, address) {
			continue
		}
		if !begun {
			begun = e.signature == options["before"]
			continue
		}
		if e.signature == options["until"] || len(page) == *options["limit"].(*int) {
			break
		}
		status := "confirmed"
		if c.processed && e.slot == c.slot {
			status = "processed"
		}
		page = append(page, object{"signature": e.signature, "slot": e.slot, "err": e.failed,
			"confirmationStatus": status})
	}
	return page
}

func (c *fakeChain) called(method string) int {
	c.lock.Lock()
	defer c.lock.Unlock()
	return c.calls[method]
}

// change changes the chain's behavior.
func (c *fakeChain) change(how func()) {
	c.lock.Lock()
	defer c.lock.Unlock()
	how()
}

// cut ends all WebSocket connections.
func (c *fakeChain) cut() {
	c.lock.Lock()
	sockets := c.sockets
	c.sockets = nil
	c.lock.Unlock()
	for _, socket := range sockets {
		_ = socket.conn.Close()
	}
}

func (c *fakeChain) connections() int {
	c.lock.Lock()
	defer c.lock.Unlock()
	return len(c.sockets)
}

// subscriptions returns the number of subscriptions at the node.
func (c *fakeChain) subscriptions() (count int) {
	c.lock.Lock()
	defer c.lock.Unlock()
	for _, socket := range c.sockets {
		socket.lock.Lock()
		count += len(socket.on)
		socket.lock.Unlock()
	}
	return count
}

func (c *fakeChain) serve(w http.ResponseWriter, r *http.Request) {
	var upgrader websocket.Upgrader
	conn, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer conn.Close()
	socket := &pubsub{conn: conn, on: make(map[solana.PublicKey]uint64)}
	c.lock.Lock()
	c.dials++
	c.sockets = append(c.sockets, socket)
	c.lock.Unlock()
	defer func() {
		c.lock.Lock()
		defer c.lock.Unlock()
		c.sockets = slices.DeleteFunc(c.sockets, func(other *pubsub) bool { return other == socket })
	}()
	for {
		var request struct {
			ID     uint64            `json:"id"`
			Method string            `json:"method"`
			Params []json.RawMessage `json:"params"`
		}
		if conn.ReadJSON(&request) != nil {
			return
		}
		socket.send(c.subscribe(socket, request.ID, request.Method, request.Params))
	}
}

func (c *fakeChain) subscribe(socket *pubsub, id uint64, method string, params []json.RawMessage) string {
	c.lock.Lock()
	defer c.lock.Unlock()
	socket.lock.Lock()
	defer socket.lock.Unlock()
	if method == "logsUnsubscribe" {
		for address, number := range socket.on {
			if string(params[0]) == fmt.Sprint(number) {
				delete(socket.on, address)
			}
		}
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":true}`, id)
	}
	if c.refuse != nil {
		if code, message := c.refuse(len(socket.on)); code != 0 {
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"error":{"code":%d,"message":%q}}`, id, code,
				message)
		}
	}
	var filter struct{ Mentions []solana.PublicKey }
	_ = json.Unmarshal(params[0], &filter)
	c.number++
	socket.on[filter.Mentions[0]] = c.number
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%d}`, id, c.number)
}

func (p *pubsub) send(text string) {
	p.write.Lock()
	defer p.write.Unlock()
	_ = p.conn.WriteMessage(websocket.TextMessage, []byte(text))
}

var watchedNegotiation = solana.PublicKey{42}

func offerOf(round uint8) *protocol.OfferSubmitted { return offerAt(watchedNegotiation, round) }

func offerAt(negotiation solana.PublicKey, round uint8) *protocol.OfferSubmitted {
	return &protocol.OfferSubmitted{NegotiationID: negotiation, Round: round, Timestamp: int64(round)}
}

// envelope returns an event's envelope.
func (e *chainTransaction) envelope(event protocol.Event) EventEnvelope {
	negotiation, _ := event.NegotiationAddress()
	return EventEnvelope{Signature: e.signature, Slot: e.slot, Negotiation: negotiation, Event: event}
}

func receive(t *testing.T, subscription *Subscription) EventEnvelope {
	t.Helper()
	select {
	case envelope, ok := <-subscription.Events():
		require.True(t, ok, "ended: %v", subscription.Err())
		return envelope
	case <-time.After(40 * time.Second):
		t.Fatal("no event is delivered")
		return EventEnvelope{}
	}
}

// requireNoEvent asserts that no event is delivered for a moment.
func requireNoEvent(t *testing.T, subscription *Subscription) {
	t.Helper()
	select {
	case envelope, ok := <-subscription.Events():
		t.Fatalf("delivered %+v (%t, %v)", envelope, ok, subscription.Err())
	case <-time.After(300 * time.Millisecond):
	}
}

// historyOf returns the events of Client.History.
func historyOf(t *testing.T, client *Client, negotiation solana.PublicKey) (all []EventEnvelope) {
	t.Helper()
	for envelope, err := range client.History(t.Context(), negotiation) {
		require.NoError(t, err)
		all = append(all, envelope)
	}
	return all
}
