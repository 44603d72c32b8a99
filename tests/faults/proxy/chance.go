package proxy

import (
	"hash/fnv"
	"math/rand/v2"
	"sync"
)

// dice give every event its own source of chance, which follows from the seed, from what kind of event it is and from how many of
// that kind came before. What happens at the same time elsewhere changes nothing.
type dice struct {
	seed uint64

	lock   sync.Mutex
	thrown map[string]uint64
}

// methodsMost is how many kinds of events are told apart; clients send what they like.
const methodsMost = 256

func newDice(seed uint64) *dice { return &dice{seed: seed, thrown: make(map[string]uint64)} }

func (d *dice) next(what string) *rand.Rand {
	d.lock.Lock()
	defer d.lock.Unlock()
	if _, known := d.thrown[what]; !known && len(d.thrown) == methodsMost {
		what = ""
	}
	d.thrown[what]++
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(what))
	return rand.New(rand.NewPCG(d.seed^hash.Sum64(), d.thrown[what]))
}
