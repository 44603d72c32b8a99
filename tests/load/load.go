// Package load puts the protocol under load on a solana-test-validator of its own, and says what came of it.
//
// [Run] gives every negotiation a buyer and a seller of its own, creates all of them before any ends, and has the SDK's actions
// play each from its invitation to its closing. At the same time other wallets send plain SPL transfers on the same chain, so that
// what is measured has something to be compared with. Afterwards nothing is taken on trust: the accounts, the balances, the events
// and the account lists of all transactions, read from the chain's blocks, are compared with what the parties believe.
//
//	result, err := load.Run(ctx, load.Options{Pairs: 1000, Progress: os.Stderr})
//	...
//	err = result.Write("docs/LOAD.md")
package load

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/localnet"
	"github.com/haggle-protocol/haggle/internal/testchain"
)

// What a run does unless its options say otherwise.
const (
	DefaultPairs = 1000
	// DefaultInFlight is the most by default; with fewer pairs it is as many as there are.
	DefaultInFlight = 1000
)

// Options say how much load there is.
type Options struct {
	// Pairs is the number of negotiations, each between a buyer and a seller of its own. If zero, DefaultPairs is used.
	Pairs int
	// InFlight is the most actions that are under way at the same time, from reading the state to the confirmation; all other
	// negotiations wait for their turn. If zero, it is the number of pairs, but at most DefaultInFlight.
	InFlight int
	// Transfers is the number of wallets that send plain SPL transfers, each of them one after the other. If zero, it is as many
	// as actions can be under way, so that both loads are alike.
	Transfers int
	// Progress receives a line every two seconds. Nil discards them.
	Progress io.Writer
}

func (o Options) withDefaults() (Options, error) {
	if o.Pairs < 0 || o.InFlight < 0 || o.Transfers < 0 {
		return o, fmt.Errorf("%d pairs, %d actions in flight and %d transfers: none can be negative", o.Pairs, o.InFlight, o.Transfers)
	}
	o.Pairs = cmp.Or(o.Pairs, DefaultPairs)
	o.InFlight = cmp.Or(o.InFlight, min(o.Pairs, DefaultInFlight))
	o.Transfers = cmp.Or(o.Transfers, o.InFlight)
	if o.Pairs > maxPairs {
		return o, fmt.Errorf("%d pairs: all negotiations are listed with one request, which is meant for at most %d", o.Pairs, maxPairs)
	}
	if o.Progress == nil {
		o.Progress = io.Discard
	}
	return o, nil
}

// maxPairs keeps what a run holds in memory below a gigabyte.
const maxPairs = 20_000

// A run is a chain with everybody on it.
type run struct {
	Options
	progress *progress
	net      *localnet.Net
	// parties and payers are the clients of the two loads, so that each one's requests can be counted.
	parties, payers *countedClient
	mint            solana.PublicKey
	terms           terms
	negotiations    []*negotiation
	inFlight        chan struct{}
	transfers       *transferStream
	blocks          *blockReader
	records         recorder
	audit           audit
}

// Run plays everything and returns what has been measured and found. Its error means that the run did not come to its end; a
// negotiation that got lost is a finding of the result's. The chain is gone when it returns.
func Run(ctx context.Context, options Options) (result *Result, err error) {
	options, err = options.withDefaults()
	if err != nil {
		return nil, err
	}
	r := &run{Options: options, progress: &progress{out: options.Progress}, inFlight: make(chan struct{}, options.InFlight)}
	r.progress.printf("starting a solana-test-validator with the program")
	started := time.Now()
	children := childTime()
	r.net, err = localnet.Start(ctx, testchain.Options{Kind: testchain.Validator, Progress: func(line string) { r.progress.printf("%s", line) }})
	if err != nil {
		return nil, err
	}
	shutDown := sync.OnceValue(func() error { return errors.Join(r.parties.close(), r.payers.close(), r.net.Close()) })
	defer func() { err = errors.Join(err, shutDown()) }()
	if r.net.Chain.Kind != testchain.Validator {
		return nil, fmt.Errorf("%s is set: a load test wants a chain of its own", testchain.EnvRPCURL)
	}
	result, err = r.play(ctx)
	if err != nil {
		return nil, err
	}
	// Only now is it known what the validator has used.
	if err := shutDown(); err != nil {
		return nil, err
	}
	result.validatorCores = cores(childTime()-children, time.Since(started))
	return result, nil
}

func (r *run) play(ctx context.Context) (*Result, error) {
	if err := r.setUp(ctx); err != nil {
		return nil, err
	}
	result := &Result{Options: r.Options, terms: r.terms}
	if err := result.describeMachine(ctx, r.net.Chain.Client()); err != nil {
		return nil, err
	}
	background, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()

	var blocksErr error
	caughtUp := make(chan struct{})
	running.Go(func() {
		defer close(caughtUp)
		blocksErr = r.blocks.follow(background)
	})
	stopTransfers := r.transfers.start(background, r)
	used, began := ownTime(), time.Now()
	for _, stage := range stages {
		if err := r.playStage(ctx, stage); err != nil {
			return nil, err
		}
		if err := r.audit.afterStage(ctx, r, stage.id); err != nil {
			return nil, fmt.Errorf("compare the chain with what the parties believe: %w", err)
		}
	}
	result.driverCores = cores(ownTime()-used, time.Since(began))
	stopTransfers()
	r.progress.printf("reading the last blocks")
	r.blocks.finish()
	<-caughtUp
	if blocksErr != nil {
		return nil, fmt.Errorf("read the chain's blocks: %w", blocksErr)
	}
	if err := r.audit.afterAll(ctx, r); err != nil {
		return nil, fmt.Errorf("compare the chain with what the parties believe: %w", err)
	}
	result.collect(r)
	return result, nil
}

// playStage has every negotiation play its part in a stage, as many at once as the options allow, and returns when all have.
func (r *run) playStage(ctx context.Context, s stage) error {
	var done atomic.Int64
	shown := r.progress.watch(s.title, "negotiations", len(r.negotiations), &done)
	defer shown()
	began := time.Now()
	r.records.enter(s.id)
	var playing sync.WaitGroup
	for _, n := range r.negotiations {
		if n.err != nil {
			continue
		}
		playing.Go(func() {
			if n.err = s.play(n, ctx, r); n.err == nil {
				done.Add(1)
			}
		})
	}
	playing.Wait()
	r.records.leave(s.id, time.Since(began))
	return context.Cause(ctx)
}

// A stage is what all negotiations have been through before any goes on.
type stage struct {
	id    stageID
	title string
	play  func(n *negotiation, ctx context.Context, r *run) error
}

type stageID int

// The stages in their order; none is the time between two.
const (
	creating stageID = iota
	bargaining
	ending
	closing
	stageCount
	none stageID = -1
)

var stages = [stageCount]stage{
	{creating, "create", (*negotiation).create},
	{bargaining, "bargain", (*negotiation).bargain},
	{ending, "end", (*negotiation).end},
	{closing, "close", (*negotiation).close},
}
