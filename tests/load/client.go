package load

import (
	"encoding/json"
	"net/http"
	"sync"
	"time"

	haggle "github.com/haggle-protocol/haggle/sdk"
)

// countedClient is a client that counts requests.
type countedClient struct {
	*haggle.Client
	*countingTransport
}

const requestTimeout = 30 * time.Second

// newClient returns a client for this number of concurrent actions. The SDK's own transport keeps fewer
// connections.
func (r *run) newClient(atOnce int) (*countedClient, error) {
	transport := &countingTransport{
		Transport: http.Transport{MaxIdleConns: atOnce, MaxIdleConnsPerHost: atOnce},
		requests:  map[string]int{},
	}
	client, err := haggle.NewClient(haggle.Config{
		Endpoint: r.net.Chain.RPCURL(), WSEndpoint: r.net.Chain.WSURL(),
		HTTPClient: &http.Client{Transport: transport, Timeout: requestTimeout},
	})
	if err != nil {
		return nil, err
	}
	return &countedClient{client, transport}, nil
}

func (c *countedClient) close() error {
	if c == nil {
		return nil
	}
	return c.Client.Close()
}

// countingTransport counts requests by their JSON-RPC method.
type countingTransport struct {
	http.Transport
	mutex    sync.Mutex
	requests map[string]int
}

func (t *countingTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	var call struct {
		Method string `json:"method"`
	}
	if body, err := request.GetBody(); err == nil {
		_ = json.NewDecoder(body).Decode(&call)
	}
	t.mutex.Lock()
	t.requests[call.Method]++
	t.mutex.Unlock()
	return t.Transport.RoundTrip(request)
}
