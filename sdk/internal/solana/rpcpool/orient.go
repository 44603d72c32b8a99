package rpcpool

import (
	"context"
	"sync"
	"time"

	"github.com/gagliardetto/solana-go/rpc"
)

// orientLimit is how long endpoints may take to say how far they have come before the first decision is made without them.
const orientLimit = 2 * time.Second

// orientation is what a pool does before its answers are acted on for the first time: it asks every endpoint how far the chain has
// come. Otherwise an endpoint that lies behind would be believed if it is the first to answer.
type orientation struct {
	begin sync.Once
	// ended is closed when everyone has answered, or has failed, or has taken too long.
	ended chan struct{}
}

// Orient finds out how far the chain has come, once in the pool's life, by asking all endpoints. It returns when all have answered or
// failed, or after a moment; who answers later is heard all the same. A pool of one endpoint has nobody to compare it with.
func (p *Pool) Orient(ctx context.Context, commitment rpc.CommitmentType) {
	if len(p.endpoints) < 2 {
		return
	}
	p.orientation.begin.Do(func() {
		p.orientation.ended = make(chan struct{})
		p.askEveryone(commitment)
	})
	select {
	case <-p.orientation.ended:
	case <-ctx.Done():
	}
}

func (p *Pool) askEveryone(commitment rpc.CommitmentType) {
	var asking sync.WaitGroup
	for _, e := range p.endpoints {
		asking.Add(1)
		started := p.start(func() {
			defer asking.Done()
			// What it shows counts; that it fails is noted.
			_, _ = p.attempt(p.closing, newRequest("getSlot", []any{rpc.M{"commitment": commitment}}, nil), e, false)
		})
		if !started {
			asking.Done()
		}
	}
	end := sync.OnceFunc(func() { close(p.orientation.ended) })
	limit := time.AfterFunc(orientLimit, end)
	p.start(func() {
		asking.Wait()
		limit.Stop()
		end()
	})
}
