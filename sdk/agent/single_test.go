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
	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// ending is the return values of RunOne.
type ending struct {
	result *agent.Result
	err    error
}

// runOne runs a single negotiation as a party.
func (f *fixture) runOne(
	as *wallet.Keypair, negotiation solana.PublicKey, config agent.Config,
) <-chan ending {
	f.t.Helper()
	client, runtime := f.runtime(as, config)
	ended := make(chan ending, 1)
	ctx, cancel := context.WithCancel(f.ctx)
	var running sync.WaitGroup
	running.Go(func() {
		result, err := runtime.RunOne(ctx, negotiation)
		ended <- ending{result, err}
	})
	f.t.Cleanup(func() {
		cancel()
		running.Wait()
		require.NoError(f.t, client.Close())
	})
	return ended
}

func TestRunOneRunsOneNegotiationOnly(t *testing.T) {
	f := newFixture(t)
	other := f.invite()
	negotiation := f.invite()
	var touched []solana.PublicKey
	bought := f.runOne(f.Buyer, negotiation, agent.Config{
		Decide: concede(2_000_000, 500_000, true),
		Acted:  func(act agent.Act) { touched = append(touched, act.Before.Address) },
	})
	// The seller accepts just the first invitation that Admit accepts.
	sold := f.runOne(f.Seller, solana.PublicKey{}, agent.Config{
		Decide: concede(4_500_000, 500_000, false),
		Admit: func(_ context.Context, n *haggle.Snapshot) error {
			if n.Address == other {
				return &agent.Refusal{Negotiation: other, Reason: "not this one"}
			}
			return nil
		},
	})
	for side, end := range map[protocol.OfferSide]ending{
		protocol.OfferSideBuyer: <-bought, protocol.OfferSideSeller: <-sold,
	} {
		require.NoError(t, end.err)
		require.Equal(t, negotiation, end.result.Negotiation)
		require.Equal(t, side, end.result.Side)
		require.Equal(t, protocol.NegotiationStatusSettled, end.result.Status)
		require.EqualValues(t, 3_500_000, end.result.Price)
	}
	require.Nil(t, f.state(negotiation), "the buyer closes the negotiation")
	require.Equal(t, protocol.NegotiationStatusCreated, f.state(other).Status)
	for _, one := range touched {
		require.Equal(t, negotiation, one)
	}

	// A closed negotiation's result follows from the events.
	again := <-f.runOne(f.Buyer, negotiation, agent.Config{Decide: wait})
	require.NoError(t, again.err)
	require.Equal(t, protocol.NegotiationStatusSettled, again.result.Status)
	require.EqualValues(t, 3_500_000, again.result.Price)
}

func TestRunOneEngagesInOneOfManyInvitations(t *testing.T) {
	f := newFixture(t)
	all := []solana.PublicKey{f.invite(), f.invite(), f.invite()}
	buyer := f.run(f.Buyer, agent.Config{Decide: concede(2_000_000, 500_000, true)})
	sold := <-f.runOne(f.Seller, solana.PublicKey{}, agent.Config{
		Decide: concede(4_500_000, 500_000, false), Services: services,
	})
	require.NoError(t, sold.err)
	require.Contains(t, all, sold.result.Negotiation)
	f.result(buyer)
	for _, negotiation := range all {
		if negotiation != sold.result.Negotiation {
			require.Equal(t, protocol.NegotiationStatusCreated, f.state(negotiation).Status)
		}
	}
}

func TestPatienceEndsWithoutAnInvitation(t *testing.T) {
	f := newFixture(t)
	f.invite()
	ended := <-f.runOne(f.Seller, solana.PublicKey{}, agent.Config{
		Decide: wait, Patience: 2 * time.Second,
		Admit: func(context.Context, *haggle.Snapshot) error { return agent.ErrRefused },
	})
	require.ErrorIs(t, ended.err, agent.ErrNoNegotiation)
	require.Nil(t, ended.result)

	// Patience does not end a negotiation once the agent engaged.
	negotiation := f.invite()
	engaged := f.runOne(f.Seller, solana.PublicKey{}, agent.Config{
		Decide: wait, Patience: 3 * time.Second,
		Admit: func(_ context.Context, n *haggle.Snapshot) error {
			if n.Address != negotiation {
				return agent.ErrRefused
			}
			return nil
		},
	})
	f.until("the seller accepts the invitation", func() bool { return f.state(negotiation).IsBargaining() })
	select {
	case end := <-engaged:
		t.Fatalf("it has ended: %v", end.err)
	case <-time.After(4 * time.Second):
	}
	f.do(f.Buyer, f.Client.At(f.state(negotiation)).Reject(f.Buyer.PublicKey()))
	end := <-engaged
	require.NoError(t, end.err)
	require.Equal(t, protocol.NegotiationStatusRejected, end.result.Status)
}

func TestRunOneDoesNotWaitForAPayoutThatCannotBeDelivered(t *testing.T) {
	f := newFixture(t)
	f.freeze(f.Seller)
	negotiation := f.settleAt(3_000_000)
	ended := <-f.runOne(f.Buyer, negotiation, agent.Config{Decide: wait})
	require.ErrorIs(t, ended.err, protocol.ErrPayoutPending)
	require.Equal(t, protocol.NegotiationStatusSettled, ended.result.Status)
	require.EqualValues(t, 3_000_000, ended.result.Price)
	require.NotNil(t, f.state(negotiation))
}

func TestRunOneFailsForANegotiationOfOtherParties(t *testing.T) {
	f := newFixture(t)
	thirdParty, err := wallet.GenerateKeypair()
	require.NoError(t, err)
	require.NoError(t, f.Endow(f.ctx, thirdParty.PublicKey()))
	ended := <-f.runOne(thirdParty, f.invite(), agent.Config{Decide: wait})
	require.ErrorContains(t, ended.err, "has no part in negotiation")
}

func TestAgentIgnoresNegotiationsThatConcernsExcludes(t *testing.T) {
	f := newFixture(t)
	left := f.invite(func(r *haggle.CreateRequest) { r.Deadline = 70 * time.Second })
	negotiation := f.invite()
	buyer := f.run(f.Buyer, agent.Config{
		Decide:   concede(2_000_000, 500_000, true),
		Concerns: func(n *haggle.Snapshot) bool { return n.Address == negotiation },
	})
	selling := f.run(f.Seller, agent.Config{
		Decide: concede(4_500_000, 500_000, false), Services: services,
		Concerns: func(n *haggle.Snapshot) bool {
			if n.Address == left {
				panic("unexpected negotiation")
			}
			return true
		},
	})
	f.result(buyer)
	f.advance(80 * time.Second)
	seller := f.Seller.PublicKey()
	expiring, err := f.Client.Negotiation(left).Expire(seller).Build(f.ctx)
	require.NoError(t, err)
	closing, err := f.Client.Negotiation(left).Close(seller).Build(f.ctx)
	require.NoError(t, err)
	f.submit(f.Seller, append(expiring.Instructions, closing.Instructions...))
	selling.stop() // it would accept the next invitation before the buyer rejects
	f.createAndClose(9)
	time.Sleep(time.Second)
	require.Len(t, buyer.results(), 1)
	require.Equal(t, negotiation, buyer.results()[0].Negotiation)
	require.Empty(t, buyer.errors())
	for _, act := range buyer.acts() {
		require.Equal(t, negotiation, act.Before.Address)
	}
}

// A buyer can close a negotiation and create a new negotiation with the same address, but other terms. The
// seller's runtime reports the first negotiation's result, and calls Admit for the second.
func TestLaterNegotiationAtTheSameAddressIsAnotherOne(t *testing.T) {
	f := newFixture(t)
	const order = "order 1"
	first := f.invite(func(r *haggle.CreateRequest) { r.Key = order })
	tooSmall := errors.New("not enough in escrow")
	seller := f.run(f.Seller, agent.Config{
		Decide: wait,
		Admit: func(_ context.Context, n *haggle.Snapshot) error {
			if n.EscrowAmount < 5_000_000 {
				return errors.Join(agent.ErrRefused, tooSmall)
			}
			return nil
		},
	})
	f.until("the seller accepts the invitation", func() bool { return f.state(first).IsBargaining() })
	f.advance(time.Second) // the program closes no negotiation in its creation second
	buyer, n := f.Buyer.PublicKey(), f.state(first)
	rejecting, err := f.Client.At(n).Reject(buyer).Build(f.ctx)
	require.NoError(t, err)
	closing, err := f.Client.At(n).Close(buyer).Build(f.ctx)
	require.NoError(t, err)
	ending := append(rejecting.Instructions, closing.Instructions...)
	f.submit(f.Buyer, append(ending, f.createInstruction(haggle.SessionIDFor(order), 200_000)))
	f.until("the second is declined", func() bool { return containsError(seller.errors(), tooSmall) })
	require.Equal(t, protocol.NegotiationStatusRejected, f.result(seller).Status)
	require.Equal(t, protocol.NegotiationStatusCreated, f.state(first).Status)
}

// createInstruction creates a negotiation under a used session id, which the client refuses.
func (f *fixture) createInstruction(session, escrow uint64) solana.Instruction {
	f.t.Helper()
	now, err := f.Client.Now(f.ctx)
	require.NoError(f.t, err)
	create, err := (&protocol.CreateNegotiation{
		Buyer: f.Buyer.PublicKey(), Seller: f.Seller.PublicKey(), BuyerTokenAccount: f.tokenAccount(f.Buyer),
		TokenMint: f.Mint, TokenProgram: solana.TokenProgramID, SessionID: session,
		Params: protocol.NegotiationParams{
			EscrowAmount: escrow, ServiceHash: service, MaxRounds: 8, DecayRateBps: 200, ResponseWindow: 60,
			GlobalDeadline: now + 600, MinOfferBps: 1_000, MaxFeeBps: protocol.MaxProtocolFeeBps,
			Decimals: localnet.Decimals,
		},
	}).Instruction()
	require.NoError(f.t, err)
	return create
}

// createAndClose creates, rejects and closes a negotiation as the buyer.
func (f *fixture) createAndClose(session uint64) {
	f.t.Helper()
	address, _, err := protocol.FindNegotiationAddress(f.Buyer.PublicKey(), f.Seller.PublicKey(), session)
	require.NoError(f.t, err)
	f.submit(f.Buyer, []solana.Instruction{f.createInstruction(session, 200_000)})
	f.do(f.Buyer, f.Client.Negotiation(address).Reject(f.Buyer.PublicKey()))
	f.advance(time.Second)
	f.do(f.Buyer, f.Client.Negotiation(address).Close(f.Buyer.PublicKey()))
}

// submit sends several instructions in a single transaction, so no state between them is visible.
func (f *fixture) submit(as *wallet.Keypair, instructions []solana.Instruction) {
	f.t.Helper()
	latest, err := f.Client.RPC().GetLatestBlockhash(f.ctx, rpc.CommitmentConfirmed)
	require.NoError(f.t, err)
	payer := solana.TransactionPayer(as.PublicKey())
	transaction, err := solana.NewTransaction(instructions, latest.Value.Blockhash, payer)
	require.NoError(f.t, err)
	message, err := transaction.Message.MarshalBinary()
	require.NoError(f.t, err)
	signature, err := as.SignMessage(f.ctx, message)
	require.NoError(f.t, err)
	transaction.Signatures = []solana.Signature{signature}
	_, err = f.Client.Submit(f.ctx, transaction)
	require.NoError(f.t, err)
}

// A missing account does not prove a negotiation's end: the node may lag.
func TestRunOneWaitsForALaggingNode(t *testing.T) {
	reads := atomic.Int64{}
	me, err := wallet.GenerateKeypair()
	require.NoError(t, err)
	node := agent.ServeRPC(t, func(_ context.Context, method string, params []json.RawMessage) string {
		if method != "getMultipleAccounts" {
			return "[]"
		}
		return agent.AccountsJSON(params, func(address string) string {
			known := scriptedAccount(address, me.PublicKey(), idleNow)
			if known == "" {
				reads.Add(1)
			}
			return known
		})
	})
	client, err := haggle.NewClient(haggle.Config{Endpoint: node})
	require.NoError(t, err)
	defer client.Close()
	runtime, err := agent.New(client, me, agent.Config{Decide: wait, Mints: scriptedLimits()})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	late := time.AfterFunc(scenarioTimeout, cancel)
	defer late.Stop()
	go func() {
		for reads.Load() < 3 && ctx.Err() == nil {
			time.Sleep(10 * time.Millisecond)
		}
		cancel()
	}()
	result, err := runtime.RunOne(ctx, solana.PublicKey{7})
	require.ErrorIs(t, err, context.Canceled)
	require.Nil(t, result)
	require.GreaterOrEqual(t, reads.Load(), int64(3))
}
