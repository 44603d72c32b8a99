package tournament

import (
	"fmt"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
)

// The generators' random number streams.
const (
	randomStream = 1 << 32
	haggleStream = 2 << 32
)

// The roles of Haggle's rules.
const (
	buyerSide  = 0
	sellerSide = 1
)

// Random generates random scenarios with linear additive utilities: 1 to 4 issues with 3 to 10 values, weights
// with sum 1, a reservation value up to 0.4, and in a quarter of the scenarios a discount factor between 0.8
// and 1.
type Random struct {
	Seed  uint64
	Count int
}

// Len counts the scenarios.
func (r Random) Len() int { return r.Count }

// Scenario generates a scenario, the same each time.
func (r Random) Scenario(at int) (*Scenario, error) {
	random := bargain.NewRandom(r.Seed, randomStream+uint64(at))
	issues := make([]bargain.Issue, 1+random.Below(4))
	for i := range issues {
		name, count := fmt.Sprintf("issue %d", i+1), 3+int(random.Below(8))
		if random.Below(2) == 0 {
			issues[i] = bargain.Integer(name, 1, int64(count))
			continue
		}
		values := make([]string, count)
		for value := range values {
			values[value] = fmt.Sprintf("v%d", value+1)
		}
		issues[i] = bargain.Categorical(name, values...)
	}
	domain, err := bargain.NewDomain(issues...)
	if err != nil {
		return nil, err
	}
	s := &Scenario{Name: fmt.Sprintf("random-%d-%d", r.Seed, at+1)}
	var discount bargain.Discount
	if random.Below(4) == 0 {
		discount.Factor = fixed.One - fixed.Number(random.Below(uint64(fixed.One/5)))
	}
	for role := range s.Preferences {
		if s.Preferences[role], err = randomPreferences(domain, random, discount); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// randomPreferences returns preferences with utilities between 0 and 1.
func randomPreferences(
	domain *bargain.Domain, random *bargain.Random, discount bargain.Discount,
) (*bargain.Preferences, error) {
	weights, total := make([]fixed.Number, domain.Len()), fixed.Number(0)
	for i := range weights {
		weights[i] = fixed.One/10 + random.Fraction()
		total += weights[i]
	}
	values := make([]utility.Values, domain.Len())
	for i := range values {
		weights[i] = weights[i].Div(total)
		table := make(utility.Table, domain.Issue(i).Count)
		for index := range table {
			table[index] = random.Fraction()
		}
		stretch(table)
		values[i] = table
	}
	additive, err := utility.NewAdditive(domain, 0, weights, values...)
	if err != nil {
		return nil, err
	}
	return bargain.NewDiscounted(domain, additive, random.Fraction().Mul(2*fixed.One/5), discount)
}

// stretch makes the lowest value 0 and the highest 1.
func stretch(table utility.Table) {
	least, most := table[0], table[0]
	for _, value := range table {
		least, most = min(least, value), max(most, value)
	}
	for index, value := range table {
		table[index] = (value - least).Div(max(most-least, 1))
	}
}

// Haggle generates random scenarios with Haggle's own rules: escrow, 6 to 20 rounds, decay, least offer and fee
// in the program's allowed ranges, and prices for both sides. Three quarters of the scenarios contain a zone of
// agreement.
type Haggle struct {
	Seed  uint64
	Count int
}

// Len counts the scenarios.
func (h Haggle) Len() int { return h.Count }

// Scenario generates a scenario, the same each time.
func (h Haggle) Scenario(at int) (*Scenario, error) {
	random := bargain.NewRandom(h.Seed, haggleStream+uint64(at))
	rules := &onchain.Rules{
		Escrow: 100_000 + random.Below(100_000_000_000), MaxRounds: uint8(6 + random.Below(15)),
		DecayRateBps: uint16(random.Below(201)), MinOfferBps: uint16(100 + random.Below(1_901)),
		FeeBps: uint16(random.Below(101)), ResponseWindow: 300, Deadline: 21_600,
	}
	share := func(least, most uint64) uint64 { // of the escrow, in percent
		return rules.Escrow / 100 * (least + random.Below(most-least+1))
	}
	buyer, seller := share(50, 80), share(25, 45)
	if random.Below(4) == 0 {
		buyer, seller = share(30, 45), share(50, 60)
	}
	opening := [2]uint64{min(share(20, 30), buyer), max(share(75, 90), seller)}
	domain, err := onchain.Domain(rules.Escrow)
	if err != nil {
		return nil, err
	}
	s := &Scenario{Name: fmt.Sprintf("haggle-%d-%d", h.Seed, at+1), Rules: rules}
	s.Preferences[0], s.Opening[0], err = onchain.Preferences(domain, buyerSide, opening[0], buyer)
	if err != nil {
		return nil, err
	}
	s.Preferences[1], s.Opening[1], err = onchain.Preferences(domain, sellerSide, opening[1], seller)
	return s, err
}
