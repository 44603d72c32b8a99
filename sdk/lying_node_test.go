package haggle

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc/jsonrpc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/internal/solana/send"

	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// minimumAge is the age before which no transaction with a blockhash counts as expired.
const minimumAge = 90 * time.Second

// clusterNode returns a node whose finalized height is two blocks per second. A blockhash lives 150 blocks.
func clusterNode(t *testing.T) *scriptedNode {
	t.Helper()
	began := time.Now()
	blocks := func() uint64 { return uint64(2 * time.Since(began).Seconds()) }
	_, scripted, _ := newScripted(t, map[string]func(int) (any, error){
		"getGenesisHash": always(solana.Hash{5}.String()),
		"getSlot":        func(int) (any, error) { return testSlot + blocks(), nil },
		"getEpochInfo": func(int) (any, error) {
			return object{"absoluteSlot": testSlot + blocks(), "blockHeight": blocks()}, nil
		},
		"getSignatureStatuses": func(int) (any, error) { return statuses(testSlot+blocks(), nil), nil },
		"isBlockhashValid": func(int) (any, error) {
			return object{"context": object{"slot": testSlot + blocks()}, "value": blocks() <= testLastValid}, nil
		},
	})
	return scripted
}

// lyingNode returns a node that claims from the beginning that the transaction expired.
func lyingNode(t *testing.T) *scriptedNode {
	scripted := clusterNode(t)
	scripted.answers["getEpochInfo"] = always(object{"absoluteSlot": testSlot, "blockHeight": testLastValid + 1})
	scripted.answers["isBlockhashValid"] = always(object{"context": object{"slot": testSlot}, "value": false})
	return scripted
}

func TestLyingNodeAmongOthersExpiresNothing(t *testing.T) {
	for name, lastValid := range map[string]uint64{
		"height": testLastValid, "last valid height of zero": 0, "low last valid height": 3,
	} {
		for position := range 3 {
			synctest.Test(t, func(t *testing.T) {
				played := []jsonrpc.RPCClient{clusterNode(t), clusterNode(t), clusterNode(t)}
				played[position] = lyingNode(t)
				client, _, tx := newScripted(t, nil)
				client.useNodes(played...)
				began := time.Now()
				_, err := client.submit(t.Context(), tx, lastValid)
				require.NoError(t, client.Close())
				require.ErrorIs(t, err, transaction.ErrExpired)
				assert.GreaterOrEqual(t, time.Since(began), max(minimumAge, testLastValid/2*time.Second),
					"%s, node %d", name, position)
			})
		}
	}
}

// The nodes are slower than the minimum age, so only their heights and blockhashes are left.
func TestOneHonestNodePreventsAnExpiry(t *testing.T) {
	for name, refute := range map[string]func(*scriptedNode){
		"by the height": func(honest *scriptedNode) {
			honest.answers["getEpochInfo"] = always(object{"absoluteSlot": testSlot, "blockHeight": testLastValid})
			honest.answers["isBlockhashValid"] = always(object{"context": object{"slot": testSlot}, "value": false})
		},
		"by the blockhash": func(honest *scriptedNode) {
			honest.answers["isBlockhashValid"] = always(object{"context": object{"slot": testSlot}, "value": true})
		},
		"by an answer from before the blockhash": func(honest *scriptedNode) {
			honest.answers["isBlockhashValid"] = always(object{"context": object{"slot": testSlot - 1}, "value": false})
		},
		"by the status": func(honest *scriptedNode) {
			honest.answers["getSignatureStatuses"] = always(statuses(testSlot, executedStatus("processed", nil)))
		},
		"by an older status": func(honest *scriptedNode) {
			honest.answers["getSignatureStatuses"] = always(statuses(testSlot-1, nil))
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			honest := lyingNode(t)
			refute(honest)
			client, _, tx := newScripted(t, nil)
			client.useNodes(lyingNode(t), honest, lyingNode(t))
			_, err := client.send(t.Context(), &preparedTx{transaction: tx, commitment: client.commitment,
				valid: &send.Validity{LastHeight: testLastValid, Since: testSlot}})
			require.NoError(t, client.Close())
			require.Equal(t, transaction.Unknown, transaction.OutcomeOf(err), "%s: %v", name, err)
			var contradiction *transaction.ContradictionError
			require.ErrorAs(t, err, &contradiction, name)
			assert.Len(t, contradiction.Claims, 3, name)
		})
	}
}

func TestLoneLyingNodeExpiresNothingBeforeTheMinimumAge(t *testing.T) {
	for _, lastValid := range []uint64{0, testLastValid} {
		synctest.Test(t, func(t *testing.T) {
			client, _, tx := newScripted(t, nil)
			client.useNodes(lyingNode(t))
			began := time.Now()
			_, err := client.submit(t.Context(), tx, lastValid)
			require.ErrorIs(t, err, transaction.ErrExpired)
			assert.GreaterOrEqual(t, time.Since(began), minimumAge)

			// The policy signed a transaction of another client a while ago and requests the outcome: the
			// sender's client knows it.
			client, _, _ = newScripted(t, nil)
			client.useNodes(lyingNode(t))
			unknown := &transaction.UnknownOutcomeError{Signature: tx.Signatures[0], LastValidBlockHeight: lastValid,
				SentAt: time.Now().Add(-minimumAge / 2)}
			began = time.Now()
			_, err = client.Outcome(t.Context(), unknown)
			require.ErrorIs(t, err, transaction.ErrExpired)
			assert.GreaterOrEqual(t, time.Since(began), minimumAge/2)

			unknown.SentAt = time.Time{}
			began = time.Now()
			_, err = client.Outcome(t.Context(), unknown)
			require.ErrorIs(t, err, transaction.ErrExpired)
			assert.GreaterOrEqual(t, time.Since(began), minimumAge, "the age is not known")
		})
	}
}

// silentNode never responds.
type silentNode struct{ jsonrpc.RPCClient }

func (silentNode) CallForInto(ctx context.Context, _ any, _ string, _ []any) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestUnreachableNodesDoNotDelayAnExpiry(t *testing.T) {
	broken := &scriptedNode{calls: make(map[string]int)}
	for name, dead := range map[string]jsonrpc.RPCClient{"broken": broken, "silent": silentNode{}} {
		synctest.Test(t, func(t *testing.T) {
			client, _, tx := newScripted(t, nil)
			client.useNodes(dead, clusterNode(t))
			began := time.Now()
			_, err := client.submit(t.Context(), tx, testLastValid)
			require.NoError(t, client.Close())
			require.ErrorIs(t, err, transaction.ErrExpired, name)
			assert.Less(t, time.Since(began), minimumAge+time.Minute, name)
		})
	}
}

func TestNonceExpiresWhenEveryNodeShowsAnotherValue(t *testing.T) {
	for name, c := range map[string]struct {
		values [3]byte
		want   transaction.Outcome
	}{
		"all": {[3]byte{9, 9, 9}, transaction.Expired}, "one lies": {[3]byte{9, 8, 8}, transaction.Unknown},
		"one is honest": {[3]byte{9, 9, 8}, transaction.Unknown},
	} {
		synctest.Test(t, func(t *testing.T) {
			a := newAgent(t, nil)
			a.nonceIs(solana.Hash{8})
			a.abandon(t, a.pay(t, 1).With(WithNonce(testNonce)))
			a = a.restart(t)
			var played []jsonrpc.RPCClient
			for _, value := range c.values {
				scripted := clusterNode(t)
				scripted.accounts = map[solana.PublicKey]any{testNonce: answerOf(solana.SystemProgramID, 1_447_680,
					nonceData(a.me.PublicKey(), solana.Hash{value}))}
				played = append(played, scripted)
			}
			a.useNodes(played...)
			began := time.Now()
			recovered, err := a.Recover(t.Context(), a.me.PublicKey())
			require.NoError(t, a.Client.Close())
			if c.want == transaction.Unknown {
				require.Equal(t, transaction.NotSent, transaction.OutcomeOf(err), name)
				require.Empty(t, recovered)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.want, recovered[0].Outcome, name)
			assert.Less(t, time.Since(began), minimumAge, name)
		})
	}
}
