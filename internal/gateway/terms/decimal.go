package terms

import (
	"fmt"
	"math"
	"strings"

	"github.com/haggle-protocol/haggle/sdk/amount"
)

// Decimals is the number of decimals in a micro unit.
const Decimals = 6

// Decimal is a number of micro units. The text is the exact currency amount: 1,800 is 0.0018.
type Decimal uint64

// ParseDecimal reads an amount of the currency, such as "0.0018". It has at most six digits after the point,
// no sign and no exponent.
func ParseDecimal(text string) (Decimal, error) {
	parsed, err := amount.Parse(text)
	if err == nil && !parsed.InUnits() {
		if units, err := parsed.In(Decimals); err == nil {
			return Decimal(units), nil
		}
	}
	// Package amount's errors mention tokens and mints. The gateway uses neither.
	return 0, fmt.Errorf("%.40q is not an amount: write digits without sign or exponent, at most %s, with at "+
		"most %d digits after the point, such as 0.0018", text, Decimal(math.MaxUint64), Decimals)
}

// String returns the amount without zeros at the end: "0.0018", "12".
func (d Decimal) String() string {
	text := amount.Tokens{Units: uint64(d), Decimals: Decimals}.Decimal()
	return strings.TrimRight(strings.TrimRight(text, "0"), ".")
}

// MarshalJSON writes the amount as a JSON number with all digits.
func (d Decimal) MarshalJSON() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalJSON reads the JSON number of MarshalJSON.
func (d *Decimal) UnmarshalJSON(data []byte) (err error) {
	parsed, err := ParseDecimal(string(data))
	if err == nil {
		*d = parsed
	}
	return err
}
