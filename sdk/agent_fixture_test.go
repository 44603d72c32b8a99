package haggle

import (
	"encoding/base64"
	"testing"

	"github.com/haggle-protocol/haggle/sdk/internal/solana/send"
	"github.com/haggle-protocol/haggle/sdk/wallet"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/programs/system"
	"github.com/stretchr/testify/require"
)

// agent is a client with a journal and a key.
type agent struct {
	*Client
	journal *memoryJournal
	node    *scriptedNode
	me      *wallet.Keypair
	// restarts counts the restarts.
	restarts byte
}

// newAgent returns an agent on a chain whose height keeps new transactions valid for long.
func newAgent(t *testing.T, answers map[string]func(int) (any, error)) *agent {
	t.Helper()
	client, node, _ := newScripted(t, answers)
	a := &agent{Client: client, journal: newMemoryJournal(), node: node, me: newKeypair(t)}
	for method, answer := range map[string]func(int) (any, error){
		"getLatestBlockhash": func(call int) (any, error) {
			// Each block has a different hash.
			return object{"context": object{"slot": testSlot}, "value": object{
				"blockhash":            solana.Hash{byte(call), a.restarts}.String(),
				"lastValidBlockHeight": testLastValid,
			}}, nil
		},
		"simulateTransaction": always(object{"context": object{"slot": testSlot},
			"value": object{"unitsConsumed": 150, "logs": []string{}}}),
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
				"meta": object{"err": nil, "fee": 5_000, "computeUnitsConsumed": 150,
					"logMessages": []string{}},
			}
		}
	}
	return nil
}

// restart returns an agent that shares only the journal and the key with this agent.
func (a *agent) restart(t *testing.T) *agent {
	t.Helper()
	require.NoError(t, a.Close())
	again := newAgent(t, nil)
	again.journal, again.me = a.journal, a.me
	again.inFlight = newInFlight(a.journal)
	again.restarts = a.restarts + 1
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

// abandon signs an action, writes it to the journal and authorizes it there, and does not send it.
func (a *agent) abandon(t *testing.T, action *Action) JournalEntry {
	t.Helper()
	prepared, err := action.prepare(t.Context())
	require.NoError(t, err)
	require.NoError(t, send.Sign(t.Context(), prepared.transaction, []Signer{a.me}))
	encoded, err := prepared.transaction.MarshalBinary()
	require.NoError(t, err)
	entry := prepared.entry(encoded)
	require.NoError(t, a.journal.Begin(t.Context(), entry))
	require.NoError(t, a.journal.Authorize(t.Context(), entry.Signature))
	entry.Authorized = true
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
