package arena_test

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/arena/arenatest"
	"github.com/haggle-protocol/haggle/sdk/arena"
	"github.com/haggle-protocol/haggle/sdk/arena/client"
	"github.com/haggle-protocol/haggle/sdk/arena/trader"
)

// Key seeds for a buyer and a seller.
const (
	buyer  byte = 1
	seller byte = 2
)

// sale is what the seller proposes.
func sale(price arena.Price, quantity arena.Quantity) trader.Offer {
	return trader.Offer{Legs: []arena.Leg{{
		Seller: arenatest.ID(seller), Buyer: arenatest.ID(buyer), Token: arena.Yes, Price: price, Quantity: quantity,
	}}}
}

// buying returns a trader that enters chats, and buys YES for up to 0.60.
func buying(url string, negotiate func(context.Context, trader.Turn) (trader.Move, error)) trader.Config {
	c := config(url, buyer, "buyer")
	c.Limits = trader.Limits{Yes: trader.TokenLimits{Buy: 60, Most: 30}}
	c.Admit = func(context.Context, trader.Invitation) (bool, error) { return true, nil }
	c.Negotiate = negotiate
	return c
}

// selling returns a trader that invites the buyer again and again, and proposes offers in turn.
func selling(url string, offers ...trader.Move) trader.Config {
	c := config(url, seller, "seller")
	c.Limits = trader.Limits{Yes: trader.TokenLimits{Sell: 1}, No: trader.TokenLimits{Most: 100}, Split: true}
	c.Invite = func(_ context.Context, desk trader.Desk) (arena.Invite, error) {
		if _, joined := desk.View.Agent(arenatest.ID(buyer)); !joined || len(desk.Chats) > 0 {
			return arena.Invite{}, nil
		}
		return arena.Invite{Agents: []string{arenatest.ID(buyer)}}, nil
	}
	var next atomic.Int32
	c.Negotiate = func(context.Context, trader.Turn) (trader.Move, error) {
		return offers[int(next.Add(1)-1)%len(offers)], nil
	}
	return c
}

func accept(context.Context, trader.Turn) (trader.Move, error) { return trader.Agree{}, nil }

func TestTradersSettleADeal(t *testing.T) {
	url, _ := serve(t, nil)
	spectator := watch(t, url)
	run(t, buying(url, accept))
	run(t, selling(url, sale(58, 20)))
	traded := await[arena.Traded](t, spectator, nil)
	require.Equal(t, sale(58, 20).Legs, traded.Legs)
}

func TestOfferBeyondTheLimitsIsNotAccepted(t *testing.T) {
	url, _ := serve(t, nil)
	spectator := watch(t, url)
	var invalid atomic.Int32
	run(t, buying(url, func(_ context.Context, turn trader.Turn) (trader.Move, error) {
		if turn.Invalid != nil {
			invalid.Add(1)
			require.ErrorIs(t, turn.Invalid, trader.ErrBeyondLimit)
		}
		return trader.Agree{}, nil // against the limits, again and again
	}))
	run(t, selling(url, sale(61, 10), sale(60, 31), sale(60, 10)))
	traded := await[arena.Traded](t, spectator, nil)
	require.Equal(t, sale(60, 10).Legs, traded.Legs)
	require.EqualValues(t, 2, invalid.Load(), "each refused move is decided once more")
}

// A slow agent leaves all chats in time. It is never unresponsive.
func TestSlowDecisionsHaveDefaults(t *testing.T) {
	url, opened := serve(t, func(c *arena.Config) { c.ChatTurn, c.FloorTurn = 400, 200 })
	spectator := watch(t, url)
	slow := buying(url, func(ctx context.Context, _ trader.Turn) (trader.Move, error) {
		<-ctx.Done()
		time.Sleep(time.Second) // it does not even return in time
		return trader.Agree{}, nil
	})
	slow.Speak = func(ctx context.Context, _ trader.Desk) (arena.Say, error) {
		<-ctx.Done()
		return arena.Say{}, ctx.Err()
	}
	run(t, slow)
	run(t, selling(url, sale(50, 10)))
	for range 3 {
		ended := await[arena.ChatEnded](t, spectator, nil)
		require.Contains(t, []arena.Cause{arena.CauseRejected, arena.CauseLeft}, ended.Cause)
	}
	log, err := opened.Load(t.Context(), "m", nil)
	require.NoError(t, err)
	for _, agent := range log.Book.Market().View().Agents {
		require.Zero(t, agent.Record.Silent, agent.Name)
	}
}

// A trader whose connection breaks continues. When stopped, a trader cancels all agreements and leaves.
func TestTraderConnectsAgainAndLeavesAtTheEnd(t *testing.T) {
	url, _ := serve(t, nil)
	proxied, cut := proxy(t, url)
	spectator := watch(t, url)
	bought := buying(proxied, accept)
	bought.Settle = func(_ context.Context, _ trader.Desk, _ arena.Agreement) (trader.Verdict, error) {
		return trader.Wait, nil
	}
	stop := run(t, bought)
	sold := selling(url, sale(50, 1))
	sold.Settle = bought.Settle
	run(t, sold)
	pending := func(a arena.Announced) bool {
		return a.Agent == arenatest.ID(buyer) && a.Availability == arena.AvailabilityPending
	}
	await(t, spectator, pending)
	cut()
	// The trader's invitations are still accepted.
	await[arena.ChatBegan](t, spectator, nil)
	await[arena.ChatBegan](t, spectator, nil)
	require.ErrorIs(t, stop(), context.Canceled)
	left := await[arena.Left](t, spectator, nil)
	require.Equal(t, arena.Left{Agent: arenatest.ID(buyer)}, left)
	again, err := trader.New(bought)
	require.NoError(t, err)
	require.ErrorIs(t, again.Run(t.Context()), trader.ErrLeft)
}

func TestSecondTraderWithAKeyReplacesTheFirst(t *testing.T) {
	url, _ := serve(t, nil)
	first, speaks := make(chan error, 1), make(chan struct{})
	replaced := buying(url, accept)
	// It speaks once it has joined and connected again.
	speak := sync.OnceFunc(func() { close(speaks) })
	replaced.Speak = func(context.Context, trader.Desk) (arena.Say, error) { speak(); return arena.Say{}, nil }
	one, err := trader.New(replaced)
	require.NoError(t, err)
	go func() { first <- one.Run(t.Context()) }()
	receive(t, speaks)
	run(t, buying(url, accept))
	require.ErrorIs(t, receive(t, first), client.ErrReplaced)
}

// A new process with stricter limits does not finalize an agreement made by the previous process.
func TestAgreementBeyondNewLimitsIsCancelled(t *testing.T) {
	url, _ := serve(t, nil)
	spectator := watch(t, url)
	first := buying(url, accept)
	first.Settle = func(context.Context, trader.Desk, arena.Agreement) (trader.Verdict, error) { return trader.Wait, nil }
	run(t, first)
	sold := selling(url, sale(50, 10))
	sold.Settle = first.Settle
	run(t, sold)
	await(t, spectator, func(a arena.Announced) bool {
		return a.Agent == arenatest.ID(buyer) && a.Availability == arena.AvailabilityPending
	})
	stricter := buying(url, accept)
	stricter.Limits.Yes.Buy = 49
	run(t, stricter)
	await(t, spectator, func(a arena.Announced) bool {
		require.Zero(t, a.Record.Finalized)
		return a.Agent == arenatest.ID(buyer) && a.Record.Cancelled == 1
	})
}

// A decision to invite comes from a desk that can lack the chat of the invitation before.
func TestInvitationIsNotRepeatedBeforeItsChatIsKnown(t *testing.T) {
	url, _ := serve(t, nil)
	run(t, buying(url, accept))
	sold := selling(url, sale(70, 10)) // beyond the buyer's limit, so that each chat ends
	invited, open := make(chan int, 100), 0
	sold.Acted = func(action arena.Action, _ arena.Receipt) {
		if _, is := action.(arena.Invite); is {
			time.Sleep(2 * sold.Every) // the next decision is due before the event of this action is observed
		}
	}
	sold.Observe = func(event arena.Shown) {
		switch event.Fact.(type) {
		case arena.Invited:
			open++
			invited <- open
		case arena.ChatEnded:
			open--
		}
	}
	run(t, sold)
	for range 15 {
		require.Equal(t, 1, receive(t, invited), "the number of chats at once")
	}
}

// proxy forwards connections to the URL's host until cut ends them. New connections are forwarded as well.
func proxy(t *testing.T, url string) (proxied string, cut func()) {
	t.Helper()
	host := url[len("ws://") : len(url)-len("/arena/m")]
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	connections := make(chan net.Conn, 100)
	go func() {
		for {
			from, err := listener.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			to, err := net.Dial("tcp", host)
			if err != nil {
				return
			}
			connections <- from
			go func() { _, _ = from.(*net.TCPConn).WriteTo(to); _ = to.Close() }()
			go func() { _, _ = to.(*net.TCPConn).WriteTo(from); _ = from.Close() }()
		}
	}()
	return "ws://" + listener.Addr().String() + "/arena/m", func() {
		for len(connections) > 0 {
			_ = (<-connections).Close()
		}
	}
}

// Rules 24 and 31. The standing package is gone with a member that leaves, and the turn is not.
func TestTurnIsDecidedAgainAfterMemberLeaves(t *testing.T) {
	url, _ := serve(t, func(c *arena.Config) { c.ChatTurn = 60_000 })
	const opener, leaver byte = 3, 4
	clients := map[byte]*client.Client{}
	for _, seed := range []byte{opener, leaver} {
		require.NoError(t, join(t, url, arenatest.Key(seed), "member").Close())
		c, err := client.Dial(t.Context(), client.Config{
			URL: url, Key: arenatest.Key(seed), Operator: arenatest.ID(arenatest.Operator),
		})
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.Close() })
		clients[seed] = c
	}
	do := func(seed byte, action arena.Action) {
		t.Helper()
		_, err := clients[seed].Do(t.Context(), action)
		require.NoError(t, err)
	}
	purchases := func(sellers ...string) (legs []arena.Leg) {
		for _, id := range sellers {
			legs = append(legs, arena.Leg{Seller: id, Buyer: arenatest.ID(buyer), Token: arena.Yes, Price: 50, Quantity: 1})
		}
		return legs
	}
	entered, thinking := make(chan struct{}, 1), make(chan struct{}, 1)
	thinks := buying(url, func(ctx context.Context, turn trader.Turn) (trader.Move, error) {
		if len(turn.Chat.Members) == 3 {
			thinking <- struct{}{}
			<-ctx.Done() // the trader has observed that the member left, and decides again
			return trader.Offer{Legs: purchases(arenatest.ID(opener), arenatest.ID(leaver))}, nil
		}
		return trader.Offer{Legs: purchases(arenatest.ID(opener))}, nil
	})
	thinks.Acted = func(action arena.Action, _ arena.Receipt) {
		if _, is := action.(arena.AcceptInvitation); is {
			entered <- struct{}{}
		}
	}
	run(t, thinks)
	await(t, clients[opener], func(f arena.Joined) bool { return f.Agent == arenatest.ID(buyer) })
	do(opener, arena.Invite{Agents: []string{arenatest.ID(buyer), arenatest.ID(leaver)}, Mode: arena.ModePackages})
	invited := await[arena.Invited](t, clients[leaver], nil)
	receive(t, entered) // the buyer is in the chat before the leaver, so the buyer's turn is second
	do(leaver, arena.AcceptInvitation{Chat: invited.Chat})
	await(t, clients[opener], func(f arena.Turn) bool { return f.Chat == invited.Chat })
	do(opener, arena.Propose{Chat: invited.Chat, Legs: purchases(arenatest.ID(opener), arenatest.ID(leaver))})
	receive(t, thinking)
	do(leaver, arena.LeaveChat{Chat: invited.Chat})
	proposed := await(t, clients[opener], func(f arena.Proposed) bool { return f.Agent == arenatest.ID(buyer) })
	require.Equal(t, purchases(arenatest.ID(opener)), proposed.Legs)
}
