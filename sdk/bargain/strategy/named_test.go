package strategy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
)

// offered returns what a buyer with an opening price offers to a seller that concedes and accepts nothing.
func offered(t *testing.T, s bargain.Strategy, opening uint64) (offers []bargain.Outcome) {
	rules := onchain.Rules{Escrow: 1_000, MaxRounds: 20, MinOfferBps: 500, ResponseWindow: 300, Deadline: 86_400}
	player, err := rules.Player(s, onchain.Buyer, opening, 600)
	require.NoError(t, err)
	n, made := rules.Negotiation(), []onchain.Offer{}
	for round := range uint64(rules.MaxRounds) {
		offer := onchain.Offer{Side: n.Turn(), Amount: 1_000 - 10*round}
		if n.Turn() == onchain.Buyer {
			action := player.Respond(n, onchain.Buyer, made, 1)
			if action.Move != bargain.MoveOffer {
				return offers
			}
			offers, offer.Amount = append(offers, action.Outcome), uint64(action.Outcome)
		}
		onchain.Apply(n, offer.Side, offer.Amount, 0)
		made = append(made, offer)
	}
	return offers
}

// TestTheListIsTrue checks the order, the summary format, and which strategies use the opening price.
func TestTheListIsTrue(t *testing.T) {
	list := strategy.List()
	require.IsIncreasing(t, strategy.Names())
	require.Len(t, strategy.Named(), len(list), "two strategies have one name")
	summaries := map[string]bool{}
	for _, entry := range list {
		require.LessOrEqual(t, len(entry.Summary), 86, "%s: its line in the help is too long", entry.Name)
		require.NotEmpty(t, entry.Summary, entry.Name)
		require.NotRegexp(t, `\.$`, entry.Summary, entry.Name)
		summaries[entry.Summary] = true
		low, high := offered(t, entry.Strategy, 100), offered(t, entry.Strategy, 300)
		require.True(t, len(low) > 5 || strings.HasPrefix(entry.Name, "wa"), "%s: %v", entry.Name, low)
		require.Equal(t, entry.HasOpening, !slices.Equal(low, high), entry.Name)
	}
	require.Len(t, summaries, len(list))
}

// TestStepsBelongToStrategiesThatConcedeByRanks compares offers under a single base unit step and under a
// larger step.
func TestStepsBelongToStrategiesThatConcedeByRanks(t *testing.T) {
	for _, entry := range strategy.List() {
		offers := func(step uint64) (made []onchain.Offer) {
			rules := onchain.Rules{Escrow: 1_000, MaxRounds: 20, MinOfferBps: 100}
			player, err := rules.Player(entry.Strategy, onchain.Buyer, 100, 600)
			require.NoError(t, err)
			player.Step = step
			n := rules.Negotiation()
			for round := range uint64(rules.MaxRounds) {
				offer := onchain.Offer{Side: n.Turn(), Amount: 1_000 - 10*round}
				if n.Turn() == onchain.Buyer {
					action := player.Respond(n, onchain.Buyer, made, 1)
					if action.Move != bargain.MoveOffer {
						return made
					}
					offer.Amount = uint64(action.Outcome)
				}
				onchain.Apply(n, offer.Side, offer.Amount, 0)
				made = append(made, offer)
			}
			return made
		}
		wastes := strings.HasPrefix(entry.Name, "wa") // and so makes no offer
		require.Equal(t, entry.HasStep() && !wastes, !slices.Equal(offers(20), offers(40)), entry.Name)
	}
}

// TestTheNewTacticsMakeTheirOwnOffers checks that all tactics make different offers to a conceding seller.
func TestTheNewTacticsMakeTheirOwnOffers(t *testing.T) {
	offers := map[string]string{}
	for _, name := range []string{
		"averaged-tit-for-tat", "mixture", "patience", "random-absolute", "resource-dependent", "smith", "switch",
		"tit-for-tat", "genius-boulware", "genius-linear",
	} {
		made := fmt.Sprint(offered(t, strategy.Named()[name], 100))
		require.Empty(t, offers[made], "%s makes the offers %s, too", name, made)
		offers[made] = name
	}
}
