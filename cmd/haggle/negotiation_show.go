package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/sdk"
)

func newShowCommand(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use: "show NEGOTIATION", Short: "Show a negotiation's state and what can be done next",
		Long: `Shows a negotiation: its parties and terms, the offer that stands, whose turn it is and until when, and
which range the next offer has to lie in. Needs no keypair.`,
		Example: "  haggle negotiation show NEGOTIATION\n  haggle negotiation show NEGOTIATION --json | jq -r .offer.amount.tokens",
		Args:    exactly(1), ValidArgsFunction: s.completeNegotiations,
	}
	cmd.RunE = s.limited(func(ctx context.Context, arguments []string) error {
		client, err := s.client()
		if err != nil {
			return err
		}
		n, err := s.seen(ctx, client, arguments[0])
		if err != nil {
			return err
		}
		now, err := client.Now(ctx)
		if err != nil {
			return err
		}
		return s.show(ctx, n, now)
	})
	return cmd
}

func (s *session) show(ctx context.Context, n *haggle.NegotiationAccount, now int64) error {
	tokens, err := s.tokensOf(ctx, n.TokenMint)
	if err != nil {
		return err
	}
	v := view(n, now, tokens)
	return s.print(v, v.text())
}
