package agent_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// An error of Decide affects only the negotiation concerned, and causes no transaction.
func TestInvalidDecisionDelaysItsOwnNegotiationOnly(t *testing.T) {
	f := newFixture(t)
	long := func(r *haggle.CreateRequest) { r.ResponseWindow, r.Deadline = time.Hour, 10*time.Hour }
	tooLow, tooHigh, panics := f.invite(long), f.invite(long), f.invite(long)
	hangs, errs, empty := f.invite(long), f.invite(long), f.invite(long)
	good := f.invite(long)
	failure := errors.New("the model does not answer")
	release := make(chan struct{})
	defer close(release)
	honest := concede(2_000_000, 500_000, true)
	buyer := f.run(f.Buyer, agent.Config{
		DecisionTime: 200 * time.Millisecond,
		Decide: func(ctx context.Context, turn agent.Turn) (agent.Decision, error) {
			switch least, most := turn.Negotiation.OfferRange(); turn.Negotiation.Address {
			case tooLow:
				return agent.Offer{Amount: least - 1}, nil
			case tooHigh:
				return agent.Offer{Amount: most + 1}, nil
			case panics:
				panic("out of range")
			case hangs:
				<-release // it ignores the context
			case errs:
				return nil, failure
			case empty:
				return nil, nil
			}
			return honest(ctx, turn)
		},
	})
	seller := f.run(f.Seller, agent.Config{
		Decide: concede(4_500_000, 500_000, false), Services: services, MaxOpenPerCounterpart: 7,
	})
	f.until("the valid decisions settle", func() bool { return f.state(good) == nil })
	reasons := map[solana.PublicKey]string{}
	f.until("each error is reported", func() bool {
		for _, err := range buyer.errors() {
			var invalid *agent.InvalidDecision
			if errors.As(err, &invalid) {
				reasons[invalid.Negotiation] = invalid.Reason.Error()
			}
		}
		for _, want := range []error{agent.ErrPanic, agent.ErrTooLong, failure} {
			if !containsError(buyer.errors(), want) {
				return false
			}
		}
		return len(reasons) == 3
	})
	for _, stuck := range []solana.PublicKey{tooLow, tooHigh, panics, hangs, errs, empty} {
		require.Zero(t, f.state(stuck).CurrentRound)
	}
	f.checkNoFailedTransactions(f.Buyer.PublicKey())
	f.result(seller)

	require.Equal(t, "OfferTooLow (6005): Offer amount too low: 489999 base units, at least 490000 base units",
		reasons[tooLow])
	require.Contains(t, reasons[tooHigh], "4900001 base units, at most 4900000 base units")
	require.Contains(t, reasons[empty], "no decision")
}

// An invalid decision is reported with the reason, and the second call receives it. The fallback follows
// shortly before the deadline.
func TestDecideIsCalledTwiceBeforeTheFallback(t *testing.T) {
	f := newFixture(t)
	negotiation := f.invite()
	calls, withReason := atomic.Int64{}, atomic.Int64{}
	buyer := f.run(f.Buyer, agent.Config{
		Margin: 10 * time.Second,
		Decide: func(_ context.Context, turn agent.Turn) (agent.Decision, error) {
			calls.Add(1)
			if errors.Is(turn.Invalid, protocol.ErrOfferTooLow) {
				withReason.Add(1)
			}
			return agent.Offer{Amount: 1}, nil
		},
	})
	f.run(f.Seller, agent.Config{Decide: wait, Services: services})
	f.until("the invalid decision is reported", func() bool {
		return containsError(buyer.errors(), protocol.ErrOfferTooLow)
	})
	time.Sleep(5 * time.Second)
	require.EqualValues(t, 2, calls.Load())
	require.True(t, f.state(negotiation).IsBargaining(), "the fallback is not carried out at once")
	f.advance(48 * time.Second)
	require.Equal(t, protocol.NegotiationStatusRejected, f.result(buyer).Status)
	require.EqualValues(t, 2, calls.Load())
	require.EqualValues(t, 1, withReason.Load())
	require.Len(t, buyer.errors(), 2, "each is reported once")
	require.Len(t, eventsOf[*protocol.NegotiationRejected](f.history(negotiation)), 1)
}

// With no rounds left the agent accepts or rejects. An offer is invalid then, and so is Wait on the last
// call.
func TestLastRoundEndsInARejection(t *testing.T) {
	for name, decide := range map[string]decideFunc{
		"wait": wait,
		"another offer": func(_ context.Context, turn agent.Turn) (agent.Decision, error) {
			return inRange(turn, 4_000_000)
		},
		"beyond a limit": func(context.Context, agent.Turn) (agent.Decision, error) { return agent.Accept{}, nil },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.run(f.Buyer, agent.Config{Decide: concede(2_000_000, 500_000, true)})
			seller := f.run(f.Seller, agent.Config{
				Margin: 10 * time.Second, Services: services, Decide: decide,
				Mints: f.limits(func(l *agent.Limits) { l.MinPrice = 3_000_000 }),
			})
			negotiation := f.invite(func(r *haggle.CreateRequest) { r.MaxRounds = 1 })
			f.until("the only offer is made", func() bool { return f.state(negotiation).CurrentRound == 1 })
			time.Sleep(time.Second)
			f.advance(52 * time.Second)
			require.Equal(t, protocol.NegotiationStatusRejected, f.result(seller).Status)
			require.NotEmpty(t, seller.errors())
			require.LessOrEqual(t, len(seller.errors()), 2)
		})
	}
}

// A seller that rejects at the midpoint forfeits the bond. A seller that lets the negotiation expire recovers
// it.
func TestFallbackDoesNotForfeitTheBond(t *testing.T) {
	f := newFixture(t)
	require.NoError(t, f.Chain.Endow(f.ctx, f.Mint, holding(f.Seller, 1_000_000)))
	f.run(f.Buyer, agent.Config{Decide: wait, Seal: seals(f.Buyer, 4_000_000)})
	seller := f.run(f.Seller, agent.Config{
		Seal: seals(f.Seller, 3_000_000), Mints: f.limits(acceptBond), Services: services,
		Margin: 10 * time.Second, Fallback: agent.Reject{}, RevealOnly: true,
		Decide: func(context.Context, agent.Turn) (agent.Decision, error) { return nil, errors.New("no idea") },
	})
	negotiation := f.invite(requireSealedPrices)
	f.until("the midpoint is offered", func() bool { return f.state(negotiation).HasMidpoint() })
	f.advance(52 * time.Second)
	time.Sleep(time.Second)
	require.True(t, f.state(negotiation).IsBargaining(), "the seller does not reject")
	f.advance(10 * time.Second)
	require.Equal(t, protocol.NegotiationStatusExpired, f.result(seller).Status)
	bonds := eventsOf[*protocol.BondSettled](f.history(negotiation))
	require.Len(t, bonds, 1)
	require.Equal(t, f.Seller.PublicKey(), bonds[0].To)
}

// A decision is about one snapshot: the counterparty's rejection withdraws it.
func TestDecisionOnAnOldStateIsNotCarriedOut(t *testing.T) {
	f := newFixture(t)
	negotiation := f.invite()
	f.run(f.Seller, agent.Config{Decide: wait, Services: services})
	thinking, withdrawn := make(chan struct{}), make(chan struct{})
	buyer := f.run(f.Buyer, agent.Config{
		Decide: func(ctx context.Context, turn agent.Turn) (agent.Decision, error) {
			close(thinking)
			<-ctx.Done()
			close(withdrawn)
			return inRange(turn, 0)
		},
	})
	<-thinking
	f.do(f.Seller, f.Client.Negotiation(negotiation).Reject(f.Seller.PublicKey()))
	<-withdrawn
	require.Equal(t, protocol.NegotiationStatusRejected, f.result(buyer).Status)
	require.Empty(t, buyer.errors())
	require.Len(t, buyer.acts(), 1, "the close is its only action")
}

// Decide is called on the state at the slot that makes an offer visible, or one slot later. A second
// subscription measures the visibility, so a busy machine delays both.
func TestAgentReactsWithinOneSlot(t *testing.T) {
	f := newFixture(t)
	var lock sync.Mutex
	visible, decided := map[uint8]uint64{}, map[uint8]uint64{}
	measured := func(decide decideFunc) decideFunc {
		return func(ctx context.Context, turn agent.Turn) (agent.Decision, error) {
			lock.Lock()
			defer lock.Unlock()
			decided[turn.Negotiation.CurrentRound] = turn.Negotiation.Slot
			return decide(ctx, turn)
		}
	}
	subscription, err := f.Client.WatchAgent(f.ctx, f.Buyer.PublicKey())
	require.NoError(t, err)
	defer subscription.Close()
	var observing sync.WaitGroup
	observing.Go(func() {
		for envelope := range subscription.Events() {
			if offer, ok := envelope.Event.(*protocol.OfferSubmitted); ok {
				slot, err := f.Client.RPC().GetSlot(f.ctx, rpc.CommitmentConfirmed)
				assert.NoError(t, err)
				lock.Lock()
				visible[offer.Round] = max(slot, envelope.Slot)
				lock.Unlock()
			} else if _, over := envelope.Event.(*protocol.NegotiationClosed); over {
				return
			}
		}
	})
	buyer := f.run(f.Buyer, agent.Config{Decide: measured(concede(1_000_000, 100_000, true)), MaxRounds: 20})
	seller := f.run(f.Seller, agent.Config{
		Decide: measured(concede(4_500_000, 100_000, false)), Services: services, MaxRounds: 20,
	})
	f.invite(func(r *haggle.CreateRequest) { r.MaxRounds, r.DecayRateBps = 20, new(uint16) })
	f.result(buyer)
	f.result(seller)
	observing.Wait()
	lock.Lock()
	defer lock.Unlock()
	var delays []int
	for round, slot := range visible {
		require.Contains(t, decided, round)
		delays = append(delays, max(0, int(decided[round])-int(slot)))
	}
	require.Len(t, delays, 20)
	slices.Sort(delays)
	t.Logf("slots until the reaction, sorted: %v", delays)
	require.LessOrEqual(t, delays[len(delays)*3/4], 1, "a busy machine delays some of them")
}
