package jsonrpc

import (
	"bytes"
	"io"
	"net/http"

	"github.com/gagliardetto/solana-go/rpc"
	"github.com/gagliardetto/solana-go/rpc/jsonrpc"
)

// inProcess is the address that clients without a port show in errors.
const inProcess = "http://in-process.invalid"

// Client returns a JSON-RPC client that calls the server directly: it needs no port.
func (s *Server) Client() *rpc.Client {
	client := &http.Client{Transport: transport{s}}
	return rpc.NewWithCustomRPCClient(jsonrpc.NewClientWithOpts(inProcess, &jsonrpc.RPCClientOpts{HTTPClient: client}))
}

// transport hands requests to the server.
type transport struct{ server *Server }

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(request *http.Request) (*http.Response, error) {
	if err := request.Context().Err(); err != nil {
		return nil, err
	}
	if request.Body == nil {
		request = request.Clone(request.Context())
		request.Body = http.NoBody
	}
	defer request.Body.Close()
	recorded := newRecorder()
	t.server.ServeHTTP(recorded, request)
	return &http.Response{
		Status: http.StatusText(recorded.status), StatusCode: recorded.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: recorded.header, Body: io.NopCloser(&recorded.body), ContentLength: int64(recorded.body.Len()), Request: request,
	}, nil
}

// recorder is a response in memory.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func newRecorder() *recorder { return &recorder{header: http.Header{}, status: http.StatusOK} }

// Header implements http.ResponseWriter.
func (r *recorder) Header() http.Header { return r.header }

// Write implements http.ResponseWriter.
func (r *recorder) Write(data []byte) (int, error) { return r.body.Write(data) }

// WriteHeader implements http.ResponseWriter.
func (r *recorder) WriteHeader(status int) { r.status = status }
