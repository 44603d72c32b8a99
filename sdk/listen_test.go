package haggle

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/events"

	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// listenSource is a scripted source of events. It refuses the first streams.
type listenSource struct {
	refuses int
	streams chan *listenStream
}

type listenStream struct {
	notify     func(events.Hint)
	subscribed chan []solana.PublicKey
	fails      chan struct{}
	closed     chan struct{}
}

func (s *listenSource) Open(_ context.Context, options events.Options) (events.Stream, error) {
	if s.refuses > 0 {
		s.refuses--
		return nil, errors.New("no more")
	}
	stream := &listenStream{
		notify: options.Notify, subscribed: make(chan []solana.PublicKey, 1), fails: make(chan struct{}),
		closed: make(chan struct{}),
	}
	s.streams <- stream
	return stream, nil
}

func (s *listenStream) Subscribe(_ context.Context, addresses []solana.PublicKey) error {
	s.subscribed <- addresses
	return nil
}
func (s *listenStream) Unsubscribe([]solana.PublicKey) error { return nil }
func (s *listenStream) Done() <-chan struct{}                { return s.fails }
func (s *listenStream) Err() error                           { return errors.New("cut") }
func (s *listenStream) Close()                               { close(s.closed) }

func TestListenReconnectsUntilItsEnd(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(cancel context.CancelFunc, client *Client)
		want error
	}{
		"context": {func(cancel context.CancelFunc, _ *Client) { cancel() }, context.Canceled},
		"client":  {func(_ context.CancelFunc, client *Client) { _ = client.Close() }, ErrClientClosed},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				source := &listenSource{refuses: 1, streams: make(chan *listenStream, 2)}
				client, err := NewClient(Config{Endpoint: "http://localhost", Source: source})
				require.NoError(t, err)
				newChainWithoutWebSocket().serveClient(client)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				connected, received := make(chan bool, 8), make(chan solana.Signature, 8)
				ended := make(chan error, 1)
				go func() {
					ended <- client.Listen(ctx, protocol.ProgramID, func(is bool) { connected <- is },
						func(h events.Hint) { received <- h.Signature })
				}()
				require.False(t, <-connected, "the first stream is refused")
				for round := range 2 {
					stream := <-source.streams
					assert.Equal(t, []solana.PublicKey{protocol.ProgramID}, <-stream.subscribed)
					require.True(t, <-connected)
					stream.notify(events.Hint{Address: protocol.ProgramID, Signature: solana.Signature{1}})
					stream.notify(events.Hint{Address: protocol.ProgramID, Signature: solana.Signature{2},
						Unrelated: true})
					stream.notify(events.Hint{Address: solana.PublicKey{9}, Signature: solana.Signature{3}})
					stream.notify(events.Hint{Address: protocol.ProgramID, Signature: solana.Signature{4}})
					assert.Equal(t, solana.Signature{1}, <-received)
					assert.Equal(t, solana.Signature{4}, <-received)
					if round == 0 {
						close(stream.fails)
						require.False(t, <-connected)
						continue
					}
					c.end(cancel, client)
					require.ErrorIs(t, <-ended, c.want)
					<-stream.closed
					stream.notify(events.Hint{Address: protocol.ProgramID, Signature: solana.Signature{5}})
					assert.Empty(t, received, "nothing comes after the end")
				}
				require.NoError(t, client.Close())
				require.ErrorIs(t, client.Listen(t.Context(), protocol.ProgramID, nil, nil), ErrClientClosed)
			})
		})
	}
}

func TestListenEndsIfTheNodeRefusesToSubscribe(t *testing.T) {
	chain := newFakeChain(t)
	chain.refuse = func(int) (int, string) { return transaction.CodeMethodNotFound, "Method not found" }
	err := chain.client(t).Listen(t.Context(), protocol.ProgramID, func(bool) {}, func(events.Hint) {})
	var refused *transaction.NodeError
	require.ErrorAs(t, err, &refused)
}

func TestEventsOfATransactionThatNoNodeHasProveNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(t, nil)
		_, err := a.Events(t.Context(), solana.Signature{9})
		require.ErrorIs(t, err, transaction.ErrNotFound)
		assert.Equal(t, transaction.Unknown, transaction.OutcomeOf(err))
		ended, end := context.WithCancel(t.Context())
		end()
		_, err = a.Events(ended, solana.Signature{9})
		assert.Equal(t, transaction.Unknown, transaction.OutcomeOf(err))
	})
}
