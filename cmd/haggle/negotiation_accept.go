package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/amount"
	"github.com/haggle-protocol/haggle/internal/failure"
	"github.com/haggle-protocol/haggle/sdk"
)

const acceptHelp = `Accepts an invitation. The keypair is the seller's, and it deposits the bond that the terms ask for.

Nobody signs blind. At a terminal the command shows the terms and asks; a script says which ones it
accepts: the service that is meant, and with it the bond if there is one; or the hash of all terms as
"negotiation show" prints it; or --yes.
Either way the transaction carries the hash of the terms, and is refused if the buyer has put others
in their place meanwhile.`

func newAcceptCommand(s *session) *cobra.Command {
	var service serviceFlags
	var terms string
	var bond amount.Text
	var yes bool
	cmd := &cobra.Command{
		Use: "accept NEGOTIATION", Short: "Accept an invitation (seller)", Long: acceptHelp,
		Example: `  haggle negotiation accept NEGOTIATION --service "Summarise a paper"`,
		Args:    exactly(1), ValidArgsFunction: s.completeNegotiations,
	}
	service.register(cmd, "expected service")
	cmd.Flags().StringVar(&terms, "terms-hash", "", "expected hash of all terms, in hex")
	cmd.Flags().Var(&bond, "bond", "deposit at most this bond (default: none)")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "accept whatever the terms are")
	cmd.RunE = s.limited(func(ctx context.Context, arguments []string) error {
		return s.accept(ctx, arguments[0], service, terms, bond, yes)
	})
	return cmd
}

func (s *session) accept(ctx context.Context, written string, service serviceFlags, terms string, bond amount.Text, yes bool) error {
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
	if n.BondRequired > 0 && given && terms == "" && !yes {
		if err := s.agreeToBond(ctx, n, bond); err != nil {
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
	next := "the buyer opens"
	if n.ZopaEnabled {
		next = "the buyer commits to its reservation price first"
	}
	return s.done(action, receipt, fmt.Sprintf("accepted: %d rounds, %s of the escrow decay each; %s", n.MaxRounds, percent(n.DecayRateBps), next))
}

// agreeToBond refuses to deposit more than the caller has said.
func (s *session) agreeToBond(ctx context.Context, n *haggle.NegotiationAccount, written amount.Text) error {
	most := uint64(0)
	if !written.IsZero() {
		units, err := s.units(ctx, n.TokenMint, "--bond", written)
		if err != nil {
			return err
		}
		most = units
	}
	if n.BondRequired <= most {
		return nil
	}
	tokens, err := s.tokensOf(ctx, n.TokenMint)
	if err != nil {
		return err
	}
	return failure.WithHint(fmt.Errorf("%w: the terms ask for a bond of %s", haggle.ErrNotAsExpected, tokens(n.BondRequired)),
		fmt.Sprintf("nothing was signed; to deposit it: --bond %s", tokens(n.BondRequired)))
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
