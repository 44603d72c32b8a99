package haggle

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/gagliardetto/solana-go/rpc"
	"github.com/gagliardetto/solana-go/rpc/jsonrpc"
	"github.com/stretchr/testify/require"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// instantly responds to every request at once, without connecting.
type instantly struct {
	genesis, balance string
}

func (i instantly) RoundTrip(request *http.Request) (*http.Response, error) {
	var requested struct {
		ID     json.RawMessage
		Method string
	}
	if err := json.NewDecoder(request.Body).Decode(&requested); err != nil {
		return nil, err
	}
	result := i.balance
	if requested.Method == "getGenesisHash" {
		result = i.genesis
	}
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, requested.ID, result)
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{},
		Body: io.NopCloser(strings.NewReader(body)), Request: request}, nil
}

// BenchmarkCall measures the cost of JSON-RPC calls beyond the connection: with the bare JSON-RPC client,
// with this package and one, then three nodes, then telemetry.
func BenchmarkCall(b *testing.B) {
	connection := &http.Client{Transport: instantly{
		genesis: `"4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY"`,
		balance: `{"context":{"slot":1},"value":7}`,
	}}
	fallbacks := []string{"http://two.example", "http://three.example"}
	cases := map[string]Config{
		"one_node":                {},
		"three_nodes":             {Fallbacks: fallbacks},
		"three_nodes,_no_hedging": {Fallbacks: fallbacks, HedgeAfter: -1},
		"one_node,_metrics":       {MeterProvider: sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader()))},
		"one_node,_metrics_and_traces": {
			MeterProvider:  sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader())),
			TracerProvider: sdktrace.NewTracerProvider(sdktrace.WithBatcher(tracetest.NewNoopExporter())),
		},
	}
	b.Run("requests_alone", func(b *testing.B) {
		client := rpc.NewWithCustomRPCClient(jsonrpc.NewClientWithOpts("http://one.example",
			&jsonrpc.RPCClientOpts{HTTPClient: connection}))
		benchmarkBalance(b, client)
	})
	for name, config := range cases {
		b.Run(name, func(b *testing.B) {
			config.Endpoint, config.HTTPClient = "http://one.example", connection
			client, err := NewClient(config)
			require.NoError(b, err)
			defer client.Close()
			benchmarkBalance(b, client.RPC())
		})
	}
}

func benchmarkBalance(b *testing.B, client *rpc.Client) {
	b.ReportAllocs()
	for b.Loop() {
		balance, err := client.GetBalance(context.Background(), protocol.ProgramID, rpc.CommitmentConfirmed)
		if err != nil || balance.Value != 7 {
			b.Fatal(balance, err)
		}
	}
}
