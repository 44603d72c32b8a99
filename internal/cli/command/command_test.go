package command

import (
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

func TestTheUsageLineDecidesTheNumberOfArguments(t *testing.T) {
	for use, accepted := range map[string][]bool{
		"list":               {true, false, false},
		"show NAME":          {false, true, false},
		"verify FILE [NAME]": {false, true, true, false},
		"declare FILE...":    {false, true, true, true},
	} {
		cmd := &cobra.Command{Use: use, Run: func(*cobra.Command, []string) {}}
		CheckArguments(Group("group", "", "", cmd))
		for count, want := range accepted {
			err := cmd.ValidateArgs(make([]string, count))
			require.Equal(t, want, err == nil, "%s with %d arguments: %v", use, count, err)
		}
	}
}
