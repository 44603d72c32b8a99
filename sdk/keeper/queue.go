package keeper

import (
	"cmp"
	"maps"
	"math/bits"
	"slices"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// stakeBonus is the lateness that each doubling of the stake above the smallest escrow counts as.
const stakeBonus = time.Minute

// lastHeld is the number of buyers without a waiting task after which the queue forgets past turns.
const lastHeld = 64

// queue orders due tasks. Each buyer's tasks take turns with the tasks of other buyers (start-time fair
// queueing), so that one buyer's negotiations delay those of other buyers by one task for each turn. Sellers
// do not count: a buyer can name any seller. In one turn the most overdue task is first.
type queue struct {
	ready []*record
	// turn is the turn of the last task that was taken, and last the turn of each buyer's newest task.
	turn uint64
	last map[solana.PublicKey]uint64
}

func (q *queue) add(r *record) {
	r.turn = q.turn
	if last, waits := q.last[r.buyer]; waits {
		r.turn = max(r.turn, last+1)
	}
	if q.last == nil {
		q.last = make(map[solana.PublicKey]uint64)
	}
	q.last[r.buyer] = r.turn
	q.ready = append(q.ready, r)
}

// take removes the first task. The queue must not be empty.
func (q *queue) take() *record {
	first := 0
	for i, r := range q.ready[1:] {
		if cmp.Or(cmp.Compare(r.turn, q.ready[first].turn), cmp.Compare(r.rank, q.ready[first].rank)) < 0 {
			first = i + 1
		}
	}
	taken := q.ready[first]
	q.ready = slices.Delete(q.ready, first, first+1)
	q.turn = taken.turn
	switch {
	case len(q.ready) == 0:
		q.turn, q.last = 0, nil
	case len(q.last) > 2*len(q.ready)+lastHeld:
		maps.DeleteFunc(q.last, func(_ solana.PublicKey, last uint64) bool { return last < q.turn })
	}
	return taken
}

// rankOf orders tasks of one turn. It is the second from which the task is due; for a listed mint each
// doubling of the stake counts as stakeBonus. The number of base units of another mint proves no value.
func rankOf(next task, stake uint64, listed bool) int64 {
	if !listed {
		return next.due
	}
	return next.due - int64(bits.Len64(stake/protocol.MinEscrowLamports))*seconds(stakeBonus)
}
