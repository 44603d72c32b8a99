package ledger

import "fmt"

// Commitment selects the newest block considered by a query.
type Commitment string

// Commitments, named as in nodes. The empty commitment means Finalized.
const (
	// Processed selects the open block.
	Processed Commitment = "processed"
	// Confirmed selects the newest closed block.
	Confirmed Commitment = "confirmed"
	// Finalized selects the block closed 32 blocks earlier.
	Finalized Commitment = "finalized"
)

// Finality counts the blocks from confirmation to finality.
const Finality = 32

// Slot returns the newest slot at the given commitment.
func (l *Ledger) Slot(commitment Commitment) uint64 {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.slot(commitment)
}

// slot returns this node's newest slot at the given commitment.
func (l *Ledger) slot(commitment Commitment) uint64 {
	return max(l.chain.slot(commitment), firstSlot+l.behind) - l.behind
}

func (c *chain) slot(commitment Commitment) uint64 {
	head := c.head().Slot
	switch commitment {
	case Processed:
		return head
	case Confirmed:
		return head - 1
	}
	return max(head-1, firstSlot+Finality) - Finality
}

// MaxBehind limits how many slots a node is behind.
const MaxBehind = 128

// Behind returns another node of the chain. All that it shows is as it was a number of slots ago: slots,
// accounts, transactions, blockhashes. It passes on transactions at once, and simulates them on the newest
// accounts.
func (l *Ledger) Behind(slots uint64) (*Ledger, error) {
	if slots > MaxBehind {
		return nil, fmt.Errorf("ledger: %d slots behind exceed %d", slots, MaxBehind)
	}
	return &Ledger{l.chain, slots}, nil
}

// commitmentOf returns the slot's highest commitment.
func (l *Ledger) commitmentOf(slot uint64) Commitment {
	switch {
	case slot <= l.slot(Finalized):
		return Finalized
	case slot <= l.slot(Confirmed):
		return Confirmed
	}
	return Processed
}
