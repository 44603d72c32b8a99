package agent

import (
	"container/heap"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// tracked is the runtime's record of a negotiation. Only the loop's goroutine uses it.
type tracked struct {
	address solana.PublicKey
	side    protocol.OfferSide
	// counterpart is the other party; zero before the first snapshot.
	counterpart solana.PublicKey
	// exists reports that the negotiation exists or has existed.
	exists bool
	// created is created_at of the account, which differs between deals at the same address; zero before the
	// first snapshot.
	created int64
	// state and position are fingerprints of the latest snapshot, and slot is its slot: see fingerprint and
	// positionOf.
	state, position uint64
	slot            uint64
	// notBefore is the minimum slot of the next snapshot: the slot of the agent's own latest action.
	notBefore uint64
	// eventSlot is the slot of the latest event.
	eventSlot uint64

	participation participation
	answer        answer
	// decided is a decision that is being carried out, or is retried after a transient error.
	decided *decided
	// fallback counts the fallbacks tried at a position.
	fallback fallback
	// unpayable is the state at which a claim failed.
	unpayable uint64
	// result is nil while the negotiation is open, or if its result is not known.
	result *Result
	// closed reports that an event has announced the close.
	closed bool
	// live reports that the agent tracked the negotiation before its end, or had something left to do after
	// it; only then Config.Ended is called.
	live bool
	// offers are the known offers, in the order of their rounds.
	offers []PastOffer

	// reading reports a snapshot in progress, and readAgain that another one is due after it.
	reading, readAgain bool
	// acting reports an action in progress, and changed that an observation arrived meanwhile.
	acting, changed bool
	// call is the pending call of one of the agent's functions; nil if there is none.
	call *call
	// overdueCalls counts the calls that have not returned although their contexts have ended.
	overdueCalls int
	// hinted reports that a hint waits for a refresh, and pausing that the rate limit of hints delays it.
	hinted, pausing bool
	// failures counts failures in a row. retry is the timer of the next attempt, which is not before retryAt.
	failures int
	retry    *time.Timer
	retryAt  time.Time
	// refusals counts Admit's errors in a row.
	refusals int

	// wakeAt is when to refresh by the chain's clock; zero is never. index is the position in the heap; -1 if
	// it is in none.
	wakeAt int64
	index  int
}

// decided is a decision, or a milestone move, and the position that it was made on.
type decided struct {
	position uint64
	turn     Turn
	decision any
}

// fallback counts the fallbacks that have been tried at a position.
type fallback struct {
	position uint64
	tried    int
}

// agenda is a heap of negotiations by the time of their next refresh.
type agenda []*tracked

func (a agenda) Len() int           { return len(a) }
func (a agenda) Less(i, j int) bool { return a[i].wakeAt < a[j].wakeAt }
func (a agenda) Swap(i, j int) {
	a[i], a[j] = a[j], a[i]
	a[i].index, a[j].index = i, j
}

// Push implements heap.Interface.
func (a *agenda) Push(item any) {
	f := item.(*tracked)
	f.index = len(*a)
	*a = append(*a, f)
}

// Pop implements heap.Interface.
func (a *agenda) Pop() any {
	last := len(*a) - 1
	f := (*a)[last]
	(*a)[last] = nil
	*a = (*a)[:last]
	f.index = -1
	return f
}

// wake sets when a negotiation is refreshed, by the chain's clock; zero is never.
func (a *agenda) wake(f *tracked, at int64) {
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

// due removes and returns the next negotiation whose time has come; nil if there is none.
func (a *agenda) due(now int64) *tracked {
	if len(*a) == 0 || (*a)[0].wakeAt > now {
		return nil
	}
	f := heap.Pop(a).(*tracked)
	f.wakeAt = 0
	return f
}
