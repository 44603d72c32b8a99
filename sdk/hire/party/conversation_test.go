package party

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/hire"
)

func TestDealIsKnownAfterBothAccepts(t *testing.T) {
	b := newTable(t)
	b.proposes("4 USDC")
	require.True(t, b.worker.isMine(b.now))
	require.False(t, b.seeker.isMine(b.now))
	b.plays(hire.RoleWorker, Ask{Questions: []string{"Which colours?"}})
	require.True(t, b.seeker.isMine(b.now))
	b.plays(hire.RoleSeeker, Answer{Answers: []string{"Red."}})
	b.plays(hire.RoleWorker, Propose{Price: 5e6})

	turn := b.turn(hire.RoleSeeker)
	require.Equal(t, []Offer{
		{By: hire.RoleSeeker, Price: 4e6, Deadline: noon.Add(24 * time.Hour), Arbiter: arbiter},
		{By: hire.RoleWorker, Price: 5e6, Deadline: noon.Add(24 * time.Hour), Arbiter: arbiter},
	}, turn.Offers)
	require.Equal(t, "logo", turn.Text.Task.Untrusted())
	require.Equal(t, "Red.", turn.Text.Exchanges[1].Answers[0].Untrusted())
	require.NoError(t, turn.Refused)
	require.Equal(t, b.now.Add(2*time.Minute), turn.Due)

	b.plays(hire.RoleSeeker, Accept{})
	require.Empty(t, b.worker.deals)
	require.True(t, b.worker.isMine(b.now))
	b.says(hire.RoleWorker, &hire.Accept{Reply: b.worker.reply(), Terms: b.worker.state.Terms})
	for _, side := range []*conversation{&b.seeker, &b.worker} {
		require.Len(t, side.deals, 1)
		require.EqualValues(t, 5e6, side.deals[0].offer.Price)
		require.Equal(t, usdc, side.deals[0].asset)
		require.False(t, side.isMine(b.now))
	}
}

func TestNextDealBeginsWithoutTheOffersOfTheFirst(t *testing.T) {
	b := newTable(t)
	b.proposes("4 USDC")
	b.plays(hire.RoleWorker, Ask{Questions: []string{"Which colours?"}})
	b.plays(hire.RoleSeeker, Reject{Code: "changed_plans"})
	b.proposes("5 USDC")
	turn := b.turn(hire.RoleWorker)
	require.Equal(t, 2, turn.Deal)
	require.Len(t, turn.Offers, 1)
	require.Empty(t, turn.Text.Exchanges)
}

func TestTurnEndsWhenTheTimeToAnswerIsOver(t *testing.T) {
	b := newTable(t)
	b.proposes("4 USDC")
	require.True(t, b.worker.isMine(b.now.Add(time.Minute)))
	require.False(t, b.worker.isMine(b.now.Add(time.Minute+time.Second)))
}

func TestPriceInAnUnknownTokenIsNoOffer(t *testing.T) {
	b := newTable(t)
	b.proposes("4 ABC")
	require.ErrorContains(t, b.worker.refusal, "unknown symbol")
	require.Empty(t, b.worker.offers)
	b.says(hire.RoleWorker, &hire.Reject{Reply: b.worker.reply(), Code: CodePrice})
	require.Equal(t, hire.PhaseDeclined, b.seeker.phase(b.now))
}

// A counter in a second token would be compared with the limits of the first.
func TestCounterInAnotherTokenIsRefused(t *testing.T) {
	b := newTable(t)
	eurc := hire.Asset{Symbol: "EURC", Mint: "HzwqbKZw8HxMN6bF2yFZNrht3c2iXXzpKcFu7uBEDKtr", Decimals: 6}
	b.seeker.assets = []hire.Asset{usdc, eurc}
	b.proposes("4 USDC")
	b.says(hire.RoleWorker, &hire.Counter{
		Reply: b.worker.reply(), Price: "4 EURC", EstimatedDelivery: b.worker.state.Terms.Deadline,
	})
	require.ErrorIs(t, b.seeker.refusal, ErrBeyondLimit)
}

func TestMovesBeyondTheLimitsAreInvalid(t *testing.T) {
	for name, test := range map[string]struct {
		role  hire.Role
		move  Move
		terms func(*hire.Proposal)
	}{
		"worker below its least after the fee": {role: hire.RoleWorker, move: Propose{Price: 3_015_000}},
		"worker with a short deadline": {role: hire.RoleWorker,
			move: Propose{Price: 5e6, Deadline: noon.Add(time.Hour)}},
		"worker with a long deadline": {role: hire.RoleWorker,
			move: Propose{Price: 5e6, Deadline: noon.Add(8 * 24 * time.Hour)}},
		"worker with an unknown arbiter": {role: hire.RoleWorker,
			move: Propose{Price: 5e6, Arbiter: hire.Base58(idOf(workerKey))}},
		"worker that accepts too little": {role: hire.RoleWorker, move: Accept{},
			terms: func(p *hire.Proposal) { p.Budget = "3 USDC" }},
		"worker that accepts no arbiter": {role: hire.RoleWorker, move: Accept{},
			terms: func(p *hire.Proposal) { p.Arbiter = "" }},
		"worker that accepts a foreign arbiter": {role: hire.RoleWorker, move: Accept{},
			terms: func(p *hire.Proposal) { p.Arbiter = hire.Base58(idOf(seekerKey)) }},
		"worker that accepts a past deadline": {role: hire.RoleWorker, move: Accept{},
			terms: func(p *hire.Proposal) { p.Deadline = hire.NewTime(noon) }},
		"rejection without a code":  {role: hire.RoleWorker, move: Reject{}},
		"question without a text":   {role: hire.RoleWorker, move: Ask{}},
		"answer without a text":     {role: hire.RoleWorker, move: Answer{}},
		"no move":                   {role: hire.RoleWorker},
		"seeker above its most":     {role: hire.RoleSeeker, move: Propose{Price: 6_000_001}},
		"seeker without an offer":   {role: hire.RoleSeeker, move: Accept{}},
		"seeker with a late moment": {role: hire.RoleSeeker, move: Propose{Price: 4e6, Deadline: noon}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newTable(t)
			proposal := &hire.Proposal{
				Task: hire.NewText("logo"), Budget: "4 USDC", Deadline: hire.NewTime(noon.Add(24 * time.Hour)), Arbiter: arbiter,
			}
			if test.terms != nil {
				test.terms(proposal)
			}
			b.says(hire.RoleSeeker, proposal)
			_, err := payloadOf(b.side(test.role), b.turn(test.role), test.move, b.now)
			require.Error(t, err)
		})
	}
	b := newTable(t)
	b.proposes("4 USDC")
	b.plays(hire.RoleWorker, Propose{Price: 3_015_076}) // 3 USDC after the fee
}

func TestLimitsMustBeComplete(t *testing.T) {
	require.NoError(t, limitsOf().check(hire.RoleWorker, []hire.Asset{usdc}))
	for name, change := range map[string]func(*Limits){
		"no prices":        func(l *Limits) { l.Prices = nil },
		"no arbiters":      func(l *Limits) { l.Arbiters = nil },
		"a bad arbiter":    func(l *Limits) { l.Arbiters = []hire.Base58{"arbiter"} },
		"no shortest time": func(l *Limits) { l.Shortest = 0 },
		"no longest time":  func(l *Limits) { l.Longest = 0 },
		"an unknown token": func(l *Limits) { l.Prices = map[string]PriceLimits{"ABC": {Least: 1, Most: 1}} },
		"no least":         func(l *Limits) { l.Prices["USDC"] = PriceLimits{Most: 1} },
		"a high fee":       func(l *Limits) { l.MaxFeeBps = new(uint16(501)) },
	} {
		l := limitsOf()
		change(&l)
		require.Error(t, l.check(hire.RoleWorker, []hire.Asset{usdc}), name)
	}
	l := limitsOf()
	l.Prices["USDC"] = PriceLimits{Least: 1}
	require.Error(t, l.check(hire.RoleSeeker, []hire.Asset{usdc}))
}
