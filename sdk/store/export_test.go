package store

import "time"

// SetLeases changes the length of the leases, and whether they are renewed. Call it before OpenJournal.
func (s *Store) SetLeases(length time.Duration, renewed bool) {
	s.leases.length, s.leases.unrenewed = length, !renewed
}
