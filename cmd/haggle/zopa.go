package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/zopastore"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

const zopaHelp = `Finds out whether there is any price that suits both sides, before anybody makes an offer and without
either side learning the other's price first (ZOPA: zone of possible agreement). It is part of a
negotiation that was created with --zopa. The steps, each within the time to answer:

  buyer, then seller   commit   sends a hash of the most it would pay, or the least it would take
  buyer, then seller   reveal   shows the price that the hash was made of

If the buyer's price is at least the seller's, the one in the middle stands as an offer that either
side may take. Otherwise the negotiation ends and everyone has its money back. A seller that does not
reveal after the buyer has, or rejects before the buyer's first offer, loses its bond.

What a hash was made of is kept on this machine, in --sealed, from before the hash is sent until the
price is revealed: without it nobody can reveal it. Take the same machine, or a copy of that folder.`

func newZopaCommand(s *session) *cobra.Command {
	return newGroupCommand("zopa", "Compare reservation prices under seal", zopaHelp, newCommitCommand(s), newRevealCommand(s))
}

// sealedFlag is where sealed prices are kept.
type sealedFlag struct{ dir string }

func (f *sealedFlag) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.dir, "sealed", "", "folder that keeps sealed prices (default: ~/.local/state/haggle/sealed, or beneath $XDG_STATE_HOME)")
}

func (f *sealedFlag) store() (zopastore.Store, error) {
	if f.dir != "" {
		return zopastore.Store{Dir: f.dir}, nil
	}
	dir, err := zopastore.DefaultDir()
	return zopastore.Store{Dir: dir}, err
}

func newCommitCommand(s *session) *cobra.Command {
	var kept sealedFlag
	cmd := &cobra.Command{
		Use: "commit NEGOTIATION PRICE", Short: "Commit to a reservation price without showing it (buyer, then seller)",
		Long: `Commits to the most that the buyer would pay, or the least that the seller would take, without showing
it. The price and the number that hides it are on the disk before their hash is sent; repeated with the
same price, the command sends the same hash.`,
		Example: "  haggle zopa commit NEGOTIATION 3.5",
		Args:    exactly(2), ValidArgsFunction: s.completeNegotiations,
	}
	kept.register(cmd)
	cmd.RunE = s.limited(func(ctx context.Context, arguments []string) error {
		return s.commit(ctx, arguments[0], arguments[1], &kept)
	})
	return cmd
}

func (s *session) commit(ctx context.Context, written, writtenPrice string, kept *sealedFlag) error {
	text, err := amount.Parse(writtenPrice)
	if err != nil {
		return exitcode.Usagef("PRICE: %w", err)
	}
	store, err := kept.store()
	if err != nil {
		return err
	}
	client, key, err := s.clientAndKey(ctx)
	if err != nil {
		return err
	}
	n, err := s.seen(ctx, client, written)
	if err != nil {
		return err
	}
	price, err := s.units(ctx, n.TokenMint, "PRICE", text)
	if err != nil {
		return err
	}
	sealedPrice, err := sealFor(store, n, key, price)
	if err != nil {
		return s.explain(ctx, client, n.Address, err)
	}
	action, err := client.CommitZopa(ctx, haggle.CommitZopaRequest{Sealed: sealedPrice, Seen: n})
	if err != nil {
		return s.explain(ctx, client, n.Address, err)
	}
	if err := store.Keep(sealedPrice); err != nil {
		return err
	}
	receipt, err := s.act(ctx, client, action, key)
	if err != nil {
		return err
	}
	return s.done(action, receipt, "committed; the price is kept until it is revealed, in "+store.Path(sealedPrice))
}

// sealFor returns the sealed price that is stored for this deal, so that a repetition sends the same hash,
// otherwise a new one.
func sealFor(store zopastore.Store, n *haggle.NegotiationAccount, key haggle.Signer, price uint64) (*haggle.SealedPrice, error) {
	kept, err := store.Find(n.Address, key.PublicKey())
	if err != nil {
		return nil, err
	}
	for _, candidate := range kept {
		if candidate.Price() == price && candidate.CreatedAt() == n.CreatedAt {
			return candidate, nil
		}
	}
	return haggle.SealPrice(n, key.PublicKey(), price)
}

func newRevealCommand(s *session) *cobra.Command {
	var kept sealedFlag
	cmd := &cobra.Command{
		Use: "reveal NEGOTIATION", Short: "Show the price that was committed to (buyer, then seller)",
		Long: `Shows the price that the keypair's owner has committed to. The buyer's comes first; the seller's says
whether there is a deal to be made.`,
		Example: "  haggle zopa reveal NEGOTIATION",
		Args:    exactly(1), ValidArgsFunction: s.completeNegotiations,
	}
	kept.register(cmd)
	cmd.RunE = s.limited(func(ctx context.Context, arguments []string) error { return s.reveal(ctx, arguments[0], &kept) })
	return cmd
}

func (s *session) reveal(ctx context.Context, written string, kept *sealedFlag) error {
	store, err := kept.store()
	if err != nil {
		return err
	}
	client, key, err := s.clientAndKey(ctx)
	if err != nil {
		return err
	}
	n, err := s.seen(ctx, client, written)
	if err != nil {
		return err
	}
	price, err := committed(store, n, key)
	if err != nil {
		return s.explain(ctx, client, n.Address, err)
	}
	action, err := client.RevealZopa(ctx, haggle.RevealZopaRequest{Sealed: price, Seen: n})
	if err != nil {
		return s.explain(ctx, client, n.Address, err)
	}
	receipt, err := s.act(ctx, client, action, key)
	if err != nil {
		return err
	}
	if err := store.Forget(n.Address, key.PublicKey()); err != nil {
		fmt.Fprintf(s.stderr, "the price is revealed, but what was kept of it is still there: %v\n", err)
	}
	tokens, err := s.tokensOf(ctx, n.TokenMint)
	if err != nil {
		return err
	}
	return s.done(action, receipt, revealed(receipt, price.Price(), tokens))
}

// committed is the price that the chain holds the hash of.
func committed(store zopastore.Store, n *haggle.NegotiationAccount, key haggle.Signer) (*haggle.SealedPrice, error) {
	side, isParty := n.SideOf(key.PublicKey())
	if !isParty {
		return nil, fmt.Errorf("%s is no party to it: %w", key.PublicKey(), protocol.ErrUnauthorized)
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
		return nil, exitcode.WithHint(fmt.Errorf("%w: the %s has not committed to a price", haggle.ErrNotAsExpected, sideName(side)),
			fmt.Sprintf("commit first: haggle zopa commit %s PRICE", n.Address))
	}
	return nil, &exitcode.Error{Kind: exitcode.NotFound,
		Hint: "it is on the machine that committed, beneath the --sealed there: copy that folder, and say --sealed",
		Err:  fmt.Errorf("the price that the %s has committed to is not kept in %s", sideName(side), store.Dir)}
}

// revealed says what a revelation has led to.
func revealed(receipt *haggle.Receipt, price uint64, tokens func(uint64) amount.Tokens) string {
	for _, event := range receipt.Events {
		switch event := event.(type) {
		case *protocol.NegotiationRejected:
			return fmt.Sprintf("revealed %s: no price suits both, so it is over; the escrow is back with the buyer and the bond with the seller", tokens(price))
		case *protocol.ZopaRevealed:
			if event.Midpoint > 0 {
				return fmt.Sprintf("revealed %s: there is room for a deal, and %s stands as an offer that either side may take", tokens(price), tokens(event.Midpoint))
			}
		}
	}
	return fmt.Sprintf("revealed %s", tokens(price))
}
