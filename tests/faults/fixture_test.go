package faults_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/tests/faults/proxy"
)

// fixture is a chain with all agents and the proxies in front.
type fixture struct {
	t     *testing.T
	scale scale
	plan  *plan
	net   *localnet.Net
	// clean is a client that bypasses the proxies.
	clean     *rpc.Client
	proxies   []*proxy.Proxy
	workers   *workers
	listeners *listeners
	// issued holds each wallet's starting balance in the mint's base units.
	issued []uint64
}

// timeLies lists the first proxy's lies. Other lies would change what the scripts decide: see
// TestLyingNodeTakesNoMoney.
var timeLies = []proxy.Lie{proxy.LieHeight, proxy.LieValidHeight, proxy.LieBlockhash}

// startLamports pay the rent of many negotiations at once, and all fees.
const startLamports = 2 * solana.LAMPORTS_PER_SOL

// usual holds the fault rates for every proxy; the first proxy also lies, and the last also lags.
// SubscriptionRefused is added.
var usual = proxy.Rates{
	proxy.DroppedBefore: 0.04, proxy.DroppedAfter: 0.05, proxy.Delayed: 0.04, proxy.Repeated: 0.04, proxy.RateLimited: 0.01,
	proxy.Failed: 0.04, proxy.FailedAfter: 0.04, proxy.Truncated: 0.04, proxy.Corrupted: 0.04,
	proxy.ConnectionRefused: 0.1, proxy.ConnectionCut: 0.01,
	proxy.NotificationDropped: 0.06, proxy.NotificationRepeated: 0.06, proxy.NotificationDelayed: 0.06,
}

const (
	proxies = 3
	// lag is the least number of slots that stale responses lag behind.
	lag = 10
	// behind is the last proxy's rate of stale responses.
	behind = 0.4
	// faultyLeast is the least share of faulty requests.
	faultyLeast = 0.2
)

func newFixture(t *testing.T, ctx context.Context, s scale) *fixture {
	net, err := localnet.Start(ctx, localnet.Options{Progress: func(line string) { t.Log(line) }})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, net.Close()) })
	st := &fixture{t: t, scale: s, net: net, clean: net.Chain.Client()}
	config, err := net.Client.GetConfig(ctx)
	require.NoError(t, err)
	t0 := terms{DecayBps: uint64(config.DefaultDecayRateBps), FeeBps: uint64(config.DefaultProtocolFeeBps)}
	st.plan, err = newPlan(t.TempDir(), s, t0, net.Mint)
	require.NoError(t, err)
	st.endow(ctx)
	st.workers = newWorkers(st.plan)
	st.startProxies()
	require.NoError(t, st.plan.save())
	return st
}

// endow gives every buyer twice the scripts' escrow, so that only the SDK prevents a second escrow.
func (s *fixture) endow(ctx context.Context) {
	var err error
	s.net.Mint, err = s.net.Chain.CreateMint(ctx, localnet.Decimals)
	require.NoError(s.t, err)
	s.plan.Mint = s.net.Mint
	s.issued = make([]uint64, len(s.plan.Wallets))
	for _, n := range s.plan.Negotiations {
		s.issued[n.Buyer] += 2 * n.Script.Escrow
	}
	holdings := []localnet.Holding{{Owner: s.net.Treasury}}
	for wallet, address := range s.plan.Wallets {
		holdings = append(holdings, localnet.Holding{Owner: address, Lamports: startLamports, Tokens: s.issued[wallet]})
	}
	require.NoError(s.t, s.net.Chain.Endow(ctx, s.net.Mint, holdings...))
}

func (s *fixture) startProxies() {
	past := proxy.NewPast()
	rates := maps.Clone(usual)
	// A client subscribes again to everything when one subscription is refused; this should succeed more
	// often than not.
	rates[proxy.SubscriptionRefused] = 0.5 / float64(2*len(s.plan.Negotiations)+len(s.plan.Wallets))
	for number := range proxies {
		options := proxy.Options{
			RPCURL: s.net.Chain.RPCURL(), WSURL: s.net.Chain.WSURL(), Seed: s.scale.seed + uint64(number), Rates: rates, Past: past, Lag: lag,
			Sent: s.workers.sent,
		}
		if number == 0 {
			options.Lies = timeLies
		}
		if number == proxies-1 {
			options.Rates = maps.Clone(rates)
			options.Rates[proxy.Stale] = behind
		}
		proxy, err := proxy.Start(options)
		require.NoError(s.t, err)
		s.t.Cleanup(func() { require.NoError(s.t, proxy.Close()) })
		s.proxies = append(s.proxies, proxy)
		s.plan.Endpoints = append(s.plan.Endpoints, proxy.URL())
		s.plan.Sockets = append(s.plan.Sockets, proxy.WSURL())
	}
}

func (s *fixture) counts() (sum proxy.Counts) {
	for _, proxy := range s.proxies {
		sum = sum.Plus(proxy.Counts())
	}
	return sum
}

const (
	accountsAtOnce = 100
	lookEvery      = 500 * time.Millisecond
)

// progress observes the negotiations' state.
type progress struct {
	*fixture
	// closed contains the closed negotiations.
	closed map[solana.PublicKey]bool
}

// observe returns the number of open negotiations. If nothing else can happen before, until is the time that
// the chain's clock must advance to; otherwise it is zero.
func (l *progress) observe(ctx context.Context) (open int, until int64, err error) {
	left := slices.DeleteFunc(slices.Clone(l.plan.Negotiations), func(n negotiation) bool { return l.closed[n.Address] })
	waiting := true
	for batch := range slices.Chunk(left, accountsAtOnce) {
		var addresses []solana.PublicKey
		for _, n := range batch {
			addresses = append(addresses, n.Address)
		}
		answer, err := l.clean.GetMultipleAccountsWithOpts(ctx, addresses, &rpc.GetMultipleAccountsOpts{Commitment: rpc.CommitmentConfirmed})
		if err != nil {
			return 0, 0, err
		}
		for i, n := range batch {
			isThere := answer.Value[i] != nil && answer.Value[i].Owner == protocol.ProgramID
			ends, err := l.expiry(ctx, n, isThere)
			if err != nil {
				return 0, 0, err
			}
			if !l.closed[n.Address] {
				open++
				until, waiting = max(until, ends), waiting && ends > 0
			}
		}
	}
	if !waiting {
		until = 0
	}
	return open, until, nil
}

// expiry returns the time when a negotiation expires if nothing else can happen before. Otherwise it returns
// zero.
func (l *progress) expiry(ctx context.Context, n negotiation, isThere bool) (int64, error) {
	if !isThere {
		events, err := l.history(ctx, n)
		l.closed[n.Address] = endsWithClosing(events)
		return 0, err
	}
	if n.Script.Ending != expired {
		return 0, nil
	}
	account, err := l.net.Client.Negotiation(n.Address).Snapshot(ctx)
	if errors.Is(err, protocol.ErrAccountNotFound) || err == nil && account.Status != protocol.NegotiationStatusProposed {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return account.TurnDeadline, nil
}

// history returns the result of Client.History for a negotiation over a clean connection.
func (s *fixture) history(ctx context.Context, n negotiation) (all []received, err error) {
	for seen, err := range s.net.Client.History(ctx, n.Address) {
		if err != nil {
			return nil, err
		}
		all = append(all, receivedOf(seen))
	}
	return all, nil
}

// awaitTheEnd waits until all negotiations are closed.
func (s *fixture) awaitTheEnd(ctx context.Context) error {
	l := &progress{fixture: s, closed: make(map[solana.PublicKey]bool)}
	for {
		open, until, err := l.observe(ctx)
		if err != nil {
			return err
		}
		if open == 0 {
			return nil
		}
		if until > 0 {
			if err := s.net.Chain.AdvanceTo(ctx, until); err != nil {
				return err
			}
		}
		select {
		case err := <-s.workers.failed:
			return err
		default:
		}
		if err := pause(ctx, lookEvery); err != nil {
			return fmt.Errorf("%d negotiations have not come to their end: %w", open, err)
		}
	}
}

// awaitTheListeners waits until all listeners have received the end, or listenersLimit has passed.
func (s *fixture) awaitTheListeners(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, listenersLimit)
	defer cancel()
	for _, n := range s.plan.Negotiations {
		for !s.isReceivedByAll(n) {
			if pause(ctx, lookEvery) != nil {
				return // the audit names the missing events
			}
		}
	}
}

// listenersLimit is twice the time that the SDK takes to detect a missing notification if no hint arrives.
const listenersLimit = time.Minute

func (s *fixture) isReceivedByAll(n negotiation) bool {
	for _, wallet := range []int{n.Buyer, n.Seller} {
		events, err := readReceived(s.plan.receivedFile(wallet, n.Script.Number))
		if err != nil || !endsWithClosing(events) {
			return false
		}
	}
	return s.listeners.receivedTheEnd(n)
}

func (n negotiation) vault() solana.PublicKey {
	vault, _, err := protocol.FindVaultAddress(n.Address)
	if err != nil {
		panic(err)
	}
	return vault
}
