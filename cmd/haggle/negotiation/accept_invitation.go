package negotiation

import (
	"context"
	"fmt"

	"github.com/gagliardetto/solana-go"
	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/connection"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/flags"
	"github.com/haggle-protocol/haggle/internal/cli/format"
	"github.com/haggle-protocol/haggle/internal/cli/onchain"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

const acceptHelp = `Accepts an invitation. The keypair is the seller's, which deposits the bond that the terms require.

At a terminal the command shows the terms and asks for confirmation. A script states the terms that it
accepts: the service, and with it each further duty of the seller (--bond with its --mint, --zopa, the
--arbiter of milestones); or the hash of all terms as "negotiation show" prints it; or --yes.
The transaction carries the hash of the terms. The program rejects it if the buyer has replaced the
negotiation by one with other terms. --trust and --allowlist check the buyer (haggle negotiation --help).`

func newAcceptInvitationCommand(s *session.Session) *cobra.Command {
	var f acceptFlags
	cmd := &cobra.Command{
		Use: "accept-invitation NEGOTIATION", Short: "Accept an invitation (seller)", Long: acceptHelp,
		Example: `  haggle negotiation accept-invitation NEGOTIATION --service "Summarise a paper"`,
	}
	f.service.register(cmd, "expected service")
	flags := cmd.Flags()
	flags.StringVar(&f.terms, "terms-hash", "", "expected hash of all terms, in hex")
	flags.Var(&f.mint, "mint", "expected mint of the payment; needed for a bond")
	flags.Var(&f.bond, "bond", "highest bond to deposit (default: none)")
	flags.BoolVar(&f.zopa, "zopa", false, "agree to compare reservation prices first; a seller that does not reveal its price loses the bond")
	flags.Var(&f.arbiter, "arbiter", "expected arbiter of the milestones; needed if there are any")
	flags.BoolVarP(&f.yes, "yes", "y", false, "accept the terms without checking them")
	flags.BoolVar(&f.wrapSOL, "wrap-sol", false, "pay a bond in wrapped SOL from the seller's lamports, wrapped in the same transaction")
	f.trust.Register(flags)
	return onchain.Command(s, cmd, func(ctx context.Context, arguments []string) error {
		return accept(ctx, s, arguments[0], f)
	})
}

// acceptFlags holds the terms that the seller accepts.
type acceptFlags struct {
	service       serviceFlags
	terms         string
	mint, arbiter connection.Address
	bond          amount.Text
	zopa, yes     bool
	wrapSOL       bool
	trust         connection.TrustFlags
}

func accept(ctx context.Context, s *session.Session, written string, f acceptFlags) error {
	hash, given, err := f.service.value()
	if err != nil {
		return err
	}
	t, err := onchain.Open(ctx, s, written)
	if err != nil {
		return err
	}
	n := t.Snapshot
	if t.Key.PublicKey() != n.Seller && n.Status == protocol.NegotiationStatusCreated {
		return notInvited(n, t.Key.PublicKey())
	}
	if err := expectTerms(n, f.terms); err != nil {
		return err
	}
	if err := engage(ctx, &f.trust, n.Buyer); err != nil {
		return err
	}
	if !f.mint.Key().IsZero() && f.mint.Key() != n.TokenMint {
		return notAccepted("--mint "+n.TokenMint.String(), "the payment is in mint %s", n.TokenMint)
	}
	if n.Status == protocol.NegotiationStatusCreated && !given && f.terms == "" && !f.yes {
		if err := agreeToTerms(ctx, s, n); err != nil {
			return err
		}
	}
	if given && f.terms == "" && !f.yes {
		if err := agreeToDuties(ctx, s, n, f); err != nil {
			return err
		}
	}
	if given && hash != n.ServiceHash {
		return exitcode.WithHint(fmt.Errorf("%w: the service's hash is %x", haggle.ErrNotAsExpected, n.ServiceHash),
			"nothing was signed; to see its service: haggle negotiation show "+n.Address.String())
	}
	paid, err := s.PinnedMint(ctx, n.TokenMint)
	if err != nil {
		return err
	}
	action := t.Client.At(n).AcceptInvitation(t.Key.PublicKey(), n.TermsHash(), paid.Decimals,
		haggle.Deposit{WrapSOL: f.wrapSOL})
	next := "the buyer makes the first offer"
	if n.ZopaEnabled {
		next = "the buyer commits to its reservation price first"
	}
	return t.Do(ctx, action, func(*haggle.Receipt) string {
		return fmt.Sprintf("invitation accepted: %d rounds, %s of the escrow decay each; %s\n%s",
			n.MaxRounds, format.Percent(n.DecayRateBps), next, nextIsToWait(n))
	})
}

// notInvited is the error for a wallet other than the invited seller's.
func notInvited(n *haggle.Snapshot, wallet solana.PublicKey) error {
	whose := "this wallet is " + wallet.String()
	if wallet == n.Buyer {
		whose = "this wallet is the buyer's, which waits for the seller"
	}
	return exitcode.WithHint(fmt.Errorf("%w: the invitation is to %s, and %s", haggle.ErrNotAsExpected, n.Seller, whose),
		"nothing was signed; accept with the seller's keypair: --keypair, or -C with the seller's configuration")
}

// agreeToDuties refuses each duty of the seller that the flags do not accept: a bond in a mint of the buyer's
// choice, the comparison of reservation prices, and an arbiter whom the buyer may control.
func agreeToDuties(ctx context.Context, s *session.Session, n *haggle.Snapshot, f acceptFlags) error {
	if n.BondRequired > 0 {
		if err := agreeToBond(ctx, s, n, f); err != nil {
			return err
		}
	}
	if n.ZopaEnabled && !f.zopa {
		return notAccepted("--zopa", "the terms require the comparison of reservation prices")
	}
	if count := n.MilestoneCount(); count > 0 && f.arbiter.Key() != n.Arbiter {
		return notAccepted("--arbiter "+n.Arbiter.String(), "the price is paid in %d milestones, and %s decides disputes", count, n.Arbiter)
	}
	return nil
}

// agreeToBond refuses a bond above --bond or in another mint than --mint.
func agreeToBond(ctx context.Context, s *session.Session, n *haggle.Snapshot, f acceptFlags) error {
	most := uint64(0)
	if !f.bond.IsZero() {
		units, err := s.Units(ctx, n.TokenMint, "--bond", f.bond)
		if err != nil {
			return err
		}
		most = units
	}
	if n.BondRequired <= most && f.mint.Key() == n.TokenMint {
		return nil
	}
	tokens, err := s.TokensOf(ctx, n.TokenMint)
	if err != nil {
		return err
	}
	return notAccepted(fmt.Sprintf("--bond %s --mint %s", tokens(n.BondRequired).Decimal(), n.TokenMint),
		"the terms require a bond of %s in mint %s", tokens(n.BondRequired), n.TokenMint)
}

// notAccepted is the error for terms that the flags do not accept. The hint names flags that accept these
// terms.
func notAccepted(flags, what string, values ...any) error {
	return exitcode.WithHint(fmt.Errorf("%w: "+what, append([]any{haggle.ErrNotAsExpected}, values...)...),
		"nothing was signed; to accept it: "+flags)
}

// agreeToTerms shows an invitation and asks for confirmation.
func agreeToTerms(ctx context.Context, s *session.Session, n *haggle.Snapshot) error {
	if !s.Interactive() {
		return exitcode.Usagef("terms not stated: add --service, --terms-hash %x, or --yes", n.TermsHash())
	}
	tokens, err := s.TokensOf(ctx, n.TokenMint)
	if err != nil {
		return err
	}
	return s.Confirm(ctx, view(n, n.Time, tokens, fromAccount(n)).text()+"\naccept the invitation?", "invitation not accepted: nothing was signed")
}

func expectTerms(n *haggle.Snapshot, written string) error {
	if written == "" {
		return nil
	}
	expected, err := flags.ParseHash("--terms-hash", written)
	if err != nil {
		return err
	}
	if found := n.TermsHash(); found != expected {
		return exitcode.WithHint(fmt.Errorf("%w: the terms' hash is %x", haggle.ErrNotAsExpected, found),
			"read the terms again: haggle negotiation show "+n.Address.String())
	}
	return nil
}
