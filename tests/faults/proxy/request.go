package proxy

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// Limits of messages in bytes.
const (
	requestMost  = 1 << 20
	responseMost = 32 << 20
)

// response is a response from the node.
type response struct {
	status      int
	contentType string
	body        []byte
}

// request passes an HTTP request on, or applies a fault.
func (p *Proxy) request(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, requestMost))
	if err != nil {
		http.Error(w, "the request cannot be read", http.StatusBadRequest)
		return
	}
	call := parseCall(body)
	call.path = r.URL.Path
	ctx, cancel := p.contextOf(r, call)
	defer cancel()
	chance := p.dice.next(call.Method)
	p.stats.add(func(c *Counts) { c.Requests++ })
	kind, faulty := p.options.Rates.pick(chance, ofRequests)
	if faulty && kind == Stale {
		faulty = p.answerStale(w, call)
		if faulty {
			p.stats.fault(Stale)
			return
		}
	}
	if !faulty {
		p.passOn(ctx, w, call, body)
		return
	}
	p.stats.fault(kind)
	p.misbehave(ctx, w, kind, chance, call, body)
}

// contextOf ends with the client's request, except for a transaction, which is passed on even if the client
// disconnects.
func (p *Proxy) contextOf(r *http.Request, call *call) (context.Context, context.CancelFunc) {
	if call.Method == sendTransaction {
		return context.WithCancel(p.closing)
	}
	ctx, cancel := context.WithCancel(r.Context())
	stop := context.AfterFunc(p.closing, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}

func (p *Proxy) misbehave(ctx context.Context, w http.ResponseWriter, kind Kind, chance *rand.Rand, call *call, body []byte) {
	switch kind {
	case DroppedBefore:
		drop()
	case DroppedAfter:
		_, _ = p.call(ctx, call, body)
		drop()
	case Delayed:
		if sleep(ctx, time.Duration(chance.Int64N(int64(p.options.MaxDelay)+1))) != nil {
			drop()
		}
		p.passOn(ctx, w, call, body)
	case Repeated:
		_, _ = p.call(ctx, call, body)
		p.passOn(ctx, w, call, body)
	case RateLimited:
		w.Header().Set("Retry-After", strconv.FormatInt(int64((p.options.RetryAfter+time.Second-1)/time.Second), 10))
		http.Error(w, "too many requests", http.StatusTooManyRequests)
	case Failed:
		fail(w, [2]int{http.StatusInternalServerError, http.StatusServiceUnavailable}[chance.IntN(2)])
	case FailedAfter:
		_, _ = p.call(ctx, call, body)
		fail(w, [2]int{http.StatusInternalServerError, http.StatusBadGateway}[chance.IntN(2)])
	case Truncated:
		p.truncate(w, chance, p.mustCall(ctx, call, body))
	case Corrupted:
		answered := p.mustCall(ctx, call, body)
		answered.body = corrupt(chance, answered.body)
		write(w, answered)
	}
}

// drop ends the connection before any response.
func drop() { panic(http.ErrAbortHandler) }

func fail(w http.ResponseWriter, status int) { http.Error(w, http.StatusText(status), status) }

// passOn returns the node's response unchanged.
func (p *Proxy) passOn(ctx context.Context, w http.ResponseWriter, call *call, body []byte) {
	write(w, p.mustCall(ctx, call, body))
}

func write(w http.ResponseWriter, answered *response) {
	w.Header().Set("Content-Type", answered.contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(answered.body)))
	w.WriteHeader(answered.status)
	_, _ = w.Write(answered.body)
}

// mustCall sends the request to the node; if the node does not respond, it drops the connection.
func (p *Proxy) mustCall(ctx context.Context, call *call, body []byte) *response {
	answered, err := p.call(ctx, call, body)
	if err != nil {
		drop()
	}
	return answered
}

// call sends the request to the node and stores the response.
func (p *Proxy) call(ctx context.Context, call *call, body []byte) (*response, error) {
	if call.Method == sendTransaction {
		p.stats.add(func(c *Counts) { c.Transactions++ })
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.options.RPCURL, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	answered, err := p.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answered.Body.Close()
	content, err := io.ReadAll(io.LimitReader(answered.Body, responseMost+1))
	if err != nil {
		return nil, err
	}
	if len(content) > responseMost {
		return nil, fmt.Errorf("faults: the node's answer is longer than %d bytes", responseMost)
	}
	var envelope struct{ Result json.RawMessage }
	if answered.StatusCode == http.StatusOK && json.Unmarshal(content, &envelope) == nil && envelope.Result != nil {
		p.options.Past.note(call, envelope.Result)
	}
	if call.Method == sendTransaction && p.options.Sent != nil {
		p.options.Sent(call.path)
	}
	told := &response{status: answered.StatusCode, contentType: answered.Header.Get("Content-Type"), body: content}
	p.lie(call, told)
	return told, nil
}

// truncate returns the beginning of a response: with a dropped connection, or with matching length.
func (p *Proxy) truncate(w http.ResponseWriter, chance *rand.Rand, answered *response) {
	if len(answered.body) == 0 {
		drop()
	}
	whole := len(answered.body)
	answered.body = answered.body[:chance.IntN(whole)]
	if chance.IntN(2) == 0 {
		// A proper prefix of an object is invalid JSON unless only white space is missing.
		answered.body = bytes.TrimRight(answered.body, "\r\n\t }")
		write(w, answered)
		return
	}
	w.Header().Set("Content-Type", answered.contentType)
	w.Header().Set("Content-Length", strconv.Itoa(whole))
	w.WriteHeader(answered.status)
	_, _ = w.Write(answered.body)
	if flusher, ok := w.(http.Flusher); ok {
		flusher.Flush()
	}
	drop()
}

// corrupt returns a response that is certainly not JSON: an HTML page, or a response with a byte that JSON
// does not allow.
func corrupt(chance *rand.Rand, body []byte) []byte {
	if chance.IntN(2) == 0 {
		return []byte("<html><head><title>Web server is returning an unknown error</title></head></html>")
	}
	at := chance.IntN(len(body) + 1)
	damaged := append(bytes.Clone(body[:at]), 0)
	return append(damaged, body[at:]...)
}

// minContextSlotNotReached is a node's error code if it has not reached the requested slot.
const minContextSlotNotReached = -32016

// answerStale returns an earlier response, or false if none is old enough.
func (p *Proxy) answerStale(w http.ResponseWriter, call *call) bool {
	old, ok := p.options.Past.recall(call, p.options.Lag)
	if !ok {
		return false
	}
	content := map[string]any{"jsonrpc": "2.0", "id": call.ID, "result": old.result}
	if call.from > old.slot {
		content = map[string]any{"jsonrpc": "2.0", "id": call.ID, "error": map[string]any{
			"code": minContextSlotNotReached, "message": "Minimum context slot has not been reached", "data": map[string]any{"contextSlot": old.slot},
		}}
	}
	body, err := json.Marshal(content)
	if err != nil {
		return false
	}
	write(w, &response{status: http.StatusOK, contentType: "application/json", body: body})
	return true
}
