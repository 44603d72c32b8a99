package indexer

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/gagliardetto/solana-go/rpc/jsonrpc"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// listPage is the maximum length of a validator's list.
const listPage = 1000

// scriptedChain is a node with a chain that a test defines, with forks. It answers like a validator.
type scriptedChain struct {
	lock  sync.Mutex
	slots []scriptedSlot
	// head and final are the newest confirmed and finalized slots.
	head, final uint64
	// pageLimit is the maximum number of transactions in a list.
	pageLimit int
	// unlisted holds transactions in a block but not listed yet.
	unlisted map[solana.Signature]bool
	// withIndex makes lists contain each transaction's index in the block.
	withIndex bool
	// betweenPages is called once, after a page has been listed.
	betweenPages func()
	// scrambled makes lists order a slot's transactions differently from the block.
	scrambled bool
	// listsLate and statusesLate are lags, in slots, for the nodes that serve lists and statuses. Several
	// nodes share the address.
	listsLate, statusesLate uint64
	// delay is how long each request takes.
	delay time.Duration
}

type scriptedSlot struct {
	slot         uint64
	hash         solana.Hash
	transactions []scriptedTransaction
}

type scriptedTransaction struct {
	signature solana.Signature
	failed    bool
	logs      []string
	encoded   string
	// accounts holds the states after the transaction; nil for a closed account.
	accounts map[solana.PublicKey]*protocol.Negotiation
}

func newScriptedChain() *scriptedChain {
	return &scriptedChain{pageLimit: listPage, unlisted: make(map[solana.Signature]bool)}
}

// numbered returns the nth signature.
func numbered(n uint64) (signature solana.Signature) {
	binary.BigEndian.PutUint64(signature[:], n+1)
	return signature
}

func numberedKey(kind byte, n uint64) (key solana.PublicKey) {
	key[0] = kind
	binary.BigEndian.PutUint64(key[1:], n)
	return key
}

// logsOf returns logs for an instruction emitting no events, then for a program instruction emitting these
// events.
func logsOf(events ...protocol.Event) []string {
	logs := []string{
		"Program ComputeBudget111111111111111111111111111111 invoke [1]",
		"Program ComputeBudget111111111111111111111111111111 success",
		"Program " + protocol.ProgramAddress + " invoke [1]",
	}
	for _, event := range events {
		logs = append(logs, "Program data: "+base64.StdEncoding.EncodeToString(event.AppendTo(nil)))
	}
	return append(logs, "Program "+protocol.ProgramAddress+" success")
}

// newTransaction returns a transaction. The second instruction is the given instruction, or a program
// instruction with no data.
func newTransaction(t require.TestingT, number uint64, instruction solana.Instruction, logs []string) scriptedTransaction {
	if instruction == nil {
		instruction = solana.NewInstruction(protocol.ProgramID, solana.AccountMetaSlice{}, []byte{1})
	}
	budget := solana.NewInstruction(solana.MustPublicKeyFromBase58("ComputeBudget111111111111111111111111111111"), solana.AccountMetaSlice{}, []byte{2, 0, 0, 0, 0})
	built, err := solana.NewTransaction([]solana.Instruction{budget, instruction}, solana.Hash{1}, solana.TransactionPayer(numberedKey('P', 1)))
	require.NoError(t, err)
	built.Signatures = make([]solana.Signature, built.Message.Header.NumRequiredSignatures)
	built.Signatures[0] = numbered(number)
	encoded, err := built.ToBase64()
	require.NoError(t, err)
	return scriptedTransaction{signature: numbered(number), logs: logs, encoded: encoded}
}

// hash returns a slot's blockhash on a fork.
func hash(slot, fork uint64) (hash solana.Hash) {
	binary.BigEndian.PutUint64(hash[:], slot)
	binary.BigEndian.PutUint64(hash[8:], fork)
	return hash
}

// add adds a block.
func (c *scriptedChain) add(slot, fork uint64, transactions ...scriptedTransaction) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.slots = append(c.slots, scriptedSlot{slot, hash(slot, fork), transactions})
	c.head = max(c.head, slot)
}

// forkAt removes every block from a slot on.
func (c *scriptedChain) forkAt(slot uint64) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.slots = slices.DeleteFunc(c.slots, func(s scriptedSlot) bool { return s.slot >= slot })
}

// reach sets the newest confirmed and finalized slots.
func (c *scriptedChain) reach(head, final uint64) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.head, c.final = head, final
}

func (c *scriptedChain) client() *rpc.Client { return rpc.NewWithCustomRPCClient(c) }

// CallForInto answers a request of this process.
func (c *scriptedChain) CallForInto(_ context.Context, out any, method string, params []any) error {
	encoded, err := json.Marshal(params)
	if err != nil {
		return err
	}
	answer, err := c.answer(method, encoded)
	if err != nil {
		return err
	}
	if encoded, err = json.Marshal(answer); err != nil {
		return err
	}
	return json.Unmarshal(encoded, out)
}

func (c *scriptedChain) CallWithCallback(context.Context, string, []any, func(*http.Request, *http.Response) error) error {
	return errors.New("not scripted")
}

func (c *scriptedChain) CallBatch(context.Context, jsonrpc.RPCRequests) (jsonrpc.RPCResponses, error) {
	return nil, errors.New("not scripted")
}

// serve answers requests of other processes.
func (c *scriptedChain) serve(t *testing.T) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
		}
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		answer, err := c.answer(request.Method, request.Params)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"jsonrpc": "2.0", "id": request.ID, "result": answer})
	}))
	t.Cleanup(server.Close)
	return server.URL
}

type document = map[string]any

// answer returns a validator's response.
func (c *scriptedChain) answer(method string, encoded json.RawMessage) (any, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	time.Sleep(c.delay)
	var params []json.RawMessage
	if len(encoded) > 0 {
		if err := json.Unmarshal(encoded, &params); err != nil {
			return nil, err
		}
	}
	var options struct {
		Commitment string
		Limit      int
		Before     solana.Signature
		Until      solana.Signature
		// MinContextSlot is the responding node's minimum slot.
		MinContextSlot uint64
	}
	if len(params) > 0 {
		_ = json.Unmarshal(params[len(params)-1], &options)
	}
	upTo := c.head
	if options.Commitment == "finalized" {
		upTo = c.final
	}
	switch method {
	case "getGenesisHash":
		return solana.Hash{9}, nil
	case "getSlot":
		return upTo, nil
	case "getSignaturesForAddress":
		if act := c.betweenPages; act != nil {
			c.betweenPages = nil
			defer act()
		}
		if upTo -= min(upTo, c.listsLate); upTo < options.MinContextSlot {
			return nil, &transaction.NodeError{Method: method, Code: transaction.CodeMinContextSlotNotReached, Message: "Minimum context slot has not been reached"}
		}
		return c.list(options.Before, options.Until, min(options.Limit, c.pageLimit), upTo), nil
	case "getBlock":
		var slot uint64
		return c.block(params, slot, upTo)
	case "getTransaction":
		var signature solana.Signature
		if err := json.Unmarshal(params[0], &signature); err != nil {
			return nil, err
		}
		return c.find(signature, upTo), nil
	case "getSignatureStatuses":
		var signatures []solana.Signature
		if err := json.Unmarshal(params[0], &signatures); err != nil {
			return nil, err
		}
		return c.statuses(signatures), nil
	case "getMultipleAccounts":
		var addresses []solana.PublicKey
		if err := json.Unmarshal(params[0], &addresses); err != nil {
			return nil, err
		}
		return c.accounts(addresses, upTo), nil
	}
	return nil, errors.New(method + " is not scripted")
}

func (c *scriptedChain) list(before, until solana.Signature, limit int, upTo uint64) []document {
	listed, begun := []document{}, before.IsZero()
	for _, block := range slices.Backward(c.slots) {
		if block.slot > upTo {
			continue
		}
		for i := range block.transactions {
			if !c.scrambled {
				i = len(block.transactions) - 1 - i
			}
			item := block.transactions[i]
			if item.signature == until || len(listed) == limit {
				return listed
			}
			if begun && !c.unlisted[item.signature] {
				entry := document{"signature": item.signature, "slot": block.slot, "err": nil}
				if item.failed {
					entry["err"] = document{"InstructionError": []any{1, "Custom"}}
				}
				if c.withIndex {
					entry["transactionIndex"] = i
				}
				listed = append(listed, entry)
			}
			begun = begun || item.signature == before
		}
	}
	return listed
}

func (c *scriptedChain) block(params []json.RawMessage, slot, upTo uint64) (any, error) {
	if err := json.Unmarshal(params[0], &slot); err != nil {
		return nil, err
	}
	parent := uint64(0)
	for _, block := range c.slots {
		if block.slot != slot || slot > upTo {
			parent = block.slot
			continue
		}
		answer := document{"blockhash": block.hash, "parentSlot": parent, "previousBlockhash": solana.Hash{}, "blockTime": 1_000_000 + slot, "blockHeight": slot}
		signatures := []solana.Signature{}
		for _, item := range block.transactions {
			signatures = append(signatures, item.signature)
		}
		answer["signatures"] = signatures
		return answer, nil
	}
	return nil, nil
}

func (c *scriptedChain) find(signature solana.Signature, upTo uint64) any {
	for _, block := range c.slots {
		for _, item := range block.transactions {
			if item.signature == signature && block.slot <= upTo {
				return document{
					"slot": block.slot, "blockTime": 1_000_000 + block.slot, "transaction": []string{item.encoded, "base64"},
					"meta": document{"err": nil, "fee": 5000, "logMessages": item.logs, "innerInstructions": []any{}, "loadedAddresses": document{"readonly": []any{}, "writable": []any{}}},
				}
			}
		}
	}
	return nil
}

func (c *scriptedChain) statuses(signatures []solana.Signature) any {
	found := make([]any, len(signatures))
	for i, signature := range signatures {
		for _, block := range c.slots {
			for _, item := range block.transactions {
				if item.signature == signature && block.slot+c.statusesLate <= c.head {
					found[i] = document{"slot": block.slot, "confirmations": nil, "err": nil, "confirmationStatus": "confirmed"}
				}
			}
		}
	}
	return document{"context": document{"slot": c.head - min(c.head, c.statusesLate)}, "value": found}
}

func (c *scriptedChain) accounts(addresses []solana.PublicKey, upTo uint64) any {
	states := make(map[solana.PublicKey]*protocol.Negotiation)
	for _, block := range c.slots {
		for _, item := range block.transactions {
			for address, state := range item.accounts {
				if block.slot <= upTo {
					states[address] = state
				}
			}
		}
	}
	values := make([]any, len(addresses))
	for i, address := range addresses {
		if state := states[address]; state != nil {
			values[i] = document{
				"lamports": protocol.NegotiationRent, "owner": protocol.ProgramID, "executable": false, "rentEpoch": 0, "space": protocol.NegotiationSize,
				"data": []string{base64.StdEncoding.EncodeToString(state.Encode()), "base64"},
			}
		}
	}
	return document{"context": document{"slot": upTo}, "value": values}
}
