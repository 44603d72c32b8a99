package load

import (
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/programs/token"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/stretchr/testify/require"
)

// key returns an address for a number.
func key(number byte) solana.PublicKey { return solana.PublicKey{31: number} }

func keys(numbers ...byte) (all []solana.PublicKey) {
	for _, number := range numbers {
		all = append(all, key(number))
	}
	return all
}

func TestLocks(t *testing.T) {
	// 1 and 2 are negotiations, 11 and 12 their buyers, 100 the configuration, and 101 the treasury's
	// account.
	negotiations := map[solana.PublicKey]bool{key(1): true, key(2): true}
	apart := []landed{
		{writable: keys(11, 1), readOnly: keys(100)},
		{writable: keys(12, 2), readOnly: keys(100)},
		{writable: keys(11, 1, 100, 101), instruction: closeInstruction},
		{writable: keys(12, 2, 100, 101), instruction: closeInstruction},
	}
	found := findLocks(apart, negotiations)
	require.Empty(t, found.shared)
	require.Empty(t, found.unrelated)
	require.Equal(t, [4]int{2, 2, 4, 1}, [4]int{found.transactions, found.negotiations, found.writable,
		found.pairs()})
	require.Equal(t, []commonAccount{{address: key(100), transactions: 2, negotiation: 2}}, found.common)
	require.Equal(t, []commonAccount{
		{address: key(100), transactions: 2, written: 2, negotiation: 2},
		{address: key(101), transactions: 2, written: 2, negotiation: 2},
	}, found.atClose)

	for name, third := range map[string]landed{
		"both write it":                       {writable: keys(2, 11)},
		"one writes what the other one reads": {writable: keys(2, 100)},
		"one reads what the other one writes": {writable: keys(2), readOnly: keys(11)},
	} {
		require.Len(t, findLocks(append(apart, third), negotiations).shared, 1, name)
	}
	for name, third := range map[string]landed{
		"names two":  {writable: keys(1, 2), signature: solana.Signature{1}},
		"names none": {writable: keys(11), signature: solana.Signature{1}},
	} {
		require.Equal(t, []solana.Signature{{1}}, findLocks(append(apart, third), negotiations).unrelated,
			name)
	}
}

// A transaction's accounts are divided by the instruction's flags.
func TestAccountsAreDivided(t *testing.T) {
	payer, owner, from, mint, to := key(1), key(2), key(3), key(4), key(5)
	transfer := token.NewTransferCheckedInstruction(7, 6, from, mint, to, owner, nil).Build()
	transaction, err := solana.NewTransaction([]solana.Instruction{transfer}, solana.Hash{},
		solana.TransactionPayer(payer))
	require.NoError(t, err)
	transaction.Signatures = []solana.Signature{{1}}
	var blocks blockReader
	require.NoError(t, blocks.classify(5, transaction, new(rpc.TransactionMeta)))
	require.ElementsMatch(t, []solana.PublicKey{payer, from, to}, blocks.plain[0].writable)
	require.ElementsMatch(t, []solana.PublicKey{owner, mint, solana.TokenProgramID}, blocks.plain[0].readOnly)
}
