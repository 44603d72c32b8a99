package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/failure"
	"github.com/haggle-protocol/haggle/sdk"
)

const acceptHelp = `Accepts an invitation. The keypair is the seller's; nothing is owed by it yet.

The transaction carries the hash of the terms that are shown: should the buyer put other terms
in their place meanwhile, it is refused. To accept nothing but known terms, give the service
that is meant, or the hash of all terms as "negotiation show" prints it.`

func newAcceptCommand(s *session) *cobra.Command {
	var service serviceFlags
	var terms string
	cmd := &cobra.Command{
		Use: "accept NEGOTIATION", Short: "Accept an invitation (seller)", Long: acceptHelp,
		Example: `  haggle negotiation accept NEGOTIATION --service "Summarise a paper"`,
		Args:    exactly(1), ValidArgsFunction: s.completeNegotiations,
	}
	service.register(cmd, "expected service")
	cmd.Flags().StringVar(&terms, "terms", "", "expected hash of all terms, in hex")
	cmd.RunE = s.limited(func(ctx context.Context, arguments []string) error {
		return s.accept(ctx, arguments[0], service, terms)
	})
	return cmd
}

func (s *session) accept(ctx context.Context, written string, service serviceFlags, terms string) error {
	hash, _, err := service.value()
	if err != nil {
		return err
	}
	client, key, err := s.clientAndKey()
	if err != nil {
		return err
	}
	n, err := s.seen(ctx, client, written)
	if err != nil {
		return err
	}
	if err := expectTerms(n, terms); err != nil {
		return err
	}
	action, err := client.AcceptInvitation(ctx, haggle.AcceptInvitationRequest{Seller: key.PublicKey(), Seen: n, ServiceHash: hash})
	if err != nil {
		return s.explain(ctx, client, n.Address, err)
	}
	receipt, err := s.act(ctx, client, action, key)
	if err != nil {
		return err
	}
	return s.done(action, receipt, fmt.Sprintf("accepted: %d rounds, %s of the escrow decay each; the buyer opens", n.MaxRounds, percent(n.DecayRateBps)))
}

func expectTerms(n *haggle.NegotiationAccount, written string) error {
	if written == "" {
		return nil
	}
	expected, err := parseHash("--terms", written)
	if err != nil {
		return err
	}
	if found := n.TermsHash(); found != expected {
		return failure.WithHint(fmt.Errorf("%w: the terms' hash is %x", haggle.ErrNotAsExpected, found),
			"look at them again: haggle negotiation show "+n.Address.String())
	}
	return nil
}
