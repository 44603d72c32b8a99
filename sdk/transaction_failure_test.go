package haggle

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/internal/solana/send"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// failureError returns a failed transaction's error as the client does.
func failureError(raw any, logs []string, invoked []solana.PublicKey, signature solana.Signature) error {
	return send.FailureError(raw, logs, invoked, signature, explainFailure)
}

func chainError(t *testing.T, encoded string) (decoded any) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(encoded), &decoded))
	return decoded
}

var budgetThenOurs = []solana.PublicKey{solana.ComputeBudget, protocol.ProgramID}

func TestOwnRefusalIsAProgramError(t *testing.T) {
	logs := []string{
		"Program ComputeBudget111111111111111111111111111111 invoke [1]",
		"Program ComputeBudget111111111111111111111111111111 success",
		"Program " + protocol.ProgramAddress + " invoke [1]",
		"Program " + protocol.ProgramAddress + " consumed 400 of 5000 compute units",
		"Program " + protocol.ProgramAddress + " failed: custom program error: 0x1772",
	}
	err := failureError(chainError(t, `{"InstructionError":[1,{"Custom":6002}]}`), logs, budgetThenOurs,
		solana.Signature{})

	require.ErrorIs(t, err, protocol.ErrNotYourTurn)
	require.NotErrorIs(t, err, protocol.ErrExpired)
	var refused *protocol.ProgramError
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, "NotYourTurn", refused.Name)
	assert.Equal(t, 1, refused.Instruction)
	assert.Equal(t, logs, refused.Logs)
	assert.True(t, refused.Signature.IsZero())
}

func TestFailuresOfOtherProgramsAreTransactionErrors(t *testing.T) {
	tokenFailsInside := []string{
		"Program " + protocol.ProgramAddress + " invoke [1]",
		"Program log: Program " + protocol.ProgramAddress + " failed: custom program error: 0x1772",
		"Program TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA invoke [2]",
		"Program TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA failed: custom program error: 0x1",
		"Program " + protocol.ProgramAddress + " failed: custom program error: 0x1",
	}
	oursFailsInside := []string{
		"Program 11111111111111111111111111111111 invoke [1]",
		"Program " + protocol.ProgramAddress + " invoke [2]",
		"Program " + protocol.ProgramAddress + " failed: custom program error: 0x1772",
		"Program 11111111111111111111111111111111 failed: custom program error: 0x1772",
	}
	cases := map[string]struct {
		chain   string
		logs    []string
		invoked []solana.PublicKey
		want    transaction.Error
	}{
		"token program below ours": {
			`{"InstructionError":[1,{"Custom":1}]}`, tokenFailsInside, budgetThenOurs,
			transaction.Error{Reason: "Custom", Instruction: 1, Program: solana.TokenProgramID, Code: 1},
		},
		"another program that calls ours": {
			`{"InstructionError":[0,{"Custom":6002}]}`, oursFailsInside,
			[]solana.PublicKey{solana.SystemProgramID},
			transaction.Error{Reason: "Custom", Instruction: 0, Program: protocol.ProgramID, Code: 6002},
		},
		"another program with our number": {
			`{"InstructionError":[0,{"Custom":6002}]}`, nil, []solana.PublicKey{solana.TokenProgramID},
			transaction.Error{Reason: "Custom", Instruction: 0, Program: solana.TokenProgramID, Code: 6002},
		},
		"a small number without logs": {
			`{"InstructionError":[1,{"Custom":1}]}`, []string{"Log truncated"}, budgetThenOurs,
			transaction.Error{Reason: "Custom", Instruction: 1, Code: 1},
		},
		"ours out of compute units": {
			`{"InstructionError":[1,"ComputationalBudgetExceeded"]}`,
			[]string{"Program " + protocol.ProgramAddress + " failed: exceeded CUs meter at BPF instruction"},
			budgetThenOurs,
			transaction.Error{Reason: "ComputationalBudgetExceeded", Instruction: 1,
				Program: protocol.ProgramID},
		},
		"no instruction's fault": {
			`"BlockhashNotFound"`, nil, budgetThenOurs,
			transaction.Error{Reason: "BlockhashNotFound", Instruction: -1},
		},
		"an account's rent": {
			`{"InsufficientFundsForRent":{"account_index":0}}`, nil, budgetThenOurs,
			transaction.Error{Reason: "InsufficientFundsForRent", Instruction: -1},
		},
		"an instruction that the transaction does not have": {
			`{"InstructionError":[7,{"Custom":6002}]}`, nil, budgetThenOurs,
			transaction.Error{Reason: "Custom", Instruction: 7, Code: 6002},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			err := failureError(chainError(t, c.chain), c.logs, c.invoked, solana.Signature{})
			var failed *transaction.Error
			require.ErrorAs(t, err, &failed)
			c.want.Logs = c.logs
			assert.Equal(t, c.want, *failed)
			assert.NotErrorIs(t, err, protocol.ErrNotYourTurn)
			assert.NotEmpty(t, failed.Error())
		})
	}
}

// SPL Token before p-token does not support the batch that creates and funds a vault.
func TestTokenProgramWithoutBatchesIsNamed(t *testing.T) {
	failed := func(program string) string { return "Program " + program + " failed: custom program error: 0xc" }
	const tokens = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
	logs := []string{
		"Program " + protocol.ProgramAddress + " invoke [1]",
		"Program 11111111111111111111111111111111 invoke [2]",
		"Program 11111111111111111111111111111111 success",
		"Program " + tokens + " invoke [2]",
		"Program log: Error: Invalid instruction",
		"Program " + tokens + " consumed 1403 of 186025 compute units",
		failed(tokens),
		"Program " + protocol.ProgramAddress + " consumed 15378 of 200000 compute units",
		failed(protocol.ProgramAddress),
	}
	const chain = `{"InstructionError":[1,{"Custom":12}]}`
	err := failureError(chainError(t, chain), logs, budgetThenOurs, solana.Signature{})
	require.ErrorIs(t, err, ErrTokenProgramTooOld)
	require.ErrorContains(t, err,
		"the cluster's token program does not support batches (p-token is required)")
	assert.Equal(t, transaction.NotSent, transaction.OutcomeOf(err))
	err = failureError(chainError(t, chain), logs, budgetThenOurs, solana.Signature{1})
	require.ErrorIs(t, err, ErrTokenProgramTooOld)
	assert.Equal(t, transaction.Failed, transaction.OutcomeOf(err))

	others := map[string]struct {
		chain   string
		logs    []string
		invoked []solana.PublicKey
	}{
		"another number": {`{"InstructionError":[1,{"Custom":1}]}`, logs, budgetThenOurs},
		"Token-2022": {chain,
			[]string{failed(solana.Token2022ProgramID.String()), failed(protocol.ProgramAddress)},
			budgetThenOurs},
		"another program's instruction": {chain, []string{failed(tokens)},
			[]solana.PublicKey{solana.ComputeBudget, solana.TokenProgramID}},
		"without logs": {chain, nil, budgetThenOurs},
	}
	for name, c := range others {
		err := failureError(chainError(t, c.chain), c.logs, c.invoked, solana.Signature{})
		require.NotErrorIs(t, err, ErrTokenProgramTooOld, name)
	}
}

// A simulation returns the same error, before anything is signed.
func TestSimulationNamesATokenProgramWithoutBatches(t *testing.T) {
	a := newBuyer(t)
	a.node.answers["simulateTransaction"] = always(object{"context": object{"slot": testSlot},
		"value": object{
			"err": object{"InstructionError": []any{1, object{"Custom": 12}}},
			"logs": []string{
				"Program " + protocol.ProgramAddress + " invoke [1]",
				"Program TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA invoke [2]",
				"Program TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA failed: custom program error: 0xc",
				"Program " + protocol.ProgramAddress + " failed: custom program error: 0xc",
			},
		}})
	creation, err := a.create(t, nil)
	require.NoError(t, err)
	_, err = creation.Do(t.Context(), a.me)
	require.ErrorIs(t, err, ErrTokenProgramTooOld)
	assert.Zero(t, a.journal.begun)

	invited := comparing(t)
	invited.Seller, invited.TokenMint, invited.Status = a.me.PublicKey(), testMint, protocol.NegotiationStatusCreated
	invited.BondState, invited.BondRequired = protocol.BondStateNone, 5
	invited.Data = invited.Encode()
	a.node.accounts[invited.Address] = negotiationAnswer(invited)
	acceptance, err := a.At(invited).AcceptInvitation(a.me.PublicKey(), [32]byte{}, testDecimals,
		Deposit{}).Build(t.Context())
	require.NoError(t, err)
	_, err = acceptance.Do(t.Context(), a.me)
	require.ErrorIs(t, err, ErrTokenProgramTooOld)
}

func TestOwnNumberWithoutLogsIsAProgramError(t *testing.T) {
	err := failureError(chainError(t, `{"InstructionError":[1,{"Custom":6013}]}`), nil, budgetThenOurs,
		solana.Signature{1})
	require.ErrorIs(t, err, protocol.ErrStaleState)
}

func TestMalformedChainErrorsAreErrors(t *testing.T) {
	for _, encoded := range []string{
		`{}`, `[]`, `7`, `true`, `{"A":1,"B":2}`,
		`{"InstructionError":[]}`, `{"InstructionError":[1]}`, `{"InstructionError":["x",{"Custom":1}]}`,
		`{"InstructionError":[300,{"Custom":1}]}`, `{"InstructionError":[0,{"Custom":-1}]}`,
		`{"InstructionError":[0,{"Custom":"x"}]}`,
	} {
		err := failureError(chainError(t, encoded), nil, budgetThenOurs, solana.Signature{})
		require.Error(t, err, encoded)
		var refused *protocol.ProgramError
		var failed *transaction.Error
		assert.False(t, errors.As(err, &refused) || errors.As(err, &failed), encoded)
	}
}
