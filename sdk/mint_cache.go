package haggle

import (
	"sync"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/token"
)

// mintsKept is the number of mints that a client keeps.
const mintsKept = 1024

// mintCache keeps mints that cannot change. The zero value is empty. It may be used from several goroutines.
type mintCache struct {
	lock  sync.Mutex
	known map[solana.PublicKey]token.Mint
}

func (c *mintCache) get(address solana.PublicKey) (token.Mint, bool) {
	c.lock.Lock()
	defer c.lock.Unlock()
	mint, ok := c.known[address]
	return mint, ok
}

// put stores a mint. If the cache is full, it replaces any other one.
func (c *mintCache) put(address solana.PublicKey, mint token.Mint) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.known == nil {
		c.known = make(map[solana.PublicKey]token.Mint)
	}
	if _, replaced := c.known[address]; !replaced && len(c.known) >= mintsKept {
		for other := range c.known {
			delete(c.known, other)
			break
		}
	}
	c.known[address] = mint
}
