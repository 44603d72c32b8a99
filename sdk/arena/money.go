package arena

import (
	"fmt"
	"strconv"
	"strings"
)

// Money is an amount in millionths of the unit of account.
type Money uint64

// SetPrice is the price per complete set: one YES and one NO.
const SetPrice Money = 1_000_000

// MaxMoney limits a market's deposits to prevent overflows.
const MaxMoney Money = 1_000_000_000 * SetPrice

// String returns the amount rounded down to hundredths, such as 87.00.
func (m Money) String() string { return fmt.Sprintf("%d.%02d", m/SetPrice, m%SetPrice/(SetPrice/100)) }

// ParseMoney reads an amount such as 87 or 87.50, up to six decimals and up to [MaxMoney]. It returns a
// [*Refusal] with [CodeMalformed].
func ParseMoney(text string) (Money, error) {
	whole, fraction, _ := strings.Cut(text, ".")
	units, err := strconv.ParseUint(whole, 10, 32)
	const decimals = 6
	var parts uint64
	if err == nil && len(fraction) <= decimals && strings.TrimRight(text, ".") == text {
		parts, err = strconv.ParseUint((fraction + "000000")[:decimals], 10, 32)
	}
	money := Money(units)*SetPrice + Money(parts)
	if err != nil || len(fraction) > decimals || strings.HasSuffix(text, ".") || money > MaxMoney {
		return 0, refuse(CodeMalformed, "amount: must be 0 to %s, with at most %d decimals", MaxMoney, decimals)
	}
	return money, nil
}

// Price is a token price in ticks of 0.01, between [MinPrice] and [MaxPrice].
type Price uint8

// The lowest, the highest and the initial price.
const (
	MinPrice   Price = 1
	MaxPrice   Price = 99
	FirstPrice Price = 50
)

func (p Price) String() string { return fmt.Sprintf("0.%02d", uint8(p)) }

// ParsePrice reads a price such as 0.62. It returns a [*Refusal] with [CodeMalformed].
func ParsePrice(text string) (Price, error) {
	const tick = SetPrice / 100
	money, err := ParseMoney(text)
	if price := money / tick; err == nil && money%tick == 0 && price >= Money(MinPrice) && price <= Money(MaxPrice) {
		return Price(price), nil
	}
	return 0, refuse(CodeMalformed, "price: must be %s to %s in ticks of 0.01", MinPrice, MaxPrice)
}

// isValid reports whether the price is between the lowest and the highest one.
func (p Price) isValid() bool { return p >= MinPrice && p <= MaxPrice }

// Quantity is a number of tokens.
type Quantity uint64

// MaxQuantity limits a trade.
const MaxQuantity Quantity = 1_000_000_000

// isValid reports whether the quantity is tradable.
func (q Quantity) isValid() bool { return q >= 1 && q <= MaxQuantity }

// Cost returns the price for a quantity.
func (p Price) Cost(q Quantity) Money { return Money(p) * (SetPrice / 100) * Money(q) }

// Token is YES or NO in a binary outcome.
type Token string

// The tokens.
const (
	Yes Token = "YES"
	No  Token = "NO"
)

func (t Token) isValid() bool { return t == Yes || t == No }

// Outcome is a market's resolution.
type Outcome string

// Outcomes. After [Void], each token pays half the set price.
const (
	OutcomeYes  Outcome = "YES"
	OutcomeNo   Outcome = "NO"
	OutcomeVoid Outcome = "VOID"
)

// Pays returns the token's payout for an outcome.
func (o Outcome) Pays(t Token) Money {
	switch {
	case o == OutcomeVoid:
		return SetPrice / 2
	case string(o) == string(t):
		return SetPrice
	}
	return 0
}
