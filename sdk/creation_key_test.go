package haggle

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

func TestCreationRequiresAKey(t *testing.T) {
	const message = "haggle: create_negotiation: CreateRequest.Key not set: " +
		"name the purchase, for example by its order number"
	a := newBuyer(t)
	unnamed := func() *Action { return a.CreateNegotiation(CreateRequest{Buyer: a.me.PublicKey()}) }
	_, err := unnamed().Build(t.Context())
	require.EqualError(t, err, message)
	_, err = unnamed().Transaction(t.Context())
	require.EqualError(t, err, message)
	_, err = unnamed().Simulate(t.Context())
	require.ErrorContains(t, err, message)
	_, err = unnamed().Do(t.Context(), a.me)
	require.ErrorContains(t, err, message)
	assert.Equal(t, transaction.NotSent, transaction.OutcomeOf(err))
	a.node.lock.Lock()
	defer a.node.lock.Unlock()
	assert.Empty(t, a.node.calls, "no request is sent")
}

func TestOtherKeyOrSellerIsAnotherPurchase(t *testing.T) {
	for name, change := range map[string]func(*CreateRequest){
		"key":    func(r *CreateRequest) { r.Key = "order 1235" },
		"seller": func(r *CreateRequest) { r.Seller = solana.PublicKey{9} },
	} {
		t.Run(name, func(t *testing.T) {
			a := newBuyer(t)
			first, err := a.create(t, nil)
			require.NoError(t, err)
			a.abandon(t, first)
			a = a.again(t)
			second, err := a.create(t, change)
			require.NoError(t, err)
			assert.NotEqual(t, first.Negotiation, second.Negotiation)
			_, err = second.Do(t.Context(), a.me)
			require.NoError(t, err)
			assert.Len(t, a.journal.entries, 2)
		})
	}
}

func TestOtherTermsWithTheSameKeyAreNotCreated(t *testing.T) {
	for name, change := range map[string]func(*CreateRequest){
		"amount":   func(r *CreateRequest) { r.EscrowAmount++ },
		"service":  func(r *CreateRequest) { r.ServiceHash[0]++ },
		"deadline": func(r *CreateRequest) { r.Deadline = 2 * time.Hour },
		"bond":     func(r *CreateRequest) { r.Bond = 1 },
		"milestones": func(r *CreateRequest) {
			r.Milestones = &Milestones{Arbiter: solana.PublicKey{5}, Shares: []uint16{10_000}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := newBuyer(t)
			first, err := a.create(t, nil)
			require.NoError(t, err)
			a.abandon(t, first)
			a = a.again(t)
			second, err := a.create(t, change)
			require.NoError(t, err)
			require.Equal(t, first.Negotiation, second.Negotiation)
			_, err = second.Do(t.Context(), a.me)
			var done *AlreadyDone
			require.ErrorAs(t, err, &done)
			assert.Equal(t, first.Negotiation, done.Negotiation)
			assert.Len(t, a.journal.entries, 1, "no second escrow")
		})
	}
}

// expireAll makes the node show every transaction as expired.
func (a *agent) expireAll() {
	a.node.statusOf = func(solana.Signature) any { return nil }
	a.node.answers["getEpochInfo"] = always(object{"absoluteSlot": testSlot, "blockHeight": testLastValid + 1})
}

// A node can report an executed creation as expired. A repetition meets the same address, so that the chain
// executes one of them.
func TestRepeatedCreationUsesTheSessionOfTheExpiredOne(t *testing.T) {
	for name, journal := range map[string]bool{"with a journal": true, "without a journal": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newBuyer(t)
				if !journal {
					a.inFlight = nil
				}
				a.expireAll()
				var first solana.PublicKey
				for range 3 {
					action, err := a.create(t, nil)
					require.NoError(t, err)
					if first.IsZero() {
						first = action.Negotiation
					}
					require.Equal(t, first, action.Negotiation)
					_, err = action.Do(t.Context(), a.me)
					require.ErrorIs(t, err, transaction.ErrExpired)
				}

				// The node lied: the history contains the creation.
				created := &protocol.Negotiation{Buyer: a.me.PublicKey(), Seller: testSeller,
					Version: protocol.NegotiationVersion}
				a.node.accounts[first] = answerOf(protocol.ProgramID, 1, created.Encode())
				a.node.list = func(rpc.M) any {
					return []any{object{"signature": solana.Signature{1}.String(), "slot": testSlot}}
				}
				sent := a.node.called("sendTransaction")
				for range 2 {
					_, err := a.create(t, nil)
					var used *SessionUsedError
					require.ErrorAs(t, err, &used)
					assert.Equal(t, first, used.Negotiation)
					assert.Equal(t, SessionIDFor("order 1234"), used.SessionID)
					delete(a.node.accounts, first) // closed
				}
				assert.Equal(t, sent, a.node.called("sendTransaction"), "no second escrow")
			})
		})
	}
}
