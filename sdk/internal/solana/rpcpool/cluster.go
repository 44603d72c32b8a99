package rpcpool

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/gagliardetto/solana-go"
)

// cluster is the chain that the endpoints are of.
type cluster struct {
	lock    sync.Mutex
	genesis solana.Hash
	// pinned says that the genesis hash has been given, and not been asked for.
	pinned bool
}

// admit finds out, once for each endpoint, whether it is of the same cluster as the others.
func (p *Pool) admit(ctx context.Context, e *endpoint, watch *stopwatch) error {
	if e.met.Load() {
		return nil
	}
	if err := e.isBanned(); err != nil {
		return err
	}
	// One question is enough for all that wait for the answer.
	select {
	case e.meeting <- struct{}{}:
		defer func() { <-e.meeting }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if e.met.Load() {
		return nil
	}
	result, err := e.call(ctx, watch, "getGenesisHash", nil)
	if err != nil {
		return err
	}
	var text string
	if err := json.Unmarshal(result, &text); err != nil {
		return malformedError{fmt.Errorf("the node does not say which cluster it is of: %w", err)}
	}
	genesis, err := solana.HashFromBase58(text)
	if err != nil {
		return malformedError{fmt.Errorf("the node does not say which cluster it is of: %w", err)}
	}
	p.cluster.lock.Lock()
	defer p.cluster.lock.Unlock()
	if p.cluster.genesis.IsZero() {
		p.cluster.genesis = genesis
	}
	if genesis != p.cluster.genesis && e.index == 0 && !p.cluster.pinned {
		p.moveTo(genesis)
	}
	if genesis != p.cluster.genesis {
		err := fmt.Errorf("%w: its genesis hash is %s instead of %s", ErrOtherCluster, genesis, p.cluster.genesis)
		if e.ban(err) {
			p.logger.Error("a node is of another cluster, and is not asked any more", "node", e.host, "genesis", genesis, "expected", p.cluster.genesis)
		}
		return err
	}
	e.met.Store(true)
	return nil
}

// moveTo goes by the cluster of the first endpoint, which another one has been faster than. Otherwise that one, if it lies, could have
// all others not be asked any more. They say again of which cluster they are, and what they have shown is forgotten; the cluster's lock
// is held.
func (p *Pool) moveTo(genesis solana.Hash) {
	p.logger.Error("the first node is of another cluster than the one that has answered before; that of the first one counts",
		"genesis", genesis, "before", p.cluster.genesis)
	p.cluster.genesis = genesis
	for _, e := range p.endpoints[1:] {
		e.met.Store(false)
		e.forget()
	}
	p.slots.lower(processed, 0)
}
