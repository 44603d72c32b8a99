package differential

import (
	"encoding/binary"
	"math/rand/v2"

	"github.com/haggle-protocol/haggle/tests/differential/model"
)

// random is a sequence's random source: the same seed yields the same sequence.
type random struct{ *rand.Rand }

func newRandom(seed uint64) random {
	return random{rand.New(rand.NewPCG(seed, 0x68616767_6c650001))}
}

// percent returns true with a probability in percent.
func (r random) percent(percent int) bool { return r.IntN(100) < percent }

// between returns a number from low to high, both included.
func (r random) between(low, high uint64) uint64 {
	if high-low == 1<<64-1 {
		return r.Uint64()
	}
	return low + r.Uint64N(high-low+1)
}

// around returns a number from low to high, often a limit and sometimes a number just beyond.
func (r random) around(low, high uint64) uint64 {
	switch n := r.IntN(200); {
	case n == 0:
		return low - 1
	case n == 1:
		return high + 1
	case n < 14:
		return low
	case n < 26:
		return high
	}
	return r.between(low, high)
}

func (r random) bytes32() (bytes [32]byte) {
	for i := 0; i < len(bytes); i += 8 {
		binary.LittleEndian.PutUint64(bytes[i:], r.Uint64())
	}
	return bytes
}

func (r random) address() model.Address { return r.bytes32() }

func pick[T any](r random, among ...T) T { return among[r.IntN(len(among))] }

// mostly returns usual with a probability in percent, and otherwise any of the others.
func mostly[T any](r random, percent int, usual T, others ...T) T {
	if r.percent(percent) {
		return usual
	}
	return pick(r, others...)
}

// weighted is a choice with a relative frequency.
type weighted[T any] struct {
	weight int
	choice T
}

func pickWeighted[T any](r random, choices []weighted[T]) T {
	total := 0
	for _, choice := range choices {
		total += choice.weight
	}
	at := r.IntN(total)
	for _, choice := range choices {
		if at < choice.weight {
			return choice.choice
		}
		at -= choice.weight
	}
	panic("the weights do not add up to the total")
}
