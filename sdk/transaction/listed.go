package transaction

import (
	"errors"

	"github.com/gagliardetto/solana-go"
)

// Listed is a transaction in a node's list of the transactions of an address.
type Listed struct {
	// Signature is the transaction's first signature.
	Signature solana.Signature
	// Slot is the block's slot.
	Slot uint64
	// Index is the transaction's index in the block; nil if the node does not return it.
	Index *uint32
	// Failed reports whether the transaction was executed and failed.
	Failed bool
	// Processed reports that the block is not complete yet, so the transaction's position may change.
	Processed bool
}

// SettledSlots is the distance behind the newest slot where a node's lists become complete, because a node
// writes lists a little later than blocks.
const SettledSlots = 32

// ErrChainChanged: a fork removed the transaction that a list should continue from. List again from an
// earlier position.
var ErrChainChanged = errors.New("the chain changed since an earlier answer")
