// Package negotiation has the commands of "haggle negotiation".
package negotiation

import (
	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/connection"
	"github.com/haggle-protocol/haggle/internal/cli/onchain"
	"github.com/haggle-protocol/haggle/internal/cli/session"
)

const negotiationHelp = `The steps of a negotiation, and the party that takes each:

  buyer     create             escrows the maximum price and invites a seller
  seller    accept-invitation  accepts the terms; the buyer makes the first offer
  in turn   offer              makes an offer, which costs the escrow a share
  either    accept-offer       accepts the other side's offer, which pays it at once
  either    reject             ends it: the escrow, less its decay, goes back to the buyer
  anyone    expire             the same, after a deadline has passed
  anyone    close              after the end: fees to the treasury, rent to the buyer
  party     claim-payout       claims a payment that its token account could not receive

Before the first offer both sides can compare hidden reservation prices: haggle zopa --help. To pay
a price by milestones: haggle milestone --help

"create" and "accept-invitation" can check the counterparty. --allowlist FILE has one address per line,
followed by its score if that is not 100. --trust URL is a registry that answers at
URL/api/verify/ADDRESS; its API key, if it needs one, is in ` + connection.TrustAPIKeyVariable + `.
With both, the list is checked first. A counterparty is refused if its score is below --trust-threshold
or cannot be read.`

// Command returns "haggle negotiation".
func Command(s *session.Session) *cobra.Command {
	group := command.Group("negotiation", "Create, bargain over, settle and watch negotiations", negotiationHelp,
		newCreateCommand(s), newAcceptInvitationCommand(s), newOfferCommand(s), newAcceptOfferCommand(s), newRejectCommand(s), newExpireCommand(s),
		newCloseCommand(s), newClaimPayoutCommand(s), newShowCommand(s), newListCommand(s), newWatchCommand(s))
	group.Aliases = []string{"n"}
	onchain.RegisterDryRun(s, group.PersistentFlags())
	return group
}
