// Package zopa has the commands of "haggle zopa".
package zopa

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/onchain"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	"github.com/haggle-protocol/haggle/internal/statefolder"
	"github.com/haggle-protocol/haggle/internal/zopastore"
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
