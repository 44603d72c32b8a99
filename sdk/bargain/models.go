package bargain

import "github.com/haggle-protocol/haggle/sdk/bargain/fixed"

// newModel returns the opponent model of a session. With several other parties it is a model for each of them.
func newModel(modeling Modeling, seat Seat) Model {
	if seat.Parties <= 2 {
		return modeling.Model(seat)
	}
	m := &models{of: make([]Model, seat.Parties), offered: make([]bool, seat.Parties)}
	for party := range m.of {
		if party != seat.Self {
			m.of[party] = modeling.Model(seat)
		}
	}
	return m
}

// models are the opponent models of several parties. The estimate is the product of their estimates: an agreement
// needs every party, and the product of all gains is highest at the Nash point. Parties that have made no offer
// are left out.
type models struct {
	of      []Model
	offered []bool
}

func (m *models) Observe(offer Offer) {
	m.of[offer.By].Observe(offer)
	m.offered[offer.By] = true
}

func (m *models) Of(o Outcome) fixed.Number {
	u := fixed.Number(fixed.One)
	for party, offered := range m.offered {
		if offered {
			u = u.Mul(m.of[party].Of(o))
		}
	}
	return u
}
