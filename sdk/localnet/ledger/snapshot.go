package ledger

import (
	"context"
	"maps"
	"slices"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/localnet/engine"
)

// Snapshot is a copy of the ledger. It can be restored any number of times.
type Snapshot struct {
	image *engine.Image
	state state
}

// Snapshot copies accounts, blocks, history and clock.
func (l *Ledger) Snapshot() (*Snapshot, error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	image, err := l.engine.Snapshot()
	if err != nil {
		return nil, err
	}
	return &Snapshot{image, l.state.clone()}, nil
}

// Restore replaces the state with a snapshot's, which must come from the same module. Slot and clock go back,
// too; then the clock advances by the real time elapsed since the snapshot.
func (l *Ledger) Restore(ctx context.Context, snapshot *Snapshot) error {
	l.lock.Lock()
	defer l.lock.Unlock()
	if l.closed {
		return engine.ErrClosed
	}
	restored, err := l.module.Restore(ctx, snapshot.image)
	if err != nil {
		return err
	}
	previous := l.engine
	l.engine, l.state = restored, snapshot.state.clone()
	return previous.Close()
}

// clone copies what changes: the maps, and the blocks with earlier states of accounts.
func (s state) clone() state {
	s.blocks = slices.Clone(s.blocks)
	for i := max(0, len(s.blocks)-keptStates); i < len(s.blocks); i++ {
		block := *s.blocks[i]
		block.Transactions = slices.Clone(block.Transactions)
		block.before = maps.Clone(block.before)
		s.blocks[i] = &block
	}
	s.hashes = maps.Clone(s.hashes)
	s.accounts = maps.Clone(s.accounts)
	s.transactions = maps.Clone(s.transactions)
	owned := make(map[solana.PublicKey]map[solana.PublicKey]struct{}, len(s.owned))
	for owner, addresses := range s.owned {
		owned[owner] = maps.Clone(addresses)
	}
	s.owned = owned
	mentions := make(map[solana.PublicKey][]*Transaction, len(s.mentions))
	for address, transactions := range s.mentions {
		// A clipped slice is copied by the next append.
		mentions[address] = slices.Clip(transactions)
	}
	s.mentions = mentions
	return s
}
