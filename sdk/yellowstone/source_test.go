package yellowstone_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/haggle-protocol/haggle/sdk/events"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/yellowstone"
	"github.com/haggle-protocol/haggle/sdk/yellowstone/internal/geyser"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	ours    = []string{"Program " + protocol.ProgramAddress + " invoke [1]"}
	others  = []string{"Program 11111111111111111111111111111111 invoke [1]"}
	watched = solana.PublicKey{42}
)

// open opens a stream whose hints arrive in the channel.
func open(t *testing.T, p *plugin, config yellowstone.Config, from uint64) (events.Stream, <-chan events.Hint) {
	t.Helper()
	if config.Endpoint == "" {
		config.Endpoint = "http://" + p.address
	}
	source, err := yellowstone.New(config)
	require.NoError(t, err)
	return openFrom(t, source, from)
}

func openFrom(t *testing.T, source *yellowstone.Source, from uint64) (events.Stream, <-chan events.Hint) {
	t.Helper()
	hints := make(chan events.Hint, 16)
	stream, err := source.Open(t.Context(), events.Options{Program: protocol.ProgramID,
		Commitment: rpc.CommitmentConfirmed, FromSlot: from, Notify: func(n events.Hint) { hints <- n },
	})
	require.NoError(t, err)
	t.Cleanup(stream.Close)
	return stream, hints
}

func received(t *testing.T, hints <-chan events.Hint) events.Hint {
	t.Helper()
	select {
	case notice := <-hints:
		return notice
	case <-time.After(10 * time.Second):
		t.Fatal("no hint")
		return events.Hint{}
	}
}

func ended(t *testing.T, stream events.Stream) error {
	t.Helper()
	select {
	case <-stream.Done():
		return stream.Err()
	case <-time.After(10 * time.Second):
		t.Fatal("the stream does not end")
		return nil
	}
}

func TestHintsNameTheMentionedAddresses(t *testing.T) {
	p := servePlugin(t, nil)
	stream, hints := open(t, p, yellowstone.Config{}, 0)
	p.publish(transaction(1, 100, ours, watched))
	second := solana.PublicKey{43}
	require.NoError(t, stream.Subscribe(t.Context(), []solana.PublicKey{watched}))
	require.NoError(t, stream.Subscribe(t.Context(), []solana.PublicKey{second}))

	p.publish(transaction(2, 101, ours, watched))
	assert.Equal(t, events.Hint{Address: watched, Signature: solana.Signature{2, 1}, Slot: 101}, received(t, hints))
	p.publish(transaction(3, 102, others, solana.PublicKey{9}, second))
	assert.Equal(t, events.Hint{Address: second, Signature: solana.Signature{3, 1}, Slot: 102, Unrelated: true}, received(t, hints))
	failed := transaction(4, 103, ours, watched)
	failed.Transaction.Meta.Err = &geyser.TransactionError{Err: []byte{1}}
	p.publish(failed)
	loaded := transaction(5, 104, ours)
	loaded.Transaction.Meta.LoadedWritableAddresses = [][]byte{watched.Bytes()}
	p.publish(loaded)
	assert.Equal(t, solana.Signature{5, 1}, received(t, hints).Signature, "not the failed one")

	require.NoError(t, stream.Unsubscribe([]solana.PublicKey{watched}))
	p.publish(transaction(6, 105, ours, watched))
	p.publish(transaction(7, 106, ours, second))
	assert.Equal(t, solana.Signature{7, 1}, received(t, hints).Signature, "not the unsubscribed one")
	for _, request := range p.asked() {
		assert.Equal(t, geyser.CommitmentLevel_CONFIRMED, request.GetCommitment())
	}
}

func TestManyAddressesAreFilteredByTheClient(t *testing.T) {
	p := servePlugin(t, nil)
	stream, hints := open(t, p, yellowstone.Config{MaxAddresses: 2}, 0)
	require.NoError(t, stream.Subscribe(t.Context(), []solana.PublicKey{watched, {43}, {44}}))
	requests := p.asked()
	for _, filter := range requests[len(requests)-1].Transactions {
		assert.Equal(t, []string{protocol.ProgramAddress}, filter.AccountInclude)
	}
	p.publish(transaction(1, 100, ours, solana.PublicKey{45}, protocol.ProgramID))
	p.publish(transaction(2, 100, ours, watched, protocol.ProgramID))
	assert.Equal(t, solana.Signature{2, 1}, received(t, hints).Signature)
}

func TestMissedTransactionsAreRepeated(t *testing.T) {
	p := servePlugin(t, nil)
	p.publish(transaction(1, 100, ours, watched))
	p.publish(transaction(2, 110, ours, watched))
	stream, hints := open(t, p, yellowstone.Config{}, 105)
	require.NoError(t, stream.Subscribe(t.Context(), []solana.PublicKey{watched}))
	assert.Equal(t, solana.Signature{2, 1}, received(t, hints).Signature)
	require.NoError(t, stream.Subscribe(t.Context(), []solana.PublicKey{{43}}))
	p.publish(transaction(3, 111, ours, watched))
	assert.Equal(t, solana.Signature{3, 1}, received(t, hints).Signature, "repeated once")
}

// The service reads a filter some time before it applies it.
func TestSubscribeReturnsWhenTheFilterIsApplied(t *testing.T) {
	p := servePlugin(t, nil)
	p.filterDelay = 50 * time.Millisecond
	stream, hints := open(t, p, yellowstone.Config{}, 0)
	require.NoError(t, stream.Subscribe(t.Context(), []solana.PublicKey{watched}))
	p.publish(transaction(1, 100, ours, watched))
	assert.Equal(t, solana.Signature{1, 1}, received(t, hints).Signature)
}

// Of several filters read, the service applies the newest, and repeats nothing for the others.
func TestNextSubscriptionKeepsTheRepetition(t *testing.T) {
	p := servePlugin(t, nil)
	p.filterDelay = 50 * time.Millisecond
	p.publish(transaction(1, 110, ours, watched))
	stream, hints := open(t, p, yellowstone.Config{}, 105)
	require.NoError(t, stream.Subscribe(t.Context(), []solana.PublicKey{watched}))
	require.NoError(t, stream.Subscribe(t.Context(), []solana.PublicKey{{43}}))
	assert.Equal(t, solana.Signature{1, 1}, received(t, hints).Signature)
}

func TestServiceWithoutRepetition(t *testing.T) {
	for name, configure := range map[string]func(*plugin){
		"too long ago": func(p *plugin) { p.oldest = 1_000 },
		"never":        func(p *plugin) { p.neverRepeats = true },
	} {
		t.Run(name, func(t *testing.T) {
			p := servePlugin(t, nil)
			configure(p)
			source, err := yellowstone.New(yellowstone.Config{Endpoint: "http://" + p.address})
			require.NoError(t, err)
			first, _ := openFrom(t, source, 105)
			_ = first.Subscribe(t.Context(), []solana.PublicKey{watched})
			require.Error(t, ended(t, first))
			second, hints := openFrom(t, source, 105)
			require.NoError(t, second.Subscribe(t.Context(), []solana.PublicKey{watched}))
			p.publish(transaction(1, 1_001, ours, watched))
			assert.Equal(t, solana.Signature{1, 1}, received(t, hints).Signature)
		})
	}
}

func TestPingIsAnswered(t *testing.T) {
	p := servePlugin(t, nil)
	open(t, p, yellowstone.Config{}, 0)
	count := func() (pings int) {
		p.lock.Lock()
		defer p.lock.Unlock()
		for _, s := range p.streams {
			s.lock.Lock()
			pings += s.pings
			s.lock.Unlock()
		}
		return pings
	}
	before := count()
	p.ping()
	assert.Eventually(t, func() bool { return count() == before+1 }, 10*time.Second, time.Millisecond)
}

func TestTokenIsSent(t *testing.T) {
	p := servePlugin(t, nil)
	p.token = "secret"
	source, err := yellowstone.New(yellowstone.Config{Endpoint: "http://" + p.address, Token: "wrong"})
	require.NoError(t, err)
	_, err = source.Open(t.Context(), events.Options{Program: protocol.ProgramID, Commitment: rpc.CommitmentFinalized, Notify: func(events.Hint) {}})
	require.Error(t, err)
	assert.Equal(t, codes.Unauthenticated, status.Code(err))
	stream, _ := open(t, p, yellowstone.Config{Token: "secret"}, 0)
	require.NoError(t, stream.Subscribe(t.Context(), []solana.PublicKey{watched}))
}

func TestTransportIsEncryptedAndChecked(t *testing.T) {
	issuer := httptest.NewTLSServer(nil)
	defer issuer.Close()
	p := servePlugin(t, &tls.Config{Certificates: issuer.TLS.Certificates})
	trusted := x509.NewCertPool()
	trusted.AddCert(issuer.Certificate())
	stream, hints := open(t, p, yellowstone.Config{Endpoint: "https://" + p.address, TLS: &tls.Config{RootCAs: trusted, ServerName: "example.com"}}, 0)
	require.NoError(t, stream.Subscribe(t.Context(), []solana.PublicKey{watched}))
	p.publish(transaction(1, 100, ours, watched))
	assert.Equal(t, watched, received(t, hints).Address)

	source, err := yellowstone.New(yellowstone.Config{Endpoint: "https://" + p.address})
	require.NoError(t, err)
	_, err = source.Open(t.Context(), events.Options{Program: protocol.ProgramID, Commitment: rpc.CommitmentConfirmed, Notify: func(events.Hint) {}})
	require.ErrorContains(t, err, "certificate")
}

func TestStreamEndsWithTheConnection(t *testing.T) {
	p := servePlugin(t, nil)
	stream, _ := open(t, p, yellowstone.Config{}, 0)
	require.NoError(t, stream.Subscribe(t.Context(), []solana.PublicKey{watched}))
	p.hangUp(status.Error(codes.Unavailable, "maintenance"))
	require.ErrorContains(t, ended(t, stream), "maintenance")
	require.Error(t, stream.Subscribe(t.Context(), []solana.PublicKey{watched}))
	stream.Close()
	stream.Close()
}

func TestOpeningEndsWithItsContext(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer silent.Close()
	source, err := yellowstone.New(yellowstone.Config{Endpoint: "http://" + silent.Addr().String()})
	require.NoError(t, err)
	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err = source.Open(ctx, events.Options{Program: protocol.ProgramID, Commitment: rpc.CommitmentConfirmed, Notify: func(events.Hint) {}})
	require.Error(t, err)
	assert.Less(t, time.Since(began), 5*time.Second)
}

func TestConfigurationIsChecked(t *testing.T) {
	for _, config := range []yellowstone.Config{
		{}, {Endpoint: "ws://example.com"}, {Endpoint: "https://"}, {Endpoint: "https://example.com/secret"},
		{Endpoint: "https://example.com", MaxAddresses: -1},
	} {
		_, err := yellowstone.New(config)
		require.Error(t, err, config.Endpoint)
		assert.NotContains(t, err.Error(), "secret")
	}
	source, err := yellowstone.New(yellowstone.Config{Endpoint: "https://example.com"})
	require.NoError(t, err)
	for _, options := range []events.Options{
		{Program: protocol.ProgramID, Commitment: rpc.CommitmentConfirmed},
		{Commitment: rpc.CommitmentConfirmed, Notify: func(events.Hint) {}},
		{Program: protocol.ProgramID, Commitment: rpc.CommitmentProcessed, Notify: func(events.Hint) {}},
	} {
		_, err := source.Open(t.Context(), options)
		require.Error(t, err)
	}
}
