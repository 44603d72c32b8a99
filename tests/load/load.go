// Package load runs many negotiations at once on a separate solana-test-validator, and reports the
// measurements.
//
// [Run] creates all negotiations, each with a separate buyer and seller, before any negotiation ends. The
// SDK's actions play each negotiation from creation to closing. At the same time, other wallets send plain
// SPL transfers on the same chain, for comparison. Afterwards the accounts, the balances, the events and the
// account lists of all transactions are read from the chain and compared with the scripts and the parties'
// receipts.
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
	"syscall"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/lab/report"
	"github.com/haggle-protocol/haggle/sdk/localnet"
)

// The defaults of the options.
const (
	DefaultPairs = 1000
	// DefaultInFlight is the default for at least as many pairs. With fewer pairs, it is their number.
	DefaultInFlight = 1000
)

// Options configure a run.
type Options struct {
	// Pairs is the number of negotiations, each with a separate buyer and seller. If zero, DefaultPairs is
	// used.
	Pairs int
	// InFlight is the largest number of actions in flight, from reading the state to the confirmation. All
	// other negotiations wait. If zero, the number of pairs is used, but at most DefaultInFlight.
	InFlight int
	// Transfers is the number of wallets that send plain SPL transfers, one at a time each. If zero, InFlight
	// is used, so that both loads are alike.
	Transfers int
	// Progress receives a line every two seconds. If nil, the lines are discarded.
	Progress io.Writer
}

func (o Options) withDefaults() (Options, error) {
	if o.Pairs < 0 || o.InFlight < 0 || o.Transfers < 0 {
		return o, fmt.Errorf("%d pairs, %d in flight, %d transfers: must not be negative", o.Pairs,
			o.InFlight, o.Transfers)
	}
	o.Pairs = cmp.Or(o.Pairs, DefaultPairs)
	o.InFlight = cmp.Or(o.InFlight, min(o.Pairs, DefaultInFlight))
	o.Transfers = cmp.Or(o.Transfers, o.InFlight)
	if o.Pairs > maxPairs {
		return o, fmt.Errorf("%d pairs: must not be more than %d", o.Pairs, maxPairs)
	}
	if o.Progress == nil {
		o.Progress = io.Discard
	}
	return o, nil
}

// maxPairs keeps a run's memory under a gigabyte. A single request lists all negotiations.
const maxPairs = 20_000

// run is a chain with all parties.
type run struct {
	Options
	progress *progress
	net      *localnet.Net
	// parties and payers are the clients used by the two loads. Each counts requests separately.
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

// Run plays all negotiations and returns the measurements and findings. It returns an error if the run did
// not finish. A lost negotiation is not an error but a finding. The chain has stopped when Run returns.
func Run(ctx context.Context, options Options) (result *Result, err error) {
	options, err = options.withDefaults()
	if err != nil {
		return nil, err
	}
	r := &run{Options: options, progress: &progress{out: options.Progress},
		inFlight: make(chan struct{}, options.InFlight)}
	r.progress.printf("starting a solana-test-validator with the program")
	started := time.Now()
	children := report.ProcessorTime(syscall.RUSAGE_CHILDREN)
	r.net, err = localnet.Start(ctx, localnet.Options{
		Kind: localnet.Validator, Progress: func(line string) { r.progress.printf("%s", line) },
	})
	if err != nil {
		return nil, err
	}
	shutDown := sync.OnceValue(
		func() error { return errors.Join(r.parties.close(), r.payers.close(), r.net.Close()) })
	defer func() { err = errors.Join(err, shutDown()) }()
	if r.net.Chain.Kind != localnet.Validator {
		return nil, fmt.Errorf("%s is set: a load test needs its own chain; unset it", localnet.EnvRPCURL)
	}
	result, err = r.play(ctx)
	if err != nil {
		return nil, err
	}
	// The validator's processor time is known only once it has ended.
	if err := shutDown(); err != nil {
		return nil, err
	}
	result.validatorCores = cores(report.ProcessorTime(syscall.RUSAGE_CHILDREN)-children, time.Since(started))
	return result, nil
}

func (r *run) play(ctx context.Context) (*Result, error) {
	if err := r.setUp(ctx); err != nil {
		return nil, err
	}
	result := &Result{run: r}
	version, err := r.net.Chain.Client().GetVersion(ctx)
	if err != nil {
		return nil, err
	}
	result.machine = report.Machine() + ", solana-test-validator " + version.SolanaCore
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
	used, began := report.ProcessorTime(syscall.RUSAGE_SELF), time.Now()
	for _, stage := range stages {
		if err := r.playStage(ctx, stage); err != nil {
			return nil, err
		}
		if err := r.audit.afterStage(ctx, r, stage.id); err != nil {
			return nil, fmt.Errorf("compare the chain with the records: %w", err)
		}
	}
	result.driverCores = cores(report.ProcessorTime(syscall.RUSAGE_SELF)-used, time.Since(began))
	stopTransfers()
	r.progress.printf("reading the last blocks")
	r.blocks.finish()
	<-caughtUp
	if blocksErr != nil {
		return nil, fmt.Errorf("read the chain's blocks: %w", blocksErr)
	}
	if err := r.audit.afterAll(ctx, r); err != nil {
		return nil, fmt.Errorf("compare the chain with the records: %w", err)
	}
	result.Findings = r.audit.findings.Texts()
	return result, nil
}

// cores returns the average number of busy cores.
func cores(used, elapsed time.Duration) float64 { return used.Seconds() / elapsed.Seconds() }

// playStage plays a stage of every negotiation, no more than InFlight actions at once, and returns after the
// last.
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

// stage is a part of a run. It begins once every negotiation has finished the previous stage.
type stage struct {
	id    stageID
	title string
	play  func(n *negotiation, ctx context.Context, r *run) error
}

type stageID int

// The stages, in order; none is the time between stages.
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
