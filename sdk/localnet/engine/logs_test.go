package engine_test

import (
	"strings"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"
)

// Nodes keep 10,000 bytes per transaction log, and readers of events must notice the rest's absence.
func TestLogsAreTruncatedAsByANode(t *testing.T) {
	chain := start(t)
	var memos []solana.Instruction
	accounts := make(solana.AccountMetaSlice, 0)
	for range 60 {
		memos = append(memos, solana.NewInstruction(solana.MemoProgramID, accounts, []byte("memo")))
	}
	result, err := chain.Execute(wire(t, []solana.PrivateKey{chain.payer}, memos...))
	require.NoError(t, err)
	require.Nil(t, result.Err, "%s", result.Err)
	require.Contains(t, result.Logs, "Log truncated")
	require.LessOrEqual(t, len(strings.Join(result.Logs, "")), 10_000+len("Log truncated"))
}
