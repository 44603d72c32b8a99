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

// lastHeld is the number of buyers with no waiting task before the queue forgets past turns.
const lastHeld = 64

// queue orders due tasks. Each buyer's tasks take turns with the other buyers' tasks (start-time fair
// queueing), so one buyer's negotiations delay another buyer's by one task per turn. Sellers do not count: a
// buyer can name any seller. Within a turn the most overdue task is first.
type queue struct {
	ready []*record
	// turn is the turn of the task taken last, and last maps each buyer to the newest task's turn.
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

// rankOf orders a turn's tasks. It is the second when the task becomes due; for a listed mint each doubling
// of the stake counts as stakeBonus. For other mints the number of base units proves no value.
func rankOf(next task, stake uint64, listed bool) int64 {
	if !listed {
		return next.due
	}
	return next.due - int64(bits.Len64(stake/protocol.MinEscrowLamports))*seconds(stakeBonus)
}
