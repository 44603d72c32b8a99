package keeper_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/keeper"
	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/store/sqlite"
	"github.com/haggle-protocol/haggle/sdk/token"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is a scenario's time limit.
const patience = 5 * time.Minute

// fixture is a chain with a buyer and a seller who leave negotiations unfinished.
type fixture struct {
	*localnet.Net
	t   *testing.T
	ctx context.Context
}

func setStage(t *testing.T) *fixture {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	net, err := localnet.Start(ctx, localnet.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, net.Close()) })
	return &fixture{Net: net, t: t, ctx: ctx}
}

func (s *fixture) do(as *wallet.Keypair, action *haggle.Action, err error) {
	s.t.Helper()
	require.NoError(s.t, err)
	_, err = action.Do(s.ctx, as)
	require.NoError(s.t, err)
}

// invite creates a negotiation.
func (s *fixture) invite(change ...func(*haggle.CreateRequest)) solana.PublicKey {
	s.t.Helper()
	decay := uint16(200)
	request := haggle.CreateRequest{
		Buyer: s.Buyer.PublicKey(), Seller: s.Seller.PublicKey(), Mint: s.Mint, Decimals: localnet.Decimals,
		EscrowAmount: 5_000_000, Key: rand.Text(),
		MaxRounds: 8, DecayRateBps: &decay, ResponseWindow: time.Minute, Deadline: 10 * time.Minute,
	}
	for _, alter := range change {
		alter(&request)
	}
	created, err := s.Client.CreateNegotiation(request).Build(s.ctx)
	require.NoError(s.t, err)
	s.do(s.Buyer, created, nil)
	return created.Negotiation
}

// offered returns a negotiation where the seller has not replied to the buyer's offer.
func (s *fixture) offered(change ...func(*haggle.CreateRequest)) solana.PublicKey {
	s.t.Helper()
	negotiation := s.invite(change...)
	joining, err := s.Client.At(s.state(negotiation)).AcceptInvitation(s.Seller.PublicKey(), [32]byte{}, localnet.Decimals,
		haggle.Deposit{}).Build(s.ctx)
	s.do(s.Seller, joining, err)
	offering, err := s.Client.Negotiation(negotiation).SubmitOffer(s.Buyer.PublicKey(), haggle.Offer{Amount: 3_000_000}).Build(s.ctx)
	s.do(s.Buyer, offering, err)
	return negotiation
}

// agreed returns a negotiation with an agreed price.
func (s *fixture) agreed(change ...func(*haggle.CreateRequest)) solana.PublicKey {
	s.t.Helper()
	negotiation := s.offered(change...)
	accepting, err := s.Client.At(s.state(negotiation)).AcceptOffer(s.Seller.PublicKey(), 0).Build(s.ctx)
	s.do(s.Seller, accepting, err)
	s.advance(time.Second) // no negotiation is closed in the second it was created
	return negotiation
}

func (s *fixture) inTranches(r *haggle.CreateRequest) {
	arbiter, err := wallet.GenerateKeypair()
	require.NoError(s.t, err)
	r.Milestones = &haggle.Milestones{Arbiter: arbiter.PublicKey(), Shares: []uint16{4000, 6000}, ReviewHours: 1, Delivery: 20 * time.Hour}
}

// state returns the negotiation on the chain, or nil if closed.
func (s *fixture) state(negotiation solana.PublicKey) *haggle.Snapshot {
	s.t.Helper()
	n, err := s.Client.Negotiation(negotiation).Snapshot(s.ctx)
	if errors.Is(err, protocol.ErrAccountNotFound) {
		return nil
	}
	require.NoError(s.t, err)
	return n
}

func (s *fixture) advance(by time.Duration) {
	s.t.Helper()
	now, err := s.Chain.Now(s.ctx)
	require.NoError(s.t, err)
	require.NoError(s.t, s.Chain.AdvanceTo(s.ctx, now+int64(by/time.Second)))
}

func (s *fixture) until(what string, is func() bool) {
	s.t.Helper()
	for !is() {
		require.NoError(s.t, s.ctx.Err(), what)
		time.Sleep(20 * time.Millisecond)
	}
}

// count returns the number of a negotiation's events of this type.
func count[E protocol.Event](s *fixture, negotiation solana.PublicKey) int {
	s.t.Helper()
	found := 0
	for seen, err := range s.Client.History(s.ctx, negotiation) {
		require.NoError(s.t, err)
		if _, ok := seen.Event.(E); ok {
			found++
		}
	}
	return found
}

// wallet returns a new wallet with some SOL.
func (s *fixture) wallet() *wallet.Keypair {
	s.t.Helper()
	return s.walletThat(func(solana.PublicKey) bool { return true })
}

// walletThat returns a wallet with a suitable address.
func (s *fixture) walletThat(suits func(solana.PublicKey) bool) *wallet.Keypair {
	s.t.Helper()
	key, err := wallet.GenerateKeypair()
	for err == nil && !suits(key.PublicKey()) {
		key, err = wallet.GenerateKeypair()
	}
	require.NoError(s.t, err)
	require.NoError(s.t, s.Chain.Fund(s.ctx, key.PublicKey(), solana.LAMPORTS_PER_SOL))
	return key
}

func (s *fixture) lamports(of solana.PublicKey) uint64 {
	s.t.Helper()
	balance, err := s.Client.RPC().GetBalance(s.ctx, of, rpc.CommitmentConfirmed)
	require.NoError(s.t, err)
	return balance.Value
}

// watch is a keeper and the actions that it reported.
type watch struct {
	*keeper.Keeper
	key *wallet.Keypair

	lock    sync.Mutex
	actions []keeper.Action
}

func (s *fixture) keeper(config keeper.Config) *watch {
	s.t.Helper()
	return s.keeperOf(s.wallet(), config)
}

// keeperOf returns a keeper with this wallet.
func (s *fixture) keeperOf(wallet *wallet.Keypair, config keeper.Config) *watch {
	s.t.Helper()
	w := &watch{key: wallet}
	config.ActionsPerMinute = 6000
	config.Acted = func(action keeper.Action) {
		w.lock.Lock()
		defer w.lock.Unlock()
		w.actions = append(w.actions, action)
	}
	var err error
	w.Keeper, err = keeper.New(s.Client, w.key, config)
	require.NoError(s.t, err)
	return w
}

// reported returns the reported actions with one outcome.
func (w *watch) reported(outcome keeper.Outcome) []keeper.Action {
	w.lock.Lock()
	defer w.lock.Unlock()
	var found []keeper.Action
	for _, action := range w.actions {
		if action.Outcome == outcome {
			found = append(found, action)
		}
	}
	return found
}

// undone returns the reported attempts that did nothing, with their errors.
func (w *watch) undone() (found []string) {
	w.lock.Lock()
	defer w.lock.Unlock()
	for _, action := range w.actions {
		if action.Outcome != keeper.Done {
			found = append(found, fmt.Sprintf("%s %s: %v", action.Kind, action.Outcome, action.Err))
		}
	}
	return found
}

func (w *watch) all() int {
	w.lock.Lock()
	defer w.lock.Unlock()
	return len(w.actions)
}

func TestOnceDoesExactlyTheDueTasks(t *testing.T) {
	s := setStage(t)
	ignored := s.invite(func(r *haggle.CreateRequest) { r.Deadline = 70 * time.Second })
	silent := s.offered()
	settled := s.agreed()
	s.advance(80 * time.Second)
	open := s.invite()
	w := s.keeper(keeper.Config{})
	before := s.lamports(w.key.PublicKey())
	require.NoError(t, w.Once(s.ctx))
	for _, over := range []solana.PublicKey{ignored, silent, settled} {
		require.Nil(t, s.state(over))
		require.Equal(t, 1, count[*protocol.NegotiationClosed](s, over))
	}
	require.Equal(t, protocol.NegotiationStatusCreated, s.state(open).Status)
	require.Len(t, w.reported(keeper.Done), 5, "two to expire, three to close")
	require.Equal(t, 5, w.all())
	cost := uint64(0)
	for _, action := range w.reported(keeper.Done) {
		cost += action.Cost
	}
	require.EqualValues(t, 5*5000, cost)
	require.Equal(t, before-cost, s.lamports(w.key.PublicKey()))

	require.NoError(t, w.Once(s.ctx))
	require.Equal(t, 5, w.all(), "nothing is left to do")
}

func TestUndecidedMilestonesAreReleasedAndSettled(t *testing.T) {
	s := setStage(t)
	negotiation := s.agreed(s.inTranches)
	claiming, err := s.Client.Negotiation(negotiation).ClaimMilestone(s.Seller.PublicKey(), 1, [32]byte{}).Build(s.ctx)
	s.do(s.Seller, claiming, err)
	w := s.keeper(keeper.Config{})
	require.NoError(t, w.Once(s.ctx))
	require.Zero(t, w.all(), "the buyer has an hour")
	s.advance(time.Hour)
	require.NoError(t, w.Once(s.ctx))
	require.Len(t, w.reported(keeper.Done), 1)
	require.Equal(t, keeper.Release, w.reported(keeper.Done)[0].Kind)
	require.Equal(t, protocol.MilestoneStateDecided, s.state(negotiation).MilestoneState(1))
	s.advance(24 * time.Hour)
	require.NoError(t, w.Once(s.ctx))
	require.Nil(t, s.state(negotiation))
	require.Equal(t, 1, count[*protocol.DeadlineSettled](s, negotiation))
}

// Two keepers with the same delays, then two with different delays.
func TestSeveralKeepersDoEveryTaskOnce(t *testing.T) {
	for name, config := range map[string]keeper.Config{
		"head on":  {ScanEvery: 300 * time.Millisecond, Grace: -1, Jitter: -1},
		"politely": {ScanEvery: 300 * time.Millisecond, Grace: time.Second, Jitter: 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			s := setStage(t)
			var all []solana.PublicKey
			for range 8 {
				all = append(all, s.offered())
			}
			s.advance(61 * time.Second)
			one := s.keeper(config)
			other := s.keeperOf(s.walletThat(func(wallet solana.PublicKey) bool {
				return takesTurnsWith(one.key.PublicKey(), wallet, all, config)
			}), config)
			ctx, stop := context.WithCancel(s.ctx)
			var running sync.WaitGroup
			for _, w := range []*watch{one, other} {
				running.Go(func() { require.ErrorIs(t, w.Run(ctx), context.Canceled) })
			}
			for _, negotiation := range all {
				s.until("it is closed", func() bool { return s.state(negotiation) == nil })
			}
			stop()
			running.Wait()
			for _, negotiation := range all {
				require.Equal(t, 1, count[*protocol.NegotiationExpired](s, negotiation))
				require.Equal(t, 1, count[*protocol.NegotiationClosed](s, negotiation))
			}
			done := len(one.reported(keeper.Done)) + len(other.reported(keeper.Done))
			require.Equal(t, 2*len(all), done)
			require.Empty(t, append(one.undone(), other.undone()...), "the later keeper reports nothing")
			wasted := s.wasted(one.key.PublicKey()) + s.wasted(other.key.PublicKey())
			t.Logf("%d done by one, %d by the other, %d fees paid in vain", len(one.reported(keeper.Done)), len(other.reported(keeper.Done)), wasted)
			if config.Jitter > 0 {
				require.Zero(t, wasted)
			}
		})
	}
}

// takesTurnsWith reports whether two keepers have different delays for each negotiation, if they have delays
// at all. Equal delays occur by chance, and cost one keeper a fee.
func takesTurnsWith(one, other solana.PublicKey, all []solana.PublicKey, config keeper.Config) bool {
	const apart = 3 * time.Second // longer than an action on a busy machine and a second of the chain's clock
	for _, negotiation := range all {
		distance := keeper.Patience(one, negotiation, config) - keeper.Patience(other, negotiation, config)
		if config.Jitter > 0 && distance.Abs() < apart {
			return false
		}
	}
	return true
}

// wasted returns the number of failed transactions paid by a wallet.
func (s *fixture) wasted(wallet solana.PublicKey) int {
	s.t.Helper()
	listed, err := s.Client.RPC().GetSignaturesForAddressWithOpts(s.ctx, wallet, &rpc.GetSignaturesForAddressOpts{Commitment: rpc.CommitmentConfirmed})
	require.NoError(s.t, err)
	failed := 0
	for _, one := range listed {
		if one.Err != nil {
			failed++
		}
	}
	return failed
}

func TestPartiesHaveGraceToActThemselves(t *testing.T) {
	s := setStage(t)
	negotiation := s.offered()
	w := s.keeper(keeper.Config{ScanEvery: 200 * time.Millisecond, Grace: 30 * time.Second, Jitter: -1})
	ctx, stop := context.WithCancel(s.ctx)
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	s.advance(70 * time.Second)
	time.Sleep(2 * time.Second)
	require.True(t, s.state(negotiation).IsBargaining())
	s.advance(30 * time.Second)
	s.until("it is expired", func() bool { return s.state(negotiation).Status == protocol.NegotiationStatusExpired })
	stop()
	require.ErrorIs(t, <-ended, context.Canceled)
	require.Len(t, w.reported(keeper.Done), 1, "and only closed another 30 seconds later")
}

func TestUndeliverablePayoutIsRetriedLater(t *testing.T) {
	s := setStage(t)
	require.NoError(t, s.Chain.Endow(s.ctx, s.Mint, localnet.Holding{Owner: s.Seller.PublicKey()}))
	account, err := token.AssociatedAddress(s.Seller.PublicKey(), s.Mint, solana.TokenProgramID)
	require.NoError(t, err)
	require.NoError(t, s.Chain.Freeze(s.ctx, s.Mint, account))
	negotiation := s.agreed()
	w := s.keeper(keeper.Config{})
	before := s.lamports(w.key.PublicKey())
	require.NoError(t, w.Once(s.ctx))
	require.NoError(t, w.Once(s.ctx))
	pending := w.reported(keeper.Pending)
	require.Len(t, pending, 1, "it is not tried again at once")
	require.ErrorIs(t, pending[0].Err, protocol.ErrPayoutPending)
	require.Greater(t, time.Until(pending[0].Again), 5*time.Minute)
	require.Equal(t, before, s.lamports(w.key.PublicKey()), "and costs nothing")
	require.NoError(t, s.Chain.Thaw(s.ctx, s.Mint, account))
	require.NoError(t, s.keeper(keeper.Config{}).Once(s.ctx))
	require.Nil(t, s.state(negotiation))
}

func TestDryRunReportsDueActionsAndSignsNothing(t *testing.T) {
	s := setStage(t)
	negotiation := s.offered()
	s.advance(61 * time.Second)
	w := s.keeper(keeper.Config{DryRun: true})
	before := s.lamports(w.key.PublicKey())
	require.NoError(t, w.Once(s.ctx))
	would := w.reported(keeper.WouldDo)
	require.Len(t, would, 1)
	require.Equal(t, keeper.Action{Kind: keeper.Expire, Negotiation: negotiation, Outcome: keeper.WouldDo, Cost: 5000}, would[0])
	require.True(t, s.state(negotiation).IsBargaining())
	require.Equal(t, before, s.lamports(w.key.PublicKey()))
}

func TestMaxFeeAndDailyBudgetLimitTheKeeper(t *testing.T) {
	s := setStage(t)
	for range 3 {
		s.agreed()
	}
	w := s.keeper(keeper.Config{DailyBudget: 40_000})
	require.NoError(t, w.Once(s.ctx))
	require.Len(t, w.reported(keeper.Done), 2, "a quarter of the budget is for closes")
	over := w.reported(keeper.OverBudget)
	require.Len(t, over, 1)
	require.Greater(t, time.Until(over[0].Again), 23*time.Hour)

	// The treasury does not have a token account for this mint yet.
	var err error
	s.Mint, err = s.Chain.CreateMint(s.ctx, 6)
	require.NoError(t, err)
	require.NoError(t, s.Chain.Endow(s.ctx, s.Mint, localnet.Holding{Owner: s.Buyer.PublicKey(), Tokens: 5_000_000}))
	negotiation := s.agreed()
	frugal := s.keeper(keeper.Config{})
	require.NoError(t, frugal.Once(s.ctx))
	require.NotNil(t, s.state(negotiation))
	expensive := frugal.reported(keeper.TooExpensive)
	require.Len(t, expensive, 1)
	require.EqualValues(t, 2_044_280, expensive[0].Cost)
	generous := s.keeper(keeper.Config{MaxFee: keeper.Unlimited})
	before := s.lamports(generous.key.PublicKey())
	require.NoError(t, generous.Once(s.ctx))
	require.Nil(t, s.state(negotiation))
	require.EqualValues(t, 2_044_280, before-s.lamports(generous.key.PublicKey()))
}

func TestClosesDoNotUseTheBudgetOfExpiries(t *testing.T) {
	s := setStage(t)
	silent := s.offered()
	for range 3 {
		s.agreed()
	}
	w := s.keeper(keeper.Config{DailyBudget: 20_000})
	require.NoError(t, w.Once(s.ctx))
	require.Len(t, w.reported(keeper.OverBudget), 2)
	s.advance(70 * time.Second)
	require.NoError(t, w.Once(s.ctx))
	require.Equal(t, protocol.NegotiationStatusExpired, s.state(silent).Status)
	require.Len(t, w.reported(keeper.Done), 2)
}

// fullDisk is a store whose writes fail.
type fullDisk struct{}

func (fullDisk) ReserveExpense(context.Context, keeper.Budget, uint64) (string, time.Duration, error) {
	return "", 0, errors.New("the disk is full")
}

func (fullDisk) SettleExpense(context.Context, string, uint64) error { return nil }

func TestNothingIsSentIfTheReservationFails(t *testing.T) {
	s := setStage(t)
	s.agreed()
	w := s.keeper(keeper.Config{Store: fullDisk{}})
	require.NoError(t, w.Once(s.ctx))
	require.Empty(t, w.reported(keeper.Done))
	failed := w.reported(keeper.Failed)
	require.Len(t, failed, 1)
	require.ErrorContains(t, failed[0].Err, "the disk is full")
}

// Keepers with the same wallet and database, at once and across a restart.
func TestKeepersShareADailyBudget(t *testing.T) {
	s := setStage(t)
	for range 3 {
		s.agreed()
	}
	state, err := sqlite.Open(s.ctx, filepath.Join(t.TempDir(), "state.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, state.Close()) })
	config := keeper.Config{DailyBudget: 20_000, CloseShareBps: 5000, Store: state}
	key := s.wallet()
	first := s.keeperOf(key, config)
	require.NoError(t, first.Once(s.ctx))
	require.Len(t, first.reported(keeper.Done), 2)
	second := s.keeperOf(key, config)
	require.NoError(t, second.Once(s.ctx))
	require.Empty(t, second.reported(keeper.Done))
	require.Len(t, second.reported(keeper.OverBudget), 1)
}
