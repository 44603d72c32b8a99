package hire

import (
	"errors"
	"strconv"
	"strings"
)

// Price is an amount of tokens with the token's symbol, such as "5 USDC". Prices are compared literally: "5
// USDC" and "5.0 USDC" are different terms.
type Price string

// MinUnits is the smallest settleable price, in base units of any mint. For lower prices, the rounding of
// fees and the rent of accounts would no longer be small beside the price.
const MinUnits = 100_000

// Asset describes tokens used for prices and payments.
type Asset struct {
	// Symbol names the token in prices. It names one mint per cluster.
	Symbol string
	// Mint is the token's mint.
	Mint Base58
	// Decimals counts the mint's decimals, at most 18.
	Decimals uint8
}

// Units converts a price to base units, and returns the asset. It returns a [*Refusal] with [ReasonPrice] if
// no asset uses the symbol, if the price contains more decimals than the mint, and if the amount is less than
// [MinUnits] or above 2^64-1.
func (p Price) Units(assets []Asset) (Asset, uint64, error) {
	tokens, symbol, _ := strings.Cut(string(p), " ")
	if !priceForm.MatchString(string(p)) {
		return Asset{}, 0, refuse(ReasonPrice, "price: not an amount with a symbol")
	}
	for _, asset := range assets {
		if asset.Symbol != symbol {
			continue
		}
		whole, fraction, _ := strings.Cut(tokens, ".")
		missing := int(asset.Decimals) - len(fraction)
		if missing < 0 {
			return Asset{}, 0, refuse(ReasonPrice, "price: more than the %d decimals of the mint", asset.Decimals)
		}
		units, err := strconv.ParseUint(whole+fraction+strings.Repeat("0", missing), 10, 64)
		switch {
		case err != nil:
			return Asset{}, 0, refuse(ReasonPrice, "price: above 2^64-1 base units")
		case units < MinUnits:
			return Asset{}, 0, refuse(ReasonPrice, "price: %d base units, at least %d", units, MinUnits)
		}
		return asset, units, nil
	}
	return Asset{}, 0, refuse(ReasonPrice, "price: unknown symbol")
}

// Price formats base units as a price, exactly and as short as possible.
func (a Asset) Price(units uint64) Price {
	digits := strconv.FormatUint(units, 10)
	if missing := int(a.Decimals) + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	point := len(digits) - int(a.Decimals)
	text, fraction := digits[:point], strings.TrimRight(digits[point:], "0")
	if fraction != "" {
		text += "." + fraction
	}
	return Price(text + " " + a.Symbol)
}

// UnmarshalJSON reads an amount with a symbol.
func (p *Price) UnmarshalJSON(data []byte) error {
	return unmarshal(data, (*string)(p), func(text string) error {
		if !priceForm.MatchString(text) {
			return errors.New("not an amount with a symbol, such as 5 USDC")
		}
		return nil
	})
}
