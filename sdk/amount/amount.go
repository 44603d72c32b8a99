// Package amount reads and writes amounts of tokens exactly.
//
// People write "3.5" for tokens; programs write "3500000u" for base units. The mint defines the number of
// base units per token. [Parse] checks the form, and [Text.In] returns the base units once the mint's
// decimals are known. No value is a floating point number, and none is rounded: fractions of base units are
// an error.
package amount

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// SOLDecimals: a SOL is 10^9 lamports.
const SOLDecimals = 9

// SOLSymbol is the symbol of SOL, wrapped or not.
const SOLSymbol = "SOL"

// Text is an amount as written, in a checked form. The zero value is no amount.
type Text struct {
	written  string
	whole    string
	fraction string
	units    bool
}

var errForm = errors.New(`write tokens as "3.5" or base units as "3500000u"`)

// Parse checks an amount's form: digits with an optional decimal point between digits, or digits and a "u".
// Signs, exponents, thousands separators and spaces are errors.
func Parse(written string) (Text, error) {
	refuse := func(why string) (Text, error) {
		return Text{}, fmt.Errorf("%q is not an amount: %s; %w", written, why, errForm)
	}
	if written == "" {
		return refuse("it is empty")
	}
	digits, units := strings.CutSuffix(written, "u")
	whole, fraction, pointed := strings.Cut(digits, ".")
	switch {
	case units && pointed:
		return refuse("base units are whole")
	case !isDigits(whole):
		return refuse("before the point there are digits alone")
	case pointed && !isDigits(fraction):
		return refuse("after the point there are digits alone")
	}
	return Text{written: written, whole: whole, fraction: fraction, units: units}, nil
}

func isDigits(text string) bool {
	for _, char := range []byte(text) {
		if char < '0' || char > '9' {
			return false
		}
	}
	return text != ""
}

// In converts the amount to base units, given the mint's decimals. It returns an error if the amount has more
// digits after the point than the mint, trailing zeros included, or exceeds 64 bits.
func (t Text) In(decimals uint8) (uint64, error) {
	if t.IsZero() {
		return 0, errors.New("no amount is given")
	}
	digits := t.whole
	if !t.units {
		if len(t.fraction) > int(decimals) {
			return 0, fmt.Errorf("%s has %d digits after the point, and the mint has %d", t.written, len(t.fraction), decimals)
		}
		digits += t.fraction + strings.Repeat("0", int(decimals)-len(t.fraction))
	}
	units, err := strconv.ParseUint(digits, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s is more than the %d base units that an account can hold", t.written, uint64(math.MaxUint64))
	}
	return units, nil
}

// InUnits reports whether the amount is written as base units, so that In does not depend on the decimals.
func (t Text) InUnits() bool { return t.units }

// IsZero reports whether the text is empty.
func (t Text) IsZero() bool { return t.written == "" }

// String returns the amount as written.
func (t Text) String() string { return t.written }

// Set is Parse for a command line's flag.
func (t *Text) Set(written string) error {
	parsed, err := Parse(written)
	if err == nil {
		*t = parsed
	}
	return err
}

// Type returns the name of the flag's type in a command line's help.
func (*Text) Type() string { return "amount" }

// Tokens is an amount of a mint.
type Tokens struct {
	// Units is the amount in the mint's base units.
	Units uint64
	// Decimals is the mint's number of decimals: a token has ten to the power of Decimals base units.
	Decimals uint8
	// Symbol is the mint's name for people, for example "USDC". If empty, amounts are written without symbol.
	Symbol string
}

// SOL returns lamports as SOL.
func SOL(lamports uint64) Tokens {
	return Tokens{Units: lamports, Decimals: SOLDecimals, Symbol: SOLSymbol}
}

// String returns the amount for people. If Symbol is empty, it returns Decimal. Otherwise it writes at least
// two decimals (if the mint has as many) but no further trailing zeros: "3.50 USDC", "0.000005 SOL".
func (t Tokens) String() string {
	if t.Symbol == "" {
		return t.Decimal()
	}
	text := t.Decimal()
	if t.Decimals > shownDecimals {
		whole := text[:len(text)-int(t.Decimals)+shownDecimals]
		text = whole + strings.TrimRight(text[len(whole):], "0")
	}
	return text + " " + t.Symbol
}

// shownDecimals is the minimum number of decimals written with a symbol.
const shownDecimals = 2

// Decimal returns the amount in tokens with all of the mint's decimals but no symbol, so that columns of
// amounts line up: "3.500000".
func (t Tokens) Decimal() string {
	digits := strconv.FormatUint(t.Units, 10)
	if t.Decimals == 0 {
		return digits
	}
	if missing := int(t.Decimals) + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	point := len(digits) - int(t.Decimals)
	return digits[:point] + "." + digits[point:]
}

// MarshalJSON writes base units, decimals, tokens and the symbol, if set. Numbers that may not fit a float64
// are strings; tokens includes all decimals.
func (t Tokens) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Units    string `json:"units"`
		Decimals uint8  `json:"decimals"`
		Tokens   string `json:"tokens"`
		Symbol   string `json:"symbol,omitempty"`
	}{strconv.FormatUint(t.Units, 10), t.Decimals, t.Decimal(), t.Symbol})
}

// UnmarshalJSON reads the output of MarshalJSON.
func (t *Tokens) UnmarshalJSON(data []byte) error {
	var written struct {
		Units    uint64 `json:"units,string"`
		Decimals uint8  `json:"decimals"`
		Symbol   string `json:"symbol"`
	}
	if err := json.Unmarshal(data, &written); err != nil {
		return err
	}
	*t = Tokens{Units: written.Units, Decimals: written.Decimals, Symbol: written.Symbol}
	return nil
}
