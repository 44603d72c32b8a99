package rpcpool

import (
	"errors"
	"fmt"
	"sync"
)

// slots are how far the chain has been seen to have come.
type slots struct {
	lock sync.Mutex
	seen [levels]uint64
}

// floor is the slot that an answer at a level must not be behind.
func (s *slots) floor(of level) uint64 {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.floorLocked(of)
}

func (s *slots) floorLocked(of level) (floor uint64) {
	for _, slot := range s.seen[of:] {
		floor = max(floor, slot)
	}
	return floor
}

func (s *slots) raise(of level, slot uint64) {
	s.lock.Lock()
	s.seen[of] = max(s.seen[of], slot)
	s.lock.Unlock()
}

// lower takes back what has been seen at a level.
func (s *slots) lower(of level, slot uint64) {
	s.lock.Lock()
	for i := range s.seen[of:] {
		s.seen[int(of)+i] = min(s.seen[int(of)+i], slot)
	}
	s.lock.Unlock()
}

// behindError says how far an endpoint is behind.
type behindError struct {
	// slot is the endpoint's, and seen how far the chain has been seen to have come.
	slot, seen uint64
	// most is how far the endpoint itself had come before.
	most uint64
}

func (e *behindError) Error() string {
	if e.wentBack() {
		return fmt.Sprintf("%v: it had come to slot %d, and is at slot %d", ErrWentBack, e.most, e.slot)
	}
	return fmt.Sprintf("%v: it is at slot %d of %d", ErrBehind, e.slot, e.seen)
}

func (e *behindError) Unwrap() []error {
	if e.wentBack() {
		return []error{ErrBehind, ErrWentBack}
	}
	return []error{ErrBehind}
}

// wentBack says whether the endpoint is further behind itself than one that is several nodes ever is.
func (e *behindError) wentBack() bool { return e.most > e.slot+falseHead }

// falseHead is how many slots behind what has been seen all endpoints together have to be, and how close to each other, until they
// are believed: about a minute. They cannot have forgotten that; one of them has lied about a future.
const falseHead = 150

// doubtFloor takes back a slot that has been seen if none of several endpoints knows of it.
func (p *Pool) doubtFloor(request *request, failures []Failure) {
	asked := 0
	for _, e := range p.endpoints {
		if e.isBanned() == nil {
			asked++
		}
	}
	if asked < 2 || len(failures) != asked {
		return
	}
	least, most := ^uint64(0), uint64(0)
	for _, failure := range failures {
		var behind *behindError
		if !errors.As(failure.Err, &behind) {
			return
		}
		least, most = min(least, behind.slot), max(most, behind.slot)
	}
	if most-least <= falseHead && most+falseHead < request.floor {
		p.logger.Warn("all nodes are far behind a slot that one of them had shown; it is not believed any more", "slot", request.floor, "newest", most)
		p.slots.lower(request.level, most)
	}
}
