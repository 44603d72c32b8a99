package policy

import (
	"regexp"
	"strings"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/policy"
)

// The policy in the help text is complete and can sign.
func TestPolicyInTheHelpIsValid(t *testing.T) {
	text := regexp.MustCompile(`(?s)\n  \{\n.*\n  \}\n`).FindString(policyHelp)
	address := solana.PublicKey{1}.String()
	config, err := policy.ParseConfig([]byte(strings.NewReplacer("MINT", address, "ADDRESS", address).Replace(text)))
	require.NoError(t, err)
	require.Contains(t, config.Instructions, policy.ComputeBudget, "which is in every transaction")
	require.Empty(t, viewPolicy(&config).SignsNothing)
	config.Instructions = []string{"haggle.submit_offer"}
	require.NotEmpty(t, viewPolicy(&config).SignsNothing)
}
