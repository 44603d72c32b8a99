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

// What a Decide can do wrong affects its own negotiation only, and nothing of it reaches the chain.
func TestDecisionThatCannotBeDelaysItsOwnNegotiationOnly(t *testing.T) {
	s := setStage(t)
	long := func(r *haggle.CreateRequest) { r.ResponseWindow, r.Deadline = time.Hour, 10*time.Hour }
	tooLow, tooHigh, panics, hangs, errs, silent := s.invite(long), s.invite(long), s.invite(long), s.invite(long), s.invite(long), s.invite(long)
	good := s.invite(long)
	failure := errors.New("the model does not answer")
	release := make(chan struct{})
	defer close(release)
	honest := concede(2_000_000, 500_000, true)
	buyer := s.run(s.Buyer, agent.Config{
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
				<-release // whatever the context says
			case errs:
				return nil, failure
			case silent:
				return nil, nil
			}
			return honest(ctx, turn)
		},
	})
	seller := s.run(s.Seller, agent.Config{Decide: concede(4_500_000, 500_000, false), Services: [][32]byte{service}})
	s.until("the good one is settled", func() bool { return s.state(good) == nil })
	s.until("each of the others has failed", func() bool {
		for _, want := range []error{protocol.ErrOfferTooLow, protocol.ErrOfferExceedsEscrow, agent.ErrPanic, agent.ErrTooLong, failure} {
			if !hasError(buyer.failed(), want) {
				return false
			}
		}
		return true
	})
	for _, stuck := range []solana.PublicKey{tooLow, tooHigh, panics, hangs, errs, silent} {
		require.Zero(t, s.state(stuck).CurrentRound)
	}
	s.checkNothingFailed(s.Buyer.PublicKey())
	s.result(seller)

	var invalid *agent.InvalidDecision
	reasons := map[solana.PublicKey]string{}
	for _, err := range buyer.failed() {
		if errors.As(err, &invalid) {
			reasons[invalid.Negotiation] = invalid.Reason.Error()
		}
	}
	require.Equal(t, "OfferTooLow (6005): Offer amount too low: 489999 base units, at least 490000", reasons[tooLow])
	require.Contains(t, reasons[tooHigh], "4900001 base units, at most 4900000")
	require.Contains(t, reasons[silent], "no decision")
}

func hasError(all []error, want error) bool {
	for _, err := range all {
		if errors.Is(err, want) {
			return true
		}
	}
	return false
}

// An invalid decision is reported with its reason, which the next and last call gets. After that the fallback
// is carried out in time.
func TestInvalidDecisionIsAskedForOnceMoreAndThenFallsBack(t *testing.T) {
	s := setStage(t)
	negotiation := s.invite()
	calls, withReason := atomic.Int64{}, atomic.Int64{}
	buyer := s.run(s.Buyer, agent.Config{
		Margin: 10 * time.Second,
		Decide: func(_ context.Context, turn agent.Turn) (agent.Decision, error) {
			calls.Add(1)
			if errors.Is(turn.Invalid, protocol.ErrOfferTooLow) {
				withReason.Add(1)
			}
			return agent.Offer{Amount: 1}, nil
		},
	})
	s.run(s.Seller, agent.Config{Decide: waits, Services: [][32]byte{service}})
	s.until("the decision has been refused", func() bool { return hasError(buyer.failed(), protocol.ErrOfferTooLow) })
	time.Sleep(5 * time.Second)
	require.EqualValues(t, 2, calls.Load())
	require.True(t, s.state(negotiation).IsBargaining(), "there is time for an operator")
	s.advance(48 * time.Second)
	require.Equal(t, protocol.NegotiationStatusRejected, s.result(buyer).Status)
	require.EqualValues(t, 2, calls.Load())
	require.EqualValues(t, 1, withReason.Load())
	require.Len(t, buyer.failed(), 2, "each is reported once")
	require.Len(t, eventsOf[*protocol.NegotiationRejected](s.history(negotiation)), 1)
}

// With no rounds left the agent accepts or rejects: an offer is invalid then, and so is silence at the last
// call.
func TestLastRoundEndsInARejectionInsteadOfSilence(t *testing.T) {
	for name, c := range map[string]struct {
		decide func(context.Context, agent.Turn) (agent.Decision, error)
	}{
		"silence":        {waits},
		"another offer":  {func(_ context.Context, turn agent.Turn) (agent.Decision, error) { return inRange(turn, 4_000_000) }},
		"beyond a limit": {func(context.Context, agent.Turn) (agent.Decision, error) { return agent.Accept{}, nil }},
	} {
		t.Run(name, func(t *testing.T) {
			s := setStage(t)
			s.run(s.Buyer, agent.Config{Decide: concede(2_000_000, 500_000, true)})
			seller := s.run(s.Seller, agent.Config{
				Margin: 10 * time.Second, Services: [][32]byte{service}, Decide: c.decide,
				Mints: s.limits(func(l *agent.Limits) { l.MinPrice = 3_000_000 }),
			})
			negotiation := s.invite(func(r *haggle.CreateRequest) { r.MaxRounds = 1 })
			s.until("the only offer is made", func() bool { return s.state(negotiation).CurrentRound == 1 })
			time.Sleep(time.Second)
			s.advance(52 * time.Second)
			require.Equal(t, protocol.NegotiationStatusRejected, s.result(seller).Status)
			require.NotEmpty(t, seller.failed(), "it says so")
			require.LessOrEqual(t, len(seller.failed()), 2)
		})
	}
}

// A seller that rejects at the midpoint forfeits its bond. One that lets the negotiation expire gets it back.
func TestFallbackDoesNotForfeitTheBond(t *testing.T) {
	s := setStage(t)
	require.NoError(t, s.Chain.Endow(s.ctx, s.Mint, holding(s.Seller, 1_000_000)))
	s.run(s.Buyer, agent.Config{Decide: waits, Seal: seals(s.Buyer, 4_000_000)})
	seller := s.run(s.Seller, agent.Config{
		Seal: seals(s.Seller, 3_000_000), Mints: s.limits(withBond), Services: [][32]byte{service}, Margin: 10 * time.Second, Fallback: agent.Reject{},
		Decide: func(context.Context, agent.Turn) (agent.Decision, error) { return nil, errors.New("no idea") },
	})
	negotiation := s.invite(sealed)
	s.until("the midpoint stands", func() bool { return s.state(negotiation).HasMidpoint() })
	s.advance(52 * time.Second)
	time.Sleep(time.Second)
	require.True(t, s.state(negotiation).IsBargaining(), "nobody rejects")
	s.advance(10 * time.Second)
	require.Equal(t, protocol.NegotiationStatusExpired, s.result(seller).Status)
	bonds := eventsOf[*protocol.BondSettled](s.history(negotiation))
	require.Len(t, bonds, 1)
	require.Equal(t, s.Seller.PublicKey(), bonds[0].To)
}

// A decision is about what Decide has seen: if the other side walks away meanwhile, it is withdrawn.
func TestDecisionOnAnOldStateIsNotCarriedOut(t *testing.T) {
	s := setStage(t)
	negotiation := s.invite()
	s.run(s.Seller, agent.Config{Decide: waits, Services: [][32]byte{service}})
	thinking, withdrawn := make(chan struct{}), make(chan struct{})
	buyer := s.run(s.Buyer, agent.Config{
		Decide: func(ctx context.Context, turn agent.Turn) (agent.Decision, error) {
			close(thinking)
			<-ctx.Done()
			close(withdrawn)
			return inRange(turn, 0)
		},
	})
	<-thinking
	do(s, s.Seller, s.Client.Reject, haggle.RejectRequest{Rejector: s.Seller.PublicKey(), Negotiation: negotiation})
	<-withdrawn
	require.Equal(t, protocol.NegotiationStatusRejected, s.result(buyer).Status)
	require.Empty(t, buyer.failed())
	require.Len(t, buyer.did(), 1, "it has closed the negotiation and done nothing else")
}

// Reactions are counted in slots: an agent is asked about an offer on the state of the slot at which the
// offer can be seen, or of the one after it. When it can be seen says a bystander that does nothing else;
// what holds up the whole machine holds that up, too.
func TestAgentReactsWithinOneSlot(t *testing.T) {
	s := setStage(t)
	var lock sync.Mutex
	visible, decided := map[uint8]uint64{}, map[uint8]uint64{}
	measured := func(decide func(context.Context, agent.Turn) (agent.Decision, error)) func(context.Context, agent.Turn) (agent.Decision, error) {
		return func(ctx context.Context, turn agent.Turn) (agent.Decision, error) {
			lock.Lock()
			defer lock.Unlock()
			decided[turn.Negotiation.CurrentRound] = turn.Negotiation.Slot
			return decide(ctx, turn)
		}
	}
	heard, err := s.Client.WatchAgent(s.ctx, s.Buyer.PublicKey())
	require.NoError(t, err)
	defer heard.Close()
	var listening sync.WaitGroup
	listening.Go(func() {
		for seen := range heard.Events() {
			if offer, ok := seen.Event.(*protocol.OfferSubmitted); ok {
				slot, err := s.Client.RPC().GetSlot(s.ctx, rpc.CommitmentConfirmed)
				assert.NoError(t, err)
				lock.Lock()
				visible[offer.Round] = max(slot, seen.Slot)
				lock.Unlock()
			} else if _, over := seen.Event.(*protocol.NegotiationClosed); over {
				return
			}
		}
	})
	buyer := s.run(s.Buyer, agent.Config{Decide: measured(concede(1_000_000, 100_000, true))})
	seller := s.run(s.Seller, agent.Config{Decide: measured(concede(4_500_000, 100_000, false)), Services: [][32]byte{service}})
	s.invite(func(r *haggle.CreateRequest) { r.MaxRounds, r.DecayRateBps = 20, new(uint16) })
	s.result(buyer)
	s.result(seller)
	listening.Wait()
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
	require.LessOrEqual(t, delays[len(delays)*3/4], 1, "a machine that does something else at the time can be late now and then")
}
