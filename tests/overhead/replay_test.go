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
)

// A transcript passes a client's requests on to a node and writes the answers down; from replay on it gives the same answers to the same
// requests, at once.
type transcript struct {
	lock      sync.Mutex
	replaying bool
	// exchanges are in the order of the requests.
	exchanges []exchange
	// newest is the newest slot that an answer is of.
	newest uint64
	// told is how many answers have been given again, by request.
	told map[string]int
}

// exchange is a request and its answer.
type exchange struct {
	method string
	// request is the method with its parameters.
	request string
	result  json.RawMessage
}

// leastSlot is how new a node's answer has to be at least, which grows with every answer.
var leastSlot = regexp.MustCompile(`"minContextSlot":[0-9]+`)

func (c *call) key() string {
	return c.Method + string(leastSlot.ReplaceAll(c.Params, []byte(`"minContextSlot":0`)))
}

// contextSlot is the slot that an answer is of. A client does not believe one that is older than another that it has seen.
var contextSlot = regexp.MustCompile(`("context":\{[^{}]*"slot":)([0-9]+)`)

type call struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// RoundTrip is a client's connection.
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
		return nil // what has failed is asked again
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
	// What a client waits for is there at once when it is played again.
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
	skip := t.told[key]
	for _, noted := range t.exchanges {
		if noted.request != key {
			continue
		}
		if skip == 0 {
			t.told[key]++
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

// record begins to write down anew.
func (t *transcript) record() {
	t.lock.Lock()
	defer t.lock.Unlock()
	t.replaying, t.exchanges = false, nil
}

// replay begins to play what has been written down, from its beginning, on a node that has come as far as the recorded one had in the
// end.
func (t *transcript) replay() {
	t.lock.Lock()
	defer t.lock.Unlock()
	if !t.replaying {
		newest := strconv.AppendUint([]byte("${1}"), t.newest, 10)
		for i := range t.exchanges {
			t.exchanges[i].result = contextSlot.ReplaceAll(t.exchanges[i].result, newest)
		}
	}
	t.replaying, t.told = true, make(map[string]int)
}
