package haggle

import (
	"encoding/base64"
	"encoding/binary"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// tokenData returns a token account's bytes.
func tokenData(mint, owner solana.PublicKey, amount uint64) []byte {
	data := make([]byte, tokenAccountSize)
	copy(data, mint[:])
	copy(data[tokenAccountOffsetOwner:], owner[:])
	binary.LittleEndian.PutUint64(data[tokenAccountOffsetAmt:], amount)
	data[tokenAccountOffsetState] = byte(token.StateInitialized)
	return data
}

func TestSimulateReturnsChangesAndSignsNothing(t *testing.T) {
	a := newAgent(t, nil)
	mint, owner := solana.PublicKey{4}, solana.PublicKey{5}
	tokens, created, untouched := solana.PublicKey{6}, solana.PublicKey{7}, solana.PublicKey{8}
	me := a.me.PublicKey()
	action := &Action{Name: "pay", Payer: me, client: a.Client,
		Instructions: []solana.Instruction{solana.NewInstruction(
			solana.SystemProgramID, solana.AccountMetaSlice{
				solana.Meta(me).SIGNER().WRITE(), solana.Meta(tokens).WRITE(), solana.Meta(created).WRITE(),
				solana.Meta(untouched).WRITE(),
				solana.Meta(mint),
			}, []byte{1})}}
	before := map[solana.PublicKey]any{
		me:        answerOf(solana.SystemProgramID, 1_000_000, nil),
		tokens:    answerOf(solana.TokenProgramID, token.AccountRent, tokenData(mint, owner, 100)),
		untouched: answerOf(solana.TokenProgramID, token.AccountRent, tokenData(mint, owner, 3)),
	}
	after := map[solana.PublicKey]any{
		me:        answerOf(solana.SystemProgramID, 900_000, nil),
		tokens:    answerOf(solana.TokenProgramID, token.AccountRent, tokenData(mint, owner, 40)),
		created:   answerOf(solana.TokenProgramID, 95_000, tokenData(mint, me, 60)),
		untouched: before[untouched],
	}
	event := base64.StdEncoding.EncodeToString((&protocol.OfferSubmitted{Round: 3}).AppendTo(nil))
	logs := []string{
		"Program " + protocol.ProgramID.String() + " invoke [1]", "Program data: " + event,
		"Program " + protocol.ProgramID.String() + " success",
	}
	a.node.each = func(address solana.PublicKey) any { return before[address] }
	a.node.simulated = func(addresses []solana.PublicKey) any {
		accounts := make([]any, len(addresses))
		for i, address := range addresses {
			accounts[i] = after[address]
		}
		return object{"context": object{"slot": testSlot},
			"value": object{"unitsConsumed": 10_000, "logs": logs, "accounts": accounts}}
	}
	a.node.answers["getRecentPrioritizationFees"] = always([]any{object{"slot": 1,
		"prioritizationFee": 1_000_000}})

	run, err := action.With(WithMaxPriorityFee(9_000)).Simulate(t.Context())
	require.NoError(t, err)
	assert.EqualValues(t, 10_000, run.ComputeUnits)
	assert.EqualValues(t, 11_300, run.ComputeLimit)
	assert.EqualValues(t, 9_000, run.PriorityFee, "11,300 of a whole lamport, capped")
	assert.EqualValues(t, 14_000, run.Fee)
	assert.Equal(t, logs, run.Logs)
	require.Len(t, run.Events, 1)
	assert.EqualValues(t, 3, run.Events[0].(*protocol.OfferSubmitted).Round)
	require.Len(t, run.Changes, 3)
	byAccount := make(map[solana.PublicKey]transaction.BalanceChange)
	for _, change := range run.Changes {
		byAccount[change.Account] = change
	}
	payer := byAccount[me]
	assert.EqualValues(t, -100_000, payer.Lamports())
	assert.Nil(t, payer.Tokens)
	assert.Equal(t, &transaction.TokenChange{Mint: mint, Owner: owner, Before: 100, After: 40}, byAccount[tokens].Tokens)
	assert.Equal(t, transaction.BalanceChange{Account: created, LamportsAfter: 95_000,
		Tokens: &transaction.TokenChange{Mint: mint, Owner: me, After: 60}}, byAccount[created])
	assert.EqualValues(t, 95_000, run.Rent)
	assert.Zero(t, a.journal.begun)
	assert.Zero(t, a.node.called("sendTransaction"))
}

// The protocol's fee in wrapped SOL arrives in the account whose rent the closer pays; it does not belong to
// the closer. The closed negotiation's rent can arrive in an empty wallet.
func TestRentIsTheRentOfCreatedAccounts(t *testing.T) {
	account := func(owner solana.PublicKey, lamports uint64) *rpc.Account {
		return &rpc.Account{Owner: owner, Lamports: lamports, Data: rpc.DataBytesOrJSONFromBytes([]byte{1})}
	}
	wallet := func(lamports uint64) *rpc.Account {
		return &rpc.Account{Owner: solana.SystemProgramID, Lamports: lamports, Data: rpc.DataBytesOrJSONFromBytes(nil)}
	}
	tokens := func(lamports uint64) *rpc.Account { return account(solana.TokenProgramID, lamports) }
	for name, c := range map[string]struct {
		before, after *rpc.Account
		mint          solana.PublicKey
		units, rent   uint64
	}{
		"another mint":        {nil, tokens(2_039_280), solana.PublicKey{1}, 450_958, 2_039_280},
		"wrapped SOL":         {nil, tokens(2_539_280), solana.WrappedSol, 500_000, 2_039_280},
		"Token-2022":          {nil, account(solana.Token2022ProgramID, 2_574_080), token.WrappedSOL2022, 500_000, 2_074_080},
		"an existing account": {tokens(2_039_280), tokens(2_539_280), solana.WrappedSol, 500_000, 0},
		"a prefunded address": {wallet(890_880), tokens(2_039_280), solana.PublicKey{1}, 1, 1_148_400},
		"no token account":    {nil, account(protocol.ProgramID, 890_880), solana.PublicKey{}, 0, 890_880},
		"an empty wallet":     {nil, wallet(6_493_680), solana.PublicKey{}, 0, 0},
	} {
		change := transaction.BalanceChange{LamportsAfter: c.after.Lamports}
		if c.before != nil {
			change.LamportsBefore = c.before.Lamports
		}
		if !c.mint.IsZero() {
			change.Tokens = &transaction.TokenChange{Mint: c.mint, After: c.units}
		}
		assert.Equal(t, c.rent, rentIn(c.before, c.after, change), name)
	}
}

func TestSimulationOfARefusalReturnsTheLogs(t *testing.T) {
	a := newAgent(t, nil)
	a.node.answers["simulateTransaction"] = always(object{"context": object{"slot": testSlot},
		"value": object{
			"err":  object{"InstructionError": []any{1, object{"Custom": 1}}},
			"logs": []string{"Program 11111111111111111111111111111111 failed: custom program error: 0x1"},
		}})
	run, err := a.pay(t, 1).Simulate(t.Context())
	var failed *transaction.Error
	require.ErrorAs(t, err, &failed)
	require.NotNil(t, run)
	assert.Len(t, run.Logs, 1)
}

func TestPriorityFeeIsRoundedUp(t *testing.T) {
	assert.EqualValues(t, 1, priorityFee(1, 1))
	assert.EqualValues(t, 14, priorityFee(1_000, 14_000))
	assert.EqualValues(t, 15, priorityFee(1_001, 14_000))
	assert.EqualValues(t, 28_001, priorityFee(2_000_001, 14_000))
	assert.Zero(t, priorityFee(0, 14_000))
}

func TestPercentileOfRecentFees(t *testing.T) {
	fees := func() []uint64 { return []uint64{40, 10, 30, 20} }
	assert.EqualValues(t, 40, percentile(fees(), 75))
	assert.EqualValues(t, 30, percentile(fees(), 50))
	assert.EqualValues(t, 10, percentile(fees(), 1))
	assert.EqualValues(t, 40, percentile(fees(), 100))
	assert.Zero(t, percentile(nil, 75))
}

func TestCommitmentOfOneActionIsItsOwn(t *testing.T) {
	levels := []string{"processed", "confirmed", "finalized"}
	a := newAgent(t, map[string]func(int) (any, error){
		"getSignatureStatuses": func(call int) (any, error) {
			return statuses(testSlot, executedStatus(levels[min(call, len(levels))-1], nil)), nil
		},
	})
	action := a.pay(t, 1)
	_, err := action.With(WithCommitment(rpc.CommitmentFinalized)).Do(t.Context(), a.me)
	require.NoError(t, err)
	assert.Equal(t, 3, a.node.called("getSignatureStatuses"))
	assert.Equal(t, rpc.CommitmentFinalized, a.only(t).Commitment)
	assert.Empty(t, action.options.commitment, "the action itself stays as it is")

	_, err = a.pay(t, 2).With(WithCommitment(rpc.CommitmentProcessed)).Do(t.Context(), a.me)
	require.ErrorContains(t, err, "processed")
	assert.Equal(t, transaction.NotSent, transaction.OutcomeOf(err))
}
