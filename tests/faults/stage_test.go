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

	"github.com/haggle-protocol/haggle/internal/localnet"
	"github.com/haggle-protocol/haggle/internal/testchain"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/tests/faults/proxy"
)

// A stage is a chain with everybody on it, and the proxies in front of it.
type stage struct {
	t     *testing.T
	scale scale
	plan  *plan
	net   *localnet.Net
	// clean is a client that asks the chain itself.
	clean    *rpc.Client
	proxies  []*proxy.Proxy
	crew     *crew
	audience *audience
	// issued is what each wallet begins with, in base units of the mint.
	issued []uint64
}

// startLamports are enough for the rent of many negotiations at once, and for the fees of all.
const startLamports = 2 * solana.LAMPORTS_PER_SOL

// usual are the faults of every proxy; the last one lies behind besides. SubscriptionRefused is added.
var usual = proxy.Rates{
	proxy.DroppedBefore: 0.04, proxy.DroppedAfter: 0.05, proxy.Delayed: 0.04, proxy.Repeated: 0.04, proxy.RateLimited: 0.01,
	proxy.Failed: 0.04, proxy.FailedAfter: 0.04, proxy.Truncated: 0.04, proxy.Corrupted: 0.04,
	proxy.ConnectionRefused: 0.1, proxy.ConnectionCut: 0.01,
	proxy.NotificationDropped: 0.06, proxy.NotificationRepeated: 0.06, proxy.NotificationDelayed: 0.06,
}

const (
	proxies = 3
	// lag is how many slots behind the last proxy is at least.
	lag = 10
	// behind is how often the last proxy answers as it would have some slots ago.
	behind = 0.4
	// faultyLeast is which part of the requests has to have met a fault.
	faultyLeast = 0.2
)

func setStage(t *testing.T, ctx context.Context, s scale) *stage {
	net, err := localnet.Start(ctx, testchain.Options{Progress: func(line string) { t.Log(line) }})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, net.Close()) })
	st := &stage{t: t, scale: s, net: net, clean: net.Chain.Client()}
	config, err := net.Client.GetConfig(ctx)
	require.NoError(t, err)
	t0 := terms{DecayBps: uint64(config.DefaultDecayRateBps), FeeBps: uint64(config.DefaultProtocolFeeBps)}
	st.plan, err = newPlan(t.TempDir(), s, t0, net.Mint)
	require.NoError(t, err)
	st.endow(ctx)
	st.crew = newCrew(st.plan)
	st.startProxies()
	require.NoError(t, st.plan.save())
	return st
}

// endow gives every buyer twice what its scripts escrow: nothing keeps it from an escrow too many but the SDK.
func (s *stage) endow(ctx context.Context) {
	var err error
	s.net.Mint, err = s.net.Chain.CreateMint(ctx, localnet.Decimals)
	require.NoError(s.t, err)
	s.plan.Mint = s.net.Mint
	s.issued = make([]uint64, len(s.plan.Wallets))
	for _, n := range s.plan.Negotiations {
		s.issued[n.Buyer] += 2 * n.Script.Escrow
	}
	holdings := []testchain.Holding{{Owner: s.net.Treasury}}
	for wallet, address := range s.plan.Wallets {
		holdings = append(holdings, testchain.Holding{Owner: address, Lamports: startLamports, Tokens: s.issued[wallet]})
	}
	require.NoError(s.t, s.net.Chain.Endow(ctx, s.net.Mint, holdings...))
}

func (s *stage) startProxies() {
	past := proxy.NewPast()
	rates := maps.Clone(usual)
	// All subscriptions of a client are made again when one is refused: it should succeed more often than not.
	rates[proxy.SubscriptionRefused] = 0.5 / float64(2*len(s.plan.Negotiations)+len(s.plan.Wallets))
	for number := range proxies {
		options := proxy.Options{
			RPCURL: s.net.Chain.RPCURL, WSURL: s.net.Chain.WSURL, Seed: s.scale.seed + uint64(number), Rates: rates, Past: past, Lag: lag,
			Sent: s.crew.sent,
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

func (s *stage) counts() (sum proxy.Counts) {
	for _, proxy := range s.proxies {
		sum = sum.Plus(proxy.Counts())
	}
	return sum
}

const (
	accountsAtOnce = 100
	lookEvery      = 500 * time.Millisecond
)

// A lookout knows how far the negotiations have come.
type lookout struct {
	*stage
	// closed are the negotiations that have been closed.
	closed map[solana.PublicKey]bool
}

// look says how many negotiations have not been closed, and until when the chain's time has to pass if nothing else is left to wait for;
// zero if something is.
func (l *lookout) look(ctx context.Context) (open int, until int64, err error) {
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
			ends, err := l.outlook(ctx, n, isThere)
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

// outlook is when a negotiation expires of which nothing else is to be expected; zero if something is.
func (l *lookout) outlook(ctx context.Context, n negotiation, isThere bool) (int64, error) {
	if !isThere {
		events, err := l.happened(ctx, n)
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

// happened is what Client.History tells of a negotiation over a clean connection.
func (s *stage) happened(ctx context.Context, n negotiation) (all []heard, err error) {
	for seen, err := range s.net.Client.History(ctx, n.Address) {
		if err != nil {
			return nil, err
		}
		all = append(all, heardOf(seen))
	}
	return all, nil
}

// awaitTheEnd returns when all negotiations have been closed.
func (s *stage) awaitTheEnd(ctx context.Context) error {
	l := &lookout{stage: s, closed: make(map[solana.PublicKey]bool)}
	for {
		open, until, err := l.look(ctx)
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
		case err := <-s.crew.failed:
			return err
		default:
		}
		if err := pause(ctx, lookEvery); err != nil {
			return fmt.Errorf("%d negotiations have not come to their end: %w", open, err)
		}
	}
}

// awaitTheListeners returns when all listeners have heard the end, or had enough time to.
func (s *stage) awaitTheListeners(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, listenersLimit)
	defer cancel()
	for _, n := range s.plan.Negotiations {
		for !s.isHeardByAll(n) {
			if pause(ctx, lookEvery) != nil {
				return // the audit says who has not
			}
		}
	}
}

// listenersLimit is twice as long as it takes until the SDK notices by itself that a notification is missing.
const listenersLimit = time.Minute

func (s *stage) isHeardByAll(n negotiation) bool {
	for _, wallet := range []int{n.Buyer, n.Seller} {
		told, err := readHeard(s.plan.heardFile(wallet, n.Script.Number))
		if err != nil || !endsWithClosing(told) {
			return false
		}
	}
	return s.audience.hasHeardTheEnd(n)
}

func (n negotiation) vault() solana.PublicKey {
	vault, _, err := protocol.FindVaultAddress(n.Address)
	if err != nil {
		panic(err)
	}
	return vault
}
