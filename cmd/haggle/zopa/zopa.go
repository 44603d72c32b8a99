// Package zopa has the commands of "haggle zopa".
package zopa

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gagliardetto/solana-go"
	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/format"
	"github.com/haggle-protocol/haggle/internal/cli/onchain"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/policy"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/store"
)

const zopaHelp = `Compares the reservation prices of both sides before the first offer, and hides each price until both
sides have committed to theirs (ZOPA: zone of possible agreement). It is part of a negotiation that was
created with --zopa. The steps, each within the response window:

  buyer, then seller   commit   sends the hash of its highest or lowest acceptable price
  buyer, then seller   reveal   publishes the price of that hash

If the buyer's price is at least the seller's, the seller accepts their midpoint in the transaction of its
reveal. With --reveal-only the midpoint becomes an offer that either side can accept, and that the buyer can
replace. Otherwise the negotiation ends, and escrow and bond are returned. A seller that does not reveal
after the buyer, or rejects before the buyer's first offer, loses its bond.

The state database (--state) keeps the price and the nonce of the hash from before the hash is sent until the
price is revealed. The price cannot be revealed without them: reveal it with the same database.`

// Command returns "haggle zopa".
func Command(s *session.Session) *cobra.Command {
	group := command.Group("zopa", "Compare hidden reservation prices before the first offer", zopaHelp, newCommitCommand(s), newRevealCommand(s))
	onchain.RegisterDryRun(s, group.PersistentFlags())
	return group
}

func newCommitCommand(s *session.Session) *cobra.Command {
	cmd := &cobra.Command{
		Use: "commit NEGOTIATION PRICE", Short: "Commit to a reservation price (buyer, then seller)",
		Long: `Commits to the highest price that the buyer would pay, or the lowest that the seller would accept, without
publishing it. The price and the nonce that hides it are written to the disk before their hash is sent.
Repeated with the same price, the command sends the same hash.`,
		Example: "  haggle zopa commit NEGOTIATION 3.5",
	}
	return onchain.Command(s, cmd, func(ctx context.Context, arguments []string) error {
		return commit(ctx, s, arguments[0], arguments[1])
	})
}

func commit(ctx context.Context, s *session.Session, written, writtenPrice string) error {
	text, err := amount.Parse(writtenPrice)
	if err != nil {
		return exitcode.Usagef("PRICE: %w", err)
	}
	state, err := s.Connection.State(ctx)
	if err != nil {
		return err
	}
	t, err := onchain.Open(ctx, s, written)
	if err != nil {
		return err
	}
	n := t.Snapshot
	price, err := s.Units(ctx, n.TokenMint, "PRICE", text)
	if err != nil {
		return err
	}
	sealed, err := seal(ctx, s, state, n, t.Key.PublicKey(), price)
	if err != nil {
		return t.Explain(ctx, err)
	}
	action, err := t.Client.At(n).CommitZopa(sealed).Build(ctx)
	if err != nil {
		return t.Explain(ctx, err)
	}
	return t.Do(ctx, action, func(*haggle.Receipt) string {
		return fmt.Sprintf("price committed; it is stored until it is revealed, in %s", state)
	})
}

// seal returns the sealed price. Only a dry run does not store it.
func seal(
	ctx context.Context, s *session.Session, state *store.Store, n *haggle.Snapshot, agent solana.PublicKey, price uint64,
) (*protocol.SealedPrice, error) {
	if s.DryRun {
		return protocol.SealPrice(n.Address, &n.Negotiation, agent, price)
	}
	sealed, err := state.SealPrice(ctx, n, agent, price)
	if err == nil && sealed.Price() != price {
		err = fmt.Errorf("%w: a different price is committed already", haggle.ErrNotAsExpected)
	}
	return sealed, err
}

func newRevealCommand(s *session.Session) *cobra.Command {
	var only bool
	cmd := &cobra.Command{
		Use: "reveal NEGOTIATION", Short: "Reveal the committed price (buyer, then seller)",
		Long: `Reveals the price that the keypair's owner has committed to. The buyer reveals first; the seller's price
then decides whether a zone of agreement exists.

If it exists, the seller's reveal also accepts the midpoint, at least the seller's price, in the same
transaction: the buyer could otherwise replace the midpoint by an offer of the seller's revealed price.
--reveal-only leaves the midpoint open. Both take effect together or not at all.`,
		Example: "  haggle zopa reveal NEGOTIATION\n  haggle zopa reveal NEGOTIATION --reveal-only",
	}
	cmd.Flags().BoolVar(&only, "reveal-only", false, "do not accept the midpoint in the same transaction (the seller)")
	return onchain.Command(s, cmd, func(ctx context.Context, arguments []string) error { return reveal(ctx, s, arguments[0], only) })
}

func reveal(ctx context.Context, s *session.Session, written string, only bool) error {
	state, err := s.Connection.State(ctx)
	if err != nil {
		return err
	}
	t, err := onchain.Open(ctx, s, written)
	if err != nil {
		return err
	}
	n := t.Snapshot
	price, err := committed(ctx, state, n, t.Key.PublicKey())
	if err != nil {
		return t.Explain(ctx, err)
	}
	action := t.Client.At(n).RevealZopa(price)
	if only {
		action = t.Client.At(n).RevealZopaOnly(price)
	}
	if _, err := action.Build(ctx); err != nil {
		return t.Explain(ctx, err)
	}
	tokens, err := s.TokensOf(ctx, n.TokenMint)
	if err != nil {
		return err
	}
	err = t.Do(ctx, action, func(receipt *haggle.Receipt) string {
		if err := state.ForgetPrice(ctx, price); err != nil {
			fmt.Fprintf(s.Stderr, "price revealed, but its stored copy could not be deleted: %v\n", err)
		}
		return revealed(n, receipt, price.Price(), tokens)
	})
	if errors.Is(err, policy.ErrDenied) && !only && n.ZopaStep() == protocol.ZopaStepSellerReveals {
		err = exitcode.WithHint(err, "to reveal without accepting the midpoint: --reveal-only")
	}
	return err
}

// committed returns the stored price whose hash is on chain.
func committed(
	ctx context.Context, state *store.Store, n *haggle.Snapshot, agent solana.PublicKey,
) (*protocol.SealedPrice, error) {
	price, err := state.CommittedPrice(ctx, n, agent)
	if errors.Is(err, store.ErrNoSealedPrice) {
		return nil, &exitcode.Error{Kind: exitcode.NotFound, Err: err,
			Hint: "use the state database of the commitment: --state FILE"}
	}
	if err == nil && price == nil {
		side, _ := n.SideOf(agent)
		err = exitcode.WithHint(fmt.Errorf("%w: the %s has not committed to a price", haggle.ErrNotAsExpected, format.Side(side)),
			fmt.Sprintf("commit first: haggle zopa commit %s PRICE", n.Address))
	}
	return price, err
}

// revealed describes a reveal's effect on a negotiation.
func revealed(n *haggle.Snapshot, receipt *haggle.Receipt, price uint64, tokens func(uint64) amount.Tokens) string {
	for _, event := range slices.Backward(receipt.Events) {
		switch event := event.(type) {
		case *protocol.OfferAccepted:
			return fmt.Sprintf("price revealed: %s; midpoint accepted: %s, %s", tokens(price), tokens(event.Amount),
				onchain.Accepted(n, event.Amount, tokens))
		case *protocol.NegotiationRejected:
			return fmt.Sprintf("price revealed: %s; no zone of agreement, so the negotiation has ended: the escrow is back with the buyer and the bond with the seller", tokens(price))
		case *protocol.ZopaRevealed:
			if event.Midpoint > 0 {
				return fmt.Sprintf("price revealed: %s; the midpoint %s is an offer that either side can accept", tokens(price), tokens(event.Midpoint))
			}
		}
	}
	return fmt.Sprintf("price revealed: %s", tokens(price))
}
