package overhead_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc/jsonrpc"
	"github.com/stretchr/testify/require"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/store/sqlite"
)

// fixture is a recorded offer on a chain, which can be repeated from the recorded responses.
type fixture struct {
	*transcript
	net    *localnet.Net
	client *haggle.Client
	seen   *haggle.Snapshot
	made   *haggle.Receipt
}

func newStage(t testing.TB, net *localnet.Net, config haggle.Config) *fixture {
	t.Helper()
	s := &fixture{transcript: &transcript{}, net: net}
	config.Endpoint, config.WSEndpoint, config.HTTPClient = net.Chain.RPCURL(), net.Chain.WSURL(), &http.Client{Transport: s.transcript}
	client, err := haggle.NewClient(config)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	s.client = client
	// By now the client has made all requests that it makes only once.
	s.seen = bargain(t, client, net)
	s.record()
	s.made, err = offer(t, client, net, s.seen)
	require.NoError(t, err)
	return s
}

// again repeats the offer.
func (s *fixture) again(t testing.TB) *haggle.Receipt {
	s.replay()
	receipt, err := offer(t, s.client, s.net, s.seen)
	require.NoError(t, err)
	return receipt
}

// requests makes an offer's requests with the JSON-RPC client alone.
func (s *fixture) requests(t testing.TB, client jsonrpc.RPCClient, parameters [][]any) {
	s.replay()
	for i, exchange := range s.exchanges {
		var result json.RawMessage
		require.NoError(t, client.CallForInto(context.Background(), &result, exchange.method, parameters[i]))
	}
}

func (s *fixture) parameters(t testing.TB) (all [][]any) {
	for _, exchange := range s.exchanges {
		var parameters []any
		if text := exchange.request[len(exchange.method):]; text != "" {
			// The raw JSON keeps the order of object members.
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

// The replayed offer is complete: it sends the transaction that the chain has executed, and reads every
// recorded response.
func TestReplayedOfferIsComplete(t *testing.T) {
	s := newStage(t, startNet(t), haggle.Config{})
	receipt := s.again(t)
	require.Equal(t, s.made.Signature, receipt.Signature)
	require.Equal(t, s.made.Events, receipt.Events)
	for _, exchange := range s.exchanges {
		require.Equal(t, 1, s.replayed[exchange.request], "%s", exchange.request)
	}
	require.Equal(t, len(s.exchanges), len(s.replayed), "and nothing else is asked")
}

// BenchmarkAction measures an offer with immediate responses: reading, building, simulating, signing,
// sending, finding and decoding the events, but not the wait before the status request.
// BenchmarkAction/requests_alone makes the same requests with the JSON-RPC client, and
// BenchmarkAction/writing_to_disk_twice_alone is the least work of the journal.
func BenchmarkAction(b *testing.B) {
	net := startNet(b)
	for name, config := range map[string]func(b *testing.B) haggle.Config{
		"plain": func(*testing.B) haggle.Config { return haggle.Config{} },
		"journal": func(b *testing.B) haggle.Config {
			book, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "state.db"))
			require.NoError(b, err)
			b.Cleanup(func() { require.NoError(b, book.Close()) })
			return haggle.Config{Journal: repeatable{book}}
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
			s.waited = 0
			for b.Loop() {
				s.again(b)
			}
			// The client waits for 30 ms before requesting a transaction's status.
			b.ReportMetric(float64(b.Elapsed()-s.waited)/float64(b.N), "ns/op")
			b.ReportMetric(float64(len(s.exchanges)), "requests/op")
		})
	}
	b.Run("requests_alone", func(b *testing.B) {
		s := newStage(b, net, haggle.Config{})
		client := jsonrpc.NewClientWithOpts(net.Chain.RPCURL(), &jsonrpc.RPCClientOpts{HTTPClient: &http.Client{Transport: s.transcript}})
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

// repeatable is a journal that writes entries but finds no confirmed entry, so that offers can be repeated.
type repeatable struct{ haggle.JournalStore }

func (r repeatable) OpenJournal() haggle.Journal {
	return repeatableJournal{r.JournalStore.OpenJournal()}
}

type repeatableJournal struct{ haggle.Journal }

func (repeatableJournal) Confirmed(
	context.Context, solana.PublicKey, solana.Hash, solana.Hash,
) (*haggle.JournalEntry, error) {
	return nil, nil
}
