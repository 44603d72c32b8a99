package policy_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	bin "github.com/gagliardetto/binary"
	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/policy"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

type object = map[string]any

// scriptedNode is a node over HTTP that forwards no transaction. The test controls height and blocks.
type scriptedNode struct {
	t    *testing.T
	lock sync.Mutex
	// height is the newest finalized block's height and slot. firstBlock is the oldest block.
	height, firstBlock uint64
	// executed are finalized transactions, the newest first.
	executed []executedTransaction
}

type executedTransaction struct {
	tx   *solana.Transaction
	slot uint64
	err  any
}

const lastValid = 150

// client returns a client of the node.
func (n *scriptedNode) client() *haggle.Client {
	n.t.Helper()
	client, err := haggle.NewClient(haggle.Config{Endpoint: "http://localhost", HTTPClient: &http.Client{Transport: n}})
	require.NoError(n.t, err)
	n.t.Cleanup(func() { _ = client.Close() })
	return client
}

func (n *scriptedNode) RoundTrip(request *http.Request) (*http.Response, error) {
	var call struct {
		ID     json.RawMessage
		Method string
		Params []json.RawMessage
	}
	if err := json.NewDecoder(request.Body).Decode(&call); err != nil {
		return nil, err
	}
	n.lock.Lock()
	defer n.lock.Unlock()
	result, err := json.Marshal(n.result(call.Method, call.Params))
	if err != nil {
		return nil, err
	}
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, call.ID, result)
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(body)), Request: request,
	}, nil
}

func (n *scriptedNode) result(method string, params []json.RawMessage) any {
	inContext := func(value any) any { return object{"context": object{"slot": n.height}, "value": value} }
	switch method {
	case "getSlot":
		return n.height
	case "getLatestBlockhash":
		return inContext(object{"blockhash": solana.Hash{1}.String(), "lastValidBlockHeight": lastValid})
	case "simulateTransaction":
		return inContext(object{"unitsConsumed": 150, "logs": []string{}, "err": nil})
	case "sendTransaction":
		return solana.Signature{1}.String()
	case "getSignatureStatuses":
		return inContext([]any{nil})
	case "getEpochInfo":
		return object{"absoluteSlot": n.height, "blockHeight": n.height}
	case "isBlockhashValid":
		return inContext(n.height <= lastValid)
	case "getFirstAvailableBlock":
		return n.firstBlock
	case "getSignaturesForAddress":
		listed := []any{}
		for _, e := range n.executed {
			listed = append(listed, object{"signature": e.tx.Signatures[0].String(), "slot": e.slot, "err": e.err, "confirmationStatus": "finalized"})
		}
		if strings.Contains(string(params[1]), `"before"`) {
			listed = []any{} // single page
		}
		return listed
	case "getTransaction":
		for _, e := range n.executed {
			if strings.Contains(string(params[0]), e.tx.Signatures[0].String()) {
				encoded, err := e.tx.MarshalBinary()
				require.NoError(n.t, err)
				return object{"slot": e.slot, "version": "legacy", "transaction": []any{base64.StdEncoding.EncodeToString(encoded), "base64"},
					"meta": object{"err": e.err, "fee": 5_000, "logMessages": []string{}}}
			}
		}
		return nil
	}
	n.t.Errorf("unexpected request %s %s", method, params)
	return nil
}

func (n *scriptedNode) set(change func()) {
	n.lock.Lock()
	defer n.lock.Unlock()
	change()
}

// settling returns a stage that allows transfers, with the machine's clock.
func settling(t *testing.T, evidence policy.Evidence) *stage {
	t.Helper()
	return newStage(t, everythingAllowed, func(c *policy.Config) {
		c.Now, c.Evidence = time.Now, evidence
		c.Lamports = policy.Limits{
			PerTransaction: oneSOL, PerNegotiation: oneSOL, PerCounterparty: oneSOL, PerDay: oneSOL, ApproveAbove: policy.Unlimited,
		}
	})
}

// pay sends a transfer with the policy as signer.
func (s *stage) pay(client *haggle.Client, amount uint64) error {
	_, err := client.NewAction("pay", s.wallet(), transferLamports(s.wallet(), friend, amount)).Do(s.t.Context(), s.policy)
	return err
}

// A client using a dishonest node proves nothing to a policy of another client.
func TestSpendsAreGivenBackOnTheProofOfTheOwnersClientOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		honest, lying := &scriptedNode{t: t, height: 10}, &scriptedNode{t: t, height: 10}
		owners, holders := honest.client(), lying.client()
		s := settling(t, policy.EvidenceOf(owners))
		ended := make(chan error, 1)
		go func() { ended <- s.pay(holders, 1_000_000) }()
		time.Sleep(time.Second)
		lying.set(func() { lying.height = 10_000 })
		require.ErrorIs(t, <-ended, transaction.ErrExpired)
		require.EqualValues(t, 1_005_000, s.policy.Used(lamports), "another client's proof")

		go func() { ended <- s.pay(owners, 2_000_000) }()
		time.Sleep(time.Second)
		honest.set(func() { honest.height = 10_000 })
		require.ErrorIs(t, <-ended, transaction.ErrExpired)
		require.EqualValues(t, 1_005_000, s.policy.Used(lamports), "its own proof gives back the second payment")

		// The policy queries the configured client about the first transaction.
		time.Sleep(2 * time.Minute)
		require.Equal(t, 1, s.policy.Reconcile(t.Context()))
		require.Zero(t, s.policy.Used(lamports))
	})
}

func TestPolicyWithoutEvidenceGivesNothingBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		node := &scriptedNode{t: t, height: 10}
		s := settling(t, nil)
		ended := make(chan error, 1)
		go func() { ended <- s.pay(node.client(), 1_000_000) }()
		time.Sleep(time.Second)
		node.set(func() { node.height = 10_000 })
		require.ErrorIs(t, <-ended, transaction.ErrExpired)
		require.EqualValues(t, 1_005_000, s.policy.Used(lamports))
	})
}

// Who holds the policy can notify it and cannot state an outcome: no method takes one.
func TestHolderCannotStateAnOutcome(t *testing.T) {
	stated := []reflect.Type{reflect.TypeFor[transaction.Outcome](), reflect.TypeFor[policy.Record]()}
	for method := range reflect.TypeFor[*policy.Policy]().Methods() {
		for parameter := range method.Type.Ins() {
			if method.Name != "Settle" { // which exists in this test only
				require.NotContains(t, stated, parameter, method.Name)
			}
		}
	}
	evidence := &outcomes{}
	s := newStage(t, func(c *policy.Config) { c.Evidence = evidence })
	message := s.message(s.create(friend, 1, 1_000_000))
	require.NoError(t, s.signMessage(message))
	s.policy.ObserveOutcome(t.Context(), [32]byte{1})
	require.Empty(t, evidence.asked, "not a message of the policy")
	s.policy.ObserveOutcome(t.Context(), sha256.Sum256(message))
	require.Len(t, evidence.asked, 1)
	require.EqualValues(t, 1_000_000, s.policy.Used(mint))
	evidence.answer = transaction.Expired
	s.policy.ObserveOutcome(t.Context(), sha256.Sum256(message))
	require.Zero(t, s.policy.Used(mint))
}

// A transaction's payer can sign the message twice: only one transaction is executed, the second expires.
func TestExpiryOfAnotherPayersSignatureGivesNothingBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		node := &scriptedNode{t: t, height: 10}
		client := node.client()
		s := settling(t, policy.EvidenceOf(client))
		payer := newKeypair(t)
		action := client.NewAction("pay", payer.PublicKey(), transferLamports(s.wallet(), friend, 1_000_000))
		ended := make(chan error, 1)
		go func() {
			_, err := action.Do(t.Context(), payer, s.policy)
			ended <- err
		}()
		time.Sleep(time.Second)
		node.set(func() { node.height = 10_000 })
		require.ErrorIs(t, <-ended, transaction.ErrExpired)
		require.EqualValues(t, 1_000_000, s.policy.Used(lamports))
		time.Sleep(2 * time.Minute)
		require.Zero(t, s.policy.Reconcile(t.Context()), "not looked up yet")
		time.Sleep(4 * time.Minute)
		require.Equal(t, 1, s.policy.Reconcile(t.Context()), "no transaction of the wallet has the message")
		require.Zero(t, s.policy.Used(lamports))
	})
}

// If the signer fails ambiguously, the chain decides: the policy searches the wallet's transactions when the
// message is no longer executable.
func TestAmbiguousFailureOfTheSignerIsResolvedByTheChain(t *testing.T) {
	for name, c := range map[string]struct {
		height, firstBlock uint64
		executed           bool
		err                any
		used               uint64
	}{
		"not executed":        {height: 1_000, used: 0},
		"executed":            {height: 1_000, executed: true, used: 1_005_000},
		"executed and failed": {height: 1_000, executed: true, err: "AccountInUse", used: 5_000},
		"still valid":         {height: lastValid, used: 1_005_000},
		"blocks deleted":      {height: 1_000, firstBlock: 500, used: 1_005_000},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				node := &scriptedNode{t: t, height: 10}
				client := node.client()
				s := settling(t, policy.EvidenceOf(client))
				var signed []byte
				s.signer.instead = func(_ context.Context, message []byte) (solana.Signature, error) {
					signed = message
					return solana.Signature{}, errors.New("connection reset")
				}
				require.ErrorContains(t, s.pay(client, 1_000_000), "connection reset")
				require.EqualValues(t, 1_005_000, s.policy.Used(lamports))
				s.restart()

				execute := func(message []byte, slot uint64, failed any) {
					var tx solana.Transaction
					require.NoError(t, tx.Message.UnmarshalLegacy(bin.NewBinDecoder(message)))
					signature, err := s.me.SignMessage(t.Context(), message)
					require.NoError(t, err)
					tx.Signatures = []solana.Signature{signature}
					node.executed = append([]executedTransaction{{&tx, slot, failed}}, node.executed...)
				}
				node.set(func() {
					node.height, node.firstBlock = c.height, c.firstBlock
					execute(s.message(transferLamports(s.wallet(), friend, 7)), 9, nil) // before the message
					if c.executed {
						execute(signed, 12, c.err)
					}
					execute(s.message(transferLamports(s.wallet(), friend, 8)), 13, nil)
				})
				time.Sleep(5 * time.Minute)
				s.policy.Reconcile(t.Context())
				require.Equal(t, c.used, s.policy.Used(lamports))
			})
		})
	}
}

// A signer that never returns blocks the caller no longer than the context plus the grace period.
func TestSignerThatDoesNotReturn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		evidence := &outcomes{answer: transaction.Expired}
		s := settling(t, evidence)
		release := make(chan struct{})
		defer close(release)
		s.signer.instead = func(context.Context, []byte) (solana.Signature, error) {
			<-release
			return solana.Signature{}, errors.New("released")
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		_, err := s.policy.SignMessage(ctx, s.message(transferLamports(s.wallet(), friend, 1_000_000)))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Less(t, time.Since(began), time.Minute+3*time.Second)
		require.EqualValues(t, 1_005_000, s.policy.Used(lamports))
		time.Sleep(5 * time.Minute)
		require.Equal(t, 1, s.policy.Reconcile(t.Context()))
		require.Zero(t, evidence.asked[0].Signature)
		require.Zero(t, s.policy.Used(lamports))
	})
}

// A signer with non-deterministic signatures could make two transactions from the same message, with separate
// outcomes.
func TestPolicyReturnsOneSignatureOfAMessage(t *testing.T) {
	s := newStage(t)
	message := s.message(s.create(friend, 1, 1))
	require.NoError(t, s.signMessage(message))
	first, store := solana.Signature{1}, &policy.MemoryStore{}
	records, _ := s.records()
	log := store.UsageLog(s.wallet())
	for _, record := range records {
		if record.Kind == policy.RecordSigned {
			record.Signature = first // as received by another process
		}
		require.NoError(t, log.Append(t.Context(), record))
	}
	s.config.Store = store
	s.restart()
	second, err := s.policy.SignMessage(t.Context(), message)
	require.NoError(t, err)
	require.Equal(t, first, second)
}
