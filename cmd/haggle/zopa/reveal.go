package zopa

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/format"
	"github.com/haggle-protocol/haggle/internal/cli/onchain"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	"github.com/haggle-protocol/haggle/internal/zopastore"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

func newRevealCommand(s *session.Session) *cobra.Command {
	var kept storeFlag
	cmd := &cobra.Command{
		Use: "reveal NEGOTIATION", Short: "Reveal the committed price (buyer, then seller)",
		Long: `Reveals the price that the keypair's owner has committed to. The buyer reveals first; the seller's price
then decides whether a zone of agreement exists.`,
		Example: "  haggle zopa reveal NEGOTIATION",
	}
	kept.register(cmd)
	return onchain.Command(s, cmd, func(ctx context.Context, arguments []string) error { return reveal(ctx, s, arguments[0], &kept) })
}

func reveal(ctx context.Context, s *session.Session, written string, kept *storeFlag) error {
	store, err := kept.store()
	if err != nil {
		return err
	}
	t, err := onchain.Open(ctx, s, written)
	if err != nil {
		return err
	}
	n := t.Snapshot
	price, err := committed(store, n, t.Key)
	if err != nil {
		return t.Explain(ctx, err)
	}
	action, err := t.Client.At(n).RevealZopa(price).Build(ctx)
	if err != nil {
		return t.Explain(ctx, err)
	}
	tokens, err := s.TokensOf(ctx, n.TokenMint)
	if err != nil {
		return err
	}
	return t.Do(ctx, action, func(receipt *haggle.Receipt) string {
		if err := store.Forget(n.Address, t.Key.PublicKey()); err != nil {
			fmt.Fprintf(s.Stderr, "price revealed, but its stored copy could not be deleted: %v\n", err)
		}
		return revealed(receipt, price.Price(), tokens)
	})
}

// committed returns the stored price whose hash is on chain.
func committed(store zopastore.Store, n *haggle.Snapshot, key haggle.Signer) (*protocol.SealedPrice, error) {
	side, isParty := n.SideOf(key.PublicKey())
	if !isParty {
		return nil, fmt.Errorf("%s is not a party: %w", key.PublicKey(), protocol.ErrUnauthorized)
	}
	kept, err := store.Find(n.Address, key.PublicKey())
	if err != nil {
		return nil, err
	}
	for _, candidate := range kept {
		if candidate.Matches(n.CommitmentOf(side)) {
			return candidate, nil
		}
	}
	if n.CommitmentOf(side) == ([32]byte{}) {
		return nil, exitcode.WithHint(fmt.Errorf("%w: the %s has not committed to a price", haggle.ErrNotAsExpected, format.Side(side)),
			fmt.Sprintf("commit first: haggle zopa commit %s PRICE", n.Address))
	}
	return nil, &exitcode.Error{Kind: exitcode.NotFound,
		Hint: "copy the folder of --store from the machine that committed",
		Err:  fmt.Errorf("the committed price of the %s is not in %s", format.Side(side), store.Dir)}
}

// revealed describes the effect of a reveal.
func revealed(receipt *haggle.Receipt, price uint64, tokens func(uint64) amount.Tokens) string {
	for _, event := range receipt.Events {
		switch event := event.(type) {
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
