package zopa

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/onchain"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	"github.com/haggle-protocol/haggle/internal/zopastore"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

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

// sealFor returns the sealed price that is stored for this deal, so that a repetition sends the same hash,
// otherwise a new one.
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
