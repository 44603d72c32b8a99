package negotiation

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/onchain"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	haggle "github.com/haggle-protocol/haggle/sdk"
)

func newShowCommand(s *session.Session) *cobra.Command {
	cmd := &cobra.Command{
		Use: "show NEGOTIATION", Short: "Show a negotiation's state and the next step",
		Long: `Shows a negotiation: its parties and terms, the current offer, the turn with its deadline, and the range of
the next offer. Needs no keypair.`,
		Example:           "  haggle negotiation show NEGOTIATION\n  haggle negotiation show NEGOTIATION --json | jq -r .offer.amount.tokens",
		ValidArgsFunction: onchain.CompleteNegotiations(s),
	}
	command.Documents(cmd, negotiationView{})
	cmd.RunE = s.Limited(func(ctx context.Context, arguments []string) error {
		client, err := s.Client()
		if err != nil {
			return err
		}
		n, err := onchain.Snapshot(ctx, client, arguments[0])
		if err != nil {
			return err
		}
		return show(ctx, s, n)
	})
	return cmd
}

func show(ctx context.Context, s *session.Session, n *haggle.Snapshot) error {
	tokens, err := s.TokensOf(ctx, n.TokenMint)
	if err != nil {
		return err
	}
	client, err := s.Client()
	if err != nil {
		return err
	}
	v := view(n, n.Time, tokens, paymentsOf(ctx, client, n))
	return s.Print(v, v.text())
}
