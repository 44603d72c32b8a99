package utility

import (
	"math/big"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// Products is a [Table] of weighted values that also stores NegMAS' floating-point products, for
// [Additive.Float].
type Products struct {
	Table
	floats []float64
}

// NewProducts allocates a number of products, all 0.
func NewProducts(count uint64) *Products {
	return &Products{make(Table, count), make([]float64, count)}
}

// Set stores the product weight * val; product is the rounded product.
func (p *Products) Set(index uint64, product fixed.Number, weight, value *big.Rat) {
	w, _ := weight.Float64()
	v, _ := value.Float64()
	p.Table[index], p.floats[index] = product, w*v
}

// Float implements [bargain.Floats]: the constant and the parts, added in issue order.
func (a *Additive) Float(o bargain.Outcome) float64 {
	sum := a.constant.Float()
	for at, part := range a.parts {
		index := a.domain.Value(o, at)
		if a.products != nil && a.products[at] != nil {
			sum += a.products[at].floats[index]
		} else {
			sum += valueOf(part, index).Float()
		}
	}
	return sum
}
