package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// ending is how a RunOne has ended.
type ending struct {
	result *agent.Result
	err    error
}

// runOne has one of the parties run one negotiation.
func (s *stage) runOne(as *haggle.Keypair, negotiation solana.PublicKey, config agent.Config) <-chan ending {
	s.t.Helper()
	client, runtime := s.runtime(as, config)
	ended := make(chan ending, 1)
	ctx, cancel := context.WithCancel(s.ctx)
	var running sync.WaitGroup
	running.Go(func() {
		result, err := runtime.RunOne(ctx, negotiation)
		ended <- ending{result, err}
	})
	s.t.Cleanup(func() {
		cancel()
		running.Wait()
		require.NoError(s.t, client.Close())
	})
	return ended
}

func TestRunOneEndsWithItsNegotiationAndLeavesOthersAlone(t *testing.T) {
	s := setStage(t)
	other := s.invite()
	negotiation := s.invite()
	var touched []solana.PublicKey
	bought := s.runOne(s.Buyer, negotiation, agent.Config{
		Decide: concede(2_000_000, 500_000, true),
		Acted:  func(act agent.Act) { touched = append(touched, act.Before.Address) },
	})
	// The seller takes the first one that Admit lets pass, and only that one.
	sold := s.runOne(s.Seller, solana.PublicKey{}, agent.Config{
		Decide: concede(4_500_000, 500_000, false),
		Admit: func(_ context.Context, seen *haggle.NegotiationAccount) error {
			if seen.Address == other {
				return &agent.Refusal{Negotiation: other, Reason: "not this one"}
			}
			return nil
		},
	})
	for side, end := range map[protocol.OfferSide]ending{protocol.OfferSideBuyer: <-bought, protocol.OfferSideSeller: <-sold} {
		require.NoError(t, end.err)
		require.Equal(t, negotiation, end.result.Negotiation)
		require.Equal(t, side, end.result.Side)
		require.Equal(t, protocol.NegotiationStatusSettled, end.result.Status)
		require.EqualValues(t, 3_500_000, end.result.Price)
	}
	require.Nil(t, s.state(negotiation), "the buyer has closed it")
	require.Equal(t, protocol.NegotiationStatusCreated, s.state(other).Status)
	for _, one := range touched {
		require.Equal(t, negotiation, one)
	}

	// Of one that is over and gone the events tell.
	again := <-s.runOne(s.Buyer, negotiation, agent.Config{Decide: waits})
	require.NoError(t, again.err)
	require.Equal(t, protocol.NegotiationStatusSettled, again.result.Status)
	require.EqualValues(t, 3_500_000, again.result.Price)
}

func TestRunOneEngagesInOneOfManyInvitations(t *testing.T) {
	s := setStage(t)
	all := []solana.PublicKey{s.invite(), s.invite(), s.invite()}
	buyer := s.run(s.Buyer, agent.Config{Decide: concede(2_000_000, 500_000, true)})
	sold := <-s.runOne(s.Seller, solana.PublicKey{}, agent.Config{
		Decide: concede(4_500_000, 500_000, false), Services: [][32]byte{service},
	})
	require.NoError(t, sold.err)
	require.Contains(t, all, sold.result.Negotiation)
	s.result(buyer)
	for _, negotiation := range all {
		if negotiation != sold.result.Negotiation {
			require.Equal(t, protocol.NegotiationStatusCreated, s.state(negotiation).Status)
		}
	}
}

func TestPatienceEndsWhenNobodyInvites(t *testing.T) {
	s := setStage(t)
	s.invite()
	ended := <-s.runOne(s.Seller, solana.PublicKey{}, agent.Config{
		Decide: waits, Patience: 2 * time.Second,
		Admit: func(context.Context, *haggle.NegotiationAccount) error { return agent.ErrRefused },
	})
	require.ErrorIs(t, ended.err, agent.ErrNoNegotiation)
	require.Nil(t, ended.result)

	// Patience does not end a negotiation that has begun.
	negotiation := s.invite()
	engaged := s.runOne(s.Seller, solana.PublicKey{}, agent.Config{
		Decide: waits, Patience: 3 * time.Second,
		Admit: func(_ context.Context, seen *haggle.NegotiationAccount) error {
			if seen.Address != negotiation {
				return agent.ErrRefused
			}
			return nil
		},
	})
	s.until("the seller takes part", func() bool { return s.state(negotiation).IsBargaining() })
	select {
	case end := <-engaged:
		t.Fatalf("it has ended: %v", end.err)
	case <-time.After(4 * time.Second):
	}
	do(s, s.Buyer, s.Client.Reject, haggle.RejectRequest{Rejector: s.Buyer.PublicKey(), Seen: s.state(negotiation)})
	end := <-engaged
	require.NoError(t, end.err)
	require.Equal(t, protocol.NegotiationStatusRejected, end.result.Status)
}

func TestRunOneDoesNotWaitForAPayoutThatCannotBeDelivered(t *testing.T) {
	s := setStage(t)
	s.freeze(s.Seller)
	negotiation := s.settleAt(3_000_000)
	ended := <-s.runOne(s.Buyer, negotiation, agent.Config{Decide: waits})
	require.ErrorIs(t, ended.err, protocol.ErrPayoutPending)
	require.Equal(t, protocol.NegotiationStatusSettled, ended.result.Status)
	require.EqualValues(t, 3_000_000, ended.result.Price)
	require.NotNil(t, s.state(negotiation))
}

func TestRunOneOfANegotiationOfOthersFails(t *testing.T) {
	s := setStage(t)
	stranger, err := haggle.GenerateKeypair()
	require.NoError(t, err)
	require.NoError(t, s.Endow(s.ctx, stranger.PublicKey()))
	ended := <-s.runOne(stranger, s.invite(), agent.Config{Decide: waits})
	require.ErrorContains(t, ended.err, "has no part in negotiation")
}

func TestAgentHasNothingToDoWithWhatDoesNotConcernIt(t *testing.T) {
	s := setStage(t)
	left := s.invite(func(r *haggle.CreateRequest) { r.Deadline = 70 * time.Second })
	negotiation := s.invite()
	buyer := s.run(s.Buyer, agent.Config{
		Decide:   concede(2_000_000, 500_000, true),
		Concerns: func(seen *haggle.NegotiationAccount) bool { return seen.Address == negotiation },
	})
	s.run(s.Seller, agent.Config{
		Decide: concede(4_500_000, 500_000, false), Services: [][32]byte{service},
		Concerns: func(seen *haggle.NegotiationAccount) bool {
			if seen.Address == left {
				panic("nobody has thought of this one")
			}
			return true
		},
	})
	s.result(buyer)
	s.advance(80 * time.Second)
	expiring, err := s.Client.Expire(s.ctx, haggle.ExpireRequest{Payer: s.Seller.PublicKey(), Negotiation: left})
	require.NoError(t, err)
	closing, err := s.Client.CloseNegotiation(s.ctx, haggle.CloseRequest{Closer: s.Seller.PublicKey(), Negotiation: left})
	require.NoError(t, err)
	s.submit(s.Seller, append(expiring.Instructions, closing.Instructions...))
	s.passing(9)
	time.Sleep(time.Second)
	require.Len(t, buyer.ended(), 1)
	require.Equal(t, negotiation, buyer.ended()[0].Negotiation)
	require.Empty(t, buyer.failed())
	for _, act := range buyer.did() {
		require.Equal(t, negotiation, act.Before.Address)
	}
}

// A buyer can close a negotiation and create another one at its address, with other terms. The seller is told
// of the end of the first, and asked about the second as about any other.
func TestNegotiationThatTakesTheOthersPlaceIsAnotherOne(t *testing.T) {
	s := setStage(t)
	session := uint64(7)
	fixed := func(r *haggle.CreateRequest) { r.SessionID = &session }
	first := s.invite(fixed)
	worthless := errors.New("not enough in escrow")
	seller := s.run(s.Seller, agent.Config{
		Decide: waits,
		Admit: func(_ context.Context, seen *haggle.NegotiationAccount) error {
			if seen.EscrowAmount < 5_000_000 {
				return errors.Join(agent.ErrRefused, worthless)
			}
			return nil
		},
	})
	s.until("the seller takes part", func() bool { return s.state(first).IsBargaining() })
	s.advance(time.Second) // nothing is closed in the second of its creation
	rejecting, err := s.Client.Reject(s.ctx, haggle.RejectRequest{Rejector: s.Buyer.PublicKey(), Seen: s.state(first)})
	require.NoError(t, err)
	closing, err := s.Client.CloseNegotiation(s.ctx, haggle.CloseRequest{Closer: s.Buyer.PublicKey(), Seen: s.state(first)})
	require.NoError(t, err)
	s.submit(s.Buyer, append(append(rejecting.Instructions, closing.Instructions...), s.creation(session, 200_000)))
	s.until("the second is refused", func() bool { return hasError(seller.failed(), worthless) })
	require.Equal(t, protocol.NegotiationStatusRejected, s.result(seller).Status)
	require.Equal(t, protocol.NegotiationStatusCreated, s.state(first).Status)
}

// creation is of a negotiation under a session id that the pair has used before, which the client does not
// make.
func (s *stage) creation(session, escrow uint64) solana.Instruction {
	s.t.Helper()
	now, err := s.Client.Now(s.ctx)
	require.NoError(s.t, err)
	create, err := (&protocol.CreateNegotiation{
		Buyer: s.Buyer.PublicKey(), Seller: s.Seller.PublicKey(), BuyerTokenAccount: s.tokenAccount(s.Buyer), TokenMint: s.Mint,
		TokenProgram: solana.TokenProgramID, SessionID: session,
		Params: protocol.NegotiationParams{
			EscrowAmount: escrow, ServiceHash: service, MaxRounds: 8, DecayRateBps: 200, ResponseWindow: 60, GlobalDeadline: now + 600,
			MinOfferBps: 1_000, MaxFeeBps: protocol.MaxProtocolFeeBps,
		},
	}).Instruction()
	require.NoError(s.t, err)
	return create
}

// passing has the buyer create, reject and close a negotiation.
func (s *stage) passing(session uint64) {
	s.t.Helper()
	address, err := haggle.DerivePDA(s.Buyer.PublicKey(), s.Seller.PublicKey(), session)
	require.NoError(s.t, err)
	s.submit(s.Buyer, []solana.Instruction{s.creation(session, 200_000)})
	do(s, s.Buyer, s.Client.Reject, haggle.RejectRequest{Rejector: s.Buyer.PublicKey(), Negotiation: address})
	s.advance(time.Second)
	do(s, s.Buyer, s.Client.CloseNegotiation, haggle.CloseRequest{Closer: s.Buyer.PublicKey(), Negotiation: address})
}

// submit does several things at once, so that nobody sees a state between them.
func (s *stage) submit(as *haggle.Keypair, instructions []solana.Instruction) {
	s.t.Helper()
	latest, err := s.Client.RPC().GetLatestBlockhash(s.ctx, rpc.CommitmentConfirmed)
	require.NoError(s.t, err)
	transaction, err := solana.NewTransaction(instructions, latest.Value.Blockhash, solana.TransactionPayer(as.PublicKey()))
	require.NoError(s.t, err)
	message, err := transaction.Message.MarshalBinary()
	require.NoError(s.t, err)
	signature, err := as.SignMessage(s.ctx, message)
	require.NoError(s.t, err)
	transaction.Signatures = []solana.Signature{signature}
	_, err = s.Client.Submit(s.ctx, transaction)
	require.NoError(s.t, err)
}

// A missing account is not the end of a negotiation: the node may lag behind the one that has executed the creation.
func TestRunOneWaitsForANodeThatDoesNotHaveItsNegotiationYet(t *testing.T) {
	looks := atomic.Int64{}
	me, err := haggle.GenerateKeypair()
	require.NoError(t, err)
	node := agent.ServeRPC(t, func(_ context.Context, method string, params []json.RawMessage) string {
		if method != "getMultipleAccounts" {
			return "[]"
		}
		return agent.AccountsJSON(params, func(address string) string {
			known := scriptedAccount(address, me.PublicKey(), idleNow)
			if known == "" {
				looks.Add(1)
			}
			return known
		})
	})
	client, err := haggle.NewClient(haggle.Config{Endpoint: node})
	require.NoError(t, err)
	defer client.Close()
	runtime, err := agent.New(client, me, agent.Config{Decide: waits, Mints: scriptedLimits()})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	late := time.AfterFunc(patience, cancel)
	defer late.Stop()
	go func() {
		for looks.Load() < 3 && ctx.Err() == nil {
			time.Sleep(10 * time.Millisecond)
		}
		cancel()
	}()
	result, err := runtime.RunOne(ctx, solana.PublicKey{7})
	require.ErrorIs(t, err, context.Canceled)
	require.Nil(t, result)
	require.GreaterOrEqual(t, looks.Load(), int64(3))
}
