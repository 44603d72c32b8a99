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

// newLoop returns a seller's loop without a client.
func newLoop(t *testing.T) *loop {
	r := &Runtime{config: Config{Logger: slog.New(slog.DiscardHandler)}, self: testSeller}
	return r.newLoop(t.Context(), nil, nil)
}

// turns is what the loop does for a while.
func (l *loop) turns(length time.Duration) {
	for end := time.After(length); ; {
		select {
		case change := <-l.inbox:
			change()
		case <-end:
			return
		}
	}
}

// Anyone can send transactions that mention a negotiation and whose logs are cut off. They must not keep an agent from
// answering, nor make it read without end.
func TestTransactionsThatSayNothingDoNotKeepAnAgentFromAnswering(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLoop(t)
		withdrawn := false
		f := &tracked{address: solana.PublicKey{7}, index: -1, call: &call{cancel: func(error) { withdrawn = true }}}
		l.tracked[f.address] = f
		dust := haggle.EventEnvelope{Negotiation: f.address, Slot: 9, Truncated: true}
		count := func() (reads int) {
			for range 100 {
				l.onEvent(dust)
				l.turns(100 * time.Millisecond)
				reads += len(l.reads.urgent) + len(l.reads.ready)
				l.reads.clear()
				f.reading, f.readAgain = false, false
			}
			return reads
		}
		reads := count()
		require.False(t, withdrawn, "what the agent answers counts")
		require.NotNil(t, f.call)
		require.LessOrEqual(t, reads, 11)
		require.GreaterOrEqual(t, reads, 5)

		// During an action nothing is read. After it the negotiation is refreshed in a moment, because
		// something may have happened after all.
		f.call, f.acting = nil, true
		require.Zero(t, count())
		require.False(t, f.changed, "a failed action keeps its pause")
		f.acting = false
		l.turns(2 * hintInterval)
		require.True(t, f.reading)
		l.reads.clear()
		f.reading = false
		reads = count()
		require.LessOrEqual(t, reads, 11)
		require.GreaterOrEqual(t, reads, 5)
		close(l.stopped)
	})
}

// A list may be older than the subscription. The list that the subscription requests must not be forgotten.
func TestListThatIsAskedForWhileAnotherIsMadeIsMade(t *testing.T) {
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

// A node that has once been wrong about the time must not have everything be due for good.
func TestTimeThatANodeWasWrongAboutIsForgotten(t *testing.T) {
	l := newLoop(t)
	l.tick(testNow + 1_000_000)
	l.tick(testNow)
	cancelled := 0
	f := &tracked{address: solana.PublicKey{7}, index: -1, call: &call{cancel: func(error) { cancelled++ }}}
	l.agenda.wake(f, testNow+100)
	l.tick(testNow + 2)
	require.Zero(t, cancelled, "there is still time to answer")
}

// A long history of a negotiation does not delay the call of the agent's function, nor falsify its time.
func TestLongHistoryDoesNotHoldAnAgentUp(t *testing.T) {
	n := bargaining(1)
	node := ServeRPC(t, func(ctx context.Context, method string, params []json.RawMessage) string {
		if method != "getMultipleAccounts" {
			<-ctx.Done()
			return ""
		}
		return AccountsJSON(params, func(address string) string {
			if address == solana.SysVarClockPubkey.String() {
				return ClockJSON(testNow)
			}
			return AccountJSON(protocol.ProgramID, n.AppendTo(nil))
		})
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
	seen := l.read(readRequest{address: solana.PublicKey{7}})
	require.NoError(t, seen.err)
	require.Less(t, time.Since(began), historyTimeout+2*time.Second)
	require.Len(t, seen.offers, 1, "the one that stands is known in any case")
	require.Equal(t, int64(testNow), seen.now)
	v := &view{NegotiationAccount: seen.negotiation, now: seen.now, made: seen.read}
	require.GreaterOrEqual(t, v.clock(), int64(testNow)+int64(historyTimeout/time.Second), "the time has gone on meanwhile")
}

// A node has shown a slot that there has never been. What other nodes tell afterwards must not be called old
// because of that.
func TestSlotThatThereHasNeverBeenDoesNotMakeAnAgentDeaf(t *testing.T) {
	require.True(t, isBefore(99, 100))
	require.False(t, isBefore(100, 100))
	const ahead = 1_000_000_000
	l := newLoop(t)
	l.self = testSeller
	f := &tracked{address: solana.PublicKey{7}, index: -1}
	l.tracked[f.address] = f
	read := func(round uint8, slot uint64) *haggle.NegotiationAccount {
		n := &haggle.NegotiationAccount{Address: f.address, Negotiation: bargaining(round), Slot: slot}
		n.Data = n.AppendTo(nil)
		return n
	}
	l.update(f, read(1, ahead))
	l.onEvent(haggle.EventEnvelope{Negotiation: f.address, Slot: 1_000, Event: &protocol.OfferSubmitted{Round: 3}})
	require.True(t, f.reading, "it is refreshed")
	f.reading = false
	l.onListed(read(3, 1_000))
	require.True(t, f.reading, "it is the agent's turn")
	l.update(f, read(3, 1_001))
	require.EqualValues(t, 1_001, f.slot)
}
