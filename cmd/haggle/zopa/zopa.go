package zopa

import (
	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	"github.com/haggle-protocol/haggle/internal/zopastore"
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

func Command(s *session.Session) *cobra.Command {
	return command.Group("zopa", "Compare reservation prices under seal", zopaHelp, newCommitCommand(s), newRevealCommand(s))
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
