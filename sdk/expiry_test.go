package haggle

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/internal/fifocache"
	"github.com/haggle-protocol/haggle/sdk/internal/solana/send"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// nonceTransaction returns a signed transaction with a durable nonce.
func (a *agent) nonceTransaction(t *testing.T) *solana.Transaction {
	t.Helper()
	tx, err := a.pay(t, 1).With(WithNonce(testNonce)).Transaction(t.Context())
	require.NoError(t, err)
	require.NoError(t, send.Sign(t.Context(), tx, []Signer{a.me}))
	return tx
}

// On a chain whose first block is not block 0, no node ever stored the earlier blocks. Outcomes can still be
// proven there.
func TestExpiryOnAChainWithoutFirstBlocks(t *testing.T) {
	t.Run("with a blockhash", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			seconds := func() uint64 { return uint64(time.Since(began).Seconds()) }
			client, _, tx := newScripted(t, map[string]func(int) (any, error){
				"getFirstAvailableBlock": always(31),
				"getEpochInfo": func(int) (any, error) {
					return object{"absoluteSlot": 40 + 2*seconds(), "blockHeight": 40 + 2*seconds()}, nil
				},
				"getSignatureStatuses": func(int) (any, error) { return statuses(40+2*seconds(), nil), nil },
				"isBlockhashValid": func(int) (any, error) {
					return object{"context": object{"slot": 40 + 2*seconds()}, "value": seconds() < 70}, nil
				},
			})
			_, err := client.Submit(t.Context(), tx)
			require.ErrorIs(t, err, transaction.ErrExpired)
			assert.GreaterOrEqual(t, time.Since(began), 70*time.Second)
		})
	})
	t.Run("with a durable nonce", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			a := newAgent(t, map[string]func(int) (any, error){"getFirstAvailableBlock": always(31)})
			a.nonceIs(solana.Hash{8})
			tx := a.nonceTransaction(t)
			began := time.Now()
			a.node.accounts = nil
			a.node.answers["getMultipleAccounts"] = func(int) (any, error) {
				value := solana.Hash{8 + byte(boolOf(time.Since(began) > 3*time.Minute))}
				account := answerOf(solana.SystemProgramID, 1_447_680, nonceData(a.me.PublicKey(), value))
				return object{"context": object{"slot": testSlot}, "value": []any{account}}, nil
			}
			_, err := a.Submit(t.Context(), tx)
			require.ErrorIs(t, err, transaction.ErrExpired)
			assert.EqualValues(t, testSlot, a.only(t).Slot,
				"the nonce still had the transaction's value then")
		})
	})
}

// A transaction whose block was deleted by the node looks like a transaction that was never executed.
func TestExpiryOfAnOldTransactionIsUnknown(t *testing.T) {
	const now = 1_000_000
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		client, scripted, tx := newScripted(t, map[string]func(int) (any, error){
			"getFirstAvailableBlock": always(now - 200_000),
			"getEpochInfo": func(int) (any, error) {
				return object{"absoluteSlot": now,
					"blockHeight": now + 400*boolOf(time.Since(began) > time.Minute)}, nil
			},
			"getSignatureStatuses": always(statuses(now, nil)),
			"isBlockhashValid":     always(object{"context": object{"slot": now}, "value": false}),
		})
		_, err := client.Submit(t.Context(), tx)
		require.Equal(t, transaction.Unknown, transaction.OutcomeOf(err), "%v", err)
		require.ErrorIs(t, err, send.ErrPruned)

		// A node with all blocks knows the status.
		var unknown *transaction.UnknownOutcomeError
		require.ErrorAs(t, err, &unknown)
		scripted.answers["getFirstAvailableBlock"] = always(0)
		_, err = client.Outcome(t.Context(), unknown)
		require.ErrorIs(t, err, transaction.ErrExpired)
	})
}

// A used nonce does not identify the transaction that used it.
func TestTransactionWithAUsedNonceIsNotSent(t *testing.T) {
	for name, c := range map[string]struct {
		first  uint64
		status any
		want   transaction.Outcome
	}{
		"by another transaction":             {0, nil, transaction.Expired},
		"by the transaction itself":          {31, executedStatus("confirmed", nil), transaction.Confirmed},
		"by whom the node does not remember": {31, nil, transaction.Unknown},
		"by itself, and it has failed, long ago": {0,
			executedStatus("finalized", object{"InstructionError": []any{0, object{"Custom": 1}}}),
			transaction.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newAgent(t, map[string]func(int) (any, error){"getFirstAvailableBlock": always(c.first)})
				a.nonceIs(solana.Hash{8})
				tx := a.nonceTransaction(t)
				a.prepared = fifocache.NewMap[messageHash, preparedTx](1) // another client built it
				a.nonceIs(solana.Hash{9})
				a.node.statusOf = func(solana.Signature) any { return c.status }
				a.node.transaction = nil
				_, err := a.Submit(t.Context(), tx)
				assert.Equal(t, c.want, transaction.OutcomeOf(err), "%v", err)
				assert.Zero(t, a.node.called("sendTransaction"))
				assert.Empty(t, a.journal.entries,
					"the wallet need not wait for a node with all blocks")
			})
		})
	}
}

// A nonce account value older than the transaction's value does not prove that the nonce is used.
func TestNodeBehindTheNonceProvesNoExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(t, nil)
		a.nonceIs(solana.Hash{8})
		a.abandon(t, a.pay(t, 1).With(WithNonce(testNonce)))
		a = a.restart(t)
		a.journal.entries[0].Slot = testSlot + 500
		a.nonceIs(solana.Hash{7}) // the node is at testSlot
		a.node.transaction = a.details
		a.node.statusOf = confirmedAfter(30 * time.Second)
		recovered, err := a.Recover(t.Context(), a.me.PublicKey())
		require.NoError(t, err)
		assert.Equal(t, transaction.Confirmed, recovered[0].Outcome)
	})
}

// A node can be so slow that many blocks pass between the responses and it deletes the transaction's block.
func TestBlocksCanBeDeletedBetweenTwoAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, scripted, tx := newScripted(t, map[string]func(int) (any, error){
			"getEpochInfo": always(object{"absoluteSlot": testSlot,
				"blockHeight": testLastValid + 90}),
			"getFirstAvailableBlock": always(testSlot + 100),
			"getSignatureStatuses": func(call int) (any, error) {
				return statuses(testSlot+min(uint64(call-1), 1)*200, nil), nil
			},
		})
		_, err := client.submit(t.Context(), tx, testLastValid)
		require.Equal(t, transaction.Unknown, transaction.OutcomeOf(err), "%v", err)
		require.ErrorIs(t, err, send.ErrPruned)
		assert.Equal(t, 1, scripted.called("getFirstAvailableBlock"))
	})
}

// The first node deleted the old blocks, and does not know the transaction. The second node kept them all and
// knows the execution, but fails at first. Their responses together must not prove an expiry.
func TestExpiryIsProvenByASingleNode(t *testing.T) {
	const now = 9_000_000
	reset := errors.New("connection reset")
	for name, forgetfulFirst := range map[string]func(int) (any, error){
		"the first block of the other one is requested": failing(reset),
		"the first block of each is requested":          always(now - 1_000),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				chain := func(statuses func(int) (any, error), first func(int) (any, error)) (*Client,
					*scriptedNode, *solana.Transaction) {
					return newScripted(t, map[string]func(int) (any, error){
						"getGenesisHash":         always(solana.Hash{5}.String()),
						"getEpochInfo":           always(object{"absoluteSlot": now, "blockHeight": now}),
						"getSignatureStatuses":   statuses,
						"getFirstAvailableBlock": first,
					})
				}
				client, forgetful, tx := chain(always(statuses(now, nil)), forgetfulFirst)
				_, archive, _ := chain(func(int) (any, error) {
					if time.Since(began) < time.Minute {
						return nil, reset
					}
					return statuses(now, executedStatus("finalized", nil)), nil
				}, always(0))
				client.useNodes(forgetful, archive)
				unknown := &transaction.UnknownOutcomeError{Signature: tx.Signatures[0], LastValidBlockHeight: 5_000,
					Slot: testSlot}
				_, err := client.Outcome(t.Context(), unknown)
				require.NotErrorIs(t, err, transaction.ErrExpired)
				if transaction.OutcomeOf(err) == transaction.Unknown {
					time.Sleep(time.Minute)
					_, err = client.Outcome(t.Context(), unknown)
				}
				require.Equal(t, transaction.Confirmed, transaction.OutcomeOf(err), "%v", err)
				require.NoError(t, client.Close())
			})
		})
	}
}

// A node that lacks some blocks does not know of the gap.
func TestStatusOnAnyNodeRefutesTheExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		over := map[string]func(int) (any, error){
			"getGenesisHash": always(solana.Hash{5}.String()),
			"getEpochInfo":   always(object{"absoluteSlot": testSlot, "blockHeight": testLastValid + 1}),
		}
		began := time.Now()
		client, first, tx := newScripted(t, over)
		first.answers["getSignatureStatuses"] = func(int) (any, error) {
			if time.Since(began) < time.Minute {
				return statuses(testSlot, nil), nil
			}
			return statuses(testSlot, executedStatus("confirmed", nil)), nil
		}
		_, second, _ := newScripted(t, over)
		second.answers["getSignatureStatuses"] = always(statuses(testSlot, executedStatus("processed", nil)))
		client.useNodes(first, second)
		receipt, err := client.submit(t.Context(), tx, testLastValid)
		require.NoError(t, err)
		assert.Equal(t, tx.Signatures[0], receipt.Signature)
		require.NoError(t, client.Close())
	})
}

// A node that returns a slot beyond the chain's makes all others seem behind. That must not cause a second
// execution of an action.
func TestNodeWithAFalseSlotIsContradicted(t *testing.T) {
	const ahead = 1_000_000_000
	liar := map[string]func(int) (any, error){
		"getGenesisHash":       always(solana.Hash{5}.String()),
		"getSlot":              always(ahead),
		"getEpochInfo":         always(object{"absoluteSlot": ahead, "blockHeight": ahead}),
		"getSignatureStatuses": always(statuses(ahead, nil)),
		"getTransaction":       always(nil),
	}
	play := func(t *testing.T, honest map[string]func(int) (any, error)) (*Receipt, error) {
		honest["getGenesisHash"] = always(solana.Hash{5}.String())
		client, first, tx := newScripted(t, liar)
		_, second, _ := newScripted(t, honest)
		encoded, err := tx.MarshalBinary()
		require.NoError(t, err)
		second.answers["getTransaction"] = always(object{
			"slot": testSlot, "version": "legacy",
			"transaction": []any{solana.Data{Content: encoded, Encoding: solana.EncodingBase64}.String(),
				"base64"},
			"meta": object{"err": nil, "fee": 5_000, "computeUnitsConsumed": 150, "logMessages": []string{}},
		})
		client.useNodes(first, second)
		receipt, err := client.submit(t.Context(), tx, testLastValid)
		require.NoError(t, client.Close())
		return receipt, err
	}
	t.Run("by a node that has executed the transaction", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			receipt, err := play(t, map[string]func(int) (any, error){
				"getSlot":              always(testSlot),
				"getSignatureStatuses": always(statuses(testSlot, executedStatus("confirmed", nil))),
			})
			require.NoError(t, err)
			require.EqualValues(t, 5_000, receipt.Fee)
		})
	})
}
