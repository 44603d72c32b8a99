package arena

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestMoneyIsWrittenInHundredths(t *testing.T) {
	require.Equal(t, "87.00", Price(58).Cost(150).String())
	require.Equal(t, "0.05", Price(5).Cost(1).String())
	require.Equal(t, "0.58", Price(58).String())
}

// Rules 5, 7 and 8. Money and tokens are neither created nor lost, and a market never pays more than the
// collateral.
func TestLedgerConservesMoneyAndTokens(t *testing.T) {
	agents := []string{"a", "b", "c"}
	rapid.Check(t, func(t *rapid.T) {
		l := newLedger()
		for _, agent := range agents {
			require.NoError(t, l.deposit(agent, rapid.Custom(func(t *rapid.T) Money {
				return Money(rapid.Uint64Range(0, 200).Draw(t, "units")) * SetPrice
			}).Draw(t, "deposit")))
		}
		for range rapid.IntRange(0, 50).Draw(t, "steps") {
			agent := rapid.SampledFrom(agents).Draw(t, "agent")
			quantity := Quantity(rapid.Uint64Range(0, 100).Draw(t, "quantity"))
			before := l.holdings[agent]
			switch rapid.IntRange(0, 2).Draw(t, "kind") {
			case 0:
				if l.split(agent, quantity) != nil {
					require.Equal(t, before, l.holdings[agent])
				}
			case 1:
				if l.merge(agent, quantity) != nil {
					require.Equal(t, before, l.holdings[agent])
				}
			case 2:
				legs := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Leg {
					return Leg{
						Seller: rapid.SampledFrom(agents).Draw(t, "seller"), Buyer: rapid.SampledFrom(agents).Draw(t, "buyer"),
						Token: rapid.SampledFrom([]Token{Yes, No}).Draw(t, "token"),
						Price: Price(rapid.IntRange(1, 99).Draw(t, "price")), Quantity: quantity,
					}
				}), 1, 4).Draw(t, "legs")
				legs = slices.DeleteFunc(legs, func(leg Leg) bool { return leg.Seller == leg.Buyer })
				if after, short := l.trade(legs); len(short) == 0 {
					for agent, h := range after {
						l.holdings[agent] = h
					}
				}
			}
			require.NoError(t, l.check())
		}
		l.pay(rapid.SampledFrom([]Outcome{OutcomeYes, OutcomeNo, OutcomeVoid}).Draw(t, "outcome"))
		require.NoError(t, l.check())
	})
}

// Rule 36. An agent that buys and resells within a trade needs only the difference.
func TestChainOfLegsNeedsOnlyTheDifference(t *testing.T) {
	l := newLedger()
	require.NoError(t, l.deposit("a", 100*SetPrice))
	require.NoError(t, l.deposit("c", 60*SetPrice))
	require.NoError(t, l.split("a", 100))
	legs := []Leg{
		{Seller: "a", Buyer: "b", Token: Yes, Price: 50, Quantity: 100},
		{Seller: "b", Buyer: "c", Token: Yes, Price: 60, Quantity: 100},
	}
	after, short := l.trade(legs)
	require.Empty(t, short)
	require.Equal(t, Holding{Money: 10 * SetPrice}, after["b"])
	legs[1].Price = 61
	_, short = l.trade(legs)
	require.Equal(t, []string{"c"}, short)
	legs[1].Price, legs[0].Price = 60, 61
	_, short = l.trade(legs)
	require.Equal(t, []string{"b"}, short)
}
