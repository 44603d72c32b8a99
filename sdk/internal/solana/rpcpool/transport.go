package rpcpool

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/gagliardetto/solana-go/rpc/jsonrpc"

	"github.com/haggle-protocol/haggle/sdk/internal/retryafter"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// Transport sends requests to an endpoint. Errors contain no URL, because URLs contain keys.
type Transport interface {
	// Call sends a request and returns the result, which may be null. It returns a [*transaction.NodeError]
	// if the response is an error.
	Call(ctx context.Context, method string, params []any) (json.RawMessage, error)
	// Stream sends a request and returns the response unread.
	Stream(ctx context.Context, method string, params []any) (*Stream, error)
	CloseIdleConnections()
}

// AnswerLimit is the largest accepted response in bytes: room for more than 100,000 negotiations.
const AnswerLimit = 128 << 20

// httpTransport is a transport over HTTP.
type httpTransport struct {
	endpoint string
	client   *http.Client
	// limit is the largest accepted response in bytes.
	limit int64
	// lastID is the last request's id. Ids start at a random number to detect responses to other requests.
	lastID atomic.Uint64
}

// NewHTTP returns a transport over HTTP. The client's CheckRedirect is not used.
func NewHTTP(endpoint string, client *http.Client) Transport {
	own := *client
	own.CheckRedirect = refuseRedirect
	transport := &httpTransport{endpoint: endpoint, client: &own, limit: AnswerLimit}
	transport.lastID.Store(rand.Uint64() >> 1)
	return transport
}

// mostRedirects limits the redirects per request.
const mostRedirects = 3

// refuseRedirect keeps requests on the configured host and on encrypted connections.
func refuseRedirect(next *http.Request, before []*http.Request) error {
	first := before[0]
	switch {
	case len(before) > mostRedirects:
		return errors.New("the node redirects too often")
	case next.URL.Host != first.URL.Host:
		return fmt.Errorf("the node redirects to another host, %s", next.URL.Host)
	case next.URL.Scheme != first.URL.Scheme && next.URL.Scheme != "https":
		return errors.New("the node redirects to an unprotected connection")
	case next.Method != first.Method:
		return fmt.Errorf("the node redirects to a %s request", next.Method)
	}
	return nil
}

type envelope struct {
	ID     json.RawMessage   `json:"id"`
	Result json.RawMessage   `json:"result"`
	Error  *jsonrpc.RPCError `json:"error"`
}

type message struct {
	Version string `json:"jsonrpc"`
	ID      string `json:"id"`
	Method  string `json:"method"`
	Params  []any  `json:"params,omitempty"`
}

func (t *httpTransport) Call(ctx context.Context, method string, params []any) (json.RawMessage, error) {
	asked := t.message(method, params)
	request, err := t.request(ctx, asked)
	if err != nil {
		return nil, err
	}
	response, err := t.client.Do(request)
	if err != nil {
		return nil, withoutAddress(err)
	}
	defer response.Body.Close()
	body, err := t.read(response)
	if err != nil {
		return nil, err
	}
	return readEnvelope(response, body, asked.ID)
}

// message returns a request with a new id.
func (t *httpTransport) message(method string, params []any) message {
	return message{Version: "2.0", ID: strconv.FormatUint(t.lastID.Add(1), 36), Method: method, Params: params}
}

func (t *httpTransport) request(ctx context.Context, content message) (*http.Request, error) {
	body, err := json.Marshal(content)
	if err != nil {
		return nil, fmt.Errorf("encode the request: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, t.endpoint, bytes.NewReader(body))
	if err != nil {
		return nil, withoutAddress(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	return request, nil
}

func (t *httpTransport) read(response *http.Response) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(response.Body, t.limit+1))
	if err != nil {
		return nil, withoutAddress(err)
	}
	if int64(len(body)) > t.limit {
		return nil, malformedError{fmt.Errorf("the node's answer is longer than %d bytes", t.limit)}
	}
	return body, nil
}

// errNoAnswer is the error of a response without content.
var errNoAnswer = errors.New("the node does not answer")

func readEnvelope(response *http.Response, body []byte, id string) (json.RawMessage, error) {
	var answer *envelope
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	err := decoder.Decode(&answer)
	if err == nil && decoder.More() {
		err = errors.New("more follows")
	}
	isAnswer := err == nil && answer != nil && (answer.Error != nil || answer.Result != nil)
	if isAnswer && answer.Error != nil {
		if string(answer.ID) != `"`+id+`"` && string(answer.ID) != "null" && answer.ID != nil {
			return nil, malformedError{fmt.Errorf("%w: an answer to another request", errOther)}
		}
		return nil, &transaction.NodeError{
			Code: answer.Error.Code, Message: answer.Error.Message, Data: answer.Error.Data,
			Status: response.StatusCode, RetryAfter: retryafter.Pause(response.Header, retryAfterMost), Err: answer.Error,
		}
	}
	if response.StatusCode != http.StatusOK {
		return nil, statusRefusal(response)
	}
	switch {
	case errors.Is(err, io.EOF):
		return nil, fmt.Errorf("%w: %w", errNoAnswer, io.ErrUnexpectedEOF)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, fmt.Errorf("the node's answer is truncated: %w", err)
	case err != nil:
		return nil, malformedError{fmt.Errorf("the node returns content other than JSON-RPC (%s): %w", contentType(response), err)}
	case !isAnswer:
		return nil, errNoAnswer
	case string(answer.ID) != `"`+id+`"`:
		return nil, malformedError{fmt.Errorf("%w: an answer to another request", errOther)}
	}
	return answer.Result, nil
}

// contentType returns a response's content type.
func contentType(response *http.Response) string {
	kind, _, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if err != nil {
		return "of no known type"
	}
	return kind
}

func statusRefusal(response *http.Response) *transaction.NodeError {
	text := cmp.Or(http.StatusText(response.StatusCode), "unknown HTTP status")
	return &transaction.NodeError{
		Code: response.StatusCode, Message: text, Status: response.StatusCode, RetryAfter: retryafter.Pause(response.Header, retryAfterMost),
		Err: jsonrpc.NewHTTPError(response.StatusCode, errors.New(text)),
	}
}

// retryAfterMost is the largest accepted Retry-After.
const retryAfterMost = 30 * time.Second

// withoutAddress removes the request's URL from an error.
func withoutAddress(err error) error {
	var located *url.Error
	for errors.As(err, &located) {
		err = located.Err
	}
	return err
}

func (t *httpTransport) CloseIdleConnections() { t.client.CloseIdleConnections() }
