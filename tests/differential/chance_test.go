package differential

import (
	"encoding/binary"
	"math/rand/v2"

	"github.com/gagliardetto/solana-go"
)

// chance is what a sequence is made from: the same seed always makes the same sequence.
type chance struct{ *rand.Rand }

func chanceOf(seed uint64) chance {
	return chance{rand.New(rand.NewPCG(seed, 0x68616767_6c650001))}
}

// percent is true in so many of a hundred cases.
func (c chance) percent(percent int) bool { return c.IntN(100) < percent }

// between is a number from low to high, both included.
func (c chance) between(low, high uint64) uint64 {
	if high-low == 1<<64-1 {
		return c.Uint64()
	}
	return low + c.Uint64N(high-low+1)
}

// around is a number from low to high, often at the ends and seldom one beyond.
func (c chance) around(low, high uint64) uint64 {
	switch n := c.IntN(200); {
	case n == 0:
		return low - 1
	case n == 1:
		return high + 1
	case n < 14:
		return low
	case n < 26:
		return high
	}
	return c.between(low, high)
}

func (c chance) bytes32() (bytes [32]byte) {
	for i := 0; i < len(bytes); i += 8 {
		binary.LittleEndian.PutUint64(bytes[i:], c.Uint64())
	}
	return bytes
}

func (c chance) address() solana.PublicKey { return c.bytes32() }

func pick[T any](c chance, among ...T) T { return among[c.IntN(len(among))] }

// mostly is the first in so many of a hundred cases, and otherwise one of the others.
func mostly[T any](c chance, percent int, usual T, others ...T) T {
	if c.percent(percent) {
		return usual
	}
	return pick(c, others...)
}

// weighted is a choice and how often it is made.
type weighted[T any] struct {
	weight int
	choice T
}

func weigh[T any](c chance, choices []weighted[T]) T {
	total := 0
	for _, choice := range choices {
		total += choice.weight
	}
	at := c.IntN(total)
	for _, choice := range choices {
		if at < choice.weight {
			return choice.choice
		}
		at -= choice.weight
	}
	panic("the weights add up to the total")
}
