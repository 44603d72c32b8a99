package scenario

import (
	"errors"
	"math/big"
	"strconv"
	"strings"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
)

// Functions of numbers are evaluated with exact fractions and rounded once: a [fixed.Number] holds too few
// decimals for the slope over many prices.

// maxTable is the maximum number of values in a numeric issue's table. It also limits outcome tables and
// rectangle sums.
const maxTable = 1 << 16

// maxGap is the distance from a straight line that rounding explains, in the last decimal.
const maxGap = 4

// maxBits bounds the size of exact numbers, to read long documents in seconds.
const maxBits = 512

// parseExact reads a decimal number, or returns false if text is not a number. The number can exceed
// [fixed.Number] in size and precision, up to about 150 digits. Longer numbers are rounded as a [fixed.Number].
func parseExact(text string) (*big.Rat, bool) {
	// Parse bounds the digits and the exponent.
	short, err := fixed.Parse(text)
	if err != nil && !errors.Is(err, fixed.ErrRange) {
		return nil, false
	}
	n, ok := new(big.Rat).SetString(text)
	if ok && n.Num().BitLen()+n.Denom().BitLen() > maxBits {
		return exact(short), err == nil
	}
	return n, ok
}

// exact converts a number to a fraction.
func exact(n fixed.Number) *big.Rat { return big.NewRat(int64(n), int64(fixed.One)) }

// rounded converts a fraction to a number, rounded half away from zero, saturating at [fixed.Max] or
// [fixed.Min].
func rounded(r *big.Rat) fixed.Number {
	n := new(big.Int).Mul(r.Num(), big.NewInt(2*int64(fixed.One)))
	n.Abs(n).Add(n, r.Denom())
	n.Quo(n, new(big.Int).Lsh(r.Denom(), 1))
	result := fixed.Max
	if n.IsInt64() {
		result = min(result, fixed.Number(n.Int64()))
	}
	if r.Sign() < 0 {
		return -result
	}
	return result
}

// decimals formats a fraction as decimal text with up to places decimals.
func decimals(r *big.Rat, places int) string {
	text := r.FloatString(places)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	if text == "-0" {
		return "0"
	}
	return text
}

// many is enough decimals to keep products with any issue integer exact.
const many = 32

// numberOf returns the number at a numeric issue's index.
func numberOf(issue *bargain.Issue, index uint64) *big.Rat {
	switch issue.Kind {
	case bargain.KindReal:
		return exact(issue.Number(index))
	case bargain.KindPrice:
		return new(big.Rat).SetInt(new(big.Int).SetUint64(issue.Amount(index)))
	}
	return new(big.Rat).SetInt64(issue.Int(index))
}

// function is a function over an issue's numbers. isStraight reports whether it is linear.
type function struct {
	of         func(x *big.Rat) *big.Rat
	isStraight bool
}

// affine returns the function slope*x + bias.
func affine(slope, bias *big.Rat) function {
	return function{isStraight: true, of: func(x *big.Rat) *big.Rat {
		product := new(big.Rat).Mul(slope, x)
		return product.Add(product, bias)
	}}
}

// tabulate computes a function's values over an issue's numbers, multiplied by weight: a table, or a line if
// there are many values.
func tabulate(issue *bargain.Issue, f function, weight *big.Rat) (utility.Values, error) {
	if !issue.IsNumeric() {
		return nil, invalid("issue %q has no numbers", issue.Name)
	}
	at := func(index uint64) fixed.Number {
		value := f.of(numberOf(issue, index))
		return rounded(value.Mul(value, weight))
	}
	if issue.Count <= maxTable {
		products := utility.NewProducts(issue.Count)
		for index := range issue.Count {
			products.Set(index, at(index), weight, f.of(numberOf(issue, index)))
		}
		return products, nil
	}
	if !f.isStraight {
		return nil, invalid("issue %q has more than %d values, and its utility is no straight line",
			issue.Name, maxTable)
	}
	return utility.Line{First: at(0), Last: at(issue.Count - 1), Count: issue.Count}, nil
}

// straight returns the slope and bias of the line through an issue's values, or false if no line fits.
func straight(issue *bargain.Issue, values utility.Values) (slope, bias *big.Rat, ok bool) {
	line := utility.Line{First: values.Of(0), Last: values.Of(issue.Count - 1), Count: issue.Count}
	if _, isLine := values.(utility.Line); !isLine {
		for index := range issue.Count {
			if gap := values.Of(index) - line.Of(index); gap > maxGap || gap < -maxGap {
				return nil, nil, false
			}
		}
	}
	low := numberOf(issue, 0)
	slope = exact(line.Last - line.First)
	if width := numberOf(issue, issue.Count-1); width.Sub(width, low).Sign() > 0 {
		slope.Quo(slope, width)
	}
	bias = exact(line.First)
	return slope, bias.Sub(bias, low.Mul(low, slope)), true
}

// finder finds an issue value's index by text.
type finder struct {
	issue *bargain.Issue
	names map[string]uint64
}

func newFinder(issue *bargain.Issue) *finder {
	f := &finder{issue: issue}
	if !issue.IsNumeric() {
		f.names = make(map[string]uint64, len(issue.Names))
		for index, name := range issue.Names {
			f.names[name] = uint64(index)
		}
	}
	return f
}

// newFinders returns the finders of all issues.
func newFinders(domain *bargain.Domain) (finders []*finder) {
	for at := range domain.Len() {
		finders = append(finders, newFinder(domain.Issue(at)))
	}
	return finders
}

// find returns a value's index, and false for unknown values. Numbers can be in any notation.
func (f *finder) find(text string) (uint64, bool) {
	if f.names != nil {
		index, ok := f.names[text]
		return index, ok
	}
	n, ok := parseExact(text)
	if !ok {
		return 0, false
	}
	low, high := indices(f.issue, n, n, true)
	return low, low == high
}

// indices returns the lowest and highest index with a number in an interval, including or excluding the ends.
// The lowest exceeds the highest if there is none.
func indices(issue *bargain.Issue, low, high *big.Rat, hasEnds bool) (first, last uint64) {
	tick := new(big.Rat).SetInt(new(big.Int).SetUint64(issue.Tick))
	if issue.Kind == bargain.KindReal {
		tick.Quo(tick, new(big.Rat).SetInt64(int64(fixed.One)))
	}
	// steps is the number of ticks from the issue's first number, rounded down, and whether it was whole.
	steps := func(n *big.Rat) (*big.Int, bool) {
		distance := new(big.Rat).Sub(n, numberOf(issue, 0))
		distance.Quo(distance, tick)
		// Div rounds down because the denominator is positive.
		return new(big.Int).Div(distance.Num(), distance.Denom()), distance.IsInt()
	}
	one := big.NewInt(1)
	from, isWhole := steps(low)
	if !isWhole || !hasEnds {
		from.Add(from, one)
	}
	to, isWhole := steps(high)
	if isWhole && !hasEnds {
		to.Sub(to, one)
	}
	most := new(big.Int).SetUint64(issue.Count - 1)
	if to.Cmp(most) > 0 {
		to = most
	}
	if from.Sign() < 0 {
		from.SetInt64(0)
	}
	if from.Cmp(to) > 0 {
		return 1, 0
	}
	return from.Uint64(), to.Uint64()
}

// integers makes an integer issue with a step, given in the formats' notation. Integers beyond 63 bits are
// prices.
func integers(name, low, high, step string) (bargain.Issue, error) {
	wrong := invalid("issue %q has the range %s to %s with the step %s, which is not one of integers",
		name, low, high, step)
	tick, err := strconv.ParseUint(step, 10, 63)
	if err != nil || tick == 0 {
		return bargain.Issue{}, wrong
	}
	least, errLow := strconv.ParseInt(low, 10, 64)
	most, errHigh := strconv.ParseInt(high, 10, 64)
	if errLow == nil && errHigh == nil && least <= most {
		issue := bargain.Integer(name, least, most)
		issue.Tick, issue.Count = tick, (uint64(most)-uint64(least))/tick+1
		return issue, nil
	}
	first, errLow := strconv.ParseUint(low, 10, 64)
	last, errHigh := strconv.ParseUint(high, 10, 64)
	if errLow != nil || errHigh != nil || first > last {
		return bargain.Issue{}, wrong
	}
	return bargain.Price(name, first, last, tick), nil
}
