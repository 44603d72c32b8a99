package haggle

import (
	"sync"

	"github.com/gagliardetto/solana-go"
)

// mintsKept is how many mints a client remembers.
const mintsKept = 1024

// mintCache remembers mints that cannot change. The zero value is empty. It may be used from several goroutines.
type mintCache struct {
	lock  sync.Mutex
	known map[solana.PublicKey]Mint
}

func (c *mintCache) get(address solana.PublicKey) (Mint, bool) {
	c.lock.Lock()
	defer c.lock.Unlock()
	mint, ok := c.known[address]
	return mint, ok
}

// put remembers a mint, in the place of any other one when there are too many.
func (c *mintCache) put(address solana.PublicKey, mint Mint) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.known == nil {
		c.known = make(map[solana.PublicKey]Mint)
	}
	if _, replaced := c.known[address]; !replaced && len(c.known) >= mintsKept {
		for other := range c.known {
			delete(c.known, other)
			break
		}
	}
	c.known[address] = mint
}
