package proxy

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"
	"sync"

	"github.com/tidwall/gjson"
)

// Past contains a node's earlier responses, so that proxies can return them later. Several proxies in front
// of the same chain can share a Past; then each can repeat responses to the others' requests.
type Past struct {
	lock sync.Mutex
	// newest is the newest slot in the node's responses.
	newest  uint64
	answers map[string][]answer
	// order lists the responses in order, and bytes is their total length.
	order []noted
	bytes int
}

type answer struct {
	slot   uint64
	result json.RawMessage
}

type noted struct {
	key   string
	slot  uint64
	bytes int
}

// Limits for the stored responses.
const (
	pastMost   = 64 << 20
	answerMost = 256 << 10
)

// NewPast returns an empty Past.
func NewPast() *Past { return &Past{answers: make(map[string][]answer)} }

// note stores a response.
func (p *Past) note(call *call, result json.RawMessage) {
	if !call.dependsOnTime() {
		return
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	slot := cmp.Or(slotOf(call.Method, result), p.newest)
	p.newest = max(p.newest, slot)
	if slot == 0 || len(result) > answerMost {
		return
	}
	known := p.answers[call.key]
	if last := len(known) - 1; last >= 0 && known[last].slot >= slot {
		return // one per slot is enough
	}
	p.answers[call.key] = append(known, answer{slot: slot, result: result})
	p.order = append(p.order, noted{key: call.key, slot: slot, bytes: len(call.key) + len(result)})
	p.bytes += len(call.key) + len(result)
	for p.bytes > pastMost {
		p.forgetOldest()
	}
}

func (p *Past) forgetOldest() {
	oldest := p.order[0]
	p.order = p.order[1:]
	p.bytes -= oldest.bytes
	// The responses to each request are in the same order.
	left := p.answers[oldest.key][1:]
	if len(left) == 0 {
		delete(p.answers, oldest.key)
		return
	}
	p.answers[oldest.key] = left
}

// behindMost limits a response's age, in multiples of the lag, because even a lagging node advances.
const behindMost = 5

// recall returns the newest stored response that is old enough by this number of slots, or false if there is
// none.
func (p *Past) recall(call *call, lag uint64) (answer, bool) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if !call.dependsOnTime() || p.newest < lag {
		return answer{}, false
	}
	known := p.answers[call.key]
	for i := len(known) - 1; i >= 0 && known[i].slot+behindMost*lag >= p.newest; i-- {
		if known[i].slot <= p.newest-lag {
			return known[i], true
		}
	}
	return answer{}, false
}

// slotOf returns the slot in a response, or zero if there is none.
func slotOf(method string, result json.RawMessage) uint64 {
	switch method {
	case "getSlot":
		return gjson.ParseBytes(result).Uint()
	case "getEpochInfo":
		return gjson.GetBytes(result, "absoluteSlot").Uint()
	}
	return gjson.GetBytes(result, "context.slot").Uint()
}

// call is the part of a JSON-RPC request that the proxy reads.
type call struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`

	// key is the same for equal requests.
	key string
	// from is the response's lowest slot. If zero, any slot is allowed.
	from uint64
	// path is the path of the client's URL.
	path string
}

const (
	sendTransaction = "sendTransaction"
	// several is the method of a request batch.
	several = "batch"
)

// parseCall reads a request. Anything other than JSON-RPC is passed on unchanged.
func parseCall(body []byte) *call {
	parsed := new(call)
	if err := json.Unmarshal(body, parsed); err != nil {
		return &call{Method: several}
	}
	var params []any
	decoder := json.NewDecoder(bytes.NewReader(parsed.Params))
	decoder.UseNumber()
	if decoder.Decode(&params) == nil {
		for _, param := range params {
			if options, ok := param.(map[string]any); ok {
				if from, ok := options[minContextSlot].(json.Number); ok {
					_ = json.Unmarshal([]byte(from), &parsed.from)
				}
				delete(options, minContextSlot)
			}
		}
	}
	// Marshal writes the keys of objects in order.
	normal, err := json.Marshal(params)
	if err != nil {
		normal = parsed.Params
	}
	parsed.key = parsed.Method + string(normal)
	return parsed
}

const minContextSlot = "minContextSlot"

// dependsOnTime reports whether the response to a read changes with the chain.
func (c *call) dependsOnTime() bool {
	switch c.Method {
	case "getGenesisHash", "getVersion", "getIdentity", "getMinimumBalanceForRentExemption", "getFirstAvailableBlock":
		return false
	}
	return strings.HasPrefix(c.Method, "get") || c.Method == "isBlockhashValid"
}
