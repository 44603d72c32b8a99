package faults_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/gagliardetto/solana-go"
	"go.uber.org/goleak"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/store/sqlite"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// host is a process running several agents that share a client and a journal.
type host struct {
	*plan
	number int
	client *haggle.Client
	logger *slog.Logger
	// scripts maps addresses to the negotiations' scripts.
	scripts map[solana.PublicKey]*script
}

// beHost runs as a process of the test binary until it is killed or the input ends. At the end of the input
// neither goroutines nor unfinished journal entries are left.
func beHost(planFile, number string) (err error) {
	ctx, finish := context.WithCancel(context.Background())
	// The input also ends if the test itself is killed.
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		finish()
	}()
	before := goleak.IgnoreCurrent()
	h := &host{scripts: make(map[solana.PublicKey]*script)}
	if h.plan, err = readPlan(planFile); err != nil {
		return err
	}
	if h.number, err = strconv.Atoi(number); err != nil {
		return err
	}
	for i, n := range h.Negotiations {
		h.scripts[n.Address] = &h.Negotiations[i].Script
	}
	log, err := os.OpenFile(h.logFile(h.number), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	h.logger = slog.New(slog.NewJSONHandler(log, nil))
	if err := h.live(ctx); err != nil {
		return err
	}
	return goleak.Find(before)
}

func (h *host) live(ctx context.Context) error {
	book, err := sqlite.Open(ctx, h.journalFile(h.number))
	if err != nil {
		return err
	}
	config := h.config(h.number, h.path())
	config.Journal = book
	h.client, err = haggle.NewClient(config)
	if err != nil {
		return errors.Join(err, book.Close())
	}
	err = h.run(ctx)
	return errors.Join(err, h.client.Close(), book.Close())
}

// path distinguishes this process in the proxies.
func (h *host) path() string { return hostPath(h.number) }

func hostPath(number int) string { return fmt.Sprintf("/%d", number) }

// run runs all agents until the context ends.
func (h *host) run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var running sync.WaitGroup
	start := func(part func(context.Context) error) {
		running.Go(func() {
			if err := part(ctx); err != nil && ctx.Err() == nil {
				cancel(err)
			}
		})
	}
	for _, number := range h.Hosts[h.number] {
		key, err := wallet.LoadKeypairFile(h.keyFile(number))
		if err != nil {
			return err
		}
		logger := h.logger.With("wallet", number)
		runtime, err := agent.New(h.client, key, agent.Config{
			Decide: h.decide, Services: [][32]byte{service}, Logger: logger,
			MaxOpen: math.MaxInt, MaxOpenPerCounterpart: math.MaxInt, Backoff: time.Nanosecond,
			MaxDecayBps: new(protocol.MaxDecayRateBps), MaxRounds: protocol.MaxRounds,
			Mints: map[solana.PublicKey]agent.Limits{h.Mint: {Decimals: localnet.Decimals, MinPrice: 1, MaxTotal: math.MaxUint64,
				FinalizedAbove: math.MaxUint64}},
		})
		if err != nil {
			return err
		}
		start(runtime.Run)
		for _, n := range h.of(number) {
			l := &listener{client: h.client, negotiation: n.Address, path: h.receivedFile(number, n.Script.Number), logger: logger}
			start(l.listen)
		}
		start(func(ctx context.Context) error { return h.order(ctx, number, key, logger) })
	}
	if partner, shared := h.partner(h.number); shared {
		for _, number := range h.Hosts[partner] {
			start(func(ctx context.Context) error { return h.recoverFor(ctx, number) })
		}
	}
	running.Wait()
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return h.finish()
}

func (h *host) decide(_ context.Context, turn agent.Turn) (agent.Decision, error) {
	script, known := h.scripts[turn.Negotiation.Address]
	if !known {
		return nil, errors.New("the plan does not have this negotiation")
	}
	return script.decide(turn), nil
}

// recoveryLimit is the time limit for resolving the transactions in flight at the end. It is longer than a
// blockhash's lifetime.
const recoveryLimit = 3 * time.Minute

// finish resolves the transactions in flight.
func (h *host) finish() error {
	ctx, cancel := context.WithTimeout(context.Background(), recoveryLimit)
	defer cancel()
	for _, number := range h.Hosts[h.number] {
		for {
			_, err := h.client.Recover(ctx, h.Wallets[number])
			if err == nil {
				break
			}
			h.logger.Warn("not resolved", "wallet", number, "error", err)
			if err := pause(ctx, orderAgain); err != nil {
				return err
			}
		}
	}
	return nil
}
