package trader

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/arena"
)

// buys returns a purchase by the trader "me", and sells a sale.
func buys(token arena.Token, price arena.Price, quantity arena.Quantity) []arena.Leg {
	return []arena.Leg{{Seller: "other", Buyer: "me", Token: token, Price: price, Quantity: quantity}}
}

func sells(token arena.Token, price arena.Price, quantity arena.Quantity) []arena.Leg {
	return []arena.Leg{{Seller: "me", Buyer: "other", Token: token, Price: price, Quantity: quantity}}
}

// newTestDesk returns a trader's desk with 100.00. The trader buys YES up to 0.60, sells at 0.50 or more, and
// keeps 20.00.
func newTestDesk() *desk {
	return &desk{Desk: Desk{
		Self: "me", Holding: arena.Holding{Money: 100 * arena.SetPrice}, promised: map[int][]arena.Leg{},
		Limits: Limits{
			Yes: TokenLimits{Buy: 60, Sell: 50, Most: 150}, No: TokenLimits{Most: 50}, Keep: 20 * arena.SetPrice, Split: true,
		},
	}}
}

func TestLimitsCoverAllCommitmentsTogether(t *testing.T) {
	d := newTestDesk()
	for name, refused := range map[string][]arena.Leg{
		"price too high":      buys(arena.Yes, 61, 1),
		"price too low":       sells(arena.Yes, 49, 1),
		"token not permitted": buys(arena.No, 1, 1),
		"more than the money": buys(arena.Yes, 60, 134),
		"more than Most":      buys(arena.Yes, 50, 151),
		"sets leave too many": sells(arena.Yes, 99, 51),
	} {
		_, err := d.allow(refused, 0)
		require.ErrorIs(t, err, ErrBeyondLimit, name)
	}
	sets, err := d.allow(buys(arena.Yes, 60, 133), 0)
	require.NoError(t, err, "79.80 of 80.00")
	require.Zero(t, sets)
	sets, err = d.allow(sells(arena.Yes, 50, 50), 0)
	require.NoError(t, err)
	require.EqualValues(t, 50, sets)

	// Each of these takes 30.00 of the 80.00 that may be spent.
	taken := buys(arena.Yes, 60, 50)
	for name, commit := range map[string]func(*desk){
		"tentative agreement":  func(d *desk) { d.Pending = []arena.Agreement{{Number: 1, Legs: taken}} },
		"agreement on its way": func(d *desk) { d.promised[1] = taken },
		"standing proposal": func(d *desk) {
			d.Chats = []Chat{{Number: 1, Stands: true, Agreed: true, Offers: []arena.Proposed{{Legs: taken}}}}
		},
	} {
		d := newTestDesk()
		commit(d)
		_, err := d.allow(buys(arena.Yes, 50, 100), 2)
		require.NoError(t, err, name)
		_, err = d.allow(buys(arena.Yes, 51, 100), 2)
		require.ErrorIs(t, err, ErrBeyondLimit, name)
	}

	// A chat's own standing proposal is replaced.
	d.Chats = []Chat{{Number: 1, Stands: true, Agreed: true, Offers: []arena.Proposed{{Legs: buys(arena.Yes, 60, 133)}}}}
	_, err = d.allow(buys(arena.Yes, 59, 133), 1)
	require.NoError(t, err)
	require.EqualValues(t, 0, d.Room(arena.Buy, arena.Yes, 60))
	d.Chats = nil
	require.EqualValues(t, 133, d.Room(arena.Buy, arena.Yes, 60))
	require.EqualValues(t, 50, d.Room(arena.Sell, arena.Yes, 60))
	require.EqualValues(t, 0, d.Room(arena.Sell, arena.Yes, 40))
}

func TestProceedsOfOneAgreementDoNotPayForAnother(t *testing.T) {
	d := newTestDesk()
	d.Holding.Yes = 100
	d.Pending = []arena.Agreement{{Number: 1, Legs: sells(arena.Yes, 90, 100)}}
	_, err := d.allow(buys(arena.Yes, 60, 134), 0)
	require.ErrorIs(t, err, ErrBeyondLimit, "the buyer may cancel")
}

// An executed agreement counts until the new holding arrives, but no longer.
func TestExecutedAgreementCountsOnce(t *testing.T) {
	d := newTestDesk()
	legs := buys(arena.Yes, 60, 100)
	d.observe(arena.Shown{Number: 1, Fact: arena.Tentative{Agreement: arena.Agreement{Number: 1, Legs: legs}}})
	d.observe(arena.Shown{Number: 2, Fact: arena.Traded{Agreement: 1, Legs: legs, Price: 60}})
	require.EqualValues(t, 33, d.Room(arena.Buy, arena.Yes, 60))
	d.observe(arena.Shown{Number: 3, Fact: arena.Changed{Agent: "me", Holding: arena.Holding{Money: 40 * arena.SetPrice, Yes: 100}}})
	require.Empty(t, d.Pending)
	require.EqualValues(t, 33, d.Room(arena.Buy, arena.Yes, 60))
}

func TestLimitsAreRequired(t *testing.T) {
	for _, limits := range []Limits{
		{}, {Keep: 1, Split: true}, {Yes: TokenLimits{Buy: 60}}, {Yes: TokenLimits{Buy: 100, Most: 1}}, {No: TokenLimits{Most: 5}},
	} {
		require.Error(t, limits.check())
	}
	require.NoError(t, (&Limits{No: TokenLimits{Sell: 40}}).check())
}
