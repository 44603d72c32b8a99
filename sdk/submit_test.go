package haggle

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/programs/system"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/gagliardetto/solana-go/rpc/jsonrpc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/internal/solana/send"

	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

type object = map[string]any

const (
	testLastValid = 150
	testSlot      = 1_000
)

func always(value any) func(int) (any, error) {
	return func(int) (any, error) { return value, nil }
}

func failing(err error) func(int) (any, error) {
	return func(int) (any, error) { return nil, err }
}

func statuses(slot uint64, status any) any {
	return object{"context": object{"slot": slot}, "value": []any{status}}
}

func executedStatus(level string, chainError any) any {
	return object{"slot": testSlot, "confirmations": nil, "err": chainError, "confirmationStatus": level}
}

// newScripted returns a client whose node executed nothing yet and is at a height where the transaction is
// still valid, and a signed transaction.
func newScripted(
	t *testing.T, answers map[string]func(int) (any, error),
) (*Client, *scriptedNode, *solana.Transaction) {
	t.Helper()
	payer := newKeypair(t)
	tx, err := solana.NewTransaction(
		[]solana.Instruction{system.NewTransferInstruction(1, payer.PublicKey(), payer.PublicKey()).Build()},
		solana.Hash{1}, solana.TransactionPayer(payer.PublicKey()))
	require.NoError(t, err)
	require.NoError(t, send.Sign(t.Context(), tx, []Signer{payer}))
	encoded, err := tx.MarshalBinary()
	require.NoError(t, err)

	scripted := &scriptedNode{calls: make(map[string]int), answers: map[string]func(int) (any, error){
		"sendTransaction":      always(tx.Signatures[0]),
		"getSignatureStatuses": always(statuses(testSlot, nil)),
		"getEpochInfo":         always(object{"absoluteSlot": testSlot, "blockHeight": testLastValid}),
		// It keeps all blocks.
		"getFirstAvailableBlock": always(0),
		"getTransaction": always(object{
			"slot": testSlot, "blockTime": 1_700_000_000, "version": "legacy",
			"transaction": []any{solana.Data{Content: encoded, Encoding: solana.EncodingBase64}.String(),
				"base64"},
			"meta": object{"err": nil, "fee": 5_000, "computeUnitsConsumed": 150,
				"logMessages": []string{}},
		}),
	}}
	for method, answer := range answers {
		scripted.answers[method] = answer
	}
	client, err := NewClient(Config{Endpoint: "http://localhost"})
	require.NoError(t, err)
	client.useNodes(scripted)
	t.Cleanup(func() { _ = client.Close() })
	return client, scripted, tx
}

func TestLostTransactionIsSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var scripted *scriptedNode
		client, scripted, tx := newScripted(t, map[string]func(int) (any, error){
			"getSignatureStatuses": func(int) (any, error) {
				if scripted.called("sendTransaction") < 3 {
					return statuses(testSlot, nil), nil
				}
				return statuses(testSlot, executedStatus("confirmed", nil)), nil
			},
		})
		receipt, err := client.submit(t.Context(), tx, testLastValid)
		require.NoError(t, err)
		assert.Equal(t, 3, scripted.called("sendTransaction"))
		assert.InDelta(t, 4, receipt.Elapsed.Seconds(), 1.5)
		assert.EqualValues(t, testSlot, receipt.Slot)
		assert.EqualValues(t, 5_000, receipt.Fee)
		assert.EqualValues(t, 150, receipt.ComputeUnits)
		assert.EqualValues(t, 1_700_000_000, receipt.BlockTime)
		assert.Equal(t, tx.Signatures[0], receipt.Signature)
	})
}

func TestProcessedIsNotConfirmed(t *testing.T) {
	for commitment, levels := range map[rpc.CommitmentType][]string{
		rpc.CommitmentConfirmed: {"processed", "confirmed"},
		rpc.CommitmentFinalized: {"processed", "confirmed", "confirmed", "finalized"},
	} {
		synctest.Test(t, func(t *testing.T) {
			client, scripted, tx := newScripted(t, map[string]func(int) (any, error){
				"getSignatureStatuses": func(call int) (any, error) {
					return statuses(testSlot, executedStatus(levels[min(call, len(levels))-1], nil)), nil
				},
			})
			client.commitment = commitment
			_, err := client.submit(t.Context(), tx, testLastValid)
			require.NoError(t, err)
			assert.Equal(t, len(levels), scripted.called("getSignatureStatuses"))
		})
	}
}

func TestTransactionExpiresOnlyOnceItCannotBeExecuted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		client, scripted, tx := newScripted(t, map[string]func(int) (any, error){
			"getEpochInfo": func(int) (any, error) {
				seconds := uint64(time.Since(began).Seconds())
				return object{"absoluteSlot": testSlot + seconds,
					"blockHeight": testLastValid - 10 + seconds}, nil
			},
			// The node that returns the statuses is twenty seconds behind the node that returns the height.
			"getSignatureStatuses": func(int) (any, error) {
				seconds := uint64(time.Since(began).Seconds())
				return statuses(testSlot+seconds-min(seconds, 20)*boolOf(seconds < 100), nil), nil
			},
		})
		_, err := client.submit(t.Context(), tx, testLastValid)
		require.ErrorIs(t, err, transaction.ErrExpired)
		var unknown *transaction.UnknownOutcomeError
		require.False(t, errors.As(err, &unknown))
		assert.GreaterOrEqual(t, time.Since(began), 100*time.Second)
		assert.InDelta(t, 50, scripted.called("sendTransaction"), 4)
	})
}

func boolOf(condition bool) uint64 {
	if condition {
		return 1
	}
	return 0
}

func TestSilentNodeLeavesTheOutcomeUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		silence := errors.New("connection refused")
		client, scripted, tx := newScripted(t, map[string]func(int) (any, error){
			"sendTransaction":      failing(silence),
			"getSignatureStatuses": failing(silence),
		})
		began := time.Now()
		_, err := client.submit(t.Context(), tx, testLastValid)
		var unknown *transaction.UnknownOutcomeError
		require.ErrorAs(t, err, &unknown)
		require.ErrorIs(t, err, silence)
		assert.Equal(t, tx.Signatures[0], unknown.Signature)
		assert.InDelta(t, send.UnreachableLimit.Seconds(), time.Since(began).Seconds(), 2)

		// It responds again, and executed the transaction after all.
		scripted.answers["getSignatureStatuses"] = always(statuses(testSlot,
			executedStatus("confirmed", nil)))
		sent := scripted.called("sendTransaction")
		receipt, err := client.Outcome(t.Context(), unknown)
		require.NoError(t, err)
		assert.Equal(t, unknown.Signature, receipt.Signature)
		assert.Equal(t, sent, scripted.called("sendTransaction"), "looking sends nothing")
	})
}

func TestCancelledWaitLeavesTheOutcomeUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, _, tx := newScripted(t, nil)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		_, err := client.submit(ctx, tx, testLastValid)
		var unknown *transaction.UnknownOutcomeError
		require.ErrorAs(t, err, &unknown)
		require.ErrorIs(t, err, context.DeadlineExceeded)

		ended, end := context.WithCancel(t.Context())
		end()
		_, err = client.submit(ended, tx, testLastValid)
		require.ErrorIs(t, err, context.Canceled)
		require.False(t, errors.As(err, &unknown), "nothing has been sent")
	})
}

func TestRefusedBroadcastsSendNothing(t *testing.T) {
	cases := map[string]struct {
		answer jsonrpc.RPCError
		check  func(t *testing.T, err error)
	}{
		"too large": {jsonrpc.RPCError{Code: -32602, Message: "too large"}, func(t *testing.T, err error) {
			var refused *transaction.NodeError
			require.ErrorAs(t, err, &refused)
			assert.Equal(t, -32602, refused.Code)
			assert.Equal(t, "haggle: sendTransaction: node returned error -32602: too large", err.Error())
		}},
		"failed preflight": {jsonrpc.RPCError{Code: -32002, Message: "Transaction simulation failed",
			Data: object{
				"err":  object{"InstructionError": []any{0, object{"Custom": 1}}},
				"logs": []any{"Program " + solana.SystemProgramID.String() + " failed: custom program error: 0x1"},
			}}, func(t *testing.T, err error) {
			var failed *transaction.Error
			require.ErrorAs(t, err, &failed)
			assert.Equal(t, solana.SystemProgramID, failed.Program)
			assert.ErrorContains(t, err, "too few lamports")
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			client, scripted, tx := newScripted(t,
				map[string]func(int) (any, error){"sendTransaction": failing(&c.answer)})
			_, err := client.submit(t.Context(), tx, testLastValid)
			c.check(t, err)
			assert.Zero(t, scripted.called("getSignatureStatuses"))
		})
	}
}

func TestPossiblyForwardedBroadcastIsWaitedFor(t *testing.T) {
	refusal := &jsonrpc.RPCError{Code: -32602, Message: "no longer valid"}
	cases := map[string]func(int) (any, error){
		"internal error": failing(&jsonrpc.RPCError{Code: -32603, Message: "Internal error"}),
		"unknown error":  failing(&jsonrpc.RPCError{Code: -32000, Message: "Server error"}),
		"internal, by HTTP": failing(jsonrpc.NewHTTPError(http.StatusInternalServerError,
			errors.New("internal"))),
		"timeout":    failing(jsonrpc.NewHTTPError(http.StatusRequestTimeout, errors.New("timeout"))),
		"web server": failing(jsonrpc.NewHTTPError(520, errors.New("unknown"))),
		"no answer":  failing(io.ErrUnexpectedEOF),
		"refused the second time": func(call int) (any, error) {
			if call == 1 {
				return nil, jsonrpc.NewHTTPError(http.StatusGatewayTimeout, errors.New("timeout"))
			}
			return nil, refusal
		},
	}
	for name, send := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, _, tx := newScripted(t, map[string]func(int) (any, error){
					"sendTransaction":      send,
					"getSignatureStatuses": always(statuses(testSlot, executedStatus("confirmed", nil))),
				})
				_, err := client.submit(t.Context(), tx, testLastValid)
				require.NoError(t, err)
			})
		})
	}
}

func TestSubmittedTransactionExpiresOnlyWithItsBlockhash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		seconds := func() uint64 { return uint64(time.Since(began).Seconds()) }
		client, _, tx := newScripted(t, map[string]func(int) (any, error){
			// The first response, at processed, is the node's highest block.
			"getEpochInfo": func(call int) (any, error) {
				ahead := 3 * boolOf(call == 1)
				return object{"absoluteSlot": testSlot + seconds(),
					"blockHeight": 1_000 + ahead + 2*seconds()}, nil
			},
			"getSignatureStatuses": func(int) (any, error) { return statuses(testSlot+seconds(), nil), nil },
			"isBlockhashValid": func(int) (any, error) {
				return object{"context": object{"slot": testSlot + seconds()}, "value": seconds() < 90}, nil
			},
		})
		_, err := client.Submit(t.Context(), tx)
		require.ErrorIs(t, err, transaction.ErrExpired)
		assert.GreaterOrEqual(t, time.Since(began), 90*time.Second)
	})
}

func TestSubmittedTransactionIsValidForABlockhashLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		seconds := func() uint64 { return uint64(time.Since(began).Seconds()) }
		client, scripted, tx := newScripted(t, map[string]func(int) (any, error){
			"getEpochInfo": func(int) (any, error) {
				return object{"absoluteSlot": testSlot + seconds(), "blockHeight": 1_000 + 2*seconds()}, nil
			},
			"getSignatureStatuses": func(int) (any, error) { return statuses(testSlot+seconds(), nil), nil },
			// A node that does not know the blockhash yet calls it invalid.
			"isBlockhashValid": func(int) (any, error) {
				return object{"context": object{"slot": testSlot + seconds()}, "value": false}, nil
			},
		})
		ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
		defer cancel()
		_, err := client.Submit(ctx, tx)
		var unknown *transaction.UnknownOutcomeError
		require.ErrorAs(t, err, &unknown)
		assert.EqualValues(t, 1_300, unknown.LastValidBlockHeight)

		// A later check also waits for the blockhash.
		_, err = client.Outcome(t.Context(), unknown)
		require.ErrorIs(t, err, transaction.ErrExpired)
		assert.Positive(t, scripted.called("isBlockhashValid"))
		assert.GreaterOrEqual(t, time.Since(began), 75*time.Second)
	})
}

// submit sends a transaction whose last valid block height is known.
func (c *Client) submit(
	ctx context.Context, tx *solana.Transaction, lastValid uint64,
) (*Receipt, error) {
	return c.send(ctx, &preparedTx{transaction: tx, valid: &send.Validity{LastHeight: lastValid},
		commitment: c.commitment})
}

func TestContradictoryDetailsAreNotConfirmed(t *testing.T) {
	client, scripted, tx := newScripted(t, map[string]func(int) (any, error){
		"getSignatureStatuses": always(statuses(testSlot, executedStatus("confirmed", nil))),
	})
	details, err := scripted.answers["getTransaction"](1)
	require.NoError(t, err)
	meta := details.(object)["meta"].(object)

	meta["err"] = object{"InstructionError": []any{0, object{"Custom": 1}}}
	_, err = client.submit(t.Context(), tx, testLastValid)
	var failed *transaction.Error
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, tx.Signatures[0], failed.Signature)

	meta["err"], details.(object)["slot"] = nil, testSlot+1
	_, err = client.submit(t.Context(), tx, testLastValid)
	var unknown *transaction.UnknownOutcomeError
	require.ErrorAs(t, err, &unknown)
}

func TestAlreadyProcessedTransactionIsWaitedFor(t *testing.T) {
	for _, answer := range []*jsonrpc.RPCError{
		{Code: -32002, Message: "Transaction simulation failed: This transaction has already been processed",
			Data: object{"err": "AlreadyProcessed"}},
		{Code: -32603, Message: "This transaction has already been processed"},
	} {
		client, _, tx := newScripted(t, map[string]func(int) (any, error){
			"sendTransaction":      failing(answer),
			"getSignatureStatuses": always(statuses(testSlot, executedStatus("confirmed", nil))),
		})
		_, err := client.submit(t.Context(), tx, testLastValid)
		require.NoError(t, err)
	}
}

func TestFailureOnChainNamesItsTransaction(t *testing.T) {
	client, scripted, tx := newScripted(t, map[string]func(int) (any, error){
		"getSignatureStatuses": always(statuses(testSlot,
			executedStatus("confirmed", object{"InstructionError": []any{0, object{"Custom": 1}}}))),
	})
	_, err := client.submit(t.Context(), tx, testLastValid)
	var failed *transaction.Error
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, tx.Signatures[0], failed.Signature)

	// A later check reads the called programs from the node.
	_, err = client.Outcome(t.Context(),
		&transaction.UnknownOutcomeError{Signature: tx.Signatures[0], LastValidBlockHeight: testLastValid})
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, solana.SystemProgramID, failed.Program)
	assert.Zero(t, scripted.called("getEpochInfo"))
}

func TestConfirmedWithoutDetailsIsConfirmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, _, tx := newScripted(t, map[string]func(int) (any, error){
			"getSignatureStatuses": always(statuses(testSlot, executedStatus("confirmed", nil))),
			"getTransaction":       always(nil),
		})
		receipt, err := client.submit(t.Context(), tx, testLastValid)
		require.ErrorIs(t, err, transaction.ErrDetailsUnavailable)
		require.NotNil(t, receipt)
		assert.Equal(t, tx.Signatures[0], receipt.Signature)
		assert.EqualValues(t, testSlot, receipt.Slot)
	})
}

func TestUnsignedTransactionIsNotSent(t *testing.T) {
	client, scripted, tx := newScripted(t, nil)
	tx.Signatures[0][3] ^= 1
	_, err := client.submit(t.Context(), tx, testLastValid)
	require.ErrorContains(t, err, "not completely signed")
	assert.Zero(t, scripted.called("sendTransaction"))
}

// An account index can be out of range in a transaction prepared by others.
func TestMalformedTransactionIsNotSent(t *testing.T) {
	client, scripted, tx := newScripted(t, nil)
	tx.Message.Instructions = []solana.CompiledInstruction{{ProgramIDIndex: 0, Accounts: []uint16{200}}}
	tx.Message.AccountKeys[0] = protocol.ProgramID
	_, err := client.Submit(t.Context(), tx)
	require.Error(t, err)
	assert.Zero(t, scripted.called("sendTransaction"))
}

func TestBusyNodeIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, scripted, _ := newScripted(t, map[string]func(int) (any, error){
			"getSlot": func(call int) (any, error) {
				if call < 4 {
					return nil, &jsonrpc.RPCError{Code: http.StatusTooManyRequests,
						Message: "Too many requests"}
				}
				return testSlot, nil
			},
		})
		slot, err := client.RPC().GetSlot(t.Context(), rpc.CommitmentConfirmed)
		require.NoError(t, err)
		assert.EqualValues(t, testSlot, slot)

		scripted.answers["getSlot"] = failing(jsonrpc.NewHTTPError(http.StatusServiceUnavailable,
			errors.New("unavailable")))
		_, err = client.RPC().GetSlot(t.Context(), rpc.CommitmentConfirmed)
		var refused *transaction.NodeError
		require.ErrorAs(t, err, &refused)
		assert.Equal(t, http.StatusServiceUnavailable, refused.Code)
		assert.Equal(t, 4+busyAttempts, scripted.called("getSlot"))
	})
}
