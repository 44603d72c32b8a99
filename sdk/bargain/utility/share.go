package utility

import (
	"math/bits"

	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// share returns floor(amount * part / whole) for amount >= 0 and part <= whole.
func share(amount fixed.Number, part, whole uint64) fixed.Number {
	high, low := bits.Mul64(uint64(amount), part)
	quotient, _ := bits.Div64(high, low, whole)
	return fixed.Number(quotient)
}
