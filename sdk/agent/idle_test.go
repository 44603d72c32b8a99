package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

const (
	idleNegotiations = 10_000
	// idleLimit limits their memory, in bytes.
	idleLimit = 200_000_000
	// idleGoroutines limits the goroutines of the process.
	idleGoroutines = 200
	idleNow        = 1_800_000_000
	// idleTurn is the rest of the turn, in seconds.
	idleTurn = 3000
)

// busyNode is a scripted node whose chain contains a buyer's many negotiations, all waiting for their
// sellers.
type busyNode struct {
	rpc, listing string
	socket       *httptest.Server
	lists        atomic.Int64
	subscribed   atomic.Int64
	requests     atomic.Int64
	buyer        solana.PublicKey
	// now is the chain's time, in Unix seconds. reads counts negotiation reads.
	now, reads atomic.Int64
}

func newBusyNode(t *testing.T, buyer solana.PublicKey) *busyNode {
	t.Helper()
	node := &busyNode{buyer: buyer}
	node.now.Store(idleNow)
	var listing strings.Builder
	listing.WriteString(`{"context":{"slot":1},"value":[`)
	for i := range idleNegotiations {
		seller := solana.PublicKey{1: byte(i), 2: byte(i >> 8), 31: 1}
		n := &protocol.Negotiation{
			Buyer: buyer, Seller: seller, SessionID: uint64(i), Status: protocol.NegotiationStatusProposed,
			CurrentRound: 1, CurrentOfferAmount: 1_000_000, CurrentOfferBy: buyer, EscrowAmount: 5_000_000,
			EffectiveEscrow: 4_900_000,
			MaxRounds:       10, ResponseWindow: 3600, CreatedAt: idleNow - 10, LastOfferAt: idleNow - 5,
			TurnDeadline: idleNow + idleTurn, GlobalDeadline: idleNow + 80_000, Version: protocol.NegotiationVersion,
			ZopaPhase: protocol.ZopaPhaseSkipped, MinOfferBps: 1000,
		}
		address := solana.PublicKey{1: byte(i), 2: byte(i >> 8), 31: 2}
		if i > 0 {
			listing.WriteByte(',')
		}
		fmt.Fprintf(&listing, `{"pubkey":%q,"account":%s}`,
			address, agent.AccountJSON(protocol.ProgramID, n.AppendTo(nil)))
	}
	listing.WriteString(`]}`)
	node.listing = listing.String()
	node.rpc = agent.ServeRPC(t, node.answer)
	node.socket = httptest.NewServer(http.HandlerFunc(node.subscribe))
	t.Cleanup(node.socket.Close)
	return node
}

func (b *busyNode) answer(_ context.Context, method string, params []json.RawMessage) string {
	b.requests.Add(1)
	switch method {
	case "getProgramAccounts":
		if !strings.Contains(string(params[1]), fmt.Sprintf(`"offset":%d,`, protocol.NegotiationOffsetBuyer)) {
			return `{"context":{"slot":1},"value":[]}`
		}
		b.lists.Add(1)
		return b.listing
	case "getMultipleAccounts":
		// A negotiation is read together with the clock.
		clock := []byte(solana.SysVarClockPubkey.String())
		single := bytes.Count(params[0], []byte(",")) == 1 && bytes.Contains(params[0], clock)
		return agent.AccountsJSON(params, func(address string) string {
			known := scriptedAccount(address, b.buyer, b.now.Load())
			if known == "" && single {
				b.reads.Add(1)
			}
			return known
		})
	case "getSlot":
		return "1"
	}
	return "[]"
}

// subscribe confirms every subscription and sends no notifications.
func (b *busyNode) subscribe(w http.ResponseWriter, r *http.Request) {
	var upgrader websocket.Upgrader
	conn, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer conn.Close()
	for {
		var request struct {
			ID json.RawMessage `json:"id"`
		}
		if conn.ReadJSON(&request) != nil {
			return
		}
		number := b.subscribed.Add(1)
		answer := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%d}`, request.ID, number)
		if conn.WriteMessage(websocket.TextMessage, answer) != nil {
			return
		}
	}
}

func TestTenThousandIdleNegotiationsFitIntoOneProcess(t *testing.T) {
	debug.FreeOSMemory() // chains of earlier tests
	buyer, err := wallet.GenerateKeypair()
	require.NoError(t, err)
	node := newBusyNode(t, buyer.PublicKey())
	client, err := haggle.NewClient(haggle.Config{
		Endpoint: node.rpc, WSEndpoint: "ws" + strings.TrimPrefix(node.socket.URL, "http"),
	})
	require.NoError(t, err)
	defer client.Close()
	decided := atomic.Int64{}
	agents, err := agent.New(client, buyer, agent.Config{
		Mints: scriptedLimits(),
		Decide: func(context.Context, agent.Turn) (agent.Decision, error) {
			decided.Add(1)
			return agent.Wait{}, nil
		},
	})
	require.NoError(t, err)

	runtime.GC()
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- agents.Run(ctx) }()
	// The subscription lists the negotiations once, and the runtime twice: on start, and once it is
	// subscribed.
	require.Eventually(t, func() bool {
		return node.subscribed.Load() >= idleNegotiations && node.lists.Load() >= 3
	}, scenarioTimeout, 50*time.Millisecond)
	quiet := node.requests.Load()
	require.Eventually(t, func() bool {
		last := quiet
		quiet = node.requests.Load()
		return quiet-last <= 2 // the clock is read periodically
	}, scenarioTimeout, 2*time.Second)

	runtime.GC()
	runtime.ReadMemStats(&now)
	live := int64(now.HeapAlloc) + int64(now.StackInuse) - int64(before.HeapAlloc) - int64(before.StackInuse)
	t.Logf("%d negotiations: %.1f MB live, %.1f MB from the system, %d goroutines",
		idleNegotiations, float64(live)/1e6, float64(now.Sys-now.HeapReleased)/1e6, runtime.NumGoroutine())
	require.Less(t, live, int64(idleLimit))
	require.Less(t, now.Sys-now.HeapReleased, uint64(idleLimit), "the process, with the scripted node")
	require.Less(t, runtime.NumGoroutine(), idleGoroutines)
	require.Zero(t, decided.Load(), "each negotiation is at its seller's turn")

	require.Zero(t, node.reads.Load(), "listed negotiations are not read")
	node.now.Store(idleNow + idleTurn)
	require.Eventually(t, func() bool {
		return node.reads.Load() > idleNegotiations/10
	}, scenarioTimeout, 50*time.Millisecond, "each is read at its deadline")
	stop()
	require.ErrorIs(t, <-ended, context.Canceled)
}
