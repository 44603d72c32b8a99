package agent

import (
	"context"
	"encoding/json"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// newLoop returns a seller's loop with no client.
func newLoop(t *testing.T) *loop {
	config, err := Config{
		Decide: func(context.Context, Turn) (Decision, error) { return Wait{}, nil },
		Mints:  map[solana.PublicKey]Limits{testMint: {MinPrice: 1}}, Logger: slog.New(slog.DiscardHandler),
	}.withDefaults()
	require.NoError(t, err)
	r := &Runtime{config: config, self: testSeller}
	return r.newLoop(t.Context(), nil, nil)
}

// process runs the posted functions for a while.
func (l *loop) process(length time.Duration) {
	for end := time.After(length); ; {
		select {
		case change := <-l.inbox:
			change()
		case <-end:
			return
		}
	}
}

// Anyone can send transactions that mention a negotiation and whose logs are truncated. They withdraw no
// call, and cause one refresh a second or less.
func TestTransactionsWithoutEventsDoNotDelayAnAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLoop(t)
		withdrawn := false
		pending := &call{cancel: func(error) { withdrawn = true }}
		f := &tracked{address: solana.PublicKey{7}, call: pending}
		l.tracked[f.address] = f
		truncated := haggle.EventEnvelope{Negotiation: f.address, Slot: 9, Truncated: true}
		count := func() (reads int) {
			for range 100 {
				l.onEvent(truncated)
				l.process(100 * time.Millisecond)
				reads += len(l.reads.urgent) + len(l.reads.ready)
				l.reads.clear()
				f.reading, f.readAgain = false, false
			}
			return reads
		}
		reads := count()
		require.False(t, withdrawn, "the pending call goes on")
		require.NotNil(t, f.call)
		require.LessOrEqual(t, reads, 11)
		require.GreaterOrEqual(t, reads, 5)

		// During an action the negotiation is not refreshed. A refresh follows the action, because a hint can
		// be true.
		f.call, f.acting = nil, true
		require.Zero(t, count())
		require.False(t, f.changed, "a failed action keeps its pause")
		f.acting = false
		l.process(2 * hintInterval)
		require.True(t, f.reading)
		l.reads.clear()
		f.reading = false
		reads = count()
		require.LessOrEqual(t, reads, 11)
		require.GreaterOrEqual(t, reads, 5)
		close(l.stopped)
	})
}

// A list may be older than the subscription. The list that the subscription requests follows it.
func TestListRequestedDuringAnotherFollowsIt(t *testing.T) {
	l := newLoop(t)
	l.reconciling = true
	l.reconcile()
	require.Empty(t, l.reconcileNow)
	l.reconciled(nil, testNow, nil, nil)
	require.Len(t, l.reconcileNow, 1)

	<-l.reconcileNow
	l.reconciling, l.reconcileAgain = true, false
	l.reconciled(nil, testNow, nil, nil)
	require.Empty(t, l.reconcileNow)
}

// If a node returns a wrong time, the next right time decides which negotiations are due.
func TestWrongTimeOfANodeIsReplaced(t *testing.T) {
	l := newLoop(t)
	l.tick(testNow + 1_000_000)
	l.tick(testNow)
	cancelled := 0
	f := &tracked{
		address: solana.PublicKey{7}, wakeAt: testNow + 100, call: &call{cancel: func(error) { cancelled++ }},
	}
	l.tracked[f.address] = f
	l.tick(testNow + 2)
	require.Zero(t, cancelled, "the time to answer is not over")
	l.tick(testNow + 100)
	require.Equal(t, 1, cancelled)
}

func TestNegotiationsAreDueInTheOrderOfTheirTimes(t *testing.T) {
	l := newLoop(t)
	const never = 0
	var due []int64
	for _, at := range []int64{30, 10, never, 20, 40} {
		address := solana.PublicKey{byte(at), 1}
		l.tracked[address] = &tracked{address: address, wakeAt: at, call: &call{cancel: func(error) {
			due = append(due, at)
		}}}
	}
	l.tick(9)
	require.Empty(t, due)
	l.tick(30)
	require.Equal(t, []int64{10, 20, 30}, due)
	l.tick(50)
	require.Equal(t, []int64{10, 20, 30, 40}, due, "each is due once")
}

// accountsOf answers a request for accounts: each is the clock or the negotiation.
func accountsOf(params []json.RawMessage, n protocol.Negotiation) string {
	return AccountsJSON(params, func(address string) string {
		if address == solana.SysVarClockPubkey.String() {
			return ClockJSON(testNow)
		}
		return AccountJSON(protocol.ProgramID, n.AppendTo(nil))
	})
}

// A long negotiation history delays the call of the agent's function by up to historyTimeout, and the view's
// time goes on meanwhile.
func TestLongHistoryDoesNotDelayAnAgent(t *testing.T) {
	n := bargaining(1)
	node := ServeRPC(t, func(ctx context.Context, method string, params []json.RawMessage) string {
		if method != "getMultipleAccounts" {
			<-ctx.Done()
			return ""
		}
		return accountsOf(params, n)
	})
	client, err := haggle.NewClient(haggle.Config{Endpoint: node})
	require.NoError(t, err)
	defer client.Close()
	l := newLoop(t)
	l.client = client
	ctx, cancel := context.WithTimeout(t.Context(), readTimeout)
	defer cancel()
	l.ctx = ctx
	began := time.Now()
	snapshot := l.read(readRequest{address: solana.PublicKey{7}})
	require.NoError(t, snapshot.err)
	require.Less(t, time.Since(began), historyTimeout+2*time.Second)
	require.Len(t, snapshot.offers, 1, "the standing offer is in the account")
	require.Equal(t, int64(testNow), snapshot.now)
	v := &view{Snapshot: snapshot.negotiation, now: snapshot.now, made: snapshot.read}
	require.GreaterOrEqual(t, v.clock(), int64(testNow)+int64(historyTimeout/time.Second))
}

// A node returned a slot that never existed. Events and lists of other nodes, with lower slots, are not
// outdated by it.
func TestSlotThatNeverExistedHidesNoEvents(t *testing.T) {
	require.True(t, isBefore(99, 100))
	require.False(t, isBefore(100, 100))
	const ahead = 1_000_000_000
	l := newLoop(t)
	l.self = testSeller
	f := &tracked{address: solana.PublicKey{7}}
	l.tracked[f.address] = f
	read := func(round uint8, slot uint64) *haggle.Snapshot {
		n := &haggle.Snapshot{Address: f.address, Negotiation: bargaining(round), Slot: slot}
		n.Data = n.AppendTo(nil)
		return n
	}
	l.update(f, read(1, ahead))
	l.onEvent(haggle.EventEnvelope{
		Negotiation: f.address, Slot: 1_000, Event: &protocol.OfferSubmitted{Round: 3},
	})
	require.True(t, f.reading, "the event causes a refresh")
	f.reading = false
	l.onListed(read(3, 1_000))
	require.True(t, f.reading, "the list causes a refresh")
	l.update(f, read(3, 1_001))
	require.EqualValues(t, 1_001, f.slot)
}

// A node that shows other states in between does not make an agent decide again on the same position.
func TestARepeatedPositionKeepsItsDecision(t *testing.T) {
	l := newLoop(t)
	f := &tracked{address: solana.PublicKey{7}}
	show := func(round uint8) { l.update(f, &haggle.Snapshot{Negotiation: bargaining(round)}) }
	show(1)
	made := &decided{decision: Accept{}}
	f.decided, f.fallbacks, f.answer = made, 1, answer{waits: true}
	show(2)
	require.Zero(t, f.positionState)
	show(3)
	show(1)
	require.Same(t, made, f.decided)
	require.Equal(t, 1, f.fallbacks)
	require.True(t, f.answer.waits)
}

// If there is no deadline, the clock is not read.
func TestClockIsReadOnlyForADeadline(t *testing.T) {
	l := newLoop(t)
	f := &tracked{address: solana.PublicKey{7}}
	l.tracked[f.address] = f
	require.False(t, l.hasWakeTime())
	f.wakeAt = testNow
	require.True(t, l.hasWakeTime())
}
