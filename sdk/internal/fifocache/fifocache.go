// Package fifocache keeps a limited number of values by their keys, and drops the oldest key first.
package fifocache

import "sync"

// Map keeps the values of the keys that were added last. It may be used by several goroutines.
type Map[K comparable, V any] struct {
	limit  int
	lock   sync.Mutex
	values map[K]V
	// keys is a ring: if it is full, the oldest key is at next.
	keys []K
	next int
}

// NewMap returns an empty map that keeps up to limit values.
func NewMap[K comparable, V any](limit int) *Map[K, V] {
	return &Map[K, V]{limit: limit, values: make(map[K]V)}
}

// Get returns the value of a key; false if it is not kept.
func (m *Map[K, V]) Get(key K) (value V, ok bool) {
	m.lock.Lock()
	defer m.lock.Unlock()
	value, ok = m.values[key]
	return value, ok
}

// Put stores a value. A new key replaces the oldest one if the map is full.
func (m *Map[K, V]) Put(key K, value V) {
	m.lock.Lock()
	defer m.lock.Unlock()
	if _, known := m.values[key]; !known {
		if len(m.keys) < m.limit {
			m.keys = append(m.keys, key)
		} else {
			delete(m.values, m.keys[m.next])
			m.keys[m.next] = key
			m.next = (m.next + 1) % m.limit
		}
	}
	m.values[key] = value
}

// Len returns the number of values.
func (m *Map[K, V]) Len() int {
	m.lock.Lock()
	defer m.lock.Unlock()
	return len(m.values)
}
