package demo

import "github.com/haggle-protocol/haggle/internal/exampleagent"

// order tells actions in the order in which they happened on chain: two processes may report theirs the other way round, as one
// can already answer what the other has not reported yet.
type order struct {
	tell    func(exampleagent.Action)
	told    []exampleagent.Action
	waiting map[int]exampleagent.Action
}

func newOrder(tell func(exampleagent.Action)) *order {
	return &order{tell: tell, waiting: map[int]exampleagent.Action{}}
}

// position counts the actions of a negotiation: creation, acceptance, each offer, the end, and closing.
func position(action exampleagent.Action) int {
	rounds := int(action.Round)
	switch action.Name {
	case "create":
		return 0
	case "join":
		return 1
	case "offer":
		return 1 + rounds
	case "claim":
		return 3 + rounds
	case "close":
		return 4 + rounds
	}
	return 2 + rounds
}

func (o *order) add(action exampleagent.Action) {
	o.waiting[position(action)] = action
	for {
		next, known := o.waiting[o.next()]
		if !known {
			return
		}
		o.release(next)
	}
}

// next is the position of what has to come next; nobody has to claim.
func (o *order) next() int {
	if len(o.told) == 0 {
		return 0
	}
	last := position(o.told[len(o.told)-1])
	for _, action := range o.waiting {
		if action.Name == "close" && position(action) == last+2 {
			return last + 2
		}
	}
	return last + 1
}

func (o *order) release(action exampleagent.Action) {
	delete(o.waiting, position(action))
	o.told = append(o.told, action)
	o.tell(action)
}

// flush tells what is left when nothing more can come.
func (o *order) flush() {
	for at := 0; len(o.waiting) > 0; at++ {
		if action, known := o.waiting[at]; known {
			o.release(action)
		}
	}
}
