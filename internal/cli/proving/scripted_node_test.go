package proving

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

type object map[string]any

// scriptedNode is a node that returns the transactions defined by a test, oldest first.
type scriptedNode struct {
	t            *testing.T
	lock         sync.Mutex
	transactions []*scriptedTransaction
	// unlisted is the number of newest transactions omitted from lists, and listed is called at the start of
	// each list request.
	unlisted int
	listed   func()
}

type scriptedTransaction struct {
	signature solana.Signature
	answer    object
}

func (n *scriptedNode) client() *haggle.Client {
	n.t.Helper()
	server := httptest.NewServer(http.HandlerFunc(n.serve))
	n.t.Cleanup(server.Close)
	client, err := haggle.NewClient(haggle.Config{Endpoint: server.URL})
	require.NoError(n.t, err)
	n.t.Cleanup(func() { _ = client.Close() })
	return client
}

func (n *scriptedNode) serve(w http.ResponseWriter, r *http.Request) {
	var request struct {
		ID     json.RawMessage
		Method string
		Params []json.RawMessage
	}
	_ = json.NewDecoder(r.Body).Decode(&request)
	n.lock.Lock()
	defer n.lock.Unlock()
	var result any
	switch request.Method {
	case "getSignaturesForAddress":
		if n.listed != nil {
			n.listed()
		}
		list := []object{}
		for i, item := range n.transactions[:len(n.transactions)-n.unlisted] {
			list = append(list, object{"signature": item.signature, "slot": i + 1, "err": nil})
		}
		slices.Reverse(list)
		result = list
	case "getTransaction":
		for _, item := range n.transactions {
			if string(request.Params[0]) == fmt.Sprintf("%q", item.signature) {
				result = item.answer
			}
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(object{"jsonrpc": "2.0", "id": request.ID, "result": result})
}

// execute adds a transaction. If truncated, its logs end after the events.
func (n *scriptedNode) execute(
	instruction solana.Instruction, truncated bool, events ...protocol.Event,
) *scriptedTransaction {
	n.t.Helper()
	return n.add(instruction, nil, truncated, events...)
}

func (n *scriptedNode) add(
	instruction solana.Instruction, tables map[solana.PublicKey]solana.PublicKeySlice, truncated bool,
	events ...protocol.Event,
) *scriptedTransaction {
	n.t.Helper()
	options := []solana.TransactionOption{solana.TransactionPayer(solana.PublicKey{99})}
	loaded := object{"writable": []any{}, "readonly": []any{}}
	for table, keys := range tables {
		options = append(options, solana.TransactionAddressTables(
			map[solana.PublicKey]solana.PublicKeySlice{table: keys}))
		loaded["writable"] = keys
	}
	transaction, err := solana.NewTransaction([]solana.Instruction{instruction}, solana.Hash{1}, options...)
	require.NoError(n.t, err)
	transaction.Signatures = make([]solana.Signature, transaction.Message.Header.NumRequiredSignatures)
	transaction.Signatures[0] = solana.Signature{byte(len(n.transactions) + 1)}
	raw, err := transaction.MarshalBinary()
	require.NoError(n.t, err)
	logs := []string{"Program " + protocol.ProgramAddress + " invoke [1]"}
	for _, event := range events {
		logs = append(logs, "Program data: "+base64.StdEncoding.EncodeToString(event.AppendTo(nil)))
	}
	last := "Program " + protocol.ProgramAddress + " success"
	if truncated {
		last = "Log truncated"
	}
	item := &scriptedTransaction{signature: transaction.Signatures[0], answer: object{
		"slot": len(n.transactions) + 1, "version": 0,
		"transaction": []any{base64.StdEncoding.EncodeToString(raw), "base64"},
		"meta": object{"err": nil, "fee": 5_000, "preBalances": []any{}, "postBalances": []any{},
			"logMessages": append(logs, last), "innerInstructions": []any{}, "loadedAddresses": loaded},
	}}
	n.lock.Lock()
	defer n.lock.Unlock()
	n.transactions = append(n.transactions, item)
	return item
}

// removeLast removes the newest transaction.
func (n *scriptedNode) removeLast() {
	n.lock.Lock()
	defer n.lock.Unlock()
	n.transactions = n.transactions[:len(n.transactions)-1]
}

// sentBy turns an instruction into an inner instruction sent by another program.
func (n *scriptedNode) sentBy(program solana.PublicKey, instruction solana.Instruction) *scriptedTransaction {
	n.t.Helper()
	accounts := append(instruction.Accounts(), solana.Meta(instruction.ProgramID()))
	item := n.execute(solana.NewInstruction(program, accounts, []byte{1}), false)
	var transaction solana.Transaction
	require.NoError(n.t, transaction.UnmarshalBase64(item.answer["transaction"].([]any)[0].(string)))
	outer := transaction.Message.Instructions[0]
	data, err := instruction.Data()
	require.NoError(n.t, err)
	item.answer["meta"].(object)["innerInstructions"] = []any{object{"index": 0, "instructions": []any{object{
		"programIdIndex": outer.Accounts[len(outer.Accounts)-1], "data": solana.Base58(data),
		"accounts": outer.Accounts[:len(outer.Accounts)-1],
	}}}}
	return item
}
