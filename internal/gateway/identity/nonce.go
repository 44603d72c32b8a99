package identity

import (
	"container/heap"
	"context"
	"crypto/sha256"
	"errors"
	"sync"
	"time"
)

// The errors of [Nonces].
var (
	// ErrReplayed is the error for a nonce that its key has used before.
	ErrReplayed = errors.New("nonce: used before")
	// ErrNonceMemory is the error of a full memory.
	ErrNonceMemory = errors.New("nonce: too many unexpired nonces")
)

// Nonces remembers the nonces of signatures until these expire. Several gateway processes must share one.
type Nonces interface {
	// Use records a nonce of a key until a time. It returns [ErrReplayed] if the key has used it, and
	// [ErrNonceMemory] if there is no space. In both cases the request is refused.
	Use(ctx context.Context, keyID, nonce string, until time.Time) error
}

// MemoryNonces are the [Nonces] of a single process. A restart forgets them, so a signature that is younger
// than 5 minutes can be used once more after it. Methods are safe for concurrent use.
type MemoryNonces struct {
	total, perKey int
	now           func() time.Time

	mutex sync.Mutex
	used  map[[sha256.Size]byte]bool
	keys  map[string]int
	byEnd nonceHeap
}

// NewMemoryNonces returns a memory for at most total nonces, of which one key has at most perKey: a client
// cannot use up the memory of others. An entry takes about 200 bytes.
func NewMemoryNonces(total, perKey int) *MemoryNonces {
	return &MemoryNonces{
		total: total, perKey: perKey, now: time.Now,
		used: map[[sha256.Size]byte]bool{}, keys: map[string]int{},
	}
}

// Use implements [Nonces].
func (m *MemoryNonces) Use(_ context.Context, keyID, nonce string, until time.Time) error {
	// Key IDs have no zero byte, so different pairs have different hashes.
	hash := sha256.Sum256([]byte(keyID + "\x00" + nonce))
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.forget(m.now())
	switch {
	case m.used[hash]:
		return ErrReplayed
	case len(m.used) >= m.total || m.keys[keyID] >= m.perKey:
		return ErrNonceMemory
	}
	m.used[hash] = true
	m.keys[keyID]++
	heap.Push(&m.byEnd, usedNonce{hash, keyID, until})
	return nil
}

// forget removes the expired nonces.
func (m *MemoryNonces) forget(now time.Time) {
	for len(m.byEnd) > 0 && now.After(m.byEnd[0].until) {
		expired, _ := heap.Pop(&m.byEnd).(usedNonce)
		delete(m.used, expired.hash)
		if m.keys[expired.keyID]--; m.keys[expired.keyID] == 0 {
			delete(m.keys, expired.keyID)
		}
	}
}

type usedNonce struct {
	hash  [sha256.Size]byte
	keyID string
	until time.Time
}

// nonceHeap implements [heap.Interface]; its first nonce expires first.
type nonceHeap []usedNonce

func (h nonceHeap) Len() int           { return len(h) }
func (h nonceHeap) Less(i, j int) bool { return h[i].until.Before(h[j].until) }
func (h nonceHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

func (h *nonceHeap) Push(x any) {
	nonce, _ := x.(usedNonce)
	*h = append(*h, nonce)
}

func (h *nonceHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
