package bargain

import (
	"math/bits"
	"math/rand/v2"

	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// Random is a deterministic source of random numbers. The stream comes from [rand.PCG], with an algorithm
// fixed by Go. Reductions to ranges are defined here, because package rand's may change.
type Random struct{ source rand.PCG }

// NewRandom returns the stream with a number that belongs to a seed.
func NewRandom(seed, stream uint64) *Random {
	r := new(Random)
	r.Reset(seed, stream)
	return r
}

// Reset starts another stream.
func (r *Random) Reset(seed, stream uint64) { r.source.Seed(seed, stream) }

// Uint64 returns 64 random bits.
func (r *Random) Uint64() uint64 { return r.source.Uint64() }

// Below returns a uniformly distributed number, 0 to n-1, or 0 if n is 0. It uses Lemire's method: Fast
// Random Integer Generation in an Interval (2019), algorithm 5.
func (r *Random) Below(n uint64) uint64 {
	if n == 0 {
		return 0
	}
	high, low := bits.Mul64(r.Uint64(), n)
	if low < n {
		for least := -n % n; low < least; {
			high, low = bits.Mul64(r.Uint64(), n)
		}
	}
	return high
}

// Fraction returns a number in [0, 1).
func (r *Random) Fraction() fixed.Number { return fixed.Number(r.Below(uint64(fixed.One))) }
