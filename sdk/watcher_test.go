package haggle

import (
	"encoding/base64"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/programs/system"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var watchedNegotiation = solana.PublicKey{42}

// blocks are the transactions that a node has in blocks.
type blocks map[solana.Signature]any

func (b blocks) get(signature solana.Signature) any { return b[signature] }

// executed puts a transaction of this program's with these events into a block.
func (b blocks) executed(t *testing.T, n int, slot uint64, chainError any, events ...Event) {
	t.Helper()
	logs := []string{"Program " + ProgramAddress + " invoke [1]"}
	for _, event := range events {
		logs = append(logs, "Program data: "+base64.StdEncoding.EncodeToString(event.(interface{ AppendTo([]byte) []byte }).AppendTo(nil)))
	}
	b.put(t, n, slot, chainError, append(logs, "Program "+ProgramAddress+" success"), ProgramID)
}

func (b blocks) put(t *testing.T, n int, slot uint64, chainError any, logs []string, program solana.PublicKey) {
	t.Helper()
	payer := solana.PublicKey{1}
	instruction := solana.NewInstruction(program, solana.AccountMetaSlice{}, nil)
	transaction, err := solana.NewTransaction(
		[]solana.Instruction{instruction, system.NewTransferInstruction(1, payer, payer).Build()}, solana.Hash{1}, solana.TransactionPayer(payer))
	require.NoError(t, err)
	transaction.Signatures = []solana.Signature{numbered(n)}
	encoded, err := transaction.MarshalBinary()
	require.NoError(t, err)
	b[numbered(n)] = object{
		"slot": slot, "version": "legacy", "transaction": []any{base64.StdEncoding.EncodeToString(encoded), "base64"},
		"meta": object{"err": chainError, "fee": 5_000, "logMessages": logs},
	}
}

func newWatcher(t *testing.T, b blocks) *watcher {
	t.Helper()
	client, err := NewClient(Config{Endpoint: "http://localhost"})
	require.NoError(t, err)
	client.rpc = rpc.NewWithCustomRPCClient(node{&scriptedNode{calls: make(map[string]int), transaction: b.get}})
	return &watcher{
		client: client, fixed: watchedNegotiation,
		subscription: &Subscription{events: make(chan Observation, 16)},
		watched:      []*watchedAddress{{address: watchedNegotiation}},
		seen:         make(map[solana.Signature]uint64),
		doubtful:     make(map[solana.Signature]time.Time),
	}
}

func (w *watcher) told() (observations []Observation) {
	for len(w.subscription.events) > 0 {
		observations = append(observations, <-w.subscription.events)
	}
	return observations
}

func offerOf(round uint8) *OfferSubmitted {
	return &OfferSubmitted{NegotiationID: watchedNegotiation, Round: round, Timestamp: int64(round)}
}

func observed(n int, slot uint64, event Event) Observation {
	return Observation{Signature: numbered(n), Slot: slot, Negotiation: watchedNegotiation, Event: event}
}

func TestOnlyWhatIsInABlockIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := blocks{}
		w := newWatcher(t, b)
		b.executed(t, 2, 101, nil, offerOf(2))

		// The connection has told of an execution that was thrown away.
		require.NoError(t, w.hear(t.Context(), []solana.Signature{numbered(1), numbered(2), numbered(2)}))
		assert.Equal(t, []Observation{observed(2, 101, offerOf(2))}, w.told())

		require.NoError(t, w.resolveDoubts(t.Context()))
		assert.Empty(t, w.told())
		b.executed(t, 1, 105, nil, offerOf(3))
		require.NoError(t, w.resolveDoubts(t.Context()))
		assert.Equal(t, []Observation{observed(1, 105, offerOf(3))}, w.told())
		assert.Empty(t, w.doubtful)

		require.NoError(t, w.hear(t.Context(), []solana.Signature{numbered(1)}))
		assert.Empty(t, w.told(), "told once")
	})
}

func TestTransactionThatIsNeverExecutedIsNotLookedForForever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWatcher(t, blocks{})
		require.NoError(t, w.hear(t.Context(), []solana.Signature{numbered(1)}))
		time.Sleep(doubtLimit / 2)
		require.NoError(t, w.resolveDoubts(t.Context()))
		assert.Len(t, w.doubtful, 1)
		time.Sleep(doubtLimit)
		require.NoError(t, w.resolveDoubts(t.Context()))
		assert.Empty(t, w.doubtful)
		assert.Empty(t, w.told())
	})
}

func TestFailedTransactionsAndOtherNegotiationsAreNotTold(t *testing.T) {
	b := blocks{}
	w := newWatcher(t, b)
	other := offerOf(1)
	other.NegotiationID = solana.PublicKey{43}
	b.executed(t, 1, 100, object{"InstructionError": []any{0, object{"Custom": 6002}}}, offerOf(1))
	b.executed(t, 2, 101, nil, other, offerOf(2), other)
	require.NoError(t, w.hear(t.Context(), []solana.Signature{numbered(1), numbered(2)}))
	assert.Equal(t, []Observation{observed(2, 101, offerOf(2))}, w.told())
}

func TestLogsThatDoNotTellEverything(t *testing.T) {
	b := blocks{}
	w := newWatcher(t, b)
	b.put(t, 1, 100, nil, []string{"Log truncated"}, ProgramID)
	b.put(t, 2, 101, nil, []string{"Log truncated"}, solana.TokenProgramID)
	require.NoError(t, w.hear(t.Context(), []solana.Signature{numbered(1), numbered(2)}))
	assert.Equal(t, []Observation{{Signature: numbered(1), Slot: 100, Negotiation: watchedNegotiation, Truncated: true}}, w.told())
}

func TestNothingIsForgottenThatALateNotificationMayTellOf(t *testing.T) {
	w := newWatcher(t, blocks{})
	w.seen[numbered(1)], w.seen[numbered(2)] = 100, 101
	w.watched[0].known.slot = 101 + lateSlots
	w.forget()
	assert.Equal(t, map[solana.Signature]uint64{numbered(2): 101}, w.seen)
}

func TestCreationIsToldEvenIfItCannotBeFollowedYet(t *testing.T) {
	b := blocks{}
	w := newWatcher(t, b)
	w.fixed, w.agent = solana.PublicKey{}, solana.PublicKey{7}
	w.watched = []*watchedAddress{{address: w.agent}}
	w.stream = serveLogs(t, func(string) []string { return []string{"hang up"} })
	created := &NegotiationCreated{NegotiationID: watchedNegotiation, Seller: w.agent}
	b.executed(t, 1, 100, nil, created, offerOf(1))
	require.Error(t, w.hear(t.Context(), []solana.Signature{numbered(1)}))
	assert.Equal(t, []Observation{observed(1, 100, created), observed(1, 100, offerOf(1))}, w.told())
	require.NotNil(t, w.find(watchedNegotiation), "the next connection listens to it")
}
