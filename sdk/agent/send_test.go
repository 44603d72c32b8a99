package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/transaction"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// A confirmed action is neither retried nor reported as a failure, whichever error comes with it.
func TestConfirmedActionIsDone(t *testing.T) {
	receipt := &haggle.Receipt{Receipt: transaction.Receipt{Slot: 9}}
	full := errors.New("the disk is full")
	refused := &protocol.ProgramError{Code: protocol.ErrStaleState}
	confirmed := transaction.Confirmed
	for name, c := range map[string]struct {
		receipt *haggle.Receipt
		err     error
		// notBefore is the next snapshot's minimum slot. acted and failed count the calls of Acted and
		// Failed.
		notBefore     uint64
		acted, failed int
	}{
		"now": {receipt: receipt, notBefore: 9, acted: 1},
		"without details": {
			receipt: receipt, err: fmt.Errorf("%w: x", transaction.ErrDetailsUnavailable), notBefore: 9, acted: 1,
		},
		"before, by the journal": {
			receipt: receipt, err: &haggle.AlreadyDone{Receipt: receipt}, notBefore: 9, acted: 1,
		},
		"before, by the state": {err: &haggle.AlreadyDone{Now: at(12)}, notBefore: 12},
		"before, now closed":   {err: &haggle.AlreadyDone{}},
		"meanwhile":            {err: &haggle.AlreadyDone{Now: at(12), Refusal: refused}, notBefore: 12},
		"now, without the journal": {
			receipt: receipt, err: &haggle.JournalError{Op: "finish", Outcome: confirmed, Err: full},
			notBefore: 9, acted: 1, failed: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			acted, failed := 0, 0
			l := newLoop(t)
			l.config.Acted = func(Act) { acted++ }
			l.config.Failed = func(solana.PublicKey, error) { failed++ }
			f := &tracked{address: solana.PublicKey{7}, acting: true, failures: 3, positionState: positionState{decided: &decided{}}}
			v := &view{Snapshot: at(5)}
			l.onSent(f, v, "close_negotiation", transaction.OutcomeOf(c.err), c.receipt, c.err)
			require.Zero(t, f.failures)
			require.Nil(t, f.decided)
			require.Equal(t, c.notBefore, f.notBefore)
			require.Equal(t, c.acted, acted)
			require.Equal(t, c.failed, failed)
			if c.notBefore > 0 {
				require.True(t, f.reading, "an immediate refresh")
				return
			}
			(<-l.inbox)()
			require.True(t, f.reading, "a refresh after a pause: the slot of the action is not known")
		})
	}
}

// at returns a snapshot for a slot.
func at(slot uint64) *haggle.Snapshot { return &haggle.Snapshot{Slot: slot} }

func TestFailedActionIsRetriedLater(t *testing.T) {
	for _, err := range []error{
		&haggle.StateChangedError{}, &transaction.UnknownOutcomeError{Cause: errors.New("no answer")},
		&haggle.UnresolvedError{Entries: make([]haggle.Recovered, 1)},
		&haggle.JournalError{Op: "begin", Outcome: transaction.NotSent, Err: errors.New("the disk is full")},
	} {
		l := newLoop(t)
		f := &tracked{acting: true}
		l.onSent(f, &view{Snapshot: at(5)}, "close_negotiation", transaction.OutcomeOf(err), nil, err)
		require.Equal(t, 1, f.failures, "%v", err)
		require.False(t, f.acting)
		f.retry.Stop()
	}
}

// An error that does not prove the outcome may belong to an action that takes effect later: the decision is
// kept, and no other action replaces it.
func TestUnprovenErrorIsAnUnknownOutcome(t *testing.T) {
	refused := &protocol.ProgramError{Code: protocol.ErrOfferTooLow}
	lost := errors.New("connection lost")
	for _, err := range []error{
		lost, fmt.Errorf("send: %w", lost), fmt.Errorf("%v", transaction.ErrExpired), haggle.ErrClientClosed,
		protocol.ErrStaleState, errors.Join(refused, lost), &transaction.UnknownOutcomeError{Cause: protocol.ErrStaleState},
		&haggle.JournalError{Op: "finish", Outcome: transaction.Unknown, Err: lost, Failure: lost},
	} {
		t.Run(err.Error(), func(t *testing.T) {
			l := newLoop(t)
			l.config.Failed = func(_ solana.PublicKey, err error) { t.Errorf("reported: %v", err) }
			act := func(f *tracked, n protocol.Negotiation) {
				v := testView(n, protocol.OfferSideSeller, testNow)
				l.sendBuilt(f, v, "accept_offer", func(context.Context) (*haggle.Action, error) { return nil, nil })
				l.onSent(f, v, "accept_offer", transaction.OutcomeOf(err), nil, err)
				require.False(t, f.acting)
				require.Equal(t, 1, f.failures)
				require.False(t, f.retryAt.IsZero(), "a pause comes before the next attempt")
				f.retry.Stop()
			}
			made := &decided{turn: Turn{LastCall: true}, decision: Accept{}}
			f := &tracked{positionState: positionState{decided: made}}
			act(f, with(bargaining(1), func(n *protocol.Negotiation) { n.TurnDeadline = testNow + 1 }))
			require.Same(t, made, f.decided)
			require.Zero(t, f.fallbacks)

			over := &tracked{address: solana.PublicKey{7}, state: 1}
			l.single = &single{address: over.address, until: time.Now().Add(time.Minute)}
			act(over, with(bargaining(1), func(n *protocol.Negotiation) {
				n.Status = protocol.NegotiationStatusRejected
			}))
			require.False(t, over.unpayable)
			require.Nil(t, l.single.result)
		})
	}
}

// If building an action fails, it was not sent, whatever the error is.
func TestErrorOfBuildingAnActionIsReported(t *testing.T) {
	broken := errors.New("no such mint")
	var reported []error
	l := newLoop(t)
	l.config.Failed = func(_ solana.PublicKey, err error) { reported = append(reported, err) }
	f := &tracked{}
	l.sendBuilt(f, &view{Snapshot: at(5)}, "accept_offer", func(context.Context) (*haggle.Action, error) {
		return nil, broken
	})
	go l.actions.next()()
	(<-l.inbox)()
	f.retry.Stop()
	require.Equal(t, []error{broken}, reported)
}

// writerFunc is called with each logged line.
type writerFunc func(line string)

func (w writerFunc) Write(line []byte) (int, error) {
	w(string(line))
	return len(line), nil
}

func TestWarningsAreLoggedBeforeTheAction(t *testing.T) {
	var requests atomic.Int64
	node := ServeRPC(t, func(context.Context, string, []json.RawMessage) string {
		requests.Add(1)
		return "null"
	})
	client, err := haggle.NewClient(haggle.Config{Endpoint: node})
	require.NoError(t, err)
	defer client.Close()
	me, err := wallet.GenerateKeypair()
	require.NoError(t, err)
	var before []string
	l := newLoop(t)
	l.signer, l.config.Logger = me, slog.New(slog.NewTextHandler(writerFunc(func(line string) {
		if requests.Load() == 0 {
			before = append(before, line)
		}
	}), nil))
	n := &haggle.Snapshot{Address: solana.PublicKey{7}, Negotiation: bargaining(0)}
	f := &tracked{address: n.Address}
	l.sendBuilt(f, &view{Snapshot: n}, "submit_offer", func(ctx context.Context) (*haggle.Action, error) {
		action, err := client.At(n).SubmitOffer(me.PublicKey(), haggle.Offer{Amount: 1}).Build(ctx)
		assert.NoError(t, err)
		action.Warnings = []error{haggle.ErrOffCurve, errors.New("another reason")}
		return action, err
	})
	go l.actions.next()()
	(<-l.inbox)()
	f.retry.Stop()
	require.NotZero(t, requests.Load())
	require.Len(t, before, 2)
	for i, warning := range []string{haggle.ErrOffCurve.Error(), "another reason"} {
		about := "negotiation=" + f.address.String()
		for _, want := range []string{"level=WARN", "action=submit_offer", about, warning} {
			require.Contains(t, before[i], want)
		}
	}
}
