package bargain

import "github.com/haggle-protocol/haggle/sdk/bargain/fixed"

// newModel returns a session's opponent model. With several opponents it combines a model per opponent.
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

// models combines opponent models for several parties. The estimate is the product of all estimates: an
// agreement needs every party, and the product of all gains peaks at the Nash point. Parties that have made
// no offer are ignored.
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
