package proxy

import (
	"hash/fnv"
	"math/rand/v2"
	"sync"
)

// dice give every event a separate random source, derived from the seed, the event kind and the number of
// earlier events of that kind. Concurrent events of different kinds do not change it.
type dice struct {
	seed uint64

	lock   sync.Mutex
	thrown map[string]uint64
}

// methodsMost limits the distinct kinds of events, because clients choose the methods.
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
