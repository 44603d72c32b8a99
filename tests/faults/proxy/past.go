package proxy

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"
)

// Past remembers what a node has answered, so that a proxy can answer the same later. Several proxies before the same chain may
// share one: then each can be behind in what the others have been asked.
type Past struct {
	lock sync.Mutex
	// newest is the newest slot that the node has shown.
	newest  uint64
	answers map[string][]answer
	// order is in which the answers were given, and bytes what they take.
	order []noted
	bytes int
}

// answer is what the node has answered at a slot.
type answer struct {
	slot   uint64
	result json.RawMessage
}

type noted struct {
	key   string
	slot  uint64
	bytes int
}

// Limits of what is remembered.
const (
	pastMost   = 64 << 20
	answerMost = 256 << 10
)

// NewPast remembers nothing yet.
func NewPast() *Past { return &Past{answers: make(map[string][]answer)} }

// note remembers an answer.
func (p *Past) note(call *call, result json.RawMessage) {
	if !call.dependsOnTime() {
		return
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	slot, shown := slotOf(call.Method, result)
	if !shown {
		slot = p.newest
	}
	p.newest = max(p.newest, slot)
	if slot == 0 || len(result) > answerMost {
		return
	}
	known := p.answers[call.key]
	if last := len(known) - 1; last >= 0 && known[last].slot >= slot {
		return // one for each slot is enough
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
	// Of each question the answers are in the same order.
	left := p.answers[oldest.key][1:]
	if len(left) == 0 {
		delete(p.answers, oldest.key)
		return
	}
	p.answers[oldest.key] = left
}

// behindMost is how many times the lag an answer is old at most: a node is behind, and has not stopped.
const behindMost = 5

// recall is the newest answer that is at least so many slots old; false if there is none.
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

// slotOf is the slot that an answer says it is of.
func slotOf(method string, result json.RawMessage) (slot uint64, shown bool) {
	switch method {
	case "getSlot":
		return slot, json.Unmarshal(result, &slot) == nil
	case "getEpochInfo":
		var epoch struct{ AbsoluteSlot uint64 }
		err := json.Unmarshal(result, &epoch)
		return epoch.AbsoluteSlot, err == nil && epoch.AbsoluteSlot > 0
	}
	var contextual struct{ Context struct{ Slot uint64 } }
	if !bytes.HasPrefix(result, []byte("{")) || json.Unmarshal(result, &contextual) != nil {
		return 0, false
	}
	return contextual.Context.Slot, contextual.Context.Slot > 0
}

// call is a JSON-RPC request, as far as the proxy looks at it.
type call struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`

	// key is the same for the same question.
	key string
	// from is the slot that the answer must not be behind; zero if it may.
	from uint64
	// path is that of the client's URL.
	path string
}

const (
	sendTransaction = "sendTransaction"
	// several is what a batch of requests counts as.
	several = "batch"
)

// parseCall reads a request; one that is no JSON-RPC is passed on like any other.
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
	// The keys of objects come out in their order.
	normal, err := json.Marshal(params)
	if err != nil {
		normal = parsed.Params
	}
	parsed.key = parsed.Method + string(normal)
	return parsed
}

const minContextSlot = "minContextSlot"

// dependsOnTime says whether the answer to a read changes while the chain goes on.
func (c *call) dependsOnTime() bool {
	switch c.Method {
	case "getGenesisHash", "getVersion", "getIdentity", "getMinimumBalanceForRentExemption", "getFirstAvailableBlock":
		return false
	}
	return strings.HasPrefix(c.Method, "get") || c.Method == "isBlockhashValid"
}
