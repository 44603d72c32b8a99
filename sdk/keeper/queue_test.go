package keeper

import (
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"
)

// taken returns the addresses of all tasks in their order.
func taken(l *lane) (order []byte) {
	for l.len() > 0 {
		order = append(order, l.take().address[0])
	}
	return order
}

func waiting(address, buyer byte, rank int64) *record {
	return &record{address: solana.PublicKey{address}, buyer: solana.PublicKey{buyer}, rank: rank}
}

func TestBuyersTakeTurns(t *testing.T) {
	l := &lane{}
	for _, r := range []*record{waiting(1, 1, 10), waiting(2, 1, 11), waiting(3, 1, 12), waiting(4, 2, 20), waiting(5, 2, 21), waiting(6, 3, 5)} {
		l.add(r)
	}
	require.Equal(t, []byte{6, 1, 4, 2, 5, 3}, taken(l))
}

// A buyer cannot move ahead by adding a task whenever one was taken.
func TestLaterTasksOfABuyerKeepTheirTurn(t *testing.T) {
	l := &lane{}
	l.add(waiting(1, 1, 0))
	l.add(waiting(2, 2, 10))
	l.add(waiting(3, 2, 11))
	for range 3 {
		if first := l.take(); first.address[0] != 1 {
			continue
		}
		l.add(waiting(1, 1, 0))
	}
	require.Equal(t, []byte{3, 1}, taken(l)[:2])
}

func TestQueueForgetsPastTurns(t *testing.T) {
	q := &queue{}
	q.add(waiting(1, 255, 1<<40))
	for i := range 4 * lastHeld {
		r := waiting(1, 0, int64(i))
		r.buyer = solana.PublicKey{byte(i), byte(i >> 8), 1}
		q.add(r)
		q.add(&record{buyer: r.buyer})
		q.take()
		q.take()
	}
	require.LessOrEqual(t, len(q.last), 2*len(q.ready)+lastHeld+1)
}

func TestListedMintsAlternateWithOthers(t *testing.T) {
	l := &lane{}
	for i := range byte(4) {
		l.add(waiting(i, i, int64(i)))
	}
	for i := range byte(2) {
		r := waiting(10+i, 10+i, 100)
		r.listed = true
		l.add(r)
	}
	require.Equal(t, []byte{10, 0, 11, 1, 2, 3}, taken(l))
}

func TestStakeOfAListedMintCountsAsLateness(t *testing.T) {
	due := task{kind: Expire, due: 1_000_000}
	smallest := rankOf(due, 100_000, true)
	require.Equal(t, int64(stakeBonus/time.Second), smallest-rankOf(due, 200_000, true))
	require.Equal(t, 10*int64(stakeBonus/time.Second), smallest-rankOf(due, 100_000<<10, true))
	require.Equal(t, due.due, rankOf(due, 1<<63, false))
	require.Greater(t, rankOf(due, 1<<63, true), due.due-3600, "no stake outweighs an hour")
}

func TestCloseShareDividesTheBudget(t *testing.T) {
	for _, c := range []struct {
		daily          uint64
		share          uint16
		urgent, closes uint64
	}{
		{10_000_000, 0, 7_500_000, 2_500_000},
		{10_000, 1, 9_999, 1},
		{Unlimited - 1, 9_999, 1844674407370956, Unlimited - 1 - 1844674407370956},
		{Unlimited, 5_000, Unlimited, Unlimited},
	} {
		config, err := Config{DailyBudget: c.daily, CloseShareBps: c.share}.withDefaults()
		require.NoError(t, err)
		urgent, closes := newLanes(&config, solana.PublicKey{})
		require.Equal(t, c.urgent, urgent.budget.Limit, c.daily)
		require.Equal(t, c.closes, closes.budget.Limit, c.daily)
	}
	_, err := Config{CloseShareBps: 10_000}.withDefaults()
	require.ErrorContains(t, err, "CloseShareBps 10000")
}
