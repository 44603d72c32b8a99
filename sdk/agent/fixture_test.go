package agent_test

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// scenarioTimeout limits a scenario that hangs.
const scenarioTimeout = 5 * time.Minute

var (
	service  = protocol.ServiceHash("Summarise a paper")
	services = [][32]byte{service}
)

// fixture is a chain with a buyer and a seller.
type fixture struct {
	*localnet.Net
	t   *testing.T
	ctx context.Context
	// arbiter is the arbiter of addMilestones.
	arbiter solana.PublicKey
}

// limits returns limits that allow every price, with changes.
func (f *fixture) limits(change ...func(*agent.Limits)) map[solana.PublicKey]agent.Limits {
	limits := agent.Limits{Decimals: localnet.Decimals, MinPrice: 1, MaxTotal: 5_000_000,
		FinalizedAbove: 5_000_000, SingleSourceUpTo: 5_000_000}
	for _, alter := range change {
		alter(&limits)
	}
	return map[solana.PublicKey]agent.Limits{f.Mint: limits}
}

// acceptBond allows the bonds of requireBond and requireSealedPrices.
func acceptBond(limits *agent.Limits) { limits.MaxBond = 100_000 }

// newFixture starts a chain, which ends with the test.
func newFixture(t *testing.T) *fixture {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), scenarioTimeout)
	t.Cleanup(cancel)
	net, err := localnet.Start(ctx, localnet.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, net.Close()) })
	return &fixture{Net: net, t: t, ctx: ctx}
}

// invite creates a negotiation as the buyer, and returns the address.
func (f *fixture) invite(change ...func(*haggle.CreateRequest)) solana.PublicKey {
	f.t.Helper()
	decay := uint16(200)
	request := haggle.CreateRequest{
		Buyer: f.Buyer.PublicKey(), Seller: f.Seller.PublicKey(), Mint: f.Mint, Decimals: localnet.Decimals,
		EscrowAmount: 5_000_000, Key: rand.Text(),
		ServiceHash: service, MaxRounds: 8, DecayRateBps: &decay, ResponseWindow: time.Minute,
		Deadline: 10 * time.Minute,
	}
	for _, alter := range change {
		alter(&request)
	}
	created, err := f.Client.CreateNegotiation(request).Build(f.ctx)
	require.NoError(f.t, err)
	_, err = created.Do(f.ctx, f.Buyer)
	require.NoError(f.t, err)
	return created.Negotiation
}

// state returns a negotiation snapshot; nil if it is closed.
func (f *fixture) state(negotiation solana.PublicKey) *haggle.Snapshot {
	f.t.Helper()
	n, err := f.Client.Negotiation(negotiation).Snapshot(f.ctx)
	if errors.Is(err, protocol.ErrAccountNotFound) {
		return nil
	}
	require.NoError(f.t, err)
	return n
}

// history returns a negotiation's events.
func (f *fixture) history(negotiation solana.PublicKey) []haggle.EventEnvelope {
	f.t.Helper()
	var all []haggle.EventEnvelope
	for envelope, err := range f.Client.History(f.ctx, negotiation) {
		require.NoError(f.t, err)
		all = append(all, envelope)
	}
	return all
}

// eventsOf returns the events with type E.
func eventsOf[E protocol.Event](all []haggle.EventEnvelope) []E {
	var found []E
	for _, envelope := range all {
		if event, ok := envelope.Event.(E); ok {
			found = append(found, event)
		}
	}
	return found
}

// advance moves the chain's clock forward.
func (f *fixture) advance(by time.Duration) {
	f.t.Helper()
	now, err := f.Chain.Now(f.ctx)
	require.NoError(f.t, err)
	require.NoError(f.t, f.Chain.AdvanceTo(f.ctx, now+int64(by/time.Second)))
}

// until blocks until a condition holds.
func (f *fixture) until(condition string, holds func() bool) {
	f.t.Helper()
	for !holds() {
		require.NoError(f.t, f.ctx.Err(), condition)
		time.Sleep(20 * time.Millisecond)
	}
}

// running is a runtime that runs until the test ends, or stop.
type running struct {
	stop func()

	lock   sync.Mutex
	acted  []agent.Act
	ended  []agent.Result
	failed []error
}

// runtime returns a party's runtime and client. If Config.Mints is nil, every price is allowed.
func (f *fixture) runtime(as haggle.Signer, config agent.Config) (*haggle.Client, *agent.Runtime) {
	f.t.Helper()
	if config.Mints == nil {
		config.Mints = f.limits()
	}
	client, err := haggle.NewClient(f.Chain.ClientConfig())
	require.NoError(f.t, err)
	runtime, err := agent.New(client, as, config)
	require.NoError(f.t, err)
	return client, runtime
}

// run starts a runtime for a party.
func (f *fixture) run(as haggle.Signer, config agent.Config) *running {
	f.t.Helper()
	r := &running{}
	config.Acted = func(act agent.Act) { r.note(func() { r.acted = append(r.acted, act) }) }
	config.Ended = func(result agent.Result) { r.note(func() { r.ended = append(r.ended, result) }) }
	config.Failed = func(_ solana.PublicKey, err error) { r.note(func() { r.failed = append(r.failed, err) }) }
	if os.Getenv("HAGGLE_TEST_LOG") != "" {
		config.Logger = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	client, runtime := f.runtime(as, config)
	ctx, cancel := context.WithCancel(f.ctx)
	ended := make(chan error, 1)
	go func() { ended <- runtime.Run(ctx) }()
	r.stop = sync.OnceFunc(func() {
		cancel()
		assert.ErrorIs(f.t, <-ended, context.Cause(ctx))
		assert.NoError(f.t, client.Close())
	})
	f.t.Cleanup(r.stop)
	return r
}

func (r *running) note(change func()) {
	r.lock.Lock()
	defer r.lock.Unlock()
	change()
}

func (r *running) acts() []agent.Act { return copyOf(r, &r.acted) }

func (r *running) results() []agent.Result { return copyOf(r, &r.ended) }

func (r *running) errors() []error { return copyOf(r, &r.failed) }

func copyOf[T any](r *running, list *[]T) []T {
	r.lock.Lock()
	defer r.lock.Unlock()
	return slices.Clone(*list)
}

// result blocks until the runtime's only negotiation ends, and returns the result.
func (f *fixture) result(of *running) agent.Result {
	f.t.Helper()
	f.until("the negotiation ends", func() bool { return len(of.results()) == 1 })
	return of.results()[0]
}

// capturedLog is a log handler that keeps the records.
type capturedLog struct {
	lock    sync.Mutex
	records []slog.Record
}

func (*capturedLog) Enabled(context.Context, slog.Level) bool { return true }

func (c *capturedLog) Handle(_ context.Context, record slog.Record) error {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.records = append(c.records, record)
	return nil
}

func (c *capturedLog) WithAttrs([]slog.Attr) slog.Handler { return c }

func (c *capturedLog) WithGroup(string) slog.Handler { return c }

// all returns the records so far.
func (c *capturedLog) all() []slog.Record {
	c.lock.Lock()
	defer c.lock.Unlock()
	return slices.Clone(c.records)
}

type decideFunc = func(context.Context, agent.Turn) (agent.Decision, error)

// concede returns a Decide that concedes in steps, up or down, and accepts offers at least as good as the
// price that it would offer next.
func concede(from, step uint64, up bool) decideFunc {
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

// wait is a Decide that makes no move.
func wait(context.Context, agent.Turn) (agent.Decision, error) { return agent.Wait{}, nil }

// inRange offers the nearest possible price.
func inRange(turn agent.Turn, price uint64) (agent.Decision, error) {
	amount, err := turn.InRange(price)
	return agent.Offer{Amount: amount}, err
}

// holding returns tokens for a party.
func holding(of *wallet.Keypair, tokens uint64) localnet.Holding {
	return localnet.Holding{Owner: of.PublicKey(), Tokens: tokens}
}

// tokenAccount returns a party's associated token account, and creates it if it is missing.
func (f *fixture) tokenAccount(of *wallet.Keypair) solana.PublicKey {
	f.t.Helper()
	require.NoError(f.t, f.Chain.Endow(f.ctx, f.Mint, holding(of, 0)))
	account, err := token.AssociatedAddress(of.PublicKey(), f.Mint, solana.TokenProgramID)
	require.NoError(f.t, err)
	return account
}

func (f *fixture) freeze(of *wallet.Keypair) {
	f.t.Helper()
	require.NoError(f.t, f.Chain.Freeze(f.ctx, f.Mint, f.tokenAccount(of)))
}

func (f *fixture) thaw(of *wallet.Keypair) {
	f.t.Helper()
	require.NoError(f.t, f.Chain.Thaw(f.ctx, f.Mint, f.tokenAccount(of)))
}

// do builds and sends a party's action.
func (f *fixture) do(as *wallet.Keypair, action *haggle.Action) {
	f.t.Helper()
	_, err := action.Do(f.ctx, as)
	require.NoError(f.t, err)
}

// settleAt creates a negotiation that settles at the buyer's first offer, with no runtime.
func (f *fixture) settleAt(price uint64) solana.PublicKey {
	f.t.Helper()
	negotiation := f.invite()
	invitation := f.state(negotiation)
	f.do(f.Seller, f.Client.At(invitation).AcceptInvitation(f.Seller.PublicKey(), invitation.TermsHash(), localnet.Decimals,
		haggle.Deposit{}))
	deal := f.Client.Negotiation(negotiation)
	f.do(f.Buyer, deal.SubmitOffer(f.Buyer.PublicKey(), haggle.Offer{Amount: price}))
	f.do(f.Seller, deal.AcceptOffer(f.Seller.PublicKey(), price))
	return negotiation
}

func containsError(all []error, want error) bool {
	for _, err := range all {
		if errors.Is(err, want) {
			return true
		}
	}
	return false
}
