package overhead_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/gagliardetto/solana-go/rpc/jsonrpc"
	"github.com/stretchr/testify/require"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/haggle-protocol/haggle/internal/localnet"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/journal"
)

// stage is an offer that has been made on a chain, and can be made again out of what the chain has answered.
type stage struct {
	*transcript
	net    *localnet.Net
	client *haggle.Client
	seen   *haggle.Snapshot
	made   *haggle.Receipt
}

func newStage(t testing.TB, net *localnet.Net, config haggle.Config) *stage {
	t.Helper()
	s := &stage{transcript: &transcript{}, net: net}
	config.Endpoint, config.WSEndpoint, config.HTTPClient = net.Chain.RPCURL, net.Chain.WSURL, &http.Client{Transport: s.transcript}
	client, err := haggle.NewClient(config)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	s.client = client
	// What a client asks only once, it has asked by now.
	s.seen = bargain(t, client, net)
	s.record()
	s.made, err = offer(t, client, net, s.seen)
	require.NoError(t, err)
	return s
}

// again makes the same offer.
func (s *stage) again(t testing.TB) *haggle.Receipt {
	s.replay()
	receipt, err := offer(t, s.client, s.net, s.seen)
	require.NoError(t, err)
	return receipt
}

// requests makes the requests of an offer, with nothing but the JSON-RPC client.
func (s *stage) requests(t testing.TB, client jsonrpc.RPCClient, parameters [][]any) {
	s.replay()
	for i, exchange := range s.exchanges {
		var result json.RawMessage
		require.NoError(t, client.CallForInto(context.Background(), &result, exchange.method, parameters[i]))
	}
}

func (s *stage) parameters(t testing.TB) (all [][]any) {
	for _, exchange := range s.exchanges {
		var parameters []any
		if text := exchange.request[len(exchange.method):]; text != "" {
			// As they were written: an object's members would come in another order.
			var raw []json.RawMessage
			require.NoError(t, json.Unmarshal([]byte(text), &raw))
			for _, parameter := range raw {
				parameters = append(parameters, parameter)
			}
		}
		all = append(all, parameters)
	}
	return all
}

// What is measured is the whole offer: it is the transaction that the chain has executed, and all that it has answered is looked at.
func TestAnOfferThatIsPlayedAgainIsTheSameOffer(t *testing.T) {
	s := newStage(t, startNet(t), haggle.Config{})
	receipt := s.again(t)
	require.Equal(t, s.made.Signature, receipt.Signature)
	require.Equal(t, s.made.Events, receipt.Events)
	for _, exchange := range s.exchanges {
		require.Equal(t, 1, s.told[exchange.request], "%s", exchange.request)
	}
	require.Equal(t, len(s.exchanges), len(s.told), "and nothing else is asked")
}

// BenchmarkAction is what an offer costs beyond a node's answers, which come at once: reading, building, simulating, signing, sending,
// looking for it, decoding its events. BenchmarkAction/requests_alone makes the same requests with the JSON-RPC client, and
// BenchmarkAction/writing_to_disk_twice_alone is what the journal cannot do without.
func BenchmarkAction(b *testing.B) {
	net := startNet(b)
	for name, config := range map[string]func(b *testing.B) haggle.Config{
		"plain": func(*testing.B) haggle.Config { return haggle.Config{} },
		"journal": func(b *testing.B) haggle.Config {
			book, err := journal.Open(filepath.Join(b.TempDir(), "journal"))
			require.NoError(b, err)
			b.Cleanup(func() { require.NoError(b, book.Close()) })
			return haggle.Config{Journal: book}
		},
		"metrics_and_traces": func(*testing.B) haggle.Config {
			return haggle.Config{
				MeterProvider:  sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader())),
				TracerProvider: sdktrace.NewTracerProvider(sdktrace.WithBatcher(tracetest.NewNoopExporter())),
			}
		},
	} {
		b.Run(name, func(b *testing.B) {
			s := newStage(b, net, config(b))
			b.ReportAllocs()
			for b.Loop() {
				s.again(b)
			}
			b.ReportMetric(float64(len(s.exchanges)), "requests/op")
		})
	}
	b.Run("requests_alone", func(b *testing.B) {
		s := newStage(b, net, haggle.Config{})
		client := jsonrpc.NewClientWithOpts(net.Chain.RPCURL, &jsonrpc.RPCClientOpts{HTTPClient: &http.Client{Transport: s.transcript}})
		parameters := s.parameters(b)
		b.ReportAllocs()
		for b.Loop() {
			s.requests(b, client, parameters)
		}
		b.ReportMetric(float64(len(s.exchanges)), "requests/op")
	})
	b.Run("writing_to_disk_twice_alone", func(b *testing.B) {
		file, err := os.Create(filepath.Join(b.TempDir(), "written"))
		require.NoError(b, err)
		defer file.Close()
		b.ReportAllocs()
		for b.Loop() {
			for range 2 {
				_, err := file.Write(make([]byte, 512))
				require.NoError(b, errors.Join(err, file.Sync()))
			}
		}
	})
}
