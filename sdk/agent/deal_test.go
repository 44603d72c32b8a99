package agent_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/localnet"
	"github.com/haggle-protocol/haggle/internal/testchain"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// patience ends a scenario that hangs.
const patience = 5 * time.Minute

var service = protocol.ServiceHash("Summarise a paper")

// stage is a chain with a buyer and a seller.
type stage struct {
	*localnet.Net
	t   *testing.T
	ctx context.Context
	// arbiter is the one of inTranches.
	arbiter solana.PublicKey
}

// limits returns limits that leave every price open, for tests that are not about them.
func (s *stage) limits(change ...func(*agent.Limits)) map[solana.PublicKey]agent.Limits {
	limits := agent.Limits{MinPrice: 1, MaxPrice: 5_000_000}
	for _, alter := range change {
		alter(&limits)
	}
	return map[solana.PublicKey]agent.Limits{s.Mint: limits}
}

// withBond accepts the bonds of bonded and sealed.
func withBond(limits *agent.Limits) { limits.MaxBond = 100_000 }

func setStage(t *testing.T) *stage {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	net, err := localnet.Start(ctx, testchain.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, net.Close()) })
	return &stage{Net: net, t: t, ctx: ctx}
}

// invite creates a negotiation on the buyer's behalf.
func (s *stage) invite(change ...func(*haggle.CreateRequest)) solana.PublicKey {
	s.t.Helper()
	decay := uint16(200)
	request := haggle.CreateRequest{
		Buyer: s.Buyer.PublicKey(), Seller: s.Seller.PublicKey(), Mint: s.Mint, EscrowAmount: 5_000_000, ServiceHash: service,
		MaxRounds: 8, DecayRateBps: &decay, ResponseWindow: time.Minute, Deadline: 10 * time.Minute,
	}
	for _, alter := range change {
		alter(&request)
	}
	created, err := s.Client.CreateNegotiation(s.ctx, request)
	require.NoError(s.t, err)
	_, err = created.Do(s.ctx, s.Buyer)
	require.NoError(s.t, err)
	return created.Negotiation
}

// state is a negotiation as the chain has it; nil if it has been closed.
func (s *stage) state(negotiation solana.PublicKey) *haggle.NegotiationAccount {
	s.t.Helper()
	n, err := s.Client.GetNegotiation(s.ctx, negotiation)
	if errors.Is(err, haggle.ErrAccountNotFound) {
		return nil
	}
	require.NoError(s.t, err)
	return n
}

// history are a negotiation's events.
func (s *stage) history(negotiation solana.PublicKey) []haggle.EventEnvelope {
	s.t.Helper()
	var all []haggle.EventEnvelope
	for seen, err := range s.Client.History(s.ctx, negotiation) {
		require.NoError(s.t, err)
		all = append(all, seen)
	}
	return all
}

// eventsOf are the events of one kind.
func eventsOf[E protocol.Event](all []haggle.EventEnvelope) []E {
	var found []E
	for _, seen := range all {
		if event, ok := seen.Event.(E); ok {
			found = append(found, event)
		}
	}
	return found
}

// advance moves the chain's clock on.
func (s *stage) advance(by time.Duration) {
	s.t.Helper()
	now, err := s.Chain.Now(s.ctx)
	require.NoError(s.t, err)
	require.NoError(s.t, s.Chain.AdvanceTo(s.ctx, now+int64(by/time.Second)))
}

// until waits for something to become true.
func (s *stage) until(what string, is func() bool) {
	s.t.Helper()
	for !is() {
		require.NoError(s.t, s.ctx.Err(), what)
		time.Sleep(20 * time.Millisecond)
	}
}

// running is a runtime that runs until the test ends, or stop.
type running struct {
	stop func()

	lock     sync.Mutex
	acts     []agent.Act
	results  []agent.Result
	failures []error
}

// runtime returns a runtime for one of the parties, and the client that it uses. Limits that leave every price
// open are the default.
func (s *stage) runtime(as *haggle.Keypair, config agent.Config) (*haggle.Client, *agent.Runtime) {
	s.t.Helper()
	if config.Mints == nil {
		config.Mints = s.limits()
	}
	client, err := haggle.NewClient(haggle.Config{Endpoint: s.Chain.RPCURL, WSEndpoint: s.Chain.WSURL})
	require.NoError(s.t, err)
	runtime, err := agent.New(client, as, config)
	require.NoError(s.t, err)
	return client, runtime
}

// run starts a runtime for one of the parties.
func (s *stage) run(as *haggle.Keypair, config agent.Config) *running {
	s.t.Helper()
	r := &running{}
	config.Acted = func(act agent.Act) { r.note(func() { r.acts = append(r.acts, act) }) }
	config.Ended = func(result agent.Result) { r.note(func() { r.results = append(r.results, result) }) }
	config.Failed = func(_ solana.PublicKey, err error) { r.note(func() { r.failures = append(r.failures, err) }) }
	if os.Getenv("HAGGLE_TEST_LOG") != "" {
		config.Logger = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	client, runtime := s.runtime(as, config)
	ctx, cancel := context.WithCancel(s.ctx)
	ended := make(chan error, 1)
	go func() { ended <- runtime.Run(ctx) }()
	r.stop = sync.OnceFunc(func() {
		cancel()
		assert.ErrorIs(s.t, <-ended, context.Cause(ctx))
		assert.NoError(s.t, client.Close())
	})
	s.t.Cleanup(r.stop)
	return r
}

func (r *running) note(change func()) {
	r.lock.Lock()
	defer r.lock.Unlock()
	change()
}

func (r *running) did() []agent.Act { return copyOf(r, &r.acts) }

func (r *running) ended() []agent.Result { return copyOf(r, &r.results) }

func (r *running) failed() []error { return copyOf(r, &r.failures) }

func copyOf[T any](r *running, list *[]T) []T {
	r.lock.Lock()
	defer r.lock.Unlock()
	return slices.Clone(*list)
}

// result waits for the end of the runtime's only negotiation, and returns its result.
func (s *stage) result(of *running) agent.Result {
	s.t.Helper()
	s.until("the negotiation ends", func() bool { return len(of.ended()) == 1 })
	return of.ended()[0]
}

// concede moves from a price towards another one in steps, and accepts what is at least as good as the next
// one.
func concede(from, step uint64, up bool) func(context.Context, agent.Turn) (agent.Decision, error) {
	return func(_ context.Context, turn agent.Turn) (agent.Decision, error) {
		price := from - step*uint64(turn.Negotiation.CurrentRound/2)
		if up {
			price = from + step*uint64(turn.Negotiation.CurrentRound/2)
		}
		if turn.CanAccept() && (up && turn.Standing() <= price || !up && turn.Standing() >= price) {
			return agent.Accept{}, nil
		}
		if !turn.CanOffer() {
			return agent.Reject{}, nil
		}
		return inRange(turn, price)
	}
}

// inRange offers a price, or the nearest possible one.
func inRange(turn agent.Turn, price uint64) (agent.Decision, error) {
	amount, err := turn.InRange(price)
	return agent.Offer{Amount: amount}, err
}

func TestTwoAgentsAgreeAndClearUp(t *testing.T) {
	s := setStage(t)
	buyer := s.run(s.Buyer, agent.Config{Decide: concede(2_000_000, 500_000, true)})
	seller := s.run(s.Seller, agent.Config{Decide: concede(4_500_000, 500_000, false), Services: [][32]byte{service}})
	negotiation := s.invite()
	bought, sold := s.result(buyer), s.result(seller)
	require.Nil(t, s.state(negotiation), "the buyer closes what is over")

	all := s.history(negotiation)
	settled := eventsOf[*protocol.NegotiationSettled](all)
	require.Len(t, settled, 1)
	for side, result := range map[protocol.OfferSide]agent.Result{protocol.OfferSideBuyer: bought, protocol.OfferSideSeller: sold} {
		require.Equal(t, negotiation, result.Negotiation)
		require.Equal(t, side, result.Side)
		require.Equal(t, protocol.NegotiationStatusSettled, result.Status)
		require.Equal(t, settled[0].SettledAmount, result.Price)
		require.Equal(t, settled[0].ProtocolFee, result.Fee)
		require.Equal(t, settled[0].TotalRounds, result.Rounds)
	}
	require.Equal(t, s.Seller.PublicKey(), bought.Counterpart)
	require.Empty(t, buyer.failed())
	require.Empty(t, seller.failed())

	var names []string
	for _, act := range append(seller.did(), buyer.did()...) {
		names = append(names, fmt.Sprint(act.Side, " ", act.Name))
	}
	require.Contains(t, names, "Seller accept_invitation")
	require.Contains(t, names, "Buyer close_negotiation")
}

// holding is something that a party is given.
func holding(of *haggle.Keypair, tokens uint64) testchain.Holding {
	return testchain.Holding{Owner: of.PublicKey(), Tokens: tokens}
}

// tokenAccount is a party's associated one, which exists from then on.
func (s *stage) tokenAccount(of *haggle.Keypair) solana.PublicKey {
	s.t.Helper()
	require.NoError(s.t, s.Chain.Endow(s.ctx, s.Mint, holding(of, 0)))
	account, err := haggle.AssociatedTokenAddress(of.PublicKey(), s.Mint, solana.TokenProgramID)
	require.NoError(s.t, err)
	return account
}

func (s *stage) freeze(of *haggle.Keypair) {
	s.t.Helper()
	require.NoError(s.t, s.Chain.Freeze(s.ctx, s.Mint, s.tokenAccount(of)))
}

func (s *stage) thaw(of *haggle.Keypair) {
	s.t.Helper()
	require.NoError(s.t, s.Chain.Thaw(s.ctx, s.Mint, s.tokenAccount(of)))
}

// do carries out an action of a party's.
func do[R any](s *stage, as *haggle.Keypair, build func(context.Context, R) (*haggle.Action, error), request R) {
	s.t.Helper()
	action, err := build(s.ctx, request)
	require.NoError(s.t, err)
	_, err = action.Do(s.ctx, as)
	require.NoError(s.t, err)
}

// settleAt has the seller accept the buyer's first offer, without any runtime.
func (s *stage) settleAt(price uint64) solana.PublicKey {
	s.t.Helper()
	negotiation := s.invite()
	do(s, s.Seller, s.Client.AcceptInvitation, haggle.AcceptInvitationRequest{Seller: s.Seller.PublicKey(), Seen: s.state(negotiation)})
	do(s, s.Buyer, s.Client.Offer, haggle.OfferRequest{Offerer: s.Buyer.PublicKey(), Negotiation: negotiation, Amount: price})
	do(s, s.Seller, s.Client.Accept, haggle.AcceptRequest{Acceptor: s.Seller.PublicKey(), Seen: s.state(negotiation)})
	return negotiation
}
