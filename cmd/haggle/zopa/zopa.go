// Package zopa has the commands of "haggle zopa".
package zopa

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/format"
	"github.com/haggle-protocol/haggle/internal/cli/onchain"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	"github.com/haggle-protocol/haggle/internal/statefolder"
	"github.com/haggle-protocol/haggle/internal/zopastore"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

const zopaHelp = `Compares the reservation prices of both sides before the first offer, and hides each price until both
sides have committed to theirs (ZOPA: zone of possible agreement). It is part of a negotiation that was
created with --zopa. The steps, each within the response window:

  buyer, then seller   commit   sends the hash of its highest or lowest acceptable price
  buyer, then seller   reveal   publishes the price of that hash

If the buyer's price is at least the seller's, their midpoint becomes an offer that either side can
accept. Otherwise the negotiation ends, and escrow and bond are returned. A seller that does not reveal
after the buyer, or rejects before the buyer's first offer, loses its bond.

--store keeps the price and the nonce of the hash on this machine from before the hash is sent until the
price is revealed. The price cannot be revealed without them: use the same machine, or copy the folder.`

// Command returns "haggle zopa".
func Command(s *session.Session) *cobra.Command {
	group := command.Group("zopa", "Compare hidden reservation prices before the first offer", zopaHelp, newCommitCommand(s), newRevealCommand(s))
	onchain.RegisterDryRun(s, group.PersistentFlags())
	return group
}

// storeFlag is the folder with the committed prices.
type storeFlag struct{ dir string }

func (f *storeFlag) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.dir, "store", "", "folder with the committed prices (default: ~/.local/state/haggle/zopa, or below $XDG_STATE_HOME)")
}

func (f *storeFlag) store() (zopastore.Store, error) {
	if f.dir != "" {
		return zopastore.Store{Dir: f.dir}, nil
	}
	dir, err := statefolder.Path(statefolder.Zopa)
	if err != nil {
		return zopastore.Store{}, fmt.Errorf("no folder for committed prices: %w", err)
	}
	return zopastore.Store{Dir: dir}, nil
}

func newCommitCommand(s *session.Session) *cobra.Command {
	var kept storeFlag
	cmd := &cobra.Command{
		Use: "commit NEGOTIATION PRICE", Short: "Commit to a reservation price (buyer, then seller)",
		Long: `Commits to the highest price that the buyer would pay, or the lowest that the seller would accept, without
publishing it. The price and the nonce that hides it are written to the disk before their hash is sent.
Repeated with the same price, the command sends the same hash.`,
		Example: "  haggle zopa commit NEGOTIATION 3.5",
	}
	kept.register(cmd)
	return onchain.Command(s, cmd, func(ctx context.Context, arguments []string) error {
		return commit(ctx, s, arguments[0], arguments[1], &kept)
	})
}

func commit(ctx context.Context, s *session.Session, written, writtenPrice string, kept *storeFlag) error {
	text, err := amount.Parse(writtenPrice)
	if err != nil {
		return exitcode.Usagef("PRICE: %w", err)
	}
	store, err := kept.store()
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
	sealedPrice, err := sealFor(store, n, t.Key, price)
	if err != nil {
		return t.Explain(ctx, err)
	}
	action, err := t.Client.At(n).CommitZopa(sealedPrice).Build(ctx)
	if err != nil {
		return t.Explain(ctx, err)
	}
	if !s.DryRun {
		if err := store.Keep(sealedPrice); err != nil {
			return err
		}
	}
	return t.Do(ctx, action, func(*haggle.Receipt) string {
		return "price committed; it is stored until it is revealed, in " + store.Path(sealedPrice)
	})
}

// sealFor returns the stored sealed price of this deal, so that a repeated command sends the same hash. If there
// is none, it returns a new one.
func sealFor(store zopastore.Store, n *haggle.Snapshot, key haggle.Signer, price uint64) (*protocol.SealedPrice, error) {
	kept, err := store.Find(n.Address, key.PublicKey())
	if err != nil {
		return nil, err
	}
	for _, candidate := range kept {
		if candidate.Price() == price && candidate.CreatedAt() == n.CreatedAt {
			return candidate, nil
		}
	}
	return protocol.SealPrice(n.Address, &n.Negotiation, key.PublicKey(), price)
}

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
