package arena

import (
	"maps"
	"slices"
	"time"
)

// Status is an agreement's status.
type Status string

// The statuses.
const (
	StatusTentative Status = "tentative"
	StatusExecuted  Status = "executed"
	StatusVoid      Status = "void"
)

// Agreement is a trade agreed by all parties. Nothing moves before a party finalizes it.
type Agreement struct {
	Number  int       `json:"number"`
	Chat    int       `json:"chat"`
	Legs    []Leg     `json:"legs"`
	Parties []string  `json:"parties"`
	Expires time.Time `json:"expires"`
	Status  Status    `json:"status"`
}

// tentative adds a chat's agreement.
func (m *Market) tentative(c *chat) {
	a := &Agreement{
		Number: len(m.agreements) + 1, Chat: c.id, Legs: c.standing.legs, Parties: c.standing.parties,
		Expires: m.config.Tentative.after(m.now), Status: StatusTentative,
	}
	m.agreements[a.Number] = a
	m.open = append(m.open, a)
	for _, id := range a.Parties {
		m.agents[id].pending++
	}
	m.touch(a.Parties...)
	m.emit(Tentative{Agreement: *a}, a.Parties...)
	m.emit(a.countdown())
}

// end removes a tentative agreement from the parties.
func (m *Market) end(a *Agreement, as Status) {
	a.Status = as
	m.open = slices.DeleteFunc(m.open, func(other *Agreement) bool { return other == a })
	for _, id := range a.Parties {
		m.agents[id].pending--
	}
	m.touch(a.Parties...)
}

// void ends an agreement with no trade.
func (m *Market) void(a *Agreement, cause Cause, by string) {
	m.end(a, StatusVoid)
	m.emit(Voided{Agreement: a.Number, Cause: cause, By: by}, a.Parties...)
	m.emit(CountdownEnded{Agreement: a.Number, Cause: cause})
}

func (a *Agreement) countdown() Countdown {
	return Countdown{Agreement: a.Number, Parties: slices.Clone(a.Parties), Until: a.Expires}
}

// agreementOf returns a party's agreement.
func (m *Market) agreementOf(a *agent, number int) (*Agreement, error) {
	agreement := m.agreements[number]
	if agreement == nil || !slices.Contains(agreement.Parties, a.id) {
		return nil, refuse(CodeUnknown, "agreement: the agent has no such agreement")
	}
	return agreement, nil
}

// finalize executes an agreement, or voids it if another party is short. A second time it does nothing.
func (m *Market) finalize(a *agent, action Finalize) error {
	agreement, err := m.agreementOf(a, action.Agreement)
	switch {
	case err != nil:
		return err
	case agreement.Status == StatusExecuted:
		return nil
	case agreement.Status == StatusVoid:
		return refuse(CodeUnknown, "agreement: has ended")
	case action.Review != a.reviews || a.seen < a.reviewed:
		return refuse(CodeChanged, "review: not the latest one")
	}
	after, short := m.ledger.trade(agreement.Legs)
	switch {
	case slices.Contains(short, a.id):
		return refuse(CodeFunds, "agreement: the agent has too little money, or too few tokens")
	case len(short) > 0:
		for _, id := range short {
			m.agents[id].record.Failed++
		}
		m.void(agreement, CauseCapacity, "")
		return nil
	}
	maps.Copy(m.ledger.holdings, after)
	m.end(agreement, StatusExecuted)
	for _, id := range agreement.Parties {
		m.agents[id].record.Finalized++
	}
	last := agreement.Legs[len(agreement.Legs)-1]
	if m.price = last.Price; last.Token == No {
		m.price = MinPrice + MaxPrice - last.Price
	}
	m.trades++
	m.emit(Traded{Agreement: agreement.Number, Legs: agreement.Legs, Price: m.price})
	for _, id := range agreement.Parties {
		m.emitHolding(id)
	}
	m.updateChats()
	return nil
}

func (m *Market) cancel(a *agent, action Cancel) error {
	agreement, err := m.agreementOf(a, action.Agreement)
	switch {
	case err != nil:
		return err
	case agreement.Status != StatusTentative:
		return refuse(CodeUnknown, "agreement: has ended")
	}
	a.record.Cancelled++
	m.void(agreement, CauseCancelled, a.id)
	return nil
}

// Review is the state shown to an agent before finalizing.
type Review struct {
	// Number is what [Finalize] names.
	Number  int       `json:"number"`
	Holding Holding   `json:"holding"`
	Pending []Pending `json:"pending"`
	// Required is the money for all pending agreements. Insufficient reports whether that money, or the
	// tokens for all these agreements, exceed the agent's holding.
	Required     Money `json:"required"`
	Insufficient bool  `json:"insufficient"`
}

// Pending is an agent's tentative agreement.
type Pending struct {
	Agreement Agreement `json:"agreement"`
	// Pays and Gives are what the agent needs for it.
	Pays  Money    `json:"pays"`
	Gives Holding  `json:"gives"`
	Left  Duration `json:"left"`
}

// sendReviews sends the changed reviews of the agents that have tentative agreements.
func (m *Market) sendReviews() {
	for _, id := range slices.Sorted(maps.Keys(m.review)) {
		if a := m.agents[id]; a.pending > 0 {
			a.reviews++
			m.emit(Reviewed{m.reviewOf(a)}, id)
			a.reviewed = m.shown(a)
		}
	}
	clear(m.review)
}

func (m *Market) reviewOf(a *agent) Review {
	r := Review{Number: a.reviews, Holding: m.ledger.Holding(a.id), Pending: []Pending{}}
	var total Holding
	for _, agreement := range m.open {
		if !slices.Contains(agreement.Parties, a.id) {
			continue
		}
		gives, gets := Flow(agreement.Legs, a.id)
		needs := gives.minus(gets)
		r.Pending = append(r.Pending, Pending{
			Agreement: *agreement, Pays: needs.Money, Gives: Holding{Yes: needs.Yes, No: needs.No},
			Left: NewDuration(agreement.Expires.Sub(m.now)),
		})
		total = total.plus(needs)
	}
	r.Required, r.Insufficient = total.Money, !r.Holding.covers(total)
	return r
}
