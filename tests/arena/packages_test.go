package arena_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/arena/arenatest"
	"github.com/haggle-protocol/haggle/sdk/arena"
	"github.com/haggle-protocol/haggle/sdk/arena/player"
)

// Rules 8, 31 and 36. Packages chats of three and more begin among many players, and a package of three or
// more parties is agreed to and executed. No player pays more than the amount at risk.
func TestPackagesSettleAmongManyPlayers(t *testing.T) {
	const grant, risk, players = 200 * arena.SetPrice, 150 * arena.SetPrice, 10
	url, opened := serve(t, func(c *arena.Config) { c.Grant = grant })
	spectator := watch(t, url)
	// These personalities concede over time and cancel no agreements. The estimates of buyers are above the
	// sellers'. All invitations are to packages chats if two interests fit, because player limits end trading
	// within a few deals.
	estimates := []struct {
		name     string
		estimate arena.Price
	}{{"optimist", 60}, {"skeptic", 40}, {"scholar", 75}, {"scholar", 25}, {"maker", 50}}
	for i := range players {
		personality, _ := player.PersonalityNamed(estimates[i%len(estimates)].name)
		personality.Packages = 1
		p, err := player.New(personality, player.Options{
			Estimate: estimates[i%len(estimates)].estimate, Risk: risk, Seed: uint64(i),
		})
		require.NoError(t, err)
		c := config(url, byte(i+1), personality.Name+" "+strconv.Itoa(i))
		c.Every = 500 * time.Millisecond // more often, most of those invited are busy
		run(t, p.Trader(c, grant))
	}
	await(t, spectator, func(c arena.ChatBegan) bool { return c.Mode == arena.ModePackages && len(c.Agents) >= 3 })
	// In all other chats players propose a single sale.
	await(t, spectator, func(traded arena.Traded) bool { return len(partiesOf(traded.Legs)) >= 3 })
	log, err := opened.Load(t.Context(), "m", nil)
	require.NoError(t, err)
	for i := range players {
		review, joined := log.Book.Market().Review(arenatest.ID(byte(i + 1)))
		require.True(t, joined)
		require.GreaterOrEqual(t, review.Holding.Money, grant-risk)
	}
	for _, agent := range log.Book.Market().View().Agents {
		require.Zero(t, agent.Record.Failed, "%s agreed to more than it has", agent.Name)
		require.Zero(t, agent.Record.Silent, "%s did not use a turn", agent.Name)
	}
}

// partiesOf returns the sellers and buyers of legs, each once.
func partiesOf(legs []arena.Leg) (ids []string) {
	for _, leg := range legs {
		ids = append(ids, leg.Seller, leg.Buyer)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
