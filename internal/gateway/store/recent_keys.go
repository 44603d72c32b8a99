package store

import (
	"sync"
	"time"
)

// keyLifetime is how long a read API key is reused. A revocation or rotation by this process counts at once,
// and so does a client suspension; changes by another process, and a new owner name, count after keyLifetime
// at the latest.
const keyLifetime = time.Second

// maxRecentKeys bounds the memory of recent keys.
const maxRecentKeys = 10_000

// recentKeys caches recently read API keys, because each request begins with a key lookup.
type recentKeys struct {
	mutex  sync.Mutex
	byHash map[string]recentKey
	// forgotten counts the calls of forget. A key is not kept if the read began before such a call, because
	// it may have changed.
	forgotten int
}

type recentKey struct {
	key   APIKey
	owner string
	// until is of the process's own clock, which is never set back.
	until time.Time
}

// get returns a key and the owner's name. If they are not cached, read reads them.
func (r *recentKeys) get(hash string, read func() (APIKey, string, error)) (APIKey, string, error) {
	r.mutex.Lock()
	known, ok := r.byHash[hash]
	forgotten := r.forgotten
	r.mutex.Unlock()
	if ok && time.Now().Before(known.until) {
		return known.key, known.owner, nil
	}
	until := time.Now().Add(keyLifetime)
	k, owner, err := read()
	if err != nil {
		return k, owner, err
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.forgotten != forgotten {
		return k, owner, nil
	}
	if r.byHash == nil || len(r.byHash) >= maxRecentKeys {
		r.byHash = map[string]recentKey{}
	}
	r.byHash[hash] = recentKey{k, owner, until}
	return k, owner, nil
}

// forget makes the next request read a key again, after it was revoked or replaced. If hash is empty, it
// forgets all keys, because the changed key is unknown or all keys of an owner changed.
func (r *recentKeys) forget(hash string) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	delete(r.byHash, hash)
	if hash == "" {
		clear(r.byHash)
	}
	r.forgotten++
}
