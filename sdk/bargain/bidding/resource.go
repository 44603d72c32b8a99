package bidding

import (
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// Resource is the quantity measured by [ResourceDependent].
type Resource uint8

// The resources.
const (
	// ResourceSteps is the number of steps left.
	ResourceSteps Resource = iota
	// ResourcePatience is Faratin's estimate |N|^2 / sum of |X|: the squared number of opponents divided by
	// the number of offers so far. It shrinks while a negotiation with unlimited steps goes on.
	ResourcePatience
)

// ResourceDependent concedes as a resource runs out: the concession is K + (1-K) e^-r. The less there is of
// the resource r, the more it concedes, from the opening to the reservation value.
//
// Source: Faratin, Sierra, Jennings (1998), section 4.2.
type ResourceDependent struct {
	// K is the concession with an unlimited resource.
	K fixed.Number
	// Resource is the measured resource.
	Resource Resource
	// Unit is the resource amount that counts as 1. If zero, 1 is used.
	Unit fixed.Number
	// Pick is the choice among outcomes that meet the target.
	Pick Pick
}

// Bidder implements [bargain.Bidding].
func (r ResourceDependent) Bidder(seat bargain.Seat, model bargain.Model) bargain.Bidder {
	least, most, ok := seat.Range()
	if !ok {
		return none{}
	}
	if r.Unit <= 0 {
		r.Unit = fixed.One
	}
	return &resource{ResourceDependent: r, seat: seat, model: model, least: least, most: most}
}

type resource struct {
	ResourceDependent
	seat        bargain.Seat
	model       bargain.Model
	least, most fixed.Number
}

func (r *resource) Sent(bargain.Outcome) string {
	if r.Resource == ResourcePatience {
		return "target of the patience that is left"
	}
	return "target of the steps that are left"
}

func (r *resource) Next(state *bargain.State) bargain.Outcome {
	concession := r.K + (fixed.One - r.K).Mul(fixed.Exp(-r.left(state).Div(r.Unit)))
	target := (r.most - concession.Mul(r.most-r.least)).Clamp(r.least, r.most)
	return choose(r.seat.Preferences, r.Pick, target, r.seat.Random, r.model)
}

// left returns the amount of the resource.
func (r *resource) left(state *bargain.State) fixed.Number {
	if r.Resource == ResourceSteps {
		return fixed.Int(int64(max(state.Steps-1-state.Step, 0)))
	}
	others := int64(r.seat.Parties - 1)
	return fixed.Ratio(others*others, int64(max(len(state.History), 1)))
}
