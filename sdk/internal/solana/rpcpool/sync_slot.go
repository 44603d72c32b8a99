package rpcpool

import (
	"context"
	"sync"
	"time"

	"github.com/gagliardetto/solana-go/rpc"
)

// syncLimit limits the time for reading the slots of all endpoints before the first decision.
const syncLimit = 2 * time.Second

// slotSync is the state of SyncSlot. Before the first decision a pool reads the slot of every endpoint;
// otherwise a lagging endpoint would be accepted if it responds first.
type slotSync struct {
	begin sync.Once
	// ended is closed when every endpoint responded or failed, or when syncLimit has passed.
	ended chan struct{}
}

// SyncSlot reads the slot of every endpoint, once in the pool's life. It returns when all responded or
// failed, at the latest after 2 s; later responses still count. If there is a single endpoint, it sends
// nothing.
func (p *Pool) SyncSlot(ctx context.Context, commitment rpc.CommitmentType) {
	if len(p.endpoints) < 2 {
		return
	}
	p.slotSync.begin.Do(func() {
		p.slotSync.ended = make(chan struct{})
		p.requestSlots(commitment)
	})
	select {
	case <-p.slotSync.ended:
	case <-ctx.Done():
	}
}

func (p *Pool) requestSlots(commitment rpc.CommitmentType) {
	end := sync.OnceFunc(func() { close(p.slotSync.ended) })
	limit := time.AfterFunc(syncLimit, end)
	p.start(func() {
		var asking sync.WaitGroup
		for _, e := range p.endpoints {
			asking.Go(func() {
				// The response's slot is recorded, and so is a failure.
				_, _ = p.attempt(p.closing, newRequest("getSlot", []any{rpc.M{"commitment": commitment}}, nil), e, false)
			})
		}
		asking.Wait()
		limit.Stop()
		end()
	})
}
