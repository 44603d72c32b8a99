package onchain

import (
	"fmt"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/amount"
)

// Accepted describes the payments for a negotiation's agreed price, then the next command.
func Accepted(n *haggle.Snapshot, price uint64, tokens func(units uint64) amount.Tokens) string {
	rest := tokens(n.EffectiveEscrow - price)
	if count := n.MilestoneCount(); count > 0 {
		return fmt.Sprintf("to be paid by %d milestones; %s back to the buyer\n"+
			"next: haggle milestone claim %s 0   (the seller)", count, rest, n.Address)
	}
	fee := n.FeeOn(price)
	return fmt.Sprintf("%s to the seller, fee %s, %s back to the buyer\n"+
		"next: haggle negotiation close %s   (either side; it returns the rent to the buyer)",
		tokens(price-fee), tokens(fee), rest, n.Address)
}
