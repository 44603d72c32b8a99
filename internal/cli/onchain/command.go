package onchain

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	haggle "github.com/haggle-protocol/haggle/sdk"
)

// completionLimit limits shell completion.
const completionLimit = 3 * time.Second

// Command completes a command whose function act sends an action on chain: it declares the documents of --json,
// limits act to --timeout, and completes an argument NEGOTIATION in the shell. The function prints the receipt.
func Command(
	s *session.Session, cmd *cobra.Command, act func(ctx context.Context, arguments []string) error,
) *cobra.Command {
	if strings.Contains(cmd.Use, " NEGOTIATION") {
		cmd.ValidArgsFunction = CompleteNegotiations(s)
	}
	command.Documents(cmd, View{}, DryRunView{})
	cmd.RunE = s.Limited(act)
	return cmd
}

// CompleteNegotiations completes an argument with the addresses of the wallet's negotiations.
func CompleteNegotiations(s *session.Session) cobra.CompletionFunc {
	return func(cmd *cobra.Command, given []string, _ string) ([]string, cobra.ShellCompDirective) {
		return completeNegotiations(s, cmd, given)
	}
}

func completeNegotiations(s *session.Session, cmd *cobra.Command, given []string) ([]string, cobra.ShellCompDirective) {
	if len(given) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), completionLimit)
	defer cancel()
	s.Connection.Unattended = true
	agent, err := s.Connection.Address(ctx)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	client, err := s.Client()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var found []string
	for n, err := range client.FindNegotiations(ctx, haggle.Filter{Party: agent}) {
		if err != nil {
			return found, cobra.ShellCompDirectiveError
		}
		found = append(found, fmt.Sprintf("%s\t%s, round %d", n.Address, n.Status, n.CurrentRound))
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}
