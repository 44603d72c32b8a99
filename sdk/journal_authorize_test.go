package haggle

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/transaction"
)

var errLostReply = errors.New("connection lost after the commit")

func TestFailedJournalWriteBeforeTheSendIsNotSent(t *testing.T) {
	for name, fail := range map[string]func(*memoryJournal, error){
		"begin committed":     func(m *memoryJournal, err error) { m.beginCommits = err },
		"begin not committed": func(m *memoryJournal, err error) { m.beginFails = err },
		"authorize committed": func(m *memoryJournal, err error) { m.authorizeFails = err },
	} {
		t.Run(name, func(t *testing.T) {
			a := newAgent(t, map[string]func(int) (any, error){"getSignatureStatuses": executed(testSlot)})
			fail(a.journal, errLostReply)
			_, err := a.pay(t, 1).Do(t.Context(), a.me)
			require.ErrorIs(t, err, errLostReply)
			require.Equal(t, transaction.NotSent, transaction.OutcomeOf(err), "%v", err)
			assert.ErrorContains(t, err, "nothing was sent")

			// Neither another action nor a later process sends it.
			fail(a.journal, nil)
			_, err = a.pay(t, 2).Do(t.Context(), a.me)
			require.NoError(t, err)
			a = a.restart(t)
			recovered, err := a.Recover(t.Context(), a.me.PublicKey())
			require.NoError(t, err)
			assert.Empty(t, recovered)
			_, err = a.pay(t, 1).Do(t.Context(), a.me)
			require.NoError(t, err, "the key is free")
		})
	}
}

func TestEntryThatCannotBeRevokedIsUnknown(t *testing.T) {
	for name, c := range map[string]struct {
		fail func(*memoryJournal, error)
		want transaction.Outcome
		sent int
	}{
		"begin": {func(m *memoryJournal, err error) { m.beginCommits, m.revokeFails = err, err },
			transaction.NotSent, 0},
		"authorize": {func(m *memoryJournal, err error) { m.authorizeFails, m.finishFails = err, err },
			transaction.Confirmed, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newAgent(t, nil)
				a.node.statusOf = func(solana.Signature) any {
					if a.node.called("sendTransaction") == 0 {
						return nil
					}
					return executedStatus("confirmed", nil)
				}
				c.fail(a.journal, errLostReply)
				_, err := a.pay(t, 1).Do(t.Context(), a.me)
				require.ErrorIs(t, err, errLostReply)
				require.Equal(t, transaction.Unknown, transaction.OutcomeOf(err), "%v", err)
				var unknown *transaction.UnknownOutcomeError
				require.ErrorAs(t, err, &unknown, "Client.Outcome can wait for it")
				assert.Equal(t, a.only(t).Signature, unknown.Signature)
				assert.Zero(t, a.node.called("sendTransaction"))

				a.journal.lock.Lock()
				c.fail(a.journal, nil)
				a.journal.lock.Unlock()
				time.Sleep(time.Minute)
				outcome, finished := a.journal.outcome(unknown.Signature)
				assert.True(t, finished, "the client resolves it in the background")
				assert.Equal(t, c.want, outcome)
				assert.Equal(t, c.sent, min(1, a.node.called("sendTransaction")))
			})
		})
	}
}

func TestEntryThatIsNotAuthorizedIsNeverSent(t *testing.T) {
	a := newAgent(t, map[string]func(int) (any, error){"getSignatureStatuses": executed(testSlot)})
	entry := a.abandon(t, a.pay(t, 1))
	a.journal.authorized[entry.Signature] = false // the process was killed before the second step
	a = a.restart(t)
	recovered, err := a.Recover(t.Context(), a.me.PublicKey())
	require.NoError(t, err)
	require.Len(t, recovered, 1)
	assert.Equal(t, transaction.NotSent, recovered[0].Outcome)
	assert.Equal(t, transaction.NotSent, transaction.OutcomeOf(recovered[0].Err))
	assert.Zero(t, a.node.called("sendTransaction"))
	require.Error(t, a.journal.Authorize(t.Context(), entry.Signature))
	_, err = a.pay(t, 1).Do(t.Context(), a.me)
	require.NoError(t, err, "it is sent once, by this process")
	assert.Equal(t, 1, a.node.called("sendTransaction"))
}

// Two calls submit the same transaction. The second does not report that nothing sends it.
func TestTransactionInFlightIsNotReportedAsNotSent(t *testing.T) {
	f := newInFlight(newMemoryJournal())
	entry := JournalEntry{Wallet: solana.PublicKey{1}, Signature: solana.Signature{1}, Key: solana.Hash{7},
		Transaction: []byte{1}}
	require.NoError(t, f.begin(t.Context(), entry))
	again := entry
	again.Key = solana.Hash{8}
	err := f.begin(t.Context(), again)
	require.ErrorIs(t, err, ErrInJournal)
	assert.Equal(t, transaction.Unknown, transaction.OutcomeOf(err))
	assert.Contains(t, f.flights, entry.Signature)

	// So does the entry of another client, which sent it.
	f.remove(entry.Signature)
	err = f.begin(t.Context(), again)
	require.ErrorIs(t, err, ErrInJournal)
	assert.Equal(t, transaction.Unknown, transaction.OutcomeOf(err))
}
