package agent

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

func newLoop(t *testing.T) *loop {
	return &loop{
		Runtime: &Runtime{config: Config{Logger: slog.New(slog.DiscardHandler)}, self: testSeller}, ctx: t.Context(),
		inbox: make(chan func()), stopped: make(chan struct{}), sweepNow: make(chan struct{}, 1), followed: map[solana.PublicKey]*followed{},
		seed: maphash.MakeSeed(),
	}
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

// Anyone can send a transaction that mentions a negotiation and whose logs are cut off. Whoever does that again and again must not keep
// an agent from answering, nor have it read without end.
func TestTransactionsThatSayNothingDoNotKeepAnAgentFromAnswering(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLoop(t)
		withdrawn := false
		f := &followed{address: solana.PublicKey{7}, index: -1, busy: true, withdraw: func(error) { withdrawn = true }}
		l.followed[f.address] = f
		dust := haggle.Observation{Negotiation: f.address, Slot: 9, Truncated: true}
		for range 100 {
			l.hear(dust)
			l.turns(100 * time.Millisecond)
		}
		require.False(t, f.changed, "what the agent answers counts")
		require.False(t, withdrawn)
		require.Empty(t, l.ready)

		// When it has been answered, it is looked at in a moment, because something may have happened after all.
		f.busy = false
		l.turns(2 * doubtPause)
		require.True(t, f.busy)
		require.Len(t, l.ready, 1)
		l.ready = nil
		looks := 0
		for range 100 {
			l.hear(dust)
			l.turns(100 * time.Millisecond)
			looks += len(l.ready)
			l.ready, f.busy = nil, false
		}
		require.LessOrEqual(t, looks, 11)
		require.GreaterOrEqual(t, looks, 5)
		close(l.stopped)
	})
}

// What is listed may be from before somebody could hear; the list that is asked for when that is so must not be forgotten.
func TestListThatIsAskedForWhileAnotherIsMadeIsMade(t *testing.T) {
	l := newLoop(t)
	l.sweeping = true
	l.sweep()
	require.Empty(t, l.sweepNow)
	l.swept(nil, testNow, nil, nil)
	require.Len(t, l.sweepNow, 1)

	<-l.sweepNow
	l.sweeping, l.sweepAgain = true, false
	l.swept(nil, testNow, nil, nil)
	require.Empty(t, l.sweepNow)
}

// A node that has once been wrong about the time must not have everything be due for good.
func TestTimeThatANodeWasWrongAboutIsForgotten(t *testing.T) {
	l := newLoop(t)
	l.tick(testNow + 1_000_000)
	l.tick(testNow)
	f := &followed{address: solana.PublicKey{7}, index: -1, busy: true}
	asked := 0
	f.withdraw = func(error) { asked++ }
	l.agenda.wake(f, testNow+100)
	l.tick(testNow + 2)
	require.Zero(t, asked, "there is still time to answer")
}

// However many transactions somebody has put into a negotiation's history, an agent is asked in time and told what time it is.
func TestLongHistoryDoesNotHoldAnAgentUp(t *testing.T) {
	n := bargaining(1)
	clock := make([]byte, 40)
	binary.LittleEndian.PutUint64(clock[32:], testNow)
	account := func(owner string, data []byte) string {
		return fmt.Sprintf(`{"data":[%q,"base64"],"executable":false,"lamports":1,"owner":%q,"rentEpoch":0}`, base64.StdEncoding.EncodeToString(data), owner)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct {
			ID     json.RawMessage
			Method string
			Params []json.RawMessage
		}
		_ = json.NewDecoder(r.Body).Decode(&request)
		result := ""
		switch request.Method {
		case "getMultipleAccounts":
			result = account(protocol.ProgramAddress, n.AppendTo(nil))
			if string(request.Params[0]) == fmt.Sprintf("[%q]", solana.SysVarClockPubkey) {
				result = account("Sysvar1111111111111111111111111111111111111", clock)
			}
			result = `{"context":{"slot":1},"value":[` + result + `]}`
		default:
			<-r.Context().Done()
			return
		}
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, request.ID, result)
	}))
	defer server.Close()
	client, err := haggle.NewClient(haggle.Config{Endpoint: server.URL})
	require.NoError(t, err)
	defer client.Close()
	l := newLoop(t)
	l.client = client
	ctx, cancel := context.WithTimeout(t.Context(), readLimit)
	defer cancel()
	l.ctx = ctx
	began := time.Now()
	seen := l.see(glimpse{address: solana.PublicKey{7}})
	require.NoError(t, seen.err)
	require.Less(t, time.Since(began), pastLimit+2*time.Second)
	require.Len(t, seen.offers, 1, "the one that stands is known in any case")
	require.GreaterOrEqual(t, seen.now, int64(testNow)+int64(pastLimit/time.Second), "the time has gone on meanwhile")
}

// A node has shown a slot that there has never been. What other nodes tell afterwards must not be called old because of that.
func TestSlotThatThereHasNeverBeenDoesNotMakeAnAgentDeaf(t *testing.T) {
	require.True(t, isBefore(99, 100))
	require.False(t, isBefore(100, 100))
	const ahead = 1_000_000_000
	l := newLoop(t)
	l.self = testSeller
	f := &followed{address: solana.PublicKey{7}, index: -1}
	l.followed[f.address] = f
	read := func(round uint8, slot uint64) *haggle.NegotiationAccount {
		n := &haggle.NegotiationAccount{Address: f.address, Negotiation: bargaining(round), Slot: slot}
		n.Data = n.AppendTo(nil)
		return n
	}
	l.update(f, read(1, ahead))
	l.hear(haggle.Observation{Negotiation: f.address, Slot: 1_000, Event: &protocol.OfferSubmitted{Round: 3}})
	require.True(t, f.busy, "it is looked at")
	f.busy = false
	l.listed(read(3, 1_000))
	require.True(t, f.busy, "it is the agent's turn")
	l.update(f, read(3, 1_001))
	require.EqualValues(t, 1_001, f.slot)
}
