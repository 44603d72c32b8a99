package service_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/arena/arenatest"
	"github.com/haggle-protocol/haggle/internal/arena/service"
	"github.com/haggle-protocol/haggle/internal/arena/store"
	"github.com/haggle-protocol/haggle/sdk/arena"
)

func any1[T any](T) bool { return true }

// onBoth runs a test on both databases, with the market "m" run by a process.
func onBoth(t *testing.T, test func(t *testing.T, opened *store.Store, p *process)) {
	t.Helper()
	server.OnBoth(t, func(t *testing.T, address string) {
		opened := open(t, address)
		create(t, opened)
		p := start(t, opened, "p")
		p.await(t)
		test(t, opened, p)
	})
}

// Rules 21 and 53.
func TestTwoAgentsTradeAndAnotherProcessContinues(t *testing.T) {
	onBoth(t, func(t *testing.T, opened *store.Store, p *process) {
		watcher, end, err := p.Follow("m", "", 0, 0)
		require.NoError(t, err)
		defer end()
		seller, buyer := newTrader(t, 1), newTrader(t, 2)
		_, _, err = p.Follow("m", arenatest.ID(1), p.Arrive(), 0)
		require.ErrorContains(t, err, "has not joined")
		for _, a := range []*trader{seller, buyer} {
			a.do(p, arena.Join{Name: "agent"})
			a.follow(p)
			awaitFact(a, any1[arena.Joined])
		}
		seller.do(p, arena.Split{Sets: 20})
		seller.do(p, arena.Invite{Agents: []string{arenatest.ID(2)}})
		chat := awaitFact(buyer, any1[arena.Invited]).Chat
		buyer.do(p, arena.AcceptInvitation{Chat: chat})
		seller.awaitTurn(chat)
		seller.do(p, arena.Propose{Chat: chat, Legs: []arena.Leg{
			{Seller: arenatest.ID(1), Buyer: arenatest.ID(2), Token: arena.Yes, Price: 58, Quantity: 20},
		}})
		buyer.awaitTurn(chat)

		// Another process waits, and continues where the first process stopped.
		q := start(t, opened, "q")
		_, err = q.Accept(t.Context(), buyer.message(arena.Agree{Chat: chat, Proposal: 1}))
		require.ErrorIs(t, err, service.ErrStopped)
		p.stop()
		<-buyer.stream.Done()
		require.ErrorIs(t, buyer.stream.Err(), service.ErrStopped)
		_, err = p.Accept(t.Context(), buyer.message(arena.Agree{Chat: chat, Proposal: 1}))
		require.ErrorIs(t, err, service.ErrStopped)
		q.await(t)
		seller.follow(q)
		buyer.follow(q)
		buyer.do(q, arena.Agree{Chat: chat, Proposal: 1})
		agreement := awaitFact(buyer, any1[arena.Tentative]).Agreement
		review := awaitFact(buyer, any1[arena.Reviewed]).Review
		require.Equal(t, "11.60", review.Required.String())
		buyer.do(q, arena.Finalize{Agreement: agreement.Number, Review: review.Number})
		holding := awaitFact(seller, func(c arena.Changed) bool { return c.Holding.Yes == 0 }).Holding
		require.Equal(t, arena.Holding{Money: 91_600_000, No: 20}, holding)

		// The first process's watcher has seen no private event.
		for len(watcher.Events()) > 0 {
			require.NotContains(t, []string{"invited", "proposed", "changed"}, (<-watcher.Events()).Fact.Kind())
		}
		standing, err := q.Standing(t.Context(), "m", "")
		require.NoError(t, err)
		require.Equal(t, arena.Price(58), standing.View.Price)
	})
}

// Rules 44 and 53.
func TestMessageThatIsSentAgainCountsOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, _ *store.Store, p *process) {
		a := newTrader(t, 1)
		join := a.message(arena.Join{Name: "a"})
		first, err := p.Accept(t.Context(), join)
		require.NoError(t, err)
		// Several at once are stored together.
		receipts := make(chan arena.Receipt, 20)
		for range cap(receipts) {
			go func() {
				receipt, err := p.Accept(t.Context(), join)
				if err != nil {
					receipt = arena.Receipt{Market: err.Error()}
				}
				receipts <- receipt
			}()
		}
		for range cap(receipts) {
			require.Equal(t, first, <-receipts)
		}
		a.sequence++
		a.follow(p)
		a.do(p, arena.Split{Sets: 30})
		require.EqualValues(t, 70*arena.SetPrice, awaitFact(a, any1[arena.Changed]).Holding.Money)

		for code, action := range map[arena.Code]arena.Action{
			arena.CodeFunds: arena.Split{Sets: 71}, arena.CodeParty: arena.Deposit{Agent: arenatest.ID(1), Amount: 1},
		} {
			_, err := p.Accept(t.Context(), a.message(action))
			refusal := new(arena.Refusal)
			require.True(t, errors.As(err, &refusal), "%v", err)
			require.Equal(t, code, refusal.Code)
		}
		_, err = p.Accept(t.Context(), join)
		require.ErrorContains(t, err, string(arena.CodeSequence), "it is not the latest one any more")
	})
}

// Rules 50 and 52.
func TestAnAgentHasOneStreamAndASlowOneEnds(t *testing.T) {
	opened := open(t, t.TempDir()+"/arena.db")
	create(t, opened)
	p := start(t, opened, "p")
	p.await(t)
	a := newTrader(t, 1)
	a.do(p, arena.Join{Name: "a"})
	slow := p.Arrive()
	a.follow(p)
	old := a.stream
	a.follow(p)
	<-old.Done()
	require.ErrorIs(t, old.Err(), service.ErrReplaced)
	// An earlier connection that calls Follow only now replaces nothing.
	_, _, err := p.Follow("m", arenatest.ID(1), slow, 0)
	require.ErrorIs(t, err, service.ErrReplaced)
	require.NoError(t, a.stream.Err())

	// Nobody reads, and the events go on.
	for range 1000 {
		if _, err := p.Accept(t.Context(), a.message(arena.State{})); err != nil {
			break
		}
		a.sequence++
	}
	<-a.stream.Done()
	require.ErrorIs(t, a.stream.Err(), service.ErrSlow)
	_, _, err = p.Follow("m", arenatest.ID(1), p.Arrive(), 0)
	require.ErrorIs(t, err, service.ErrGone)
	standing, err := p.Standing(t.Context(), "m", "")
	require.NoError(t, err)
	watcher, end, err := p.Follow("m", "", 0, standing.Shown-5)
	require.NoError(t, err)
	require.Equal(t, standing.Shown-4, (<-watcher.Events()).Number)
	end()
	<-watcher.Done()
}

// A process paused for longer than the lease loses the market, and shows nothing more.
func TestProcessWithoutItsLeaseStops(t *testing.T) {
	opened := open(t, t.TempDir()+"/arena.db")
	create(t, opened)
	p := start(t, opened, "p")
	p.await(t)
	a := newTrader(t, 1)
	a.do(p, arena.Join{Name: "a"})
	now := time.Now().Add(time.Hour)
	require.NoError(t, opened.Take(t.Context(), "m", "thief", now, now.Add(time.Hour)))
	_, err := p.Accept(t.Context(), a.message(arena.Split{Sets: 1}))
	require.ErrorIs(t, err, service.ErrUnknown)
	require.Eventually(t, func() bool {
		_, err := p.Standing(t.Context(), "m", "")
		return errors.Is(err, service.ErrStopped)
	}, 10*lease, 10*time.Millisecond)
}

// A log that takes longer to read than the lease lasts does not stop the market for good. Rule 53.
func TestLongLogIsLoadedDespiteAShortLease(t *testing.T) {
	opened := open(t, t.TempDir()+"/arena.db")
	now := time.Now().Add(-50 * time.Minute)
	require.NoError(t, opened.Create(t.Context(), arenatest.Config("m", now), now))
	require.NoError(t, opened.Take(t.Context(), "m", "writer", now, now))
	log, err := opened.Load(t.Context(), "m", nil)
	require.NoError(t, err)
	a := newTrader(t, 1)
	const messages = 2_000
	entries := make([]arena.Entry, messages)
	for i := range entries {
		action := []arena.Action{arena.Merge{Sets: 1}, arena.Split{Sets: 1}}[i%2]
		if i == 0 {
			action = arena.Join{Name: "a"}
		}
		now = now.Add(time.Second)
		m, err := arena.Sign(arenatest.Key(1), arena.Draft{
			Market: "m", Sequence: a.sequence, Seen: log.Book.Market().Shown(arenatest.ID(1)), Expires: now.Add(time.Minute), Action: action,
		})
		require.NoError(t, err)
		entries[i], _, err = log.Book.Enter(m, now, [arena.SaltSize]byte{})
		require.NoError(t, err)
		a.sequence++
	}
	require.NoError(t, opened.Append(t.Context(), log, "writer", entries...))

	p := startWithLease(t, opened, "p", 50*time.Millisecond)
	require.Eventually(t, func() bool {
		standing, err := p.Standing(t.Context(), "m", arenatest.ID(1))
		return err == nil && standing.Next == messages+1
	}, time.Minute, 5*time.Millisecond)
}
