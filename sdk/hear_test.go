package haggle

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// heardSource is a source of events that a test plays.
type heardSource struct {
	options    StreamOptions
	subscribed []solana.PublicKey
	refuses    error
	fails      chan struct{}
	closed     bool
}

func (s *heardSource) Open(_ context.Context, options StreamOptions) (EventStream, error) {
	s.options = options
	return s, nil
}

func (s *heardSource) Subscribe(_ context.Context, addresses []solana.PublicKey) error {
	s.subscribed = append(s.subscribed, addresses...)
	return s.refuses
}
func (s *heardSource) Unsubscribe([]solana.PublicKey) error { return nil }
func (s *heardSource) Done() <-chan struct{}                { return s.fails }
func (s *heardSource) Err() error                           { return errors.New("cut") }
func (s *heardSource) Close()                               { s.closed = true }

func TestHearingTellsOfTheAddressUntilItsEnd(t *testing.T) {
	defer goleak.VerifyNone(t)
	for name, c := range map[string]struct {
		end     func(cancel context.CancelFunc, client *Client, source *heardSource)
		refuses error
		want    string
	}{
		"context":      {end: func(cancel context.CancelFunc, _ *Client, _ *heardSource) { cancel() }, want: "context canceled"},
		"client":       {end: func(_ context.CancelFunc, client *Client, _ *heardSource) { go client.Close() }, want: ErrClientClosed.Error()},
		"stream":       {end: func(_ context.CancelFunc, _ *Client, source *heardSource) { close(source.fails) }, want: "cut"},
		"subscription": {refuses: errors.New("no more"), want: "no more"},
	} {
		t.Run(name, func(t *testing.T) {
			source := &heardSource{fails: make(chan struct{}), refuses: c.refuses}
			client, err := NewClient(Config{Endpoint: "http://localhost", Source: source})
			require.NoError(t, err)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			var heard []solana.Signature
			err = client.Hear(ctx, protocol.ProgramID, func() {
				source.options.Notify(Notice{Address: protocol.ProgramID, Signature: solana.Signature{1}})
				source.options.Notify(Notice{Address: protocol.ProgramID, Signature: solana.Signature{2}, Unrelated: true})
				source.options.Notify(Notice{Address: solana.PublicKey{9}, Signature: solana.Signature{3}})
				c.end(cancel, client, source)
			}, func(n Notice) { heard = append(heard, n.Signature) })
			require.EqualError(t, err, c.want)
			assert.Equal(t, []solana.PublicKey{protocol.ProgramID}, source.subscribed)
			if c.refuses == nil {
				assert.Equal(t, []solana.Signature{{1}}, heard)
			}
			assert.True(t, source.closed)
			require.NoError(t, client.Close())
			require.ErrorIs(t, client.Hear(ctx, protocol.ProgramID, nil, nil), ErrClientClosed)
		})
	}
}
