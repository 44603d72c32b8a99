package game_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/game"
	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
)

func terms(escrow uint64, rounds uint8, decay, least, fee uint16) onchain.Rules {
	return onchain.Rules{
		Escrow: escrow, MaxRounds: rounds, DecayRateBps: decay, MinOfferBps: least, FeeBps: fee,
		ResponseWindow: 300, Deadline: 86_400,
	}
}

// TestEquilibriaByHand solves games by hand. The fee of 0.5 % makes 603,015 the lowest price that covers the
// seller's cost, 600,000.
func TestEquilibriaByHand(t *testing.T) {
	const value, cost = 800_000, 600_000
	for _, test := range []struct {
		name   string
		escrow uint64
		rounds uint8
		decay  uint16
		want   game.Result
	}{
		{"the buyer's offer is an ultimatum", 1_000_000, 1, 200,
			game.Result{Agreed: true, Price: 603_015, Offers: 1, Decay: 20_000}},
		// The seller's ultimatum is the whole value, 799,999 after the fee as much as 800,000. The decay of
		// the first offer is then a loss, and the buyer does not open.
		{"the seller's ultimatum takes the value", 1_000_000, 2, 200, game.Result{}},
		{"without decay the buyer opens", 1_000_000, 2, 0,
			game.Result{Agreed: true, Price: 799_999, Offers: 1}},
		// The highest price is the effective escrow after two rounds, 672,280, which leaves 668,919.
		{"a low escrow limits the ultimatum", 700_000, 2, 200,
			game.Result{Agreed: true, Price: 672_280, Offers: 1, Decay: 14_000}},
		// The seller demands the decay that the buyer would lose by an ultimatum in round 3: 19,208.
		{"the seller demands the decay that agreement saves", 1_000_000, 3, 200,
			game.Result{Agreed: true, Price: 622_223, Offers: 1, Decay: 20_000}},
		{"the decay is more than the surplus", 1_000_000, 1, 1_970, game.Result{}},
		{"the escrow does not cover the cost", 600_000, 3, 200, game.Result{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			rules := terms(test.escrow, test.rounds, test.decay, 1_000, 50)
			h := game.Haggle{Rules: rules, Value: value, Cost: cost}
			require.Equal(t, test.want, h.Equilibrium())
		})
	}
}

// drawGame draws a game with few prices.
func drawGame(t *rapid.T) game.Haggle {
	number := rapid.Uint64Range(0, 16)
	h := game.Haggle{
		Rules: terms(rapid.Uint64Range(1, 14).Draw(t, "escrow"), uint8(rapid.IntRange(1, 6).Draw(t, "rounds")),
			uint16(rapid.IntRange(0, 4_000).Draw(t, "decay")),
			uint16(rapid.IntRange(0, 5_000).Draw(t, "min offer")),
			uint16(rapid.IntRange(0, 3_000).Draw(t, "fee"))),
		Value: number.Draw(t, "value"), Cost: number.Draw(t, "cost"),
	}
	h.Rules.Bond = rapid.Uint64Range(0, 4).Draw(t, "bond")
	return h
}

// enumeration plays a game by trying all moves. If a side's strategy is set, the side plays it.
type enumeration struct {
	game.Haggle
	t       require.TestingT
	players [2]bargain.Negotiator
	known   map[[2]int]game.Result
}

func enumerate(t require.TestingT, h game.Haggle, isFixed func(side int) bool) *enumeration {
	domain, err := onchain.Domain(h.Rules.Escrow)
	require.NoError(t, err)
	e := &enumeration{Haggle: h, t: t, known: map[[2]int]game.Result{}}
	for side := range e.players {
		preferences, _, err := onchain.Preferences(domain, 0, 0, h.Rules.Escrow)
		require.NoError(t, err)
		if isFixed(side) {
			e.players[side] = game.Optimal{Haggle: h}.Start(bargain.Seat{Preferences: preferences, Self: side})
		}
	}
	return e
}

// play returns the game's result starting at a node: after the given number of offers, with the last offer
// standing (-1: none). Sides with no strategy make the best of all moves.
func (e *enumeration) play(offers, standing int) game.Result {
	key := [2]int{offers, standing}
	if result, ok := e.known[key]; ok {
		return result
	}
	n := e.Rules.Negotiation()
	for range offers {
		onchain.Apply(n, n.Turn(), 0, 0)
	}
	least, most := n.OfferRange()
	side := offers % 2
	end := game.Result{Offers: offers, Decay: n.Decay(), FromBond: n.BondAfterRejection(n.Turn())}
	agreement := game.Result{Agreed: true, Price: uint64(standing), Offers: offers, Decay: n.Decay()}
	result := end
	if player := e.players[side]; player != nil {
		state := &bargain.State{Offer: bargain.NoOutcome, By: -1, History: make([]bargain.Offer, offers)}
		if standing >= 0 {
			state.Offer, state.By = bargain.Outcome(standing), 1-side
		}
		switch action := player.Respond(state); action.Move {
		case bargain.MoveAccept:
			result = agreement
		case bargain.MoveOffer:
			require.Less(e.t, offers, int(e.Rules.MaxRounds))
			require.GreaterOrEqual(e.t, uint64(action.Outcome), least)
			require.LessOrEqual(e.t, uint64(action.Outcome), most)
			result = e.play(offers+1, int(action.Outcome))
		}
	} else {
		try := func(other game.Result) {
			if e.Compare(side, other, result) > 0 {
				result = other
			}
		}
		if standing >= 0 {
			try(agreement)
		}
		if offers < int(e.Rules.MaxRounds) {
			for price := least; price <= most; price++ {
				try(e.play(offers+1, int(price)))
			}
		}
	}
	e.known[key] = result
	return result
}

// TestOptimalIsUnbeaten enumerates all of a side's strategies against the opponent's optimal strategy: none
// gains more than the optimal strategy, neither from the start nor after any offers.
func TestOptimalIsUnbeaten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := drawGame(t)
		both := enumerate(t, h, func(int) bool { return true })
		require.Equal(t, h.Equilibrium(), both.play(0, -1))
		for deviator := range 2 {
			best := enumerate(t, h, func(side int) bool { return side != deviator })
			require.Zero(t, h.Compare(deviator, best.play(0, -1), both.play(0, -1)), "from the start")
			for node, response := range best.known {
				require.Zero(t, h.Compare(deviator, response, both.play(node[0], node[1])),
					"side %d after %d offers, the last of %d", deviator, node[0], node[1])
			}
		}
	})
}

// TestLimitsAreExact: a side accepts the prices that are as good as the rest of the game, and only these.
func TestLimitsAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := drawGame(t)
		n := h.Rules.Negotiation()
		for offers, node := range h.Solve() {
			for price := range h.Rules.Escrow + 1 {
				accepted := game.Result{Agreed: true, Price: price, Offers: offers, Decay: n.Decay()}
				require.Equal(t, h.Compare(node.Side, accepted, node.Result) >= 0, node.Accepts(price))
			}
			onchain.Apply(n, n.Turn(), 0, 0)
		}
	})
}

// TestSessionsReachTheEquilibrium plays the strategy by the on-chain rules.
func TestSessionsReachTheEquilibrium(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		escrow := rapid.Uint64Range(100_000, 1_000_000_000_000-1).Draw(t, "escrow")
		h := game.Haggle{
			Rules: terms(escrow, uint8(rapid.IntRange(1, 20).Draw(t, "rounds")),
				uint16(rapid.IntRange(0, 1_000).Draw(t, "decay")),
				uint16(rapid.IntRange(100, 5_000).Draw(t, "min offer")),
				uint16(rapid.IntRange(0, 500).Draw(t, "fee"))),
			Value: rapid.Uint64Range(0, 2*escrow).Draw(t, "value"),
			Cost:  rapid.Uint64Range(0, escrow).Draw(t, "cost"),
		}
		domain, err := onchain.Domain(escrow)
		require.NoError(t, err)
		preferences, _, err := onchain.Preferences(domain, 0, 0, escrow)
		require.NoError(t, err)
		player := onchain.Player{Strategy: game.Optimal{Haggle: h}, Preferences: preferences}
		result, err := h.Rules.Run(1, player, player)
		require.NoError(t, err)
		want := h.Equilibrium()
		require.Equal(t, want.Agreed, result.Ending == bargain.EndingAgreement)
		require.Equal(t, want.Price, result.Settlement.Price)
		require.Equal(t, want.Decay, result.Settlement.Decay)
		require.Equal(t, want.Offers, int(result.Rounds))
		require.LessOrEqual(t, want.Offers, 1, "the first offer is accepted")

		p := h.Proximity(want)
		require.Zero(t, p.FromEquilibrium)
		if want.Agreed {
			require.InDelta(t, 1, (p.Buyer + p.Seller + p.Fee + p.Decay).Float(), 1e-11)
			require.GreaterOrEqual(t, p.Buyer, fixed.Number(0))
			require.GreaterOrEqual(t, p.Seller, fixed.Number(0))
		} else {
			require.Zero(t, want.Offers, "an equilibrium does not bargain in vain")
		}
	})
}

// TestTheLeastEscrowIsBestForTheBuyer uses the escrow as a commitment: no price can exceed the escrow.
func TestTheLeastEscrowIsBestForTheBuyer(t *testing.T) {
	for rounds := uint8(1); rounds <= 20; rounds++ {
		least := game.Result{}
		for escrow := uint64(590_000); escrow <= 1_200_000; escrow += 1_000 {
			h := game.Haggle{Rules: terms(escrow, rounds, 200, 1_000, 50), Value: 800_000, Cost: 600_000}
			end := h.Equilibrium()
			if end.Agreed && !least.Agreed {
				least = end
			}
			require.GreaterOrEqual(t, h.Compare(game.Buyer, least, end), 0, "%d rounds, escrow %d", rounds, escrow)
		}
		require.True(t, least.Agreed)
		require.Equal(t, uint64(603_015), least.Price)
	}
}

func TestProximity(t *testing.T) {
	h := game.Haggle{Rules: terms(1_000_000, 3, 200, 1_000, 50), Value: 800_000, Cost: 600_000}
	nash, ok := h.NashPrice()
	require.True(t, ok)
	require.Equal(t, uint64(701_507), nash)
	p := h.Proximity(game.Result{Agreed: true, Price: 700_000, Offers: 2, Decay: 39_600})
	require.Equal(t, h.Equilibrium(), p.Equilibrium)
	require.Equal(t, number(t, "-0.007535"), p.FromNash)
	require.Equal(t, number(t, "0.388885"), p.FromEquilibrium)
	require.Equal(t, number(t, "0.302"), p.Buyer)
	require.Equal(t, number(t, "0.4825"), p.Seller)
	require.Equal(t, number(t, "0.0175"), p.Fee)
	require.Equal(t, number(t, "0.198"), p.Decay)
	require.Equal(t, number(t, "-0.198"), h.Proximity(game.Result{Offers: 2, Decay: 39_600}).Buyer)

	h.Cost = 900_000
	_, ok = h.NashPrice()
	require.False(t, ok)
	require.Zero(t, h.Proximity(game.Result{Agreed: true, Price: 850_000}).Buyer)
}

// TestProximityWithoutABenchmark checks games where a benchmark is missing, or exceeds a limit.
func TestProximityWithoutABenchmark(t *testing.T) {
	agreed := game.Result{Agreed: true, Price: 700_000, Offers: 1}
	// The fee lifts the least price of the seller above the value.
	p := game.Haggle{Rules: terms(1_000_000, 3, 0, 0, 50), Value: 800_000, Cost: 799_000}.Proximity(agreed)
	require.False(t, p.HasZone)
	require.Zero(t, p.FromNash)
	require.Zero(t, p.FromEquilibrium)
	require.Equal(t, fixed.Int(100), p.Buyer)
	// In the equilibrium the buyer does not open.
	p = game.Haggle{Rules: terms(1_000_000, 2, 200, 0, 50), Value: 800_000, Cost: 600_000}.Proximity(agreed)
	require.False(t, p.Equilibrium.Agreed)
	require.Zero(t, p.FromEquilibrium)
	require.Equal(t, number(t, "-0.007535"), p.FromNash)
	// Nothing is to divide.
	p = game.Haggle{Rules: terms(1_000_000, 3, 0, 0, 0), Value: 700_000, Cost: 700_000}.Proximity(agreed)
	require.Equal(t, game.Proximity{Equilibrium: p.Equilibrium, Nash: 700_000, HasZone: true}, p)
	// The middle of 603,015 and 2,000,000 is above the escrow.
	nash, ok := game.Haggle{Rules: terms(1_000_000, 3, 200, 0, 50), Value: 2_000_000, Cost: 600_000}.NashPrice()
	require.True(t, ok)
	require.Equal(t, uint64(1_000_000), nash)
	// The seller's cost is above the escrow.
	_, ok = game.Haggle{Rules: terms(1_000_000, 3, 0, 0, 0), Value: 2_000_000, Cost: 1_000_001}.NashPrice()
	require.False(t, ok)
	// Shares relative to a single base unit exceed the highest number.
	agreed.Price = 1_000_000_000
	p = game.Haggle{Rules: terms(1_000_000_000, 3, 0, 0, 0), Value: 2, Cost: 1}.Proximity(agreed)
	require.Equal(t, [2]fixed.Number{-fixed.Max, fixed.Max}, [2]fixed.Number{p.Buyer, p.Seller})
}

// TestOptimalRoundsToTheOtherSidesFavour uses prices in ticks of 11 base units. The buyer's offer must cover
// the cost 1,000,005, the seller's must not exceed the value 2,000,005: 90,910 ticks, or 1,000,010 base
// units, and 181,818 ticks, or 1,999,998.
func TestOptimalRoundsToTheOtherSidesFavour(t *testing.T) {
	const escrow = 10_000_000_000_000
	for side, test := range []struct {
		rounds uint8
		want   bargain.Outcome
	}{game.Buyer: {1, 90_910}, game.Seller: {2, 181_818}} {
		h := game.Haggle{Rules: terms(escrow, test.rounds, 0, 0, 0), Value: 2_000_005, Cost: 1_000_005}
		domain, err := onchain.Domain(escrow)
		require.NoError(t, err)
		require.Equal(t, uint64(11), domain.Issue(0).Tick)
		preferences, _, err := onchain.Preferences(domain, 0, 0, escrow)
		require.NoError(t, err)
		player := game.Optimal{Haggle: h}.Start(bargain.Seat{Preferences: preferences, Self: side})
		action := player.Respond(&bargain.State{
			Offer: bargain.NoOutcome, By: -1, History: make([]bargain.Offer, side),
		})
		require.Equal(t, bargain.MoveOffer, action.Move)
		require.Equal(t, test.want, action.Outcome)
		// Both rounded prices are acceptable to the opponent, and the next tick is not.
		node, issue := h.Solve()[side+1], domain.Issue(0)
		require.True(t, node.Accepts(issue.Amount(uint64(action.Outcome))))
		worse := action.Outcome - 1
		if side == game.Seller {
			worse = action.Outcome + 1
		}
		require.False(t, node.Accepts(issue.Amount(uint64(worse))))
	}
}

// TestABondMovesBothLimits: after two offers with no deal, the bond pays the buyer the second offer's decay.
// Both sides' limits at the last chance to agree fall by the same amount.
func TestABondMovesBothLimits(t *testing.T) {
	const value, cost, delay = 800_000, 600_000, 19_600
	rules := terms(1_000_000, 2, 200, 1_000, 0)
	limits := func(bond uint64) (buyer, seller uint64) {
		rules.Bond = bond
		nodes := game.Haggle{Rules: rules, Value: value, Cost: cost}.Solve()
		return nodes[2].Limit, nodes[1].Limit
	}
	buyer, _ := limits(0)
	require.Equal(t, uint64(value), buyer)
	buyer, _ = limits(50_000)
	require.Equal(t, uint64(value-delay), buyer)
	buyer, _ = limits(1_000)
	require.Equal(t, uint64(value-1_000), buyer, "at most the bond")

	rules.MaxRounds = 3
	nodes := game.Haggle{Rules: rules, Value: value, Cost: cost}.Solve()
	require.Equal(t, uint64(cost-1_000), nodes[3].Limit, "the seller's, after its own offer and two of the buyer")
}
