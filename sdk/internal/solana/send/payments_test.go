package send

import (
	"encoding/base64"
	"encoding/json"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// object is a JSON object.
type object = map[string]any

var keptMint = solana.PublicKey{9}

func TestReceiptNamesTheAccountsThatHoldMore(t *testing.T) {
	payer, vault, paid, created := solana.PublicKey{1}, solana.PublicKey{2}, solana.PublicKey{3}, solana.PublicKey{4}
	looked, owner := solana.PublicKey{5}, solana.PublicKey{6}
	tx, err := solana.NewTransaction([]solana.Instruction{solana.NewInstruction(solana.SystemProgramID, solana.AccountMetaSlice{
		solana.Meta(vault).WRITE(), solana.Meta(paid).WRITE(), solana.Meta(created).WRITE(),
	}, nil)}, solana.Hash{}, solana.TransactionPayer(payer))
	require.NoError(t, err)
	tx.Signatures = make([]solana.Signature, 1)
	encoded, err := tx.MarshalBinary()
	require.NoError(t, err)
	balance := func(index int, amount string) object {
		return object{"accountIndex": index, "mint": keptMint, "owner": owner,
			"uiTokenAmount": object{"amount": amount, "decimals": 6}}
	}
	index := func(address solana.PublicKey) int {
		for i, key := range tx.Message.AccountKeys {
			if key == address {
				return i
			}
		}
		return len(tx.Message.AccountKeys) // the first address from a lookup table
	}
	answer, err := json.Marshal(object{
		"slot": 7, "transaction": []string{base64.StdEncoding.EncodeToString(encoded), "base64"},
		"meta": object{
			"preTokenBalances": []any{balance(index(vault), "100"), balance(index(paid), "5"),
				balance(index(looked), "1")},
			"postTokenBalances": []any{
				balance(index(vault), "10"), balance(index(paid), "45"), balance(index(created), "50"),
				balance(index(looked), "2"),
				balance(99, "1"), balance(0, "many"), object{"accountIndex": 0, "mint": keptMint},
			},
			"loadedAddresses": object{"writable": []any{looked}, "readonly": []any{}},
		},
	})
	require.NoError(t, err)
	var details rpc.GetTransactionResult
	require.NoError(t, json.Unmarshal(answer, &details))
	assert.Equal(t, []transaction.Payment{
		{Account: paid, Owner: owner, Mint: keptMint, Amount: 40}, {Account: created, Owner: owner, Mint: keptMint, Amount: 50}, {Account: looked, Owner: owner, Mint: keptMint, Amount: 1},
	}, PaymentsOf(&details))
}
