package agent

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// A Decide that takes seconds is called once, and the decision is carried out, although the negotiation is
// read and old events are delivered again meanwhile.
func TestSlowDecisionIsCarriedOutDespiteNewSnapshots(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	net, err := localnet.Start(ctx, localnet.Options{})
	require.NoError(t, err)
	defer net.Close()
	created, err := net.Client.CreateNegotiation(haggle.CreateRequest{
		Buyer: net.Buyer.PublicKey(), Seller: net.Seller.PublicKey(), Mint: net.Mint, Decimals: localnet.Decimals,
		EscrowAmount: 5_000_000, Key: "order 1",
		MaxRounds: 8, ResponseWindow: time.Minute, Deadline: 10 * time.Minute,
	}).Build(ctx)
	require.NoError(t, err)
	_, err = created.Do(ctx, net.Buyer)
	require.NoError(t, err)
	n, err := net.Client.Negotiation(created.Negotiation).Snapshot(ctx)
	require.NoError(t, err)
	accepting, err := net.Client.At(n).AcceptInvitation(net.Seller.PublicKey(), [32]byte{}, localnet.Decimals,
		haggle.Deposit{}).Build(ctx)
	require.NoError(t, err)
	receipt, err := accepting.Do(ctx, net.Seller)
	require.NoError(t, err)

	var calls, cancelled atomic.Int64
	acted, enough := make(chan Act, 1), make(chan struct{}) // enough ends the decision
	buyer, err := New(net.Client, net.Buyer, Config{
		Mints: map[solana.PublicKey]Limits{net.Mint: {Decimals: localnet.Decimals, MaxTotal: 2_100_000}},
		Acted: func(act Act) { acted <- act },
		Decide: func(ctx context.Context, turn Turn) (Decision, error) {
			calls.Add(1)
			select {
			case <-enough:
			case <-ctx.Done():
				cancelled.Add(1)
			}
			return Offer{Amount: 2_000_000}, ctx.Err()
		},
	})
	require.NoError(t, err)
	running, end := context.WithCancelCause(ctx)
	l := buyer.newLoop(running, end, nil)
	ended := make(chan error, 1)
	go func() { ended <- l.run() }()
	observing := time.NewTicker(20 * time.Millisecond)
	defer observing.Stop()
	observed := 0 // by the decision that runs
	for {
		select {
		case act := <-acted:
			require.Equal(t, "submit_offer", act.Name)
			require.EqualValues(t, 1, calls.Load())
			require.Zero(t, cancelled.Load())
			end(errOver)
			require.ErrorIs(t, <-ended, errOver)
			return
		case <-observing.C:
			l.post(func() {
				f := l.tracked[created.Negotiation]
				if f == nil || calls.Load() == 0 {
					return
				}
				l.refresh(f)
				l.onEvent(haggle.EventEnvelope{Slot: receipt.Slot, Negotiation: f.address, Event: receipt.Events[0]})
				if observed++; observed == 50 {
					close(enough)
				}
			})
		case <-ctx.Done():
			t.Fatalf("no offer after %d calls of Decide", calls.Load())
		}
	}
}

// A decision depends on the whole account but the payouts: parties can claim these at any time.
func TestPositionChangesWithEverythingButPayouts(t *testing.T) {
	l := newLoop(t)
	position := func(change func(*protocol.Negotiation)) uint64 {
		return l.positionOf(&haggle.Snapshot{Negotiation: with(inMilestones(true), change)})
	}
	same := position(func(*protocol.Negotiation) {})
	claimable := func(n *protocol.Negotiation) { n.ClaimableBuyer, n.ClaimableSeller = 1, 2 }
	require.Equal(t, same, position(claimable))
	for name, change := range map[string]func(*protocol.Negotiation){
		"created_at": func(n *protocol.Negotiation) { n.CreatedAt++ },
		"status":     func(n *protocol.Negotiation) { n.Status = protocol.NegotiationStatusSettled },
		"round":      func(n *protocol.Negotiation) { n.CurrentRound++ },
		"offer":      func(n *protocol.Negotiation) { n.CurrentOfferAmount++ },
		"metadata":   func(n *protocol.Negotiation) { n.Metadata[0]++ },
		"commitment": func(n *protocol.Negotiation) { n.BuyerCommitment[0]++ },
		"milestones": func(n *protocol.Negotiation) { n.MilestonesDecided = 1 },
		"deadline":   func(n *protocol.Negotiation) { n.TurnDeadline++ },
	} {
		require.NotEqual(t, same, position(change), name)
	}
}

// Actions that wait for an unknown outcome hold no worker: reads and actions of other negotiations go on.
func TestBlockedActionsDoNotHoldTheWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLoop(t)
		l.config.Concurrency = DefaultConcurrency
		begun := 0
		blocked := func(ctx context.Context) (*haggle.Action, error) {
			l.post(func() { begun++ })
			<-ctx.Done()
			return nil, ctx.Err()
		}
		run := func(length time.Duration) {
			for end := time.After(length); ; {
				l.dispatch()
				select {
				case change := <-l.inbox:
					change()
				case <-end:
					return
				}
			}
		}
		var cancel context.CancelFunc
		l.ctx, cancel = context.WithCancel(t.Context())
		for i := range 3 * DefaultConcurrency {
			f := &tracked{address: solana.PublicKey{byte(i), 1}}
			l.sendBuilt(f, &view{Snapshot: at(5)}, "submit_offer", blocked)
		}
		run(time.Second)
		require.Equal(t, DefaultConcurrency, begun)
		read := false
		l.reads.add(false, func() { l.post(func() { l.reads.running--; read = true }) })
		run(time.Millisecond)
		require.True(t, read, "a read does not wait for actions")
		run(3 * actionHold)
		require.Equal(t, 3*DefaultConcurrency, begun, "an action does not wait for blocked ones")

		l.stopping = true
		cancel()
		run(2 * shutdownTimeout)
		require.Zero(t, l.actions.running)
		close(l.stopped)
	})
}

// A function that takes too long leaves time for the fallback.
func TestCallEndsBeforeTheDeadline(t *testing.T) {
	v := testView(bargaining(1), protocol.OfferSideSeller, testNow)
	require.EqualValues(t, testNow+100-8, v.answerBy(), "half of the margin is left for the action")
	v.now = testNow + 98
	require.EqualValues(t, testNow+99, v.answerBy())
	require.True(t, errors.Is(errTimeIsUp, ErrTooLong))
}
