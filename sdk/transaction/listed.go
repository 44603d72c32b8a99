package transaction

import (
	"errors"

	"github.com/gagliardetto/solana-go"
)

// Listed is a transaction in a node's list of the transactions of an address.
type Listed struct {
	// Signature is the transaction's first signature.
	Signature solana.Signature
	// Slot is the slot of its block.
	Slot uint64
	// Index is its index in the block; nil if the node does not return it.
	Index *uint32
	// Failed reports that the transaction was executed and failed.
	Failed bool
	// Processed reports that the block is not complete yet, so the transaction's position may change.
	Processed bool
}

// SettledSlots is the distance behind the newest slot from which a node's lists are complete, because a node
// writes its lists a little later than its blocks.
const SettledSlots = 32

// ErrChainChanged: a fork has removed the transaction from which a list was to continue. List again from an
// earlier position.
var ErrChainChanged = errors.New("the chain changed since an earlier answer")
