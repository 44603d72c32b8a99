package haggle

import (
	"context"
	"encoding/binary"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
)

var testMint = solana.PublicKey{4, 4}

// newBuyer returns an agent with tokens, on a chain with a configured protocol and with a transaction at each
// address in used.
func newBuyer(t *testing.T, used ...solana.PublicKey) *agent {
	t.Helper()
	a := newAgent(t, nil)
	a.becomesBuyer(t, used...)
	return a
}

func (a *agent) becomesBuyer(t *testing.T, used ...solana.PublicKey) {
	t.Helper()
	config, _, err := protocol.FindConfigAddress()
	require.NoError(t, err)
	tokens, err := token.AssociatedAddress(a.me.PublicKey(), testMint, solana.TokenProgramID)
	require.NoError(t, err)
	clock := make([]byte, clockSize)
	binary.LittleEndian.PutUint64(clock[clockOffsetUnixTime:], uint64(time.Now().Unix()))
	a.node.accounts = map[solana.PublicKey]any{
		testMint:                 answerOf(solana.TokenProgramID, 1, mintData()),
		config:                   answerOf(protocol.ProgramID, 1, (&protocol.ProtocolConfig{DefaultMaxRounds: 10, DefaultResponseWindow: 300}).AppendTo(nil)),
		solana.SysVarClockPubkey: answerOf(sysvarOwner, 1, clock),
		tokens:                   answerOf(solana.TokenProgramID, 1, tokenData(testMint, a.me.PublicKey(), 10_000_000)),
	}
	a.node.list = func(rpc.M) any {
		if len(used) == 0 {
			return []any{}
		}
		return []any{object{"signature": solana.Signature{1}.String(), "slot": testSlot}}
	}
}

func (a *agent) create(t *testing.T, change func(*CreateRequest)) (*CreateAction, error) {
	t.Helper()
	request := CreateRequest{
		Buyer: a.me.PublicKey(), Seller: testSeller, Mint: testMint, EscrowAmount: 1_000_000, ServiceHash: protocol.ServiceHash("Translate a page"),
	}
	if change != nil {
		change(&request)
	}
	return a.CreateNegotiation(t.Context(), request)
}

// A buyer that is killed while the outcome of its creation is unknown must not escrow a second time.
func TestKilledBuyerDoesNotEscrowTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newBuyer(t)
		first, err := a.create(t, nil)
		require.NoError(t, err)
		ctx, kill := context.WithCancel(t.Context())
		a.journal.afterBegin = kill
		_, err = first.Do(ctx, a.me)
		require.Equal(t, OutcomeUnknown, OutcomeOf(err))

		// A minute later the buyer restarts without state and creates the same negotiation with another
		// deadline.
		time.Sleep(time.Minute)
		a = a.restart(t)
		a.becomesBuyer(t)
		a.journal.afterBegin = nil
		a.node.answers["getSignatureStatuses"] = executed(testSlot)
		second, err := a.create(t, nil)
		require.NoError(t, err)
		require.Equal(t, first.Negotiation, second.Negotiation, "the session id follows from the key of the first")
		_, err = second.Do(t.Context(), a.me)
		var done *AlreadyDone
		require.ErrorAs(t, err, &done)
		assert.Equal(t, first.Negotiation, done.Negotiation, "there it is")
		require.NotNil(t, done.Receipt)
		assert.Len(t, a.journal.entries, 1)
		assert.Zero(t, a.node.called("sendTransaction"))

		// Once it has received the receipt, it may create another one.
		third, err := a.create(t, nil)
		require.NoError(t, err)
		_, err = third.Do(t.Context(), a.me)
		require.NoError(t, err)
		assert.Len(t, a.journal.entries, 2)
	})
}

func TestAnotherCreationIsNotTakenForTheOneLeftBehind(t *testing.T) {
	arbiter := solana.PublicKey{5}
	sevens := uint64(77)
	for name, change := range map[string]func(*CreateRequest){
		"seller":     func(r *CreateRequest) { r.Seller = solana.PublicKey{9} },
		"amount":     func(r *CreateRequest) { r.EscrowAmount++ },
		"service":    func(r *CreateRequest) { r.ServiceHash[0]++ },
		"session":    func(r *CreateRequest) { r.SessionID = &sevens },
		"deadline":   func(r *CreateRequest) { r.Deadline = 2 * time.Hour },
		"bond":       func(r *CreateRequest) { r.Bond = 1 },
		"milestones": func(r *CreateRequest) { r.Milestones = &Milestones{Arbiter: arbiter, Shares: []uint16{10_000}} },
	} {
		t.Run(name, func(t *testing.T) {
			a := newBuyer(t)
			first, err := a.create(t, nil)
			require.NoError(t, err)
			a.abandon(t, first.Action)
			a = a.restart(t)
			a.becomesBuyer(t)
			a.node.answers["getSignatureStatuses"] = executed(testSlot)
			second, err := a.create(t, change)
			require.NoError(t, err)
			_, err = second.Do(t.Context(), a.me)
			require.NoError(t, err)
			assert.Len(t, a.journal.entries, 2)
		})
	}
}

func TestCreationUnderANameOfOnesOwnIsFoundAgain(t *testing.T) {
	order := SessionIDFor("order 1234")
	assert.Equal(t, order, SessionIDFor("order 1234"))
	assert.NotEqual(t, order, SessionIDFor("order 1235"))
	assert.Less(t, order, uint64(1)<<53)
	named := func(r *CreateRequest) { r.SessionID = &order }

	a := newBuyer(t)
	action, err := a.create(t, named)
	require.NoError(t, err)

	// The account is created between the building of the action and its sending.
	there := &Snapshot{Negotiation: protocol.Negotiation{
		Buyer: a.me.PublicKey(), Seller: testSeller, SessionID: order, TokenMint: testMint, Version: protocol.NegotiationVersion,
		EscrowAmount: action.Params.EscrowAmount, ServiceHash: action.Params.ServiceHash, MaxRounds: action.Params.MaxRounds,
		DecayRateBps: action.Params.DecayRateBps, ResponseWindow: action.Params.ResponseWindow, MinOfferBps: action.Params.MinOfferBps,
	}}
	a.node.accounts[action.Negotiation] = negotiationAnswer(there)
	_, err = action.Do(t.Context(), a.me)
	var done *AlreadyDone
	require.ErrorAs(t, err, &done)
	assert.Equal(t, action.Negotiation, done.Negotiation)
	there.EscrowAmount++
	a.node.accounts[action.Negotiation] = negotiationAnswer(there)
	_, err = action.Do(t.Context(), a.me)
	var moved *StateChangedError
	require.ErrorAs(t, err, &moved, "on other terms it is another one")
	assert.Zero(t, a.journal.begun)

	// An address that only has lamports counts as missing.
	a.node.accounts[action.Negotiation] = answerOf(solana.SystemProgramID, 1, nil)
	a.node.answers["getSignatureStatuses"] = executed(testSlot)
	_, err = action.Do(t.Context(), a.me)
	require.NoError(t, err)

	used := newBuyer(t, action.Negotiation)
	used.me = a.me
	used.becomesBuyer(t, action.Negotiation)
	_, err = used.create(t, named)
	var session *SessionUsedError
	require.ErrorAs(t, err, &session)
	require.ErrorIs(t, err, ErrSessionUsed)
	assert.Equal(t, action.Negotiation, session.Negotiation)
	assert.Equal(t, order, session.SessionID)
}

// The first creation has spent the money, so a repetition finds too little. It must return AlreadyDone all
// the same.
func TestRepeatedPurchaseIsToldSoAlsoWithoutMoneyForAnother(t *testing.T) {
	order := SessionIDFor("order 1234")
	a := newBuyer(t, solana.PublicKey{1})
	tokens, err := token.AssociatedAddress(a.me.PublicKey(), testMint, solana.TokenProgramID)
	require.NoError(t, err)
	for name, account := range map[string]any{
		"too little":       answerOf(solana.TokenProgramID, 1, tokenData(testMint, a.me.PublicKey(), 1)),
		"no token account": nil,
	} {
		a.node.accounts[tokens] = account
		_, err = a.create(t, func(r *CreateRequest) { r.SessionID = &order })
		require.ErrorIs(t, err, ErrSessionUsed, name)
	}
}
