package rpcpool

import (
	"context"
	"sync"
	"time"

	"github.com/gagliardetto/solana-go/rpc"
)

// orientLimit is the time limit for the slots of all endpoints before the first decision.
const orientLimit = 2 * time.Second

// orientation is the state of Orient. Before its first decision a pool reads the slot of every endpoint;
// otherwise an endpoint that is behind would be accepted if it answers first.
type orientation struct {
	begin sync.Once
	// ended is closed when every endpoint has answered or failed, or when orientLimit has passed.
	ended chan struct{}
}

// Orient reads the slot of every endpoint, once in the pool's life. It returns when all have answered or
// failed, at the latest after 2 s; later answers still count. A pool of one endpoint sends nothing.
func (p *Pool) Orient(ctx context.Context, commitment rpc.CommitmentType) {
	if len(p.endpoints) < 2 {
		return
	}
	p.orientation.begin.Do(func() {
		p.orientation.ended = make(chan struct{})
		p.requestSlots(commitment)
	})
	select {
	case <-p.orientation.ended:
	case <-ctx.Done():
	}
}

func (p *Pool) requestSlots(commitment rpc.CommitmentType) {
	end := sync.OnceFunc(func() { close(p.orientation.ended) })
	limit := time.AfterFunc(orientLimit, end)
	p.start(func() {
		var asking sync.WaitGroup
		for _, e := range p.endpoints {
			asking.Go(func() {
				// The answer's slot is recorded, and so is a failure.
				_, _ = p.attempt(p.closing, newRequest("getSlot", []any{rpc.M{"commitment": commitment}}, nil), e, false)
			})
		}
		asking.Wait()
		limit.Stop()
		end()
	})
}
