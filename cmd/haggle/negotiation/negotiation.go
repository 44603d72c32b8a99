package negotiation

import (
	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/connection"
	"github.com/haggle-protocol/haggle/internal/cli/session"
)

const negotiationHelp = `A negotiation's life, and who does what:

  buyer     create    escrows the most it could pay and invites a seller
  seller    accept    accepts the invitation; now the buyer opens
  in turn   offer     makes an offer, which costs the escrow a share
  either    take      takes the other side's standing offer: it is paid at once
  either    reject    walks away: the escrow, less its decay, goes back to the buyer
  anyone    expire    the same, once somebody has let a deadline pass
  anyone    close     after the end: fees to the treasury, rent to the buyer
  party     claim     fetches a payment that its token account could not receive

Before the first offer both can compare reservation prices under seal: haggle zopa --help. A price
that is paid by milestones is paid with: haggle milestone --help

Whom to engage with is asked before "create" and "accept". --allowlist FILE has an address a line, and
after it a score if that is not 100. --trust URL is a registry that answers at URL/api/verify/ADDRESS; the
key to it, if it wants one, is in ` + connection.TrustAPIKeyVariable + `. With both, the list comes first. Who has a
score below --trust-threshold is refused, and so is whoever cannot be asked about.`

func Command(s *session.Session) *cobra.Command {
	group := command.Group("negotiation", "Create negotiations, bargain, settle and watch", negotiationHelp,
		newCreateCommand(s), newAcceptCommand(s), newOfferCommand(s), newTakeCommand(s), newRejectCommand(s), newExpireCommand(s),
		newCloseCommand(s), newClaimCommand(s), newShowCommand(s), newListCommand(s), newWatchCommand(s))
	group.Aliases = []string{"n"}
	return group
}
