package agent

import (
	"fmt"

	"github.com/haggle-protocol/haggle/internal/cli/connection"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/bargain/proof"
	"github.com/haggle-protocol/haggle/sdk/policy"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// readBand reads the policy band that the agent commits to, together with the model. A language model
// requires a band: its moves cannot be proved otherwise.
func (a *agentCommand) readBand() error {
	if a.proofs == "" || !a.llm.IsSet() && a.model == "" {
		return nil
	}
	key := map[protocol.OfferSide]string{protocol.OfferSideBuyer: "buyerBand", protocol.OfferSideSeller: "sellerBand"}[a.side]
	var band policy.Band
	if path := a.Connection.PolicyPath; path != "" {
		config, err := connection.ReadPolicy(path)
		if err != nil {
			return fmt.Errorf("--policy: %w", err)
		}
		band = config.Tokens[a.mint.Key()].Band(a.side)
	}
	switch {
	case band != (policy.Band{}):
		a.band = &proof.Band{Lower: band.Lower, Upper: band.Upper}
	case a.llm.IsSet():
		return exitcode.Requires("--llm with --proof", "--policy",
			fmt.Sprintf("a %q of the mint in its file: the agent commits to it", key))
	}
	return nil
}

// checkBand returns an error for limits beyond the band.
func (a *agentCommand) checkBand(limits agent.Limits) error {
	write := func(units uint64) string { return a.AmountOf(a.mint.Key(), units) }
	switch {
	case a.band == nil:
	case a.side == protocol.OfferSideBuyer && limits.MaxTotal > a.band.Upper:
		return exitcode.Usagef("--max-total: %s is above the band of --policy, which ends at %s", write(limits.MaxTotal),
			write(a.band.Upper))
	case a.side == protocol.OfferSideSeller && limits.MinPrice < a.band.Lower:
		return exitcode.Usagef("--min-price: %s is below the band of --policy, which begins at %s", write(limits.MinPrice),
			write(a.band.Lower))
	}
	return nil
}

// bestPrice returns the best price of the band for the agent; zero, which is the best price of all, if there is none.
func (a *agentCommand) bestPrice() uint64 {
	switch {
	case a.band == nil:
		return 0
	case a.side == protocol.OfferSideBuyer:
		return a.band.Lower
	}
	return a.band.Upper
}

// bandRange returns the price range for the next offer within the band: a buyer's band includes the decay.
func (a *agentCommand) bandRange(turn agent.Turn) (least, most uint64) {
	least, most = a.band.Lower, a.band.Upper
	if a.side == protocol.OfferSideBuyer {
		decay := turn.Negotiation.DecayAfterRound()
		least, most = least-min(decay, least), most-min(decay, most)
	}
	return least, most
}
