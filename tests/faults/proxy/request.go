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

// Limits of what is passed on, in bytes.
const (
	requestMost  = 1 << 20
	responseMost = 32 << 20
)

// response is what a node has answered.
type response struct {
	status      int
	contentType string
	body        []byte
}

// request passes an HTTP request on, or does what the dice say instead.
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
	p.tally.add(func(c *Counts) { c.Requests++ })
	kind, faulty := p.options.Rates.pick(chance, ofRequests)
	if faulty && kind == Stale {
		faulty = p.answerStale(w, call)
		if faulty {
			p.tally.fault(Stale)
			return
		}
	}
	if !faulty {
		p.passOn(ctx, w, call, body)
		return
	}
	p.tally.fault(kind)
	p.misbehave(ctx, w, kind, chance, call, body)
}

// contextOf ends with the client's request, except that a transaction which is on its way does not come back.
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
		_, _ = p.ask(ctx, call, body)
		drop()
	case Delayed:
		if sleep(ctx, time.Duration(chance.Int64N(int64(p.options.MaxDelay)+1))) != nil {
			drop()
		}
		p.passOn(ctx, w, call, body)
	case Repeated:
		_, _ = p.ask(ctx, call, body)
		p.passOn(ctx, w, call, body)
	case RateLimited:
		w.Header().Set("Retry-After", strconv.FormatInt(int64((p.options.RetryAfter+time.Second-1)/time.Second), 10))
		http.Error(w, "too many requests", http.StatusTooManyRequests)
	case Failed:
		fail(w, [2]int{http.StatusInternalServerError, http.StatusServiceUnavailable}[chance.IntN(2)])
	case FailedAfter:
		_, _ = p.ask(ctx, call, body)
		fail(w, [2]int{http.StatusInternalServerError, http.StatusBadGateway}[chance.IntN(2)])
	case Truncated:
		p.truncate(w, chance, p.mustAsk(ctx, call, body))
	case Corrupted:
		answered := p.mustAsk(ctx, call, body)
		answered.body = corrupt(chance, answered.body)
		write(w, answered)
	}
}

// drop ends the connection without an answer.
func drop() { panic(http.ErrAbortHandler) }

func fail(w http.ResponseWriter, status int) { http.Error(w, http.StatusText(status), status) }

// passOn gives the node's answer as it is.
func (p *Proxy) passOn(ctx context.Context, w http.ResponseWriter, call *call, body []byte) {
	write(w, p.mustAsk(ctx, call, body))
}

func write(w http.ResponseWriter, answered *response) {
	w.Header().Set("Content-Type", answered.contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(answered.body)))
	w.WriteHeader(answered.status)
	_, _ = w.Write(answered.body)
}

// mustAsk asks the node; if that does not answer, neither does the proxy.
func (p *Proxy) mustAsk(ctx context.Context, call *call, body []byte) *response {
	answered, err := p.ask(ctx, call, body)
	if err != nil {
		drop()
	}
	return answered
}

// ask asks the node, and remembers what it answers.
func (p *Proxy) ask(ctx context.Context, call *call, body []byte) (*response, error) {
	if call.Method == sendTransaction {
		p.tally.add(func(c *Counts) { c.Transactions++ })
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
	return &response{status: answered.StatusCode, contentType: answered.Header.Get("Content-Type"), body: content}, nil
}

// truncate answers with the beginning of an answer: as a connection that breaks off, or as a server that has miscounted.
func (p *Proxy) truncate(w http.ResponseWriter, chance *rand.Rand, answered *response) {
	if len(answered.body) == 0 {
		drop()
	}
	whole := len(answered.body)
	answered.body = answered.body[:chance.IntN(whole)]
	if chance.IntN(2) == 0 {
		// A proper prefix of an object is no JSON, but for the white space after it.
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

// corrupt makes an answer that is certain to be no JSON: a page for people, or one with a byte that JSON has nowhere.
func corrupt(chance *rand.Rand, body []byte) []byte {
	if chance.IntN(2) == 0 {
		return []byte("<html><head><title>Web server is returning an unknown error</title></head></html>")
	}
	at := chance.IntN(len(body) + 1)
	damaged := append(bytes.Clone(body[:at]), 0)
	return append(damaged, body[at:]...)
}

// minContextSlotNotReached is what a node answers that has not come as far as it would have to.
const minContextSlotNotReached = -32016

// answerStale answers as the node has before; false if it has not been asked the same that long ago.
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
