package engine

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/haggle-protocol/haggle/internal/gateway/terms"
)

// DealBreaker is a condition on a proposal. If it holds, the proposal is rejected and the negotiation ends.
type DealBreaker struct {
	Field    Field    `json:"field"`
	Operator Operator `json:"operator"`
	Value    Operand  `json:"value"`
}

// Field is a field of terms that a deal breaker compares.
type Field string

// The fields.
const (
	FieldPrice    Field = "price_per_fetch_micro"
	FieldTTL      Field = "token_ttl_seconds"
	FieldRPS      Field = "burst_rps"
	FieldPrepaid  Field = "prepaid_fetches"
	FieldPurposes Field = "purposes"
)

// Operator is a comparison.
type Operator string

// Operators. Numeric fields use the first six, purposes the last two.
const (
	Less           Operator = "<"
	LessOrEqual    Operator = "<="
	Greater        Operator = ">"
	GreaterOrEqual Operator = ">="
	Equal          Operator = "=="
	NotEqual       Operator = "!="
	// Contains holds if the proposal includes the purpose, Lacks if it does not.
	Contains Operator = "contains"
	Lacks    Operator = "lacks"
)

// Operand is a deal breaker's value: the purpose if that is not zero, otherwise the number.
type Operand struct {
	Number  uint64
	Purpose terms.Purpose
}

// MarshalJSON writes a number or a purpose name.
func (o Operand) MarshalJSON() ([]byte, error) {
	if o.Purpose != 0 {
		return json.Marshal(o.Purpose)
	}
	return json.Marshal(o.Number)
}

// UnmarshalJSON reads the output of MarshalJSON.
func (o *Operand) UnmarshalJSON(data []byte) error {
	*o = Operand{}
	if data[0] == '"' {
		return json.Unmarshal(data, &o.Purpose)
	}
	return json.Unmarshal(data, &o.Number)
}

func (d DealBreaker) String() string {
	if d.Value.Purpose != 0 {
		return fmt.Sprintf("%s %s %s", d.Field, d.Operator, d.Value.Purpose)
	}
	return fmt.Sprintf("%s %s %d", d.Field, d.Operator, d.Value.Number)
}

// breaks reports whether the condition holds for terms.
func (d DealBreaker) breaks(t terms.Terms) bool {
	switch d.Field {
	case FieldPrice:
		return d.holds(t.Price)
	case FieldTTL:
		return d.holds(uint64(t.TTLSeconds))
	case FieldRPS:
		return d.holds(uint64(t.BurstRPS))
	case FieldPrepaid:
		return d.holds(t.PrepaidFetches)
	case FieldPurposes:
		return slices.Contains(t.Purposes, d.Value.Purpose) == (d.Operator == Contains)
	}
	return false
}

func (d DealBreaker) holds(number uint64) bool {
	switch value := d.Value.Number; d.Operator {
	case Less:
		return number < value
	case LessOrEqual:
		return number <= value
	case Greater:
		return number > value
	case GreaterOrEqual:
		return number >= value
	case Equal:
		return number == value
	case NotEqual:
		return number != value
	}
	return false
}

// check returns the reason why the deal breaker does not fit a strategy. A deal breaker must not reject any
// terms that the strategy itself offers, and must not make the hidden minimum visible.
func (d DealBreaker) check(s *Strategy) error {
	purposes := d.Field == FieldPurposes
	if err := d.checkForm(purposes); err != nil {
		return err
	}
	if purposes {
		allowed := slices.Contains(s.AllowedPurposes, d.Value.Purpose)
		if allowed == (d.Operator == Contains) {
			return fmt.Errorf("%s: contradicts allowed_purposes", d)
		}
		return nil
	}
	var low, high uint64
	switch d.Field {
	case FieldPrice:
		low, high = s.MinPrice, s.MaxPrice
		// Floor includes a lower price limit. Any further rejection from the floor to the minimum would
		// separate prices that clients must not be able to separate.
		if d.Operator == Equal || d.Operator == NotEqual {
			low = s.Floor()
		}
	case FieldTTL:
		low, high = uint64(s.MinTTLSeconds), uint64(s.MaxTTLSeconds)
	case FieldRPS:
		low, high = uint64(s.MinBurstRPS), uint64(s.MaxBurstRPS)
	default:
		return nil // prepaid_fetches is unlimited; counter offers copy the proposal's
	}
	if d.holdsWithin(low, high) {
		return fmt.Errorf("%s: rejects values from %d to %d, which the strategy accepts or offers", d, low, high)
	}
	return nil
}

func (d DealBreaker) checkForm(purposes bool) error {
	fields := []Field{FieldPrice, FieldTTL, FieldRPS, FieldPrepaid, FieldPurposes}
	operators := []Operator{Less, LessOrEqual, Greater, GreaterOrEqual, Equal, NotEqual}
	if purposes {
		operators = []Operator{Contains, Lacks}
	}
	switch {
	case !slices.Contains(fields, d.Field):
		return fmt.Errorf("unknown field %.40q; use one of %v", string(d.Field), fields)
	case !slices.Contains(operators, d.Operator):
		return fmt.Errorf("unknown operator %.40q of %s; use one of %v", string(d.Operator), d.Field, operators)
	case purposes != (d.Value.Purpose != 0):
		return fmt.Errorf("%s: the value of a numeric field is a number, that of purposes a purpose", d)
	case d.Value.Number > maxExact:
		return fmt.Errorf("%s: the value is above %d", d, uint64(maxExact))
	}
	return nil
}

// holdsWithin reports whether the condition holds for a number from low to high.
func (d DealBreaker) holdsWithin(low, high uint64) bool {
	switch value := d.Value.Number; d.Operator {
	case Less, LessOrEqual:
		return d.holds(low)
	case Greater, GreaterOrEqual:
		return d.holds(high)
	case Equal:
		return low <= value && value <= high
	default:
		return low != high || low != value
	}
}
