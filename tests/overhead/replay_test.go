package overhead_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"
)

// transcript passes a client's requests on to a node and records the responses. After replay it returns the
// same responses to the same requests at once.
type transcript struct {
	// waited is the time that the client has waited before requesting the status of sent transactions, in
	// replays. sent is when the transaction was sent.
	waited    time.Duration
	sent      time.Time
	lock      sync.Mutex
	replaying bool
	// exchanges is in request order.
	exchanges []exchange
	// newest is the newest slot in a response.
	newest uint64
	// replayed counts the replayed responses by request.
	replayed map[string]int
}

// exchange is a request and the response.
type exchange struct {
	method string
	// request is the method and parameters.
	request string
	result  json.RawMessage
}

// leastSlot is the lowest slot allowed for a response, which grows with every response.
var leastSlot = regexp.MustCompile(`"minContextSlot":[0-9]+`)

func (c *call) key() string {
	return c.Method + string(leastSlot.ReplaceAll(c.Params, []byte(`"minContextSlot":0`)))
}

// contextSlot is a response's slot. A client rejects a response older than an observed slot.
var contextSlot = regexp.MustCompile(`("context":\{[^{}]*"slot":)([0-9]+)`)

type call struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// RoundTrip implements [http.RoundTripper].
func (t *transcript) RoundTrip(request *http.Request) (*http.Response, error) {
	content, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	var asked call
	if err := json.Unmarshal(content, &asked); err != nil {
		return nil, err
	}
	t.lock.Lock()
	replaying := t.replaying
	t.lock.Unlock()
	if replaying {
		return t.again(request, asked)
	}
	request = request.Clone(request.Context())
	request.Body = io.NopCloser(bytes.NewReader(content))
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	return response, t.note(asked, body)
}

func (t *transcript) note(asked call, body []byte) error {
	var answer struct{ Result, Error json.RawMessage }
	if err := json.Unmarshal(body, &answer); err != nil {
		return err
	}
	if answer.Error != nil {
		return nil // the client repeats failed requests
	}
	t.lock.Lock()
	defer t.lock.Unlock()
	if slot := contextSlot.FindSubmatch(answer.Result); slot != nil {
		of, err := strconv.ParseUint(string(slot[2]), 10, 64)
		if err != nil {
			return err
		}
		t.newest = max(t.newest, of)
	}
	noted := exchange{asked.Method, asked.key(), answer.Result}
	// A replay contains only the last response to a request that the client repeats until successful.
	if asked.Method == "getSignatureStatuses" || asked.Method == "getTransaction" {
		t.exchanges = slices.DeleteFunc(t.exchanges, func(earlier exchange) bool { return earlier.request == noted.request })
	}
	t.exchanges = append(t.exchanges, noted)
	return nil
}

func (t *transcript) again(request *http.Request, asked call) (*http.Response, error) {
	t.lock.Lock()
	defer t.lock.Unlock()
	key := asked.key()
	skip := t.replayed[key]
	for _, noted := range t.exchanges {
		if noted.request != key {
			continue
		}
		if skip == 0 {
			t.replayed[key]++
			switch asked.Method {
			case "sendTransaction":
				t.sent = time.Now()
			case "getSignatureStatuses":
				t.waited += time.Since(t.sent)
			}
			return answerTo(request, asked, noted.result), nil
		}
		skip--
	}
	return nil, fmt.Errorf("the recorded client has not asked this: %s", key)
}

func answerTo(request *http.Request, asked call, result json.RawMessage) *http.Response {
	var body bytes.Buffer
	body.WriteString(`{"jsonrpc":"2.0","id":`)
	body.Write(asked.ID)
	body.WriteString(`,"result":`)
	body.Write(result)
	body.WriteByte('}')
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(&body), Request: request,
	}
}

// record starts a new recording.
func (t *transcript) record() {
	t.lock.Lock()
	defer t.lock.Unlock()
	t.replaying, t.exchanges = false, nil
}

// replay starts replaying the recording from the beginning, on a node at the recording's last slot.
func (t *transcript) replay() {
	t.lock.Lock()
	defer t.lock.Unlock()
	if !t.replaying {
		newest := strconv.AppendUint([]byte("${1}"), t.newest, 10)
		for i := range t.exchanges {
			t.exchanges[i].result = contextSlot.ReplaceAll(t.exchanges[i].result, newest)
		}
	}
	t.replaying, t.replayed = true, make(map[string]int)
}
