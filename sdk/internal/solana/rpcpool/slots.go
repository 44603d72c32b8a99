package rpcpool

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// slots holds the newest observed slot of each level.
type slots struct {
	lock sync.Mutex
	seen [levels]uint64
}

// floor returns the lowest slot that a response at a level may belong to.
func (s *slots) floor(of level) uint64 {
	s.lock.Lock()
	defer s.lock.Unlock()
	return slices.Max(s.seen[of:])
}

func (s *slots) raise(of level, slot uint64) {
	s.lock.Lock()
	s.seen[of] = max(s.seen[of], slot)
	s.lock.Unlock()
}

// lower reduces the observed slot of the level and all higher levels.
func (s *slots) lower(of level, slot uint64) {
	s.lock.Lock()
	for i := of; i < levels; i++ {
		s.seen[i] = min(s.seen[i], slot)
	}
	s.lock.Unlock()
}

// behindError is the error of a response older than an observed slot.
type behindError struct {
	// slot is the endpoint's slot, seen the newest observed slot.
	slot, seen uint64
	// most is the endpoint's own newest slot before that response.
	most uint64
}

func (e *behindError) Error() string {
	if e.wentBack() {
		return fmt.Sprintf("%v: slot %d before, slot %d now", transaction.ErrWentBack, e.most, e.slot)
	}
	return fmt.Sprintf("%v: it is at slot %d of %d", transaction.ErrBehind, e.slot, e.seen)
}

func (e *behindError) Unwrap() []error {
	if e.wentBack() {
		return []error{transaction.ErrBehind, transaction.ErrWentBack}
	}
	return []error{transaction.ErrBehind}
}

// wentBack reports whether the endpoint is further behind its own newest slot than the nodes behind a shared
// address usually differ.
func (e *behindError) wentBack() bool { return e.most > e.slot+floorTolerance }

// floorTolerance is a number of slots, about a minute. If all endpoints are more than it behind the newest
// observed slot, the observed slot was wrong: it does not exist on the chain.
const floorTolerance = 150

// lowerFloor reduces the observed slot if all of several endpoints are far behind it.
func (p *Pool) lowerFloor(request *request, failures []Failure) {
	asked := 0
	for _, e := range p.endpoints {
		if e.isBanned() == nil {
			asked++
		}
	}
	if asked < 2 || len(failures) != asked {
		return
	}
	var most uint64
	for _, failure := range failures {
		var behind *behindError
		if !errors.As(failure.Err, &behind) {
			return
		}
		most = max(most, behind.slot)
	}
	if most+floorTolerance < request.floor {
		p.logger.Warn("all nodes are far behind an observed slot; dropping it", "slot", request.floor, "newest", most)
		p.slots.lower(request.level, most)
	}
}
