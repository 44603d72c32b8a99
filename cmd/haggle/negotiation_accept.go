package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/failure"
	"github.com/haggle-protocol/haggle/sdk"
)

const acceptHelp = `Accepts an invitation. The keypair is the seller's; nothing is owed by it yet.

Nobody signs blind. At a terminal the command shows the terms and asks; a script says which ones it
accepts: the service that is meant, the hash of all terms as "negotiation show" prints it, or --yes.
Either way the transaction carries the hash of the terms, and is refused if the buyer has put others
in their place meanwhile.`

func newAcceptCommand(s *session) *cobra.Command {
	var service serviceFlags
	var terms string
	var yes bool
	cmd := &cobra.Command{
		Use: "accept NEGOTIATION", Short: "Accept an invitation (seller)", Long: acceptHelp,
		Example: `  haggle negotiation accept NEGOTIATION --service "Summarise a paper"`,
		Args:    exactly(1), ValidArgsFunction: s.completeNegotiations,
	}
	service.register(cmd, "expected service")
	cmd.Flags().StringVar(&terms, "terms-hash", "", "expected hash of all terms, in hex")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "accept whatever the terms are")
	cmd.RunE = s.limited(func(ctx context.Context, arguments []string) error {
		return s.accept(ctx, arguments[0], service, terms, yes)
	})
	return cmd
}

func (s *session) accept(ctx context.Context, written string, service serviceFlags, terms string, yes bool) error {
	hash, given, err := service.value()
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
	if n.Status == haggle.NegotiationStatusCreated && !given && terms == "" && !yes {
		if err := s.agreeToTerms(ctx, client, n); err != nil {
			return err
		}
	}
	action, err := client.AcceptInvitation(ctx, haggle.AcceptInvitationRequest{
		Seller: key.PublicKey(), Seen: n, ServiceHash: hash, TermsHash: n.TermsHash(),
	})
	if err != nil {
		return s.explain(ctx, client, n.Address, err)
	}
	receipt, err := s.act(ctx, client, action, key)
	if err != nil {
		return err
	}
	return s.done(action, receipt, fmt.Sprintf("accepted: %d rounds, %s of the escrow decay each; the buyer opens", n.MaxRounds, percent(n.DecayRateBps)))
}

// agreeToTerms shows an invitation and asks.
func (s *session) agreeToTerms(ctx context.Context, client *haggle.Client, n *haggle.NegotiationAccount) error {
	if !s.interactive() {
		return failure.Usagef("say which terms to accept: --service, --terms-hash %x, or --yes", n.TermsHash())
	}
	now, err := client.Now(ctx)
	if err != nil {
		return err
	}
	tokens, err := s.tokensOf(ctx, n.TokenMint)
	if err != nil {
		return err
	}
	return s.confirm(view(n, now, tokens).text()+"\naccept it?", "not accepted: nothing was signed")
}

func expectTerms(n *haggle.NegotiationAccount, written string) error {
	if written == "" {
		return nil
	}
	expected, err := parseHash("--terms-hash", written)
	if err != nil {
		return err
	}
	if found := n.TermsHash(); found != expected {
		return failure.WithHint(fmt.Errorf("%w: the terms' hash is %x", haggle.ErrNotAsExpected, found),
			"look at them again: haggle negotiation show "+n.Address.String())
	}
	return nil
}
