package player_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/arena"
	"github.com/haggle-protocol/haggle/sdk/arena/player"
	"github.com/haggle-protocol/haggle/sdk/arena/trader"
)

// table is a market where tests make the players' moves in side chat 1, with no server.
type table struct {
	t       *testing.T
	market  *arena.Market
	now     time.Time
	players map[string]trader.Config
	// offers lists the chat's packages so far.
	offers []arena.Proposed
}

const grant = 100 * arena.SetPrice

// seat is a test player: personality, estimate, tokens and interest.
type seat struct {
	name     string
	estimate arena.Price
	risk     arena.Money
	sets     arena.Quantity
	want     arena.Want
}

func newTable(t *testing.T, seats ...seat) *table {
	t.Helper()
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	market, err := arena.New(arena.Config{
		Market: "m", Question: "50,000 likes?", Opens: now, Closes: now.Add(time.Hour), Operator: "operator",
		Resolver: "resolver", Grant: grant,
	})
	require.NoError(t, err)
	table := &table{t: t, market: market, now: now, players: map[string]trader.Config{}}
	for _, s := range seats {
		personality, known := player.PersonalityNamed(s.name)
		require.True(t, known)
		p, err := player.New(personality, player.Options{Estimate: s.estimate, Risk: s.risk})
		require.NoError(t, err)
		table.players[s.name] = p.Trader(trader.Config{}, grant)
		table.do(s.name, arena.Join{Name: s.name})
		if s.sets > 0 {
			table.do(s.name, arena.Split{Sets: s.sets})
		}
		table.do(s.name, arena.State{Interest: arena.Interest{Interested: true, Want: &s.want}})
	}
	return table
}

func (b *table) do(agent string, action arena.Action) {
	b.t.Helper()
	events, err := b.market.Apply(arena.Input{At: b.now, Agent: agent, Seen: b.market.Shown(agent), Action: action})
	require.NoError(b.t, err)
	for _, event := range events {
		if proposed, is := event.Fact.(arena.Proposed); is {
			b.offers = append(b.offers, proposed)
		}
	}
}

// desk returns a player's view of the market.
func (b *table) desk(agent string) trader.Desk {
	review, _ := b.market.Review(agent)
	desk := trader.Desk{
		Self: agent, Limits: b.players[agent].Limits, At: b.now, View: b.market.View(), Holding: review.Holding,
	}
	for _, pending := range review.Pending {
		desk.Pending = append(desk.Pending, pending.Agreement)
	}
	return desk
}

// begin begins a packages chat of the agents.
func (b *table) begin(agents ...string) {
	b.t.Helper()
	b.do(agents[0], arena.Invite{Agents: agents[1:], Mode: arena.ModePackages})
	for _, agent := range agents[1:] {
		enters, err := b.players[agent].Admit(b.t.Context(), trader.Invitation{
			Desk: b.desk(agent), Invited: arena.Invited{Chat: 1, By: agents[0], Agents: agents[1:], Mode: arena.ModePackages},
		})
		require.NoError(b.t, err)
		require.True(b.t, enters, agent)
		b.do(agent, arena.AcceptInvitation{Chat: 1})
	}
}

// turn makes the next move in the chat. It returns nil once the chat has ended.
func (b *table) turn() trader.Move {
	b.t.Helper()
	b.now = b.now.Add(time.Second)
	b.do("", nil)
	if len(b.market.View().Chats) == 0 {
		return nil
	}
	members := b.market.View().Chats[0].Members
	chats, _ := b.market.ChatsOf(members[0])
	own := chats[0]
	agent := own.Turn.Agent
	turn := trader.Turn{Desk: b.desk(agent), Until: own.Turn.Until, Chat: trader.Chat{
		Number: 1, Mode: own.Mode, Members: own.Members, Begun: true, Offers: slices.Clone(b.offers),
		Stands: own.Proposal != nil, Agreed: slices.Contains(own.Agreed, agent),
	}}
	move, err := b.players[agent].Negotiate(b.t.Context(), turn)
	require.NoError(b.t, err)
	switch m := move.(type) {
	case trader.Offer:
		require.NoError(b.t, turn.Permits(m.Legs, 1), "%s offers", agent)
		if own.Proposal == nil {
			b.do(agent, arena.Propose{Chat: 1, Legs: m.Legs})
		} else {
			b.do(agent, arena.Counter{Chat: 1, Proposal: own.Proposal.Proposal, Legs: m.Legs})
		}
	case trader.Agree:
		require.NoError(b.t, turn.Permits(own.Proposal.Legs, 1), "%s agrees", agent)
		b.do(agent, arena.Agree{Chat: 1, Proposal: own.Proposal.Proposal})
	case trader.Leave:
		b.do(agent, arena.LeaveChat{Chat: 1})
	default:
		require.Fail(b.t, "no move of a packages chat", "%T", move)
	}
	return move
}

// Rule 31. Members make offers or agree in turn, within their limits, until all agree.
func TestThreePlayersAgreeToPackage(t *testing.T) {
	table := newTable(t,
		seat{"optimist", 55, 50 * arena.SetPrice, 0, arena.Want{Side: arena.Buy, Token: arena.Yes, Price: 48, Quantity: 25}},
		seat{"skeptic", 60, 50 * arena.SetPrice, 25, arena.Want{Side: arena.Sell, Token: arena.Yes, Price: 67, Quantity: 25}},
		seat{"scholar", 50, 50 * arena.SetPrice, 15, arena.Want{Side: arena.Sell, Token: arena.Yes, Price: 74, Quantity: 15}},
	)
	table.begin("optimist", "skeptic", "scholar")
	counters := map[string]int{}
	for move := table.turn(); move != nil; move = table.turn() {
		require.NotEqual(t, trader.Leave{}, move)
	}
	for _, offer := range table.offers {
		counters[offer.Agent]++
		require.Len(t, offer.Legs, 2, "a sale with each of the sellers")
	}
	require.Len(t, counters, 3, "each makes offers")
	// By their estimates, edges and leanings the buyer pays at most 0.68, and the sellers take at least 0.47 and 0.54.
	review, _ := table.market.Review("scholar")
	require.Len(t, review.Pending, 1)
	agreement := review.Pending[0].Agreement
	require.ElementsMatch(t, []string{"optimist", "skeptic", "scholar"}, agreement.Parties)
	least := map[string]arena.Price{"skeptic": 47, "scholar": 54}
	paid := arena.Money(0)
	for _, leg := range agreement.Legs {
		require.Equal(t, "optimist", leg.Buyer)
		require.LessOrEqual(t, leg.Price, arena.Price(68))
		require.GreaterOrEqual(t, leg.Price, least[leg.Seller])
		paid += leg.Cost()
	}
	require.LessOrEqual(t, paid, 50*arena.SetPrice)

	verdict, err := table.players["scholar"].Settle(t.Context(), table.desk("scholar"), agreement)
	require.NoError(t, err)
	require.Equal(t, trader.Finalize, verdict)
	table.do("scholar", arena.Finalize{Agreement: agreement.Number, Review: review.Number})
	buyer, _ := table.market.Review("optimist")
	require.Equal(t, grant-paid, buyer.Holding.Money)
	require.Positive(t, buyer.Holding.Yes)
}

// Rule 31. A player that cannot pay for all sales in a package reduces them.
func TestPackageIsNotMoreThanPlayerRisks(t *testing.T) {
	table := newTable(t,
		seat{"gambler", 60, 12 * arena.SetPrice, 0, arena.Want{Side: arena.Buy, Token: arena.Yes, Price: 44, Quantity: 40}},
		seat{"skeptic", 50, 50 * arena.SetPrice, 25, arena.Want{Side: arena.Sell, Token: arena.Yes, Price: 57, Quantity: 25}},
		seat{"scholar", 40, 50 * arena.SetPrice, 15, arena.Want{Side: arena.Sell, Token: arena.Yes, Price: 64, Quantity: 15}},
	)
	table.begin("gambler", "skeptic", "scholar")
	for table.turn() != nil {
		// The table checks each move.
	}
	review, _ := table.market.Review("gambler")
	require.Len(t, review.Pending, 1)
	require.LessOrEqual(t, review.Pending[0].Pays, 12*arena.SetPrice)
	require.Positive(t, review.Pending[0].Pays)
}

// Rules 31 and 36. A maker in the middle of a five-member package buys from two members and sells to two. The
// maker holds no tokens or money for these trades, but needs none.
func TestMakerStandsBetweenSellersAndBuyers(t *testing.T) {
	want := func(side arena.Side, price arena.Price) arena.Want {
		return arena.Want{Side: side, Token: arena.Yes, Price: price, Quantity: 10}
	}
	table := newTable(t,
		seat{"maker", 50, 1, 0, want(arena.Buy, 28)},
		seat{"skeptic", 50, 50 * arena.SetPrice, 10, want(arena.Sell, 57)},
		seat{"optimist", 55, 50 * arena.SetPrice, 0, want(arena.Buy, 48)},
		seat{"scholar", 42, 50 * arena.SetPrice, 10, want(arena.Sell, 66)},
		seat{"gambler", 60, 50 * arena.SetPrice, 0, want(arena.Buy, 44)},
	)
	table.begin("maker", "skeptic", "optimist", "scholar", "gambler")
	for table.turn() != nil {
		// The table checks each move.
	}
	review, _ := table.market.Review("maker")
	require.Len(t, review.Pending, 1)
	require.Len(t, review.Pending[0].Agreement.Parties, 5)
	require.Zero(t, review.Pending[0].Pays)
	table.do("maker", arena.Finalize{Agreement: 1, Review: review.Number})
	review, _ = table.market.Review("maker")
	require.Greater(t, review.Holding.Money, grant)
	require.Zero(t, review.Holding.Yes)
}

// Rule 19.
func TestPlayersInviteSeveralAgentsToPackages(t *testing.T) {
	buy := arena.Want{Side: arena.Buy, Token: arena.Yes, Price: 48, Quantity: 10}
	sell := arena.Want{Side: arena.Sell, Token: arena.Yes, Price: 60, Quantity: 10}
	invite := func(seats ...seat) (invited []int) {
		table := newTable(t, seats...)
		for range 12 {
			invite, err := table.players["gambler"].Invite(t.Context(), table.desk("gambler"))
			require.NoError(t, err)
			require.NotContains(t, invite.Agents, "optimist", "both buy")
			require.Equal(t, len(invite.Agents) > 1, invite.Mode == arena.ModePackages)
			invited = append(invited, len(invite.Agents))
		}
		return invited
	}
	all := []seat{
		{"gambler", 60, grant, 0, buy}, {"optimist", 60, grant, 0, buy}, {"skeptic", 40, grant, 0, sell},
		{"scholar", 40, grant, 0, sell}, {"follower", 40, grant, 0, sell}, {"miser", 40, grant, 0, sell},
	}
	require.Equal(t, []int{1, 2, 1, 3, 1, 4, 1, 2, 1, 3, 1, 4}, invite(all...))
	require.Equal(t, []int{1, 2, 1, 2}, invite(all[:4]...)[:4])
	require.Equal(t, []int{1, 1, 1, 1}, invite(all[:3]...)[:4], "one interest fits")
}

// Rule 31. If no price suits all, the members leave: none exceeds the own limit.
func TestPlayersLeavePackageWithoutCommonPrice(t *testing.T) {
	table := newTable(t,
		seat{"miser", 55, 50 * arena.SetPrice, 0, arena.Want{Side: arena.Buy, Token: arena.Yes, Price: 29, Quantity: 10}},
		seat{"scholar", 49, 50 * arena.SetPrice, 15, arena.Want{Side: arena.Sell, Token: arena.Yes, Price: 73, Quantity: 15}},
		seat{"skeptic", 64, 50 * arena.SetPrice, 25, arena.Want{Side: arena.Sell, Token: arena.Yes, Price: 71, Quantity: 25}},
	)
	table.begin("miser", "scholar", "skeptic")
	last := trader.Move(nil)
	for move := table.turn(); move != nil; move = table.turn() {
		last = move
	}
	require.Equal(t, trader.Leave{}, last)
	require.Zero(t, table.market.View().Trades)
	require.Empty(t, table.market.View().Countdowns)
	require.Greater(t, len(table.offers), 12, "they have bargained until their last turns")
	for _, offer := range table.offers {
		for _, leg := range offer.Legs {
			switch offer.Agent {
			case leg.Buyer:
				require.LessOrEqual(t, leg.Price, arena.Price(49))
			case leg.Seller:
				require.GreaterOrEqual(t, leg.Price, map[string]arena.Price{"scholar": 53, "skeptic": 51}[leg.Seller])
			}
		}
	}
}
