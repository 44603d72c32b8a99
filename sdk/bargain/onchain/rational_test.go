package onchain_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// answer returns a side's move after offers: all the side's offers are the worst prices for the opponent, and
// all opponent offers equal price.
func answer(t *testing.T, r onchain.Rules, s bargain.Strategy, side onchain.Side, offers int, price uint64) bargain.Action {
	player, err := r.Player(s, side, [2]uint64{1_000_000, 4_500_000}[side], [2]uint64{3_500_000, 3_000_000}[side])
	require.NoError(t, err)
	n, made := r.Negotiation(), []onchain.Offer{}
	for range offers {
		offer := onchain.Offer{Side: n.Turn(), Amount: price}
		if offer.Side == side {
			offer.Amount = [2]uint64{500_000, 4_000_000}[side]
		}
		onchain.Apply(n, offer.Side, offer.Amount, 0)
		made = append(made, offer)
	}
	require.Equal(t, side, n.Turn())
	return player.Respond(n, side, made, 7)
}

// TestLastTurnAcceptsWhatIsAsGoodAsNoAgreement checks the buyer after the last of ten offers, or the second
// to last of eleven, and the seller after the last of eleven, or the second to last of ten. With bond 1, the
// seller's decay lowers both limits.
func TestLastTurnAcceptsWhatIsAsGoodAsNoAgreement(t *testing.T) {
	for _, bond := range []uint64{0, 1_000_000} {
		for name, s := range strategy.Named() {
			for _, turn := range []struct {
				side           onchain.Side
				rounds, offers uint8
			}{{onchain.Buyer, 10, 10}, {onchain.Buyer, 11, 10}, {onchain.Seller, 11, 11}, {onchain.Seller, 10, 9}} {
				r := tenRounds
				r.MaxRounds, r.Bond = turn.rounds, bond
				n := after(r, int(turn.offers))
				limit, ok := r.Limit(turn.side, [2]uint64{3_500_000, 3_000_000}[turn.side], n.BondForDelay())
				require.True(t, ok)
				beyond := limit + 1
				if turn.side == onchain.Seller {
					beyond = limit - 1
				}
				action := answer(t, r, s, turn.side, int(turn.offers), limit)
				require.Equal(t, bargain.MoveAccept, action.Move, "%s: %+v: %s", name, turn, action.Reason)
				action = answer(t, r, s, turn.side, int(turn.offers), beyond)
				require.NotEqual(t, bargain.MoveAccept, action.Move, "%s: %+v: %s", name, turn, action.Reason)
			}
		}
	}
}

// TestHardlinerStaysHardBeforeTheLastTurn: the final turn's rule is for this turn only.
func TestHardlinerStaysHardBeforeTheLastTurn(t *testing.T) {
	for offers := 1; offers < 9; offers += 2 {
		action := answer(t, tenRounds, strategy.Hardliner(), onchain.Seller, offers, 3_400_000)
		require.Equal(t, "moved into the range of offers", action.Reason)
	}
}

// TestBuyerAcceptsWhatItsOwnOfferWouldCost checks a buyer that offers 1.0 first. This costs 1.5 % of the
// escrow, 5.
func TestBuyerAcceptsWhatItsOwnOfferWouldCost(t *testing.T) {
	second := func(standing uint64) bargain.Action {
		return answer(t, tenRounds, repeating(1_000_000), onchain.Buyer, 2, standing)
	}
	decay := after(tenRounds, 3).Decay() - after(tenRounds, 2).Decay()
	require.EqualValues(t, 72_767, decay)
	require.Equal(t, bargain.MoveAccept, second(1_000_000+decay).Move)
	require.Equal(t, bargain.MoveOffer, second(1_000_000+decay+1).Move)
}

// repeating is a strategy that offers a price and accepts nothing.
type repeating uint64

func (r repeating) Start(bargain.Seat) bargain.Negotiator { return r }

func (r repeating) Respond(*bargain.State) bargain.Action {
	return bargain.Propose(bargain.Outcome(r), "repeated")
}

// TestOffersThatCostTooMuchAreNotMade checks a buyer with the limit 3.5, offering 3.5 at once. At even odds
// the price must leave room for the offer's decay, and for the decay of offer plus reply: 0.075 and 0.148875.
// With a bond the seller pays the reply's decay.
func TestOffersThatCostTooMuchAreNotMade(t *testing.T) {
	first := func(r onchain.Rules) bargain.Action {
		return answer(t, r, repeating(3_500_000), onchain.Buyer, 0, 0)
	}
	require.EqualValues(t, 3_500_000-75_000-148_875, first(tenRounds).Outcome)
	bonded := tenRounds
	bonded.Bond = 1_000_000
	require.EqualValues(t, 3_500_000-2*75_000, first(bonded).Outcome)
	single := tenRounds
	single.MaxRounds = 1
	require.EqualValues(t, 3_500_000-2*75_000, first(single).Outcome, "there is no answer")
	free := tenRounds
	free.DecayRateBps = 0
	require.EqualValues(t, 3_500_000, first(free).Outcome)
	// The least offer is 60 % of the escrow, and the decay 10 %: no price is worth it.
	dear := tenRounds
	dear.DecayRateBps, dear.MinOfferBps = 1_000, 6_000
	require.Equal(t, bargain.End("a further offer costs more than it can gain"), first(dear))
}

// TestMovesAreWorthTheirCost plays random strategies, and values each move by the settlements that follow it.
func TestMovesAreWorthTheirCost(t *testing.T) {
	names := strategy.Names()
	rapid.Check(t, func(t *rapid.T) {
		r := onchain.Rules{
			Escrow:    rapid.Uint64Range(10_000, 1_000_000).Draw(t, "escrow"),
			MaxRounds: rapid.Uint8Range(1, 20).Draw(t, "rounds"), MinOfferBps: 1_000,
			DecayRateBps: rapid.Uint16Range(0, 1_000).Draw(t, "decay"), FeeBps: rapid.Uint16Range(0, 500).Draw(t, "fee"),
			Bond:           rapid.OneOf(rapid.Just(uint64(0)), rapid.Uint64Range(0, 1_000_000)).Draw(t, "bond"),
			ResponseWindow: 300, Deadline: 86_400,
		}
		reservation := [2]uint64{
			rapid.Uint64Max(r.Escrow).Draw(t, "value"), rapid.Uint64Max(r.Escrow*9/10).Draw(t, "cost"),
		}
		// value returns a side's gain from an end, over none at the start.
		value := func(side onchain.Side, n *protocol.Negotiation, ending bargain.Ending) int64 {
			s := onchain.Settle(n, ending)
			agreed := ending == bargain.EndingAgreement
			switch {
			case side == onchain.Buyer && agreed:
				return int64(reservation[0]) - int64(s.Price+s.Decay)
			case side == onchain.Buyer:
				return int64(s.FromBond) - int64(s.Decay)
			case agreed:
				return int64(s.ToSeller) - int64(reservation[1])
			}
			return -int64(s.FromBond)
		}
		n := r.Negotiation()
		var players [2]onchain.Player
		for side := range players {
			var err error
			players[side], err = r.Player(strategy.Named()[rapid.SampledFrom(names).Draw(t, "strategy")],
				onchain.Side(side), rapid.Uint64Max(r.Escrow).Draw(t, "opening"), reservation[side])
			require.NoError(t, err)
			players[side].Observe = func(action bargain.Action) {
				side, now := onchain.Side(side), value(onchain.Side(side), n, bargain.EndingLeft)
				switch action.Move {
				case bargain.MoveAccept:
					require.GreaterOrEqual(t, value(side, n, bargain.EndingAgreement), now, action.Reason)
				case bargain.MoveOffer:
					onchain.Apply(n, side, uint64(action.Outcome), 0)
					gain, refused := value(side, n, bargain.EndingAgreement)-now, *n
					if refused.RoundsLeft() > 0 {
						onchain.Apply(&refused, refused.Turn(), 0, 0)
					}
					cost := now - value(side, &refused, bargain.EndingLeft)
					require.GreaterOrEqual(t, gain, cost, action.Reason)
				}
			}
		}
		_, err := r.Run(3, players[0], players[1])
		require.NoError(t, err)
	})
}

// TestRanksFollowFromRoundsAndDecay checks a buyer with the limit 3.5 and five or ten offers, conceding rank
// by rank to a seller that stays at 4. The offers move up to half the way to the limit, unless decay makes
// more worthwhile.
func TestRanksFollowFromRoundsAndDecay(t *testing.T) {
	offered := func(decay uint16, rounds uint8, step uint64) (prices []uint64) {
		r := onchain.Rules{Escrow: 5_000_000, MaxRounds: rounds, MinOfferBps: 100, DecayRateBps: decay}
		buyer, err := r.Player(strategy.CAR(), onchain.Buyer, 0, 3_500_000)
		require.NoError(t, err)
		buyer.Step = step
		n, made := r.Negotiation(), []onchain.Offer{}
		for range int(rounds) / 2 {
			action := buyer.Respond(n, onchain.Buyer, made, 1)
			require.Equal(t, bargain.MoveOffer, action.Move, action.Reason)
			prices = append(prices, uint64(action.Outcome))
			for _, price := range []uint64{uint64(action.Outcome), 4_000_000} {
				made = append(made, onchain.Offer{Side: n.Turn(), Amount: price})
				onchain.Apply(n, n.Turn(), price, 0)
			}
		}
		return prices
	}
	require.Equal(t, []uint64{50_000, 437_500, 875_000, 1_312_500, 1_750_000}, offered(0, 10, 0))
	require.Equal(t, []uint64{50_000, 875_000, 1_750_000}, offered(0, 6, 0))
	require.Equal(t, []uint64{49_500, 437_500, 875_000, 1_312_500, 1_750_000}, offered(100, 10, 0))
	// Two offers cost 0.2955 at first, and half of the way has nine steps of 0.194.
	require.Equal(t, []uint64{48_500, 295_500, 591_000}, offered(300, 20, 0)[:3])
	require.Equal(t, []uint64{50_000, 100_000, 200_000}, offered(0, 6, 100_000), "a given step")
}

// TestReasonNamesTheNarrowerLimit checks a buyer with a limit on price and decay, 3, that is narrower than
// the costs.
func TestReasonNamesTheNarrowerLimit(t *testing.T) {
	buyer, err := tenRounds.Player(repeating(3_500_000), onchain.Buyer, 0, 3_500_000)
	require.NoError(t, err)
	buyer.MaxTotal = 3_000_000
	action := buyer.Respond(tenRounds.Negotiation(), onchain.Buyer, nil, 1)
	require.Equal(t, bargain.Propose(3_000_000-75_000, "moved into the range of offers"), action)
	buyer.MaxTotal = 0
	action = buyer.Respond(tenRounds.Negotiation(), onchain.Buyer, nil, 1)
	require.Equal(t, bargain.Propose(3_276_125, "moved to a price that is worth its cost"), action)
}
