package negotiation

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/duration"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/onchain"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/amount"
)

const offerHelp = `Makes an offer, which is one round: the escrow first loses the round's decay, and the offer must not
exceed the rest. The buyer makes the first offer, then both take turns. The other side can accept the
offer within its response window.

The transaction carries the round of the snapshot that the command reads. A script that has decided on an
earlier snapshot states its round with --round.`

func newOfferCommand(s *session.Session) *cobra.Command {
	var f offerFlags
	cmd := &cobra.Command{
		Use: "offer NEGOTIATION AMOUNT", Short: "Make an offer (the side whose turn it is)", Long: offerHelp,
		Example: "  haggle negotiation offer NEGOTIATION 2.5\n  haggle negotiation offer NEGOTIATION 2500000u --round 3",
	}
	cmd.Flags().Uint8Var(&f.round, "round", 0, "offer only in this round, from 1 (default: the next one)")
	cmd.Flags().Var(&f.extension, "extend", "propose to extend the deadline; applied when the other side's next offer also proposes one, the smaller of the two")
	f.terms.register(cmd)
	return onchain.Command(s, cmd, func(ctx context.Context, arguments []string) error {
		return f.offer(ctx, s, arguments[0], arguments[1])
	})
}

// offerFlags are the flags of the command.
type offerFlags struct {
	terms     termsFlags
	round     uint8
	extension duration.Flag
}

func (f *offerFlags) offer(ctx context.Context, s *session.Session, written, writtenAmount string) error {
	text, err := amount.Parse(writtenAmount)
	if err != nil {
		return exitcode.Usagef("AMOUNT: %w", err)
	}
	t, err := onchain.Open(ctx, s, written)
	if err != nil {
		return err
	}
	n := t.Snapshot
	if err := expectRound(n, n.CurrentRound+1, f.round); err != nil {
		return err
	}
	price, err := s.Units(ctx, n.TokenMint, "AMOUNT", text)
	if err != nil {
		return err
	}
	metadata, err := f.terms.metadata(ctx, s, n.TokenMint)
	if err != nil {
		return err
	}
	action, err := t.Client.At(n).SubmitOffer(t.Key.PublicKey(), haggle.Offer{
		Amount: price, DeadlineExtension: time.Duration(f.extension), Metadata: metadata,
	}).Build(ctx)
	if err != nil {
		return t.Explain(ctx, err)
	}
	tokens, err := s.TokensOf(ctx, n.TokenMint)
	if err != nil {
		return err
	}
	return t.Do(ctx, action, func(*haggle.Receipt) string {
		return fmt.Sprintf("offered: %s in round %d of %d; the escrow is now worth %s\n%s",
			tokens(price), n.CurrentRound+1, n.MaxRounds, tokens(n.EscrowAfterRound()), nextIsToWait(n))
	})
}

// expectRound returns an error in another round than the expected one. Zero expects any round.
func expectRound(n *haggle.Snapshot, found, expected uint8) error {
	if expected == 0 || expected == found {
		return nil
	}
	return exitcode.WithHint(fmt.Errorf("%w: it is round %d, not %d", haggle.ErrNotAsExpected, found, expected),
		"read it again: haggle negotiation show "+n.Address.String())
}
