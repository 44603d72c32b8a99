package agent

import (
	"container/heap"
	"context"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// followed is what is known of a negotiation between two looks at it. Only the loop touches it.
type followed struct {
	address solana.PublicKey
	side    protocol.OfferSide
	// counterpart is the other party; zero until the negotiation has been read.
	counterpart solana.PublicKey
	// exists says that there is or has been such a negotiation, for certain.
	exists bool
	// created is when it was created: another negotiation at the address has another time. Zero until it has been read.
	created int64
	// position is a fingerprint of its state when it was last read, and slot when that was.
	position uint64
	slot     uint64
	// notBefore is a slot that it has to be read at or after: that of the agent's own last action.
	notBefore uint64

	stance stance
	answer answer
	// decided is a decision that has not been carried out yet for a reason that passes.
	decided *decided
	// fellBack is the position at which Fallback has been resorted to.
	fellBack uint64
	// unpayable is the position at which a claim has failed.
	unpayable uint64
	// result is how it has ended; nil while it has not, or that is not known.
	result *Result
	// closed says that it has been heard to be closed.
	closed bool
	// live says that the agent has seen it before its end, or has had something left to do: then it is told of the end.
	live bool
	// offers are those that have been told of, by their rounds.
	offers []PastOffer

	// busy says that something is being done about it, and changed that something has happened meanwhile.
	busy, changed bool
	// doubted says that something may have happened for which it is still to be looked at, and pausing that this is not at once.
	doubted, pausing bool
	// withdraw ends the question that the agent's functions are being asked; nil if there is none.
	withdraw context.CancelCauseFunc
	// absorbed is how many of the agent's functions have not returned although their time is up.
	absorbed int
	// failures are those in a row, retry is when to look again after them, and not before retryAt.
	failures int
	retry    *time.Timer
	retryAt  time.Time
	// refusals are Admit's in a row.
	refusals int

	// wakeAt is when to look again by the chain's clock; zero is never. index is its place in the heap; -1 if it is in none.
	wakeAt int64
	index  int
}

// decided is a decision and what it was made on.
type decided struct {
	turn     Turn
	decision Decision
	position uint64
}

// agenda holds negotiations by when to look at them again.
type agenda []*followed

func (a agenda) Len() int           { return len(a) }
func (a agenda) Less(i, j int) bool { return a[i].wakeAt < a[j].wakeAt }
func (a agenda) Swap(i, j int) {
	a[i], a[j] = a[j], a[i]
	a[i].index, a[j].index = i, j
}

// Push is for package heap.
func (a *agenda) Push(one any) {
	f := one.(*followed)
	f.index = len(*a)
	*a = append(*a, f)
}

// Pop is for package heap.
func (a *agenda) Pop() any {
	last := len(*a) - 1
	f := (*a)[last]
	(*a)[last] = nil
	*a = (*a)[:last]
	f.index = -1
	return f
}

// wake has a negotiation looked at again at a time of the chain's clock; zero is never.
func (a *agenda) wake(f *followed, at int64) {
	switch {
	case f.index >= 0 && at == 0:
		heap.Remove(a, f.index)
		f.wakeAt = 0
	case f.index >= 0:
		f.wakeAt = at
		heap.Fix(a, f.index)
	case at != 0:
		f.wakeAt = at
		heap.Push(a, f)
	}
}

// due takes the next negotiation whose time has come; nil if there is none.
func (a *agenda) due(now int64) *followed {
	if len(*a) == 0 || (*a)[0].wakeAt > now {
		return nil
	}
	f := heap.Pop(a).(*followed)
	f.wakeAt = 0
	return f
}
