package rpcpool

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// cluster identifies the chain of the endpoints.
type cluster struct {
	lock    sync.Mutex
	genesis solana.Hash
	// pinned reports whether the genesis hash was configured rather than requested.
	pinned bool
}

// admit checks, once for each endpoint, that it belongs to the same cluster as the others.
func (p *Pool) admit(ctx context.Context, e *endpoint, watch *stopwatch) error {
	if e.admitted.Load() {
		return nil
	}
	if err := e.isBanned(); err != nil {
		return err
	}
	// A single request serves all waiting callers.
	select {
	case e.admitting <- struct{}{}:
		defer func() { <-e.admitting }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if e.admitted.Load() {
		return nil
	}
	result, err := e.call(ctx, watch, "getGenesisHash", nil)
	if err != nil {
		return err
	}
	var text string
	if err := json.Unmarshal(result, &text); err != nil {
		return malformedError{fmt.Errorf("the node returns no genesis hash: %w", err)}
	}
	genesis, err := solana.HashFromBase58(text)
	if err != nil {
		return malformedError{fmt.Errorf("the node returns no genesis hash: %w", err)}
	}
	p.cluster.lock.Lock()
	defer p.cluster.lock.Unlock()
	if p.cluster.genesis.IsZero() {
		p.cluster.genesis = genesis
	}
	if genesis != p.cluster.genesis && e.index == 0 && !p.cluster.pinned {
		p.adoptGenesis(genesis)
	}
	if genesis != p.cluster.genesis {
		err := fmt.Errorf("%w: its genesis hash is %s instead of %s", transaction.ErrOtherCluster, genesis, p.cluster.genesis)
		e.ban(err)
		p.logger.Error("a node is of another cluster and gets no more requests",
			"node", e.host, "genesis", genesis, "expected", p.cluster.genesis)
		return err
	}
	e.admitted.Store(true)
	return nil
}

// adoptGenesis replaces the cluster by the first endpoint's cluster, when a later endpoint responded faster.
// Otherwise a later endpoint with a wrong genesis hash could get all others banned. The remaining endpoints
// are checked again, and their observed slots are dropped. The caller holds the cluster's lock.
func (p *Pool) adoptGenesis(genesis solana.Hash) {
	p.logger.Error("the first node is of another cluster than a node that answered earlier; using the cluster of the first node",
		"genesis", genesis, "before", p.cluster.genesis)
	p.cluster.genesis = genesis
	for _, e := range p.endpoints[1:] {
		e.admitted.Store(false)
		e.forget()
	}
	p.slots.lower(processed, 0)
}
