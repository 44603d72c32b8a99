package agent_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// beforeSimulation calls a function before a client's first simulation.
type beforeSimulation func()

func (b beforeSimulation) RoundTrip(request *http.Request) (*http.Response, error) {
	body, err := request.GetBody()
	if err != nil {
		return nil, err
	}
	call, err := io.ReadAll(body)
	if err != nil {
		return nil, err
	}
	if bytes.Contains(call, []byte(`"simulateTransaction"`)) {
		b()
	}
	return http.DefaultTransport.RoundTrip(request)
}

// The new treasury lacks a token account, so the first close would cost rent that it does not state.
func TestAgentClosesForANewTreasury(t *testing.T) {
	f := newFixture(t)
	negotiation := f.settleAt(3_000_000)
	f.advance(time.Second) // the program closes no negotiation in its creation second
	treasury, err := wallet.GenerateKeypair()
	require.NoError(t, err)
	replace := sync.OnceFunc(func() { require.NoError(t, f.ReplaceTreasury(f.ctx, treasury.PublicKey())) })
	client, err := haggle.NewClient(haggle.Config{
		Endpoint: f.Chain.RPCURL(), WSEndpoint: f.Chain.WSURL(),
		HTTPClient: &http.Client{Transport: beforeSimulation(replace)},
	})
	require.NoError(t, err)
	defer client.Close()
	log := &capturedLog{}
	runtime, err := agent.New(client, f.Buyer, agent.Config{Decide: wait, Mints: f.limits(), Logger: slog.New(log)})
	require.NoError(t, err)
	result, err := runtime.RunOne(f.ctx, negotiation)
	require.NoError(t, err)
	require.EqualValues(t, 3_000_000, result.Price)
	require.Nil(t, f.state(negotiation))
	require.Equal(t, treasury.PublicKey(), f.Treasury)
	warned := false
	for _, record := range log.all() {
		require.Less(t, record.Level, slog.LevelError, record.Message)
		record.Attrs(func(attribute slog.Attr) bool {
			warned = warned || strings.Contains(attribute.Value.String(),
				fmt.Sprintf("of %s: the closer pays 0.00203928 SOL of rent", treasury.PublicKey()))
			return true
		})
	}
	require.True(t, warned, "the rent is logged")
}
