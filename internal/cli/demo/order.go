package demo

import "github.com/haggle-protocol/haggle/internal/cli/actions"

// order releases actions in on-chain sequence. Two agents can report their actions in a different order,
// because an agent can respond to an action that the counterparty has yet to report.
type order struct {
	release  func(actions.Action)
	released []actions.Action
	waiting  map[int]actions.Action
}

func newOrder(release func(actions.Action)) *order {
	return &order{release: release, waiting: map[int]actions.Action{}}
}

// position counts a negotiation's actions: creation, acceptance, each offer, the end, and closing.
func position(action actions.Action) int {
	rounds := int(action.Round)
	switch action.Name {
	case "create_negotiation":
		return 0
	case "accept_invitation":
		return 1
	case "submit_offer":
		return 1 + rounds
	case "claim_payout":
		return 3 + rounds
	case "close_negotiation":
		return 4 + rounds
	}
	return 2 + rounds
}

func (o *order) add(action actions.Action) {
	o.waiting[position(action)] = action
	for {
		next, known := o.waiting[o.next()]
		if !known {
			return
		}
		o.pass(next)
	}
}

// next returns the position expected next. A claim is optional.
func (o *order) next() int {
	if len(o.released) == 0 {
		return 0
	}
	last := position(o.released[len(o.released)-1])
	for _, action := range o.waiting {
		if action.Name == "close_negotiation" && position(action) == last+2 {
			return last + 2
		}
	}
	return last + 1
}

func (o *order) pass(action actions.Action) {
	delete(o.waiting, position(action))
	o.released = append(o.released, action)
	o.release(action)
}

// flush releases the remaining actions after the last report.
func (o *order) flush() {
	for at := 0; len(o.waiting) > 0; at++ {
		if action, known := o.waiting[at]; known {
			o.pass(action)
		}
	}
}
