package rpcpool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/gagliardetto/solana-go/rpc/jsonrpc"

	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// elementLimit is the largest distance in bytes between elements of a streamed response. An account of
// 512 bytes takes about 1,000.
const elementLimit = 1 << 20

// Stream is a response read while it arrives.
type Stream struct {
	// Body is the JSON-RPC response.
	Body io.ReadCloser
	// ID is the request's id, which the response repeats; empty if it is not checked.
	ID string
}

// Stream makes a request and returns the response unread. It has no time limit apart from the context's.
func (t *httpTransport) Stream(ctx context.Context, method string, params []any) (*Stream, error) {
	unlimited := *t.client
	unlimited.Timeout = 0
	asked := t.message(method, params)
	request, err := t.request(ctx, asked)
	if err != nil {
		return nil, err
	}
	response, err := unlimited.Do(request)
	if err != nil {
		return nil, withoutAddress(err)
	}
	if response.StatusCode == http.StatusOK {
		return &Stream{Body: response.Body, ID: asked.ID}, nil
	}
	defer response.Body.Close()
	body, err := t.read(response)
	if err == nil {
		_, err = readEnvelope(response, body, asked.ID)
	}
	return nil, err
}

// Each decodes an element of a streamed response. An error ends the stream; Values returns it.
type Each func(slot uint64, decode func(into any) error) error

// Values makes a read whose result is {"context":{"slot":N},"value":[...]} and calls each for every element
// of value, while the rest of the response still arrives. It keeps a single element in memory.
//
// If an endpoint fails before sending an element, Values sends the request to the next endpoint, and to all
// endpoints again after a pause. Later errors are final: the caller used a part of the response. An endpoint
// that sends nothing for 30 s failed; the time that each takes does not count.
func (p *Pool) Values(ctx context.Context, method string, params []any, each Each) error {
	return p.observed(ctx, newRequest(method, params, nil),
		func(ctx context.Context, r *request) error { return p.values(ctx, r, each) })
}

func (p *Pool) values(ctx context.Context, r *request, each Each) error {
	return p.inRounds(ctx, r, func(tried *[]*endpoint) (failed []Failure, ended bool, err error) {
		e := p.next(r, *tried)
		if e == nil {
			return nil, false, nil
		}
		*tried = append(*tried, e)
		reading := &valueReader{pool: p, request: r, endpoint: e, each: each}
		err = reading.run(ctx)
		if err == nil || reading.rejected != nil {
			return nil, true, reading.rejected
		}
		failed = []Failure{e.failure(err)}
		if reading.started && ctx.Err() == nil {
			return nil, true, p.failed(failed)
		}
		return failed, false, nil
	})
}

// valueReader reads an endpoint's streamed response.
type valueReader struct {
	pool     *Pool
	request  *request
	endpoint *endpoint
	each     Each

	body    *limitedBody
	decoder *json.Decoder
	// stall cancels the request when the endpoint sends nothing for attemptLimit.
	stall *time.Timer
	// slot is the response's, if shown; watch measures the time from the request to the response's start.
	slot  uint64
	shown bool
	watch stopwatch
	// started reports whether each was called; rejected is the error that each returned.
	started  bool
	rejected error
}

// limitedBody returns an error after a number of bytes.
type limitedBody struct {
	io.Reader
	left int
}

func (b *limitedBody) Read(into []byte) (int, error) {
	if b.left <= 0 {
		return 0, malformedError{fmt.Errorf("an element of the answer is longer than %d bytes", elementLimit)}
	}
	n, err := b.Reader.Read(into[:min(len(into), b.left)])
	b.left -= n
	return n, err
}

// run makes the request, reads the response and updates the endpoint's health.
func (v *valueReader) run(ctx context.Context) error {
	limited, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	err := v.read(limited, cancel)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		err = context.Cause(limited)
	}
	blamed := err
	if v.rejected != nil {
		blamed = nil
	}
	if v.request.observation != nil {
		v.request.observation.Attempt(v.endpoint.host, v.watch.elapsed(), false, blamed)
	}
	switch {
	case blamed == nil:
		v.endpoint.answered(v.request.method, v.watch.elapsed())
	case ctx.Err() == nil && !errors.Is(blamed, transaction.ErrOtherCluster):
		v.pool.logger.Debug("a node fails", "node", v.endpoint.host, "method", v.request.method, "error", blamed)
		v.endpoint.failed(v.request, blamed, time.Now())
	}
	return err
}

func (v *valueReader) read(ctx context.Context, cancel context.CancelCauseFunc) error {
	if err := v.pool.admit(ctx, v.endpoint, &v.watch); err != nil {
		return err
	}
	if err := v.endpoint.await(ctx); err != nil {
		return err
	}
	v.watch.start()
	v.stall = time.AfterFunc(attemptLimit, func() { cancel(errSlow{attemptLimit}) })
	defer v.stall.Stop()
	stream, err := v.endpoint.transport.Stream(ctx, v.request.method, v.request.params)
	if err != nil {
		if refusal := refusalOf(err); refusal != nil {
			refusal.Method = v.request.method
			return refusal
		}
		return err
	}
	defer stream.Body.Close()
	v.body = &limitedBody{Reader: stream.Body, left: elementLimit}
	v.decoder = json.NewDecoder(v.body)
	err = v.envelope(stream.ID)
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("the node's answer is truncated: %w", io.ErrUnexpectedEOF)
	case errors.As(err, &syntax):
		return malformedError{fmt.Errorf("the node's answer cannot be decoded: %w", err)}
	}
	return err
}

// envelope reads the JSON-RPC response.
func (v *valueReader) envelope(id string) error {
	named, found := false, false
	err := v.object(func(key string) error {
		switch key {
		case "id":
			var answered json.RawMessage
			named = true
			if err := v.decoder.Decode(&answered); err != nil {
				return err
			}
			if id != "" && string(answered) != `"`+id+`"` {
				return malformedError{fmt.Errorf("%w: an answer to another request", errOther)}
			}
			return nil
		case "error":
			var refused *jsonrpc.RPCError
			if err := v.decoder.Decode(&refused); err != nil || refused == nil {
				return err
			}
			return &transaction.NodeError{Method: v.request.method, Code: refused.Code, Message: refused.Message, Data: refused.Data, Err: refused}
		case "result":
			found = true
			return v.object(v.result)
		}
		return v.skip()
	})
	switch {
	case err != nil:
		return err
	case !found:
		return errNoAnswer
	case id != "" && !named:
		return malformedError{fmt.Errorf("%w: an answer to another request", errOther)}
	}
	return nil
}

// result reads a member of the result.
func (v *valueReader) result(key string) error {
	switch key {
	case "context":
		var context struct {
			Slot *uint64 `json:"slot"`
		}
		if err := v.decoder.Decode(&context); err != nil {
			return malformedError{err}
		}
		if context.Slot == nil {
			return malformedError{fmt.Errorf("%w: the answer has no slot", errOther)}
		}
		v.slot, v.shown = *context.Slot, true
		v.watch.stop()
		return v.pool.acceptSlot(v.endpoint, v.request.level, v.slot, min(v.request.floor, v.pool.slots.floor(v.request.level)))
	case "value":
		if !v.shown {
			return malformedError{errors.New("the node's answer has values before their slot")}
		}
		return v.values()
	}
	return v.skip()
}

func (v *valueReader) values() error {
	if err := v.delimiter('['); err != nil {
		return err
	}
	var element json.RawMessage
	for v.decoder.More() {
		if err := v.decoder.Decode(&element); err != nil {
			return err
		}
		v.stall.Stop()
		var broken error
		rejected := v.each(v.slot, func(into any) error {
			if err := json.Unmarshal(element, into); err != nil {
				broken = malformedError{fmt.Errorf("the node's answer cannot be decoded: %w", err)}
			}
			return broken
		})
		if broken != nil {
			return broken
		}
		v.started = true
		if rejected != nil {
			v.rejected = rejected
			return rejected
		}
		v.body.left = elementLimit
		v.stall.Reset(attemptLimit)
	}
	return v.delimiter(']')
}

// object calls member for each key of the object; member reads the value.
func (v *valueReader) object(member func(key string) error) error {
	if err := v.delimiter('{'); err != nil {
		return err
	}
	for v.decoder.More() {
		token, err := v.decoder.Token()
		if err != nil {
			return err
		}
		key, _ := token.(string)
		if err := member(key); err != nil {
			return err
		}
	}
	return v.delimiter('}')
}

func (v *valueReader) delimiter(want json.Delim) error {
	token, err := v.decoder.Token()
	if err != nil {
		return err
	}
	if token != want {
		return malformedError{fmt.Errorf("the node's answer has %v instead of %v", token, want)}
	}
	return nil
}

func (v *valueReader) skip() error {
	var skipped json.RawMessage
	return v.decoder.Decode(&skipped)
}
