package haggle

import (
	"context"
	"encoding/base64"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/haggle-protocol/haggle/sdk/wallet"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/programs/system"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/gagliardetto/solana-go/rpc/jsonrpc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// agent is a client with a journal and a key.
type agent struct {
	*Client
	journal *heldJournal
	node    *scriptedNode
	me      *wallet.Keypair
	// lives counts the restarts.
	lives byte
}

// newAgent returns an agent on a chain at a height at which new transactions are valid for long.
func newAgent(t *testing.T, answers map[string]func(int) (any, error)) *agent {
	t.Helper()
	client, node, _ := newScripted(t, answers)
	a := &agent{Client: client, journal: newHeldJournal(), node: node, me: newKeypair(t)}
	for method, answer := range map[string]func(int) (any, error){
		"getLatestBlockhash": func(call int) (any, error) {
			// Each block has its own.
			return object{"context": object{"slot": testSlot}, "value": object{
				"blockhash": solana.Hash{byte(call), a.lives}.String(), "lastValidBlockHeight": testLastValid,
			}}, nil
		},
		"simulateTransaction": always(object{"context": object{"slot": testSlot}, "value": object{"unitsConsumed": 150, "logs": []string{}}}),
	} {
		if answers[method] == nil {
			node.answers[method] = answer
		}
	}
	a.inFlight = newInFlight(a.journal)
	node.transaction = a.details
	return a
}

// details returns a transaction from the journal as a node returns an executed one.
func (a *agent) details(signature solana.Signature) any {
	a.journal.lock.Lock()
	defer a.journal.lock.Unlock()
	for _, entry := range a.journal.entries {
		if entry.Signature == signature {
			return object{
				"slot": testSlot, "blockTime": 1_700_000_000, "version": "legacy",
				"transaction": []any{base64.StdEncoding.EncodeToString(entry.Transaction), "base64"},
				"meta":        object{"err": nil, "fee": 5_000, "computeUnitsConsumed": 150, "logMessages": []string{}},
			}
		}
	}
	return nil
}

// restart returns an agent that has nothing but the journal and the key of this one.
func (a *agent) restart(t *testing.T) *agent {
	t.Helper()
	require.NoError(t, a.Close())
	again := newAgent(t, nil)
	again.journal, again.me = a.journal, a.me
	again.inFlight = newInFlight(a.journal)
	again.lives = a.lives + 1
	for method, answer := range a.node.answers {
		if method != "getLatestBlockhash" {
			again.node.answers[method] = answer
		}
	}
	return again
}

// pay returns an action that sends lamports.
func (a *agent) pay(t *testing.T, lamports uint64) *Action {
	t.Helper()
	return a.NewAction("pay", a.me.PublicKey(),
		system.NewTransferInstruction(lamports, a.me.PublicKey(), solana.SystemProgramID).Build())
}

// abandon signs an action and writes it to the journal, and does not send it.
func (a *agent) abandon(t *testing.T, action *Action) JournalEntry {
	t.Helper()
	draft, err := action.prepare(t.Context())
	require.NoError(t, err)
	require.NoError(t, sign(t.Context(), draft.transaction, []Signer{a.me}))
	encoded, err := draft.transaction.MarshalBinary()
	require.NoError(t, err)
	entry := draft.entry(encoded)
	require.NoError(t, a.journal.Begin(t.Context(), entry))
	return entry
}

func (a *agent) only(t *testing.T) JournalEntry {
	t.Helper()
	require.Len(t, a.journal.entries, 1)
	return a.journal.entries[0]
}

func executed(slot uint64) func(int) (any, error) {
	return always(statuses(slot, executedStatus("confirmed", nil)))
}

func TestEntryIsInTheJournalBeforeAnythingIsSent(t *testing.T) {
	a := newAgent(t, map[string]func(int) (any, error){"getSignatureStatuses": executed(testSlot)})
	a.journal.afterBegin = func() { assert.Zero(t, a.node.called("sendTransaction")) }
	action := a.pay(t, 1)
	receipt, err := action.Do(t.Context(), a.me)
	require.NoError(t, err)

	entry := a.only(t)
	assert.Equal(t, receipt.Signature, entry.Signature)
	assert.Equal(t, a.me.PublicKey(), entry.Wallet)
	assert.Equal(t, "pay", entry.Action)
	assert.EqualValues(t, testLastValid, entry.LastValidBlockHeight)
	assert.EqualValues(t, testSlot, entry.Slot)
	assert.Equal(t, rpc.CommitmentConfirmed, entry.Commitment)
	transaction, err := solana.TransactionFromBytes(entry.Transaction)
	require.NoError(t, err)
	assert.Equal(t, entry.Blockhash, transaction.Message.RecentBlockhash)
	assert.NoError(t, transaction.VerifySignatures())
	outcome, _ := a.journal.outcome(entry.Signature)
	assert.Equal(t, OutcomeConfirmed, outcome)
}

func TestNothingIsSentThatTheJournalDoesNotTake(t *testing.T) {
	full := errors.New("no space left on device")
	for _, fails := range []func(*heldJournal){
		func(m *heldJournal) { m.beginFails = full },
		func(m *heldJournal) { m.listingFails = full },
	} {
		a := newAgent(t, nil)
		fails(a.journal)
		_, err := a.pay(t, 1).Do(t.Context(), a.me)
		require.ErrorIs(t, err, full)
		assert.Equal(t, OutcomeNotSent, OutcomeOf(err))
		assert.Zero(t, a.node.called("sendTransaction"))
	}
}

func TestJournalThatDoesNotTakeTheOutcomeDoesNotHideIt(t *testing.T) {
	full := errors.New("no space left on device")
	a := newAgent(t, map[string]func(int) (any, error){"getSignatureStatuses": executed(testSlot)})
	a.journal.finishFails = full
	receipt, err := a.pay(t, 1).Do(t.Context(), a.me)
	require.ErrorIs(t, err, full)
	require.NotNil(t, receipt)
	assert.Equal(t, OutcomeConfirmed, OutcomeOf(err))

	// The action is not repeated before its outcome is recorded.
	_, err = a.pay(t, 1).Do(t.Context(), a.me)
	require.ErrorIs(t, err, ErrUnresolved)
	assert.Equal(t, OutcomeNotSent, OutcomeOf(err))
	assert.Equal(t, 1, a.journal.begun)
}

// In each case an agent is killed and restarted with the same intention.
func TestKilledAgentDoesNothingTwice(t *testing.T) {
	type chain struct {
		// has reports whether the chain has executed the transaction by the time of the restart, and resent
		// whether it executes it when it is sent again.
		has, resent bool
		// over reports whether its validity has ended.
		over bool
	}
	cases := map[string]struct {
		chain
		want Outcome
		// again reports whether the agent may send a new transaction afterwards.
		again bool
	}{
		"before it was sent, and it can still be":    {chain{resent: true}, OutcomeConfirmed, false},
		"before it was sent, and it is too late":     {chain{over: true}, OutcomeExpired, true},
		"after it was sent, and it was executed":     {chain{has: true}, OutcomeConfirmed, false},
		"after it was executed, long ago":            {chain{has: true, over: true}, OutcomeConfirmed, false},
		"after it was sent, and nobody forwarded it": {chain{over: true}, OutcomeExpired, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newAgent(t, nil)
				ctx, kill := context.WithCancel(t.Context())
				a.journal.afterBegin = kill
				_, err := a.pay(t, 1).Do(ctx, a.me)
				require.Equal(t, OutcomeUnknown, OutcomeOf(err))
				first := a.only(t)
				_, finished := a.journal.outcome(first.Signature)
				require.False(t, finished)

				a = a.restart(t)
				a.journal.afterBegin = nil
				resent, sent := 0, make(map[string]int)
				a.node.sent = func(encoded string) {
					sent[encoded]++
					resent += int(boolOf(encoded == base64.StdEncoding.EncodeToString(first.Transaction)))
				}
				a.node.statusOf = func(signature solana.Signature) any {
					if signature != first.Signature || c.has || c.resent && resent > 0 {
						return executedStatus("confirmed", nil)
					}
					return nil
				}
				if c.over {
					a.node.answers["getEpochInfo"] = always(object{"absoluteSlot": testSlot, "blockHeight": testLastValid + 1})
				}
				_, err = a.pay(t, 1).Do(t.Context(), a.me)
				outcome, _ := a.journal.outcome(first.Signature)
				assert.Equal(t, c.want, outcome)
				if c.again {
					require.NoError(t, err)
					assert.Len(t, a.journal.entries, 2)
					assert.Len(t, sent, 1, "the first one is not sent again, because it is too late")
				} else {
					var done *AlreadyDone
					require.ErrorAs(t, err, &done)
					assert.Equal(t, first.Signature, done.Receipt.Signature)
					assert.Len(t, a.journal.entries, 1)
					assert.LessOrEqual(t, len(sent), 1)
				}
				assert.Equal(t, a.journal.begun, a.journal.finished)

				// A later process finds nothing to resolve.
				recovered, err := a.restart(t).Recover(t.Context(), a.me.PublicKey())
				require.NoError(t, err)
				assert.Empty(t, recovered)
			})
		})
	}
}

func TestUnknownTransactionKeepsItsActionFromBeingSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := errors.New("connection refused")
		a := newAgent(t, map[string]func(int) (any, error){"sendTransaction": failing(down), "getSignatureStatuses": failing(down)})
		_, err := a.pay(t, 1).Do(t.Context(), a.me)
		require.Equal(t, OutcomeUnknown, OutcomeOf(err))
		sent := a.node.called("sendTransaction")

		_, err = a.pay(t, 1).Do(t.Context(), a.me)
		var unresolved *UnresolvedError
		require.ErrorAs(t, err, &unresolved)
		require.ErrorIs(t, err, ErrUnresolved)
		assert.Equal(t, OutcomeNotSent, OutcomeOf(err), "the new one")
		require.Len(t, unresolved.Entries, 1)
		assert.Equal(t, a.only(t).Signature, unresolved.Entries[0].Entry.Signature)
		assert.Equal(t, OutcomeUnknown, unresolved.Entries[0].Outcome)
		assert.Greater(t, a.node.called("sendTransaction"), sent, "the first one is still sent")

		// Another wallet is not affected.
		somebody := newKeypair(t)
		a.node.answers["getSignatureStatuses"] = executed(testSlot)
		_, err = a.Recover(t.Context(), somebody.PublicKey())
		require.NoError(t, err)

		// The node answers again.
		_, err = a.pay(t, 1).Do(t.Context(), a.me)
		require.ErrorIs(t, err, ErrAlreadyDone)
		_, err = a.pay(t, 2).Do(t.Context(), a.me)
		require.NoError(t, err)
		assert.Equal(t, 2, a.journal.finished)
	})
}

func TestRecoverTellsWhatHasBecomeOfEachTransaction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(t, nil)
		for i := range uint64(20) {
			a.abandon(t, a.pay(t, i+1))
		}
		entries := a.journal.entries
		require.Len(t, entries, 20)

		a = a.restart(t)
		failed, lost := entries[3].Signature, entries[7].Signature
		a.node.statusOf = func(signature solana.Signature) any {
			switch signature {
			case failed:
				return executedStatus("confirmed", object{"InstructionError": []any{0, object{"Custom": 1}}})
			case lost:
				return nil
			}
			return executedStatus("confirmed", nil)
		}
		a.node.answers["getEpochInfo"] = always(object{"absoluteSlot": testSlot, "blockHeight": testLastValid + 1})
		began := time.Now()
		recovered, err := a.Recover(t.Context(), a.me.PublicKey())
		require.NoError(t, err)
		require.Len(t, recovered, len(entries))
		assert.Less(t, time.Since(began), 10*time.Second)
		for i, one := range recovered {
			assert.Equal(t, entries[i].Signature, one.Entry.Signature, "in their order")
			switch one.Entry.Signature {
			case failed:
				var reason *TransactionError
				require.ErrorAs(t, one.Err, &reason)
				assert.Equal(t, OutcomeFailed, one.Outcome)
			case lost:
				assert.Equal(t, OutcomeExpired, one.Outcome)
				require.ErrorIs(t, one.Err, ErrTransactionExpired)
			default:
				assert.Equal(t, OutcomeConfirmed, one.Outcome)
				assert.Equal(t, one.Entry.Signature, one.Receipt.Signature)
			}
		}
	})
}

func TestWhatIsUnderWayIsNotTakenForLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(t, map[string]func(int) (any, error){"getSignatureStatuses": always(statuses(testSlot, nil))})
		began := time.Now()
		a.node.statusOf = func(solana.Signature) any {
			if time.Since(began) < 20*time.Second {
				return nil
			}
			return executedStatus("confirmed", nil)
		}
		var running sync.WaitGroup
		for i := range uint64(10) {
			action := a.pay(t, i+1)
			running.Go(func() {
				_, err := action.Do(t.Context(), a.me)
				assert.NoError(t, err)
			})
		}
		synctest.Wait()
		recovered, err := a.Recover(t.Context(), a.me.PublicKey())
		require.NoError(t, err)
		assert.Empty(t, recovered)
		running.Wait()
		assert.Equal(t, 10, a.journal.finished)
		assert.Less(t, time.Since(began), 25*time.Second, "at the same time")
		assert.Empty(t, a.inFlight.flights)
	})
}

func TestRefusedTransactionIsFinished(t *testing.T) {
	a := newAgent(t, map[string]func(int) (any, error){"sendTransaction": failing(&jsonrpc.RPCError{Code: -32602, Message: "too large"})})
	_, err := a.pay(t, 1).Do(t.Context(), a.me)
	require.Error(t, err)
	assert.Equal(t, OutcomeNotSent, OutcomeOf(err))
	outcome, finished := a.journal.outcome(a.only(t).Signature)
	assert.True(t, finished)
	assert.Equal(t, OutcomeNotSent, outcome)
}

func TestTransactionIsNotExpiredForANodeThatHasForgottenItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(t, nil)
		ctx, kill := context.WithCancel(t.Context())
		a.journal.afterBegin = kill
		_, err := a.pay(t, 1).Do(ctx, a.me)
		require.Equal(t, OutcomeUnknown, OutcomeOf(err))

		// Days later.
		a = a.restart(t)
		a.journal.afterBegin = nil
		a.node.answers["getEpochInfo"] = always(object{"absoluteSlot": 9_000_000, "blockHeight": 8_000_000})
		a.node.answers["getSignatureStatuses"] = always(statuses(9_000_000, nil))
		a.node.answers["getFirstAvailableBlock"] = always(8_500_000)
		_, err = a.Recover(t.Context(), a.me.PublicKey())
		require.ErrorIs(t, err, ErrUnresolved)
		require.ErrorContains(t, err, "has deleted the blocks")

		a.node.answers["getFirstAvailableBlock"] = always(testSlot)
		recovered, err := a.Recover(t.Context(), a.me.PublicKey())
		require.NoError(t, err)
		require.Len(t, recovered, 1)
		assert.Equal(t, OutcomeExpired, recovered[0].Outcome)
	})
}

func TestEntryOfAnotherTransactionIsNotSent(t *testing.T) {
	a := newAgent(t, nil)
	b := newAgent(t, map[string]func(int) (any, error){"getSignatureStatuses": executed(testSlot)})
	_, err := b.pay(t, 5).Do(t.Context(), b.me)
	require.NoError(t, err)
	for _, spoilt := range [][]byte{{1, 2, 3}, b.only(t).Transaction} {
		a.journal.entries = []JournalEntry{{Wallet: a.me.PublicKey(), Signature: solana.Signature{1}, Transaction: spoilt}}
		_, err := a.Recover(t.Context(), a.me.PublicKey())
		require.ErrorIs(t, err, ErrUnresolved)
		var unresolved *UnresolvedError
		require.ErrorAs(t, err, &unresolved)
		require.ErrorIs(t, unresolved.Entries[0].Err, ErrJournalDamaged)
	}
	assert.Zero(t, a.node.called("sendTransaction"))
}

func TestSubmittedTransactionIsInTheJournalToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(t, nil)
		transaction, err := a.pay(t, 1).Transaction(t.Context())
		require.NoError(t, err)
		require.NoError(t, sign(t.Context(), transaction, []Signer{a.me}))
		ctx, kill := context.WithCancel(t.Context())
		a.journal.afterBegin = kill
		_, err = a.Submit(ctx, transaction)
		require.Equal(t, OutcomeUnknown, OutcomeOf(err))
		entry := a.only(t)
		assert.Equal(t, transaction.Message.RecentBlockhash, entry.Blockhash)

		// The same transaction again is not a second one.
		a = a.restart(t)
		a.journal.afterBegin = nil
		a.node.answers["getSignatureStatuses"] = executed(testSlot)
		receipt, err := a.Submit(t.Context(), transaction)
		require.NoError(t, err)
		assert.Equal(t, entry.Signature, receipt.Signature)
		assert.Len(t, a.journal.entries, 1)
	})
}

func TestRecoverWithoutAJournalIsAnError(t *testing.T) {
	a := newAgent(t, nil)
	a.inFlight = nil
	_, err := a.Recover(t.Context(), a.me.PublicKey())
	require.ErrorIs(t, err, ErrNoJournal)
}

func TestWaitForAConflictingTransactionCanBeGivenUp(t *testing.T) {
	a := newAgent(t, nil)
	a.abandon(t, a.pay(t, 1))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := a.pay(t, 1).Do(ctx, a.me)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.Equal(t, OutcomeNotSent, OutcomeOf(err))
	assert.Equal(t, 1, a.journal.begun)
}
