package onchain_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// opponents returns a buyer and a seller playing the given strategies.
func opponents(t *testing.T, rules onchain.Rules, bought, sold bargain.Strategy) (players [2]onchain.Player) {
	for side, s := range []bargain.Strategy{bought, sold} {
		prices := [2][2]uint64{{1_000_000, 3_500_000}, {4_500_000, 3_000_000}}[side]
		var err error
		players[side], err = rules.Player(s, protocol.OfferSide(side), prices[0], prices[1])
		require.NoError(t, err)
	}
	return players
}

var tenRounds = onchain.Rules{
	Escrow: 5_000_000, MaxRounds: 10, DecayRateBps: 150, MinOfferBps: 1_000, FeeBps: 50, ResponseWindow: 300,
	Deadline: 3_600,
}

// TestASimulationMakesTheMovesOfRespond plays all strategies against each other by Run, and each move again
// by Respond, which starts the strategy anew, as an agent does on chain.
func TestASimulationMakesTheMovesOfRespond(t *testing.T) {
	turns := 0
	for bought, buyer := range strategy.Named() {
		for sold, seller := range strategy.Named() {
			players := opponents(t, tenRounds, buyer, seller)
			var moves []bargain.Action
			for side := range players {
				players[side].Observe = func(a bargain.Action) { moves = append(moves, a) }
			}
			_, err := tenRounds.Run(7, players[0], players[1])
			require.NoError(t, err)
			n, offers := tenRounds.Negotiation(), []onchain.Offer(nil)
			for round, move := range moves {
				side := n.Turn()
				require.Equal(t, move, players[side].Respond(n, side, offers, 7), "%s, %s: round %d", bought, sold, round)
				turns++
				if move.Move == bargain.MoveOffer {
					onchain.Apply(n, side, uint64(move.Outcome), 0)
					offers = append(offers, onchain.Offer{Side: side, Amount: uint64(move.Outcome)})
				}
			}
		}
	}
	require.Greater(t, turns, 1_000)
}

// TestBuyersPayTheirMaxTotalInAll plays all strategies as a buyer with price and decay limited to 3.5,
// against a seller that finally concedes to 2. Half the negotiations or more still end in a deal.
func TestBuyersPayTheirMaxTotalInAll(t *testing.T) {
	const maxTotal = 3_500_000
	deals, above := 0, 0
	for name, bought := range strategy.Named() {
		players := opponents(t, tenRounds, bought, nil)
		var err error
		players[1], err = tenRounds.Player(strategy.Linear(), onchain.Seller, 4_500_000, 2_000_000)
		require.NoError(t, err)
		unlimited, err := tenRounds.Run(7, players[0], players[1])
		require.NoError(t, err)
		if paid := unlimited.Settlement; paid.Price > 0 && paid.Price+paid.Decay > maxTotal {
			above++
		}
		players[0].MaxTotal = maxTotal
		result, err := tenRounds.Run(7, players[0], players[1])
		require.NoError(t, err)
		n := tenRounds.Negotiation()
		for _, offer := range result.History {
			if onchain.Apply(n, n.Turn(), uint64(offer.Outcome), 0); n.OfferSide == onchain.Buyer {
				require.LessOrEqual(t, n.CurrentOfferAmount+n.Decay(), uint64(maxTotal), name)
			}
		}
		if paid := result.Settlement; paid.Price > 0 {
			deals++
			require.LessOrEqual(t, paid.Price+paid.Decay, uint64(maxTotal), name)
		}
	}
	require.Positive(t, above, "some buyers pay more in all if only the price is limited")
	require.GreaterOrEqual(t, deals, len(strategy.Named())/2)
}

// TestARoundAllocatesNothing compares sessions that a party ends before its first and after its last offer.
func TestARoundAllocatesNothing(t *testing.T) {
	allocations := func(rounds int) float64 {
		players := opponents(t, tenRounds, strategy.Linear(), leaving{strategy.Hardliner(), rounds})
		return testing.AllocsPerRun(5, func() {
			result, err := tenRounds.Run(7, players[0], players[1])
			if err != nil || int(result.Rounds) != rounds {
				t.Fatalf("%d rounds, not %d: %v", result.Rounds, rounds, err)
			}
		})
	}
	require.Equal(t, allocations(1), allocations(9))
}

// leaving is a strategy that ends the session after a number of offers by both sides.
type leaving struct {
	bargain.Strategy
	after int
}

func (l leaving) Start(seat bargain.Seat) bargain.Negotiator {
	return leavingNegotiator{l.Strategy.Start(seat), l.after}
}

type leavingNegotiator struct {
	bargain.Negotiator
	after int
}

func (l leavingNegotiator) Respond(state *bargain.State) bargain.Action {
	if len(state.History) >= l.after {
		return bargain.End("")
	}
	return l.Negotiator.Respond(state)
}

// TestGrossIsTheLowestPrice compares the price with the protocol fee, also using fees that the protocol does
// not allow.
func TestGrossIsTheLowestPrice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := &onchain.Account{ProtocolFeeBps: rapid.Uint16Range(0, 10_001).Draw(t, "fee")}
		net := rapid.Uint64().Draw(t, "net")
		price := onchain.Gross(n, net)
		if price < math.MaxUint64 {
			require.GreaterOrEqual(t, price-n.FeeOn(price), net)
		}
		if price > 0 {
			require.Less(t, price-1-n.FeeOn(price-1), net)
		}
	})
	require.EqualValues(t, uint64(math.MaxUint64), onchain.Gross(&onchain.Account{ProtocolFeeBps: 10_000}, 1))
	require.Zero(t, onchain.Gross(&onchain.Account{ProtocolFeeBps: 10_000}, 0))
}

// TestASellerIsNotRoundedBelowItsReservation uses an escrow above 10^12 that is not a multiple of the tick,
// so the domain contains no price between the last tick and the escrow.
func TestASellerIsNotRoundedBelowItsReservation(t *testing.T) {
	rules := onchain.Rules{Escrow: 5_000_000_000_002, MaxRounds: 4}
	domain, err := onchain.Domain(rules.Escrow)
	require.NoError(t, err)
	require.EqualValues(t, 6, domain.Issue(0).Tick)
	last := rules.Escrow / 6 * 6
	require.Less(t, last, rules.Escrow)
	_, err = rules.Player(strategy.Linear(), onchain.Seller, rules.Escrow, last)
	require.NoError(t, err)
	_, err = rules.Player(strategy.Linear(), onchain.Seller, rules.Escrow, last+1)
	require.ErrorIs(t, err, onchain.ErrUncovered)
	_, err = rules.Player(strategy.Linear(), onchain.Buyer, last, rules.Escrow)
	require.NoError(t, err)
}

// TestMiCROAcceptsThePriceItOffered uses the minimum price 100; the player raises the first offers, 0 and 1,
// to 100.
func TestMiCROAcceptsThePriceItOffered(t *testing.T) {
	rules := onchain.Rules{
		Escrow: 1_000, MaxRounds: 4, MinOfferBps: 1_000, ResponseWindow: 300, Deadline: 3_600,
	}
	buyer, err := rules.Player(strategy.MiCRO(), onchain.Buyer, 0, 500)
	require.NoError(t, err)
	buyer.Step = 1
	negotiation, offers := rules.Negotiation(), []onchain.Offer{}
	for _, price := range []uint64{100, 500, 100, 100} {
		side := negotiation.Turn()
		if side == onchain.Buyer {
			action := buyer.Respond(negotiation, side, offers, 1)
			require.Equal(t, bargain.MoveOffer, action.Move)
			require.EqualValues(t, price, action.Outcome)
		}
		offers = append(offers, onchain.Offer{Side: side, Amount: price})
		onchain.Apply(negotiation, side, price, 0)
	}
	require.Equal(t, bargain.MoveAccept, buyer.Respond(negotiation, onchain.Buyer, offers, 1).Move)
}
