package arena

import (
	"fmt"
	"strings"
)

// Holding is what an agent owns in a market.
type Holding struct {
	Money Money    `json:"money"`
	Yes   Quantity `json:"yes"`
	No    Quantity `json:"no"`
}

// tokens returns the number of tokens.
func (h *Holding) tokens(t Token) *Quantity {
	if t == Yes {
		return &h.Yes
	}
	return &h.No
}

// plus returns the sum.
func (h Holding) plus(other Holding) Holding {
	return Holding{Money: h.Money + other.Money, Yes: h.Yes + other.Yes, No: h.No + other.No}
}

// minus returns the difference, with negative amounts set to 0.
func (h Holding) minus(other Holding) Holding {
	return Holding{
		Money: h.Money - min(h.Money, other.Money), Yes: h.Yes - min(h.Yes, other.Yes), No: h.No - min(h.No, other.No),
	}
}

// covers reports whether all amounts are at least as large as the other holding's amounts.
func (h Holding) covers(other Holding) bool {
	return h.Money >= other.Money && h.Yes >= other.Yes && h.No >= other.No
}

// Leg is one sale within a trade.
type Leg struct {
	Seller   string   `json:"seller"`
	Buyer    string   `json:"buyer"`
	Token    Token    `json:"token"`
	Price    Price    `json:"price"`
	Quantity Quantity `json:"quantity"`
}

// LegsText returns sales with the ids of their parties, in their order.
func LegsText(legs []Leg) string {
	texts := make([]string, len(legs))
	for i, l := range legs {
		texts[i] = fmt.Sprintf("%s sells %d %s to %s at %s", l.Seller, l.Quantity, l.Token, l.Buyer, l.Price)
	}
	return strings.Join(texts, ", ")
}

// isValid reports whether the values are in their ranges.
func (l Leg) isValid() bool { return l.Token.isValid() && l.Price.isValid() && l.Quantity.isValid() }

// Cost is what the buyer pays.
func (l Leg) Cost() Money { return l.Price.Cost(l.Quantity) }

// Ledger contains a market's money and tokens. Money belongs to an agent, or serves as a complete set's
// collateral. The ledger reserves nothing.
type Ledger struct {
	holdings  map[string]Holding
	deposited Money
	// sets is the number of complete sets. Each set's collateral is [SetPrice].
	sets Quantity
}

func newLedger() Ledger { return Ledger{holdings: map[string]Holding{}} }

// Holding returns what an agent owns.
func (l *Ledger) Holding(agent string) Holding { return l.holdings[agent] }

// Collateral returns the money behind the tokens.
func (l *Ledger) Collateral() Money { return Money(l.sets) * SetPrice }

func (l *Ledger) deposit(agent string, amount Money) error {
	if amount > MaxMoney-l.deposited {
		return refuse(CodeLimit, "deposits: more than %s in a market", MaxMoney)
	}
	h := l.holdings[agent]
	h.Money += amount
	l.deposited += amount
	l.holdings[agent] = h
	return nil
}

// withdraw returns an agent's money to the owner.
func (l *Ledger) withdraw(agent string, amount Money) error {
	h := l.holdings[agent]
	if h.Money < amount {
		return refuse(CodeFunds, "%s needed, %s available", amount, h.Money)
	}
	h.Money -= amount
	l.deposited -= amount
	l.holdings[agent] = h
	return nil
}

// split buys complete sets for their collateral.
func (l *Ledger) split(agent string, sets Quantity) error {
	h := l.holdings[agent]
	switch cost := Money(sets) * SetPrice; {
	case !sets.isValid():
		return refuse(CodeMalformed, "quantity: must be 1 to %d", MaxQuantity)
	case h.Money < cost:
		return refuse(CodeFunds, "%s needed, %s available", cost, h.Money)
	default:
		h.Money -= cost
	}
	h.Yes, h.No, l.sets = h.Yes+sets, h.No+sets, l.sets+sets
	l.holdings[agent] = h
	return nil
}

// merge returns complete sets for their collateral.
func (l *Ledger) merge(agent string, sets Quantity) error {
	h := l.holdings[agent]
	switch {
	case !sets.isValid():
		return refuse(CodeMalformed, "quantity: must be 1 to %d", MaxQuantity)
	case h.Yes < sets || h.No < sets:
		return refuse(CodeFunds, "%d sets needed, %d available", sets, min(h.Yes, h.No))
	}
	h.Yes, h.No, l.sets = h.Yes-sets, h.No-sets, l.sets-sets
	h.Money += Money(sets) * SetPrice
	l.holdings[agent] = h
	return nil
}

// Flow returns an agent's side of legs: the money and tokens given and received.
func Flow(legs []Leg, agent string) (gives, gets Holding) {
	for _, leg := range legs {
		if leg.Buyer == agent {
			gives.Money += leg.Cost()
			*gets.tokens(leg.Token) += leg.Quantity
		}
		if leg.Seller == agent {
			gets.Money += leg.Cost()
			*gives.tokens(leg.Token) += leg.Quantity
		}
	}
	return gives, gets
}

// trade returns the holdings after legs that execute as a whole, and the agents that would be short. Only the sum of all
// legs counts: an agent that buys and sells needs only the difference.
func (l *Ledger) trade(legs []Leg) (after map[string]Holding, short []string) {
	after = map[string]Holding{}
	for _, leg := range legs {
		for _, agent := range []string{leg.Seller, leg.Buyer} {
			if _, done := after[agent]; done {
				continue
			}
			gives, gets := Flow(legs, agent)
			has := l.holdings[agent].plus(gets)
			if !has.covers(gives) {
				short = append(short, agent)
			}
			after[agent] = has.minus(gives)
		}
	}
	return after, short
}

// pay turns all tokens into money.
func (l *Ledger) pay(outcome Outcome) {
	for agent, h := range l.holdings {
		h.Money += outcome.Pays(Yes)*Money(h.Yes) + outcome.Pays(No)*Money(h.No)
		h.Yes, h.No = 0, 0
		l.holdings[agent] = h
	}
	l.sets = 0
}

// check fails if money or tokens were created or lost.
func (l *Ledger) check() error {
	var total Holding
	for _, h := range l.holdings {
		total = total.plus(h)
	}
	if total.Yes != l.sets || total.No != l.sets || total.Money+l.Collateral() != l.deposited {
		return fmt.Errorf("arena: ledger: %d YES, %d NO and %d money of %d sets and %d deposits",
			total.Yes, total.No, total.Money, l.sets, l.deposited)
	}
	return nil
}
