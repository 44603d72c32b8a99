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
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

var testMint = solana.PublicKey{4, 4}

// testDecimals is the number of decimals in mintData.
const testDecimals = 6

// newBuyer returns an agent with tokens, on a chain with a configured protocol and a transaction for each
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
		testMint: answerOf(solana.TokenProgramID, 1, mintData()),
		config: answerOf(protocol.ProgramID, 1,
			(&protocol.ProtocolConfig{}).AppendTo(nil)),
		solana.SysVarClockPubkey: answerOf(sysvarOwner, 1, clock),
		tokens: answerOf(solana.TokenProgramID, 1,
			tokenData(testMint, a.me.PublicKey(), 10_000_000)),
	}
	a.node.list = func(rpc.M) any {
		if len(used) == 0 {
			return []any{}
		}
		return []any{object{"signature": solana.Signature{1}.String(), "slot": testSlot}}
	}
}

func (a *agent) create(t *testing.T, change func(*CreateRequest)) (*Action, error) {
	t.Helper()
	request := CreateRequest{
		Buyer: a.me.PublicKey(), Seller: testSeller, Mint: testMint, Decimals: testDecimals,
		EscrowAmount: 1_000_000,
		ServiceHash:  protocol.ServiceHash("Translate a page"),
		Key:          "order 1234",
	}
	if change != nil {
		change(&request)
	}
	return a.CreateNegotiation(request).Build(t.Context())
}

// A buyer that is killed while the outcome of a creation is unknown must not escrow a second time.
func TestKilledBuyerDoesNotEscrowTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newBuyer(t)
		first, err := a.create(t, nil)
		require.NoError(t, err)
		ctx, kill := context.WithCancel(t.Context())
		a.journal.afterAuthorize = kill
		_, err = first.Do(ctx, a.me)
		require.Equal(t, transaction.Unknown, transaction.OutcomeOf(err))

		// A minute later the buyer restarts without state and creates the same negotiation, so with another
		// deadline on chain.
		time.Sleep(time.Minute)
		a = a.restart(t)
		a.becomesBuyer(t)
		a.journal.afterAuthorize = nil
		a.node.answers["getSignatureStatuses"] = executed(testSlot)
		second, err := a.create(t, nil)
		require.NoError(t, err)
		require.Equal(t, first.Negotiation, second.Negotiation,
			"the session id follows from the key")
		_, err = second.Do(t.Context(), a.me)
		var done *AlreadyDone
		require.ErrorAs(t, err, &done)
		assert.Equal(t, first.Negotiation, done.Negotiation, "there it is")
		require.NotNil(t, done.Receipt)
		assert.Len(t, a.journal.entries, 1)
		assert.Zero(t, a.node.called("sendTransaction"))

		// The receipt does not end the purchase: only another key is another purchase.
		third, err := a.create(t, nil)
		require.NoError(t, err)
		_, err = third.Do(t.Context(), a.me)
		require.ErrorAs(t, err, &done)
		fourth, err := a.create(t, func(r *CreateRequest) { r.Key = "order 1235" })
		require.NoError(t, err)
		_, err = fourth.Do(t.Context(), a.me)
		require.NoError(t, err)
		assert.Len(t, a.journal.entries, 2)
	})
}

func TestRepeatedCreationFindsTheNegotiation(t *testing.T) {
	order := SessionIDFor("order 1234")
	a := newBuyer(t)
	action, err := a.create(t, nil)
	require.NoError(t, err)

	// The account is created between building and sending the action.
	there := &Snapshot{Negotiation: protocol.Negotiation{
		Buyer: a.me.PublicKey(), Seller: testSeller, SessionID: order, TokenMint: testMint,
		Version:      protocol.NegotiationVersion,
		EscrowAmount: action.Creation.Params.EscrowAmount, ServiceHash: action.Creation.Params.ServiceHash,
		MaxRounds:    action.Creation.Params.MaxRounds,
		DecayRateBps: action.Creation.Params.DecayRateBps, ResponseWindow: action.Creation.Params.ResponseWindow,
		MinOfferBps: action.Creation.Params.MinOfferBps,
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

	// An address holding nothing but lamports counts as missing.
	a.node.accounts[action.Negotiation] = answerOf(solana.SystemProgramID, 1, nil)
	a.node.answers["getSignatureStatuses"] = executed(testSlot)
	_, err = action.Do(t.Context(), a.me)
	require.NoError(t, err)

	used := newBuyer(t, action.Negotiation)
	used.me = a.me
	used.becomesBuyer(t, action.Negotiation)
	_, err = used.create(t, nil)
	var session *SessionUsedError
	require.ErrorAs(t, err, &session)
	require.ErrorAs(t, err, new(*SessionUsedError))
	assert.Equal(t, action.Negotiation, session.Negotiation)
	assert.Equal(t, order, session.SessionID)

	// A creation that the chain executed without effect can be repeated.
	used.node.list = func(rpc.M) any {
		return []any{object{"signature": solana.Signature{1}.String(), "slot": testSlot, "err": object{"InstructionError": []any{0, "Custom"}}}}
	}
	_, err = used.create(t, nil)
	require.NoError(t, err)
}

// The first creation spent the money, so a repetition finds too little. It must return AlreadyDone all the
// same.
func TestRepeatedPurchaseWithoutFundsReturnsAlreadyDone(t *testing.T) {
	a := newBuyer(t, solana.PublicKey{1})
	tokens, err := token.AssociatedAddress(a.me.PublicKey(), testMint, solana.TokenProgramID)
	require.NoError(t, err)
	for name, account := range map[string]any{
		"too little":       answerOf(solana.TokenProgramID, 1, tokenData(testMint, a.me.PublicKey(), 1)),
		"no token account": nil,
	} {
		a.node.accounts[tokens] = account
		_, err = a.create(t, nil)
		require.ErrorAs(t, err, new(*SessionUsedError), name)
	}
}

func TestUnsetTermsAreTheSpecificationsDefaults(t *testing.T) {
	request := &CreateRequest{EscrowAmount: 100_000}
	assert.Equal(t, protocol.NegotiationParams{
		EscrowAmount: 100_000, MaxRounds: 10, DecayRateBps: 200, ResponseWindow: 300,
		GlobalDeadline: 1_000 + 3_600, MinOfferBps: 1_000, MaxFeeBps: 30,
	}, request.params(30, 1_000))

	request = &CreateRequest{
		EscrowAmount: 100_000, MaxRounds: 3, DecayRateBps: new(uint16(0)), ResponseWindow: 61*time.Second + 1,
		Deadline: 2 * time.Hour, MinOfferBps: 100,
	}
	assert.Equal(t, protocol.NegotiationParams{
		EscrowAmount: 100_000, MaxRounds: 3, ResponseWindow: 62, GlobalDeadline: 1_000 + 7_200,
		MinOfferBps: 100,
	}, request.params(0, 1_000))
}

// configure replaces the configuration account as the node returns it.
func (a *agent) configure(t *testing.T, config *protocol.ProtocolConfig) {
	t.Helper()
	address, _, err := protocol.FindConfigAddress()
	require.NoError(t, err)
	a.node.accounts[address] = answerOf(protocol.ProgramID, 1, config.AppendTo(nil))
}

// The node's configuration contains the worst values that the program allows for a buyer.
func TestConfigurationOfANodeWorsensNoTerm(t *testing.T) {
	worst := protocol.ProtocolConfig{
		DefaultMaxRounds: protocol.MaxRounds, DefaultDecayRateBps: protocol.MaxDecayRateBps,
		DefaultResponseWindow: protocol.MinResponseWindow,
	}
	for name, c := range map[string]struct {
		fee      uint16
		named    *uint16
		agreed   uint16
		rejected bool
	}{
		"fee of the specification": {fee: protocol.DefaultProtocolFeeBps, agreed: protocol.DefaultProtocolFeeBps},
		"lower fee":                {fee: 20, agreed: 20},
		"higher fee":               {fee: protocol.DefaultProtocolFeeBps + 1, rejected: true},
		"higher fee that the buyer names": {
			fee: protocol.MaxProtocolFeeBps, named: new(protocol.MaxProtocolFeeBps), agreed: protocol.MaxProtocolFeeBps,
		},
		"lower fee than the buyer names": {fee: 20, named: new(uint16(30)), agreed: 30},
	} {
		t.Run(name, func(t *testing.T) {
			a, config := newBuyer(t), worst
			config.DefaultProtocolFeeBps = c.fee
			a.configure(t, &config)
			action, err := a.create(t, func(r *CreateRequest) { r.MaxFeeBps = c.named })
			if c.rejected {
				require.ErrorIs(t, err, protocol.ErrStaleState)
				require.ErrorContains(t, err, "the protocol fee is 51 basis points, above the default of 50")
				require.ErrorContains(t, err, "MaxFeeBps")
				return
			}
			require.NoError(t, err)
			params := action.Creation.Params
			assert.Equal(t, c.agreed, params.MaxFeeBps)
			assert.Equal(t, protocol.DefaultMaxRounds, params.MaxRounds)
			assert.Equal(t, protocol.DefaultDecayRateBps, params.DecayRateBps)
			assert.Equal(t, protocol.DefaultResponseWindow, params.ResponseWindow)
		})
	}
}

func TestTermsIncludeBondZopaAndMilestones(t *testing.T) {
	arbiter := solana.PublicKey{5}
	request := &CreateRequest{
		EscrowAmount: 100_000, Bond: 5_000, Zopa: true,
		Milestones: &Milestones{Arbiter: arbiter, Shares: []uint16{2_500, 7_500}, Delivery: 48*time.Hour + 1},
	}
	params := request.params(0, 1_000)
	assert.EqualValues(t, 5_000, params.BondRequired)
	assert.True(t, params.ZopaEnabled)
	assert.Equal(t, arbiter, params.Arbiter)
	assert.EqualValues(t, 24, params.ReviewHours)
	assert.Equal(t, [8]uint16{2_500, 7_500}, params.MilestoneBps)
	assert.EqualValues(t, 1_000+48*3_600+1+2*(24*3_600+60), params.MilestoneDeadline)

	request.Milestones.Delivery, request.Milestones.ReviewHours = 0, 3
	params = request.params(0, 1_000)
	assert.EqualValues(t, 3, params.ReviewHours)
	assert.EqualValues(t, 1_000+30*86_400+2*(3*3_600+60), params.MilestoneDeadline)

	// Eight reviews of a week come on top.
	request.Milestones.ReviewHours = protocol.MaxReviewHours
	request.Milestones.Shares = []uint16{1_250, 1_250, 1_250, 1_250, 1_250, 1_250, 1_250, 1_250}
	params = request.params(0, 1_000)
	assert.EqualValues(t, 1_000+30*86_400+8*(168*3_600+60), params.MilestoneDeadline)

	// Everything can be delivered until Delivery, and still be claimed.
	request.Milestones.Delivery = 72 * time.Hour
	params = request.params(0, 1_000)
	n := protocol.Negotiation{MilestoneDeadline: params.MilestoneDeadline, ReviewHours: params.ReviewHours}
	assert.EqualValues(t, 1_000+72*3_600, n.LatestClaim(8))
}

func TestDeadlineLeavesTimeForTheExecution(t *testing.T) {
	for requested, given := range map[time.Duration]int64{
		59 * time.Second: 59, 60 * time.Second: 65, 64 * time.Second: 65, 66 * time.Second: 66,
		24 * time.Hour: 86_400,
	} {
		request := &CreateRequest{Deadline: requested}
		assert.Equal(t, given, request.params(0, 0).GlobalDeadline, requested)
	}
}
