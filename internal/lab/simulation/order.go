package simulation

import (
	"fmt"

	"github.com/haggle-protocol/haggle/sdk/bargain/tournament"
)

// Order is the order among outcomes of the same utility in a scenario from files, and how discounts count.
type Order string

// The orders.
const (
	// OrderNumber is the engine's order: by outcome number.
	OrderNumber Order = "number"
	// OrderNegmas is the order used by NegMAS, whose strategies also decide by discounts: see
	// [bargain.Preferences.AsNegmas].
	OrderNegmas Order = "negmas"
)

// Orders returns all orders.
func Orders() []string { return []string{string(OrderNumber), string(OrderNegmas)} }

// Apply puts a scenario's outcomes in this order. It returns [ErrInput] for an unknown order, and for any
// order but the engine's if the scenario is generated, because generated utilities do not come from a file.
func (o Order) Apply(s *tournament.Scenario) error {
	switch o {
	case OrderNumber, "":
		return nil
	case OrderNegmas:
	default:
		return fmt.Errorf("%w: order %q: use %s or %s", ErrInput, o, OrderNumber, OrderNegmas)
	}
	if _, _, ok := parseGenerated(s.Name); ok {
		return fmt.Errorf("%w: the order of NegMAS is for scenarios from files, and %s is generated", ErrInput, s.Name)
	}
	for role, p := range s.Preferences {
		ordered, err := p.AsNegmas()
		if err != nil {
			return fmt.Errorf("%w: scenario %s: %w", ErrInput, s.Name, err)
		}
		s.Preferences[role] = ordered
	}
	return nil
}

// applyAll gives the outcomes of all scenarios the order.
func (o Order) applyAll(source tournament.Join) error {
	for _, part := range source {
		list, isList := part.(tournament.List)
		if !isList {
			first, err := part.Scenario(0)
			if err != nil {
				return err
			}
			list = tournament.List{first}
		}
		for _, s := range list {
			if err := o.Apply(s); err != nil {
				return err
			}
		}
	}
	return nil
}
