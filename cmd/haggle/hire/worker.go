package hire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os/exec"
	"time"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/sdk/hire"
	"github.com/haggle-protocol/haggle/sdk/hire/party"
)

// proofFlags holds the prices up to which a worker needs less proof.
type proofFlags struct{ singleSource, finalized string }

func (f *proofFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.singleSource, "single-source-up-to", "",
		"price up to which one node can prove the escrow and the payment; above it two must")
	flags.StringVar(&f.finalized, "finalized-above", "",
		"price up to which the worker does not wait for finalization (about 13s)")
}

// limit adds the prices to a worker's limits.
func (f *proofFlags) limit(b *bargaining) error {
	prices := b.limits.Prices[b.asset.Symbol]
	for flag, proof := range map[string]struct {
		written string
		units   *uint64
	}{"single-source-up-to": {f.singleSource, &prices.SingleSourceUpTo}, "finalized-above": {f.finalized, &prices.FinalizedAbove}} {
		if proof.written == "" {
			continue
		}
		var err error
		if _, *proof.units, err = price(flag, proof.written, b.assets); err != nil {
			return err
		}
	}
	b.limits.Prices[b.asset.Symbol] = prices
	return nil
}

// workerFlags holds the flags for a worker that runs inside a home's process.
type workerFlags struct {
	proofFlags
	least, deliver string
	skills         []string
	// demo is the worker of the demonstration: it asks about each task, and draws a logo.
	demo bool
}

func (f *workerFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.least, "least", "", `least that the worker receives after the fee, such as "4 USDC"`)
	flags.StringVar(&f.deliver, "deliver", "", "command line that reads a contract and writes the delivery")
	flags.StringArrayVar(&f.skills, "skill", nil, "name of what the worker does; can be repeated")
	f.proofFlags.register(cmd)
	flags.BoolVar(&f.demo, "demo-work", false, "ask about each task, and draw the demonstration's logo")
	_ = flags.MarkHidden("demo-work") // it exists
	cmd.MarkFlagsMutuallyExclusive("demo-work", "deliver")
}

func (f *workerFlags) isSet() bool { return f.least != "" }

// newWorker returns the worker of the flags.
func (o *serveOptions) newWorker(ctx context.Context, k keys, origin string) (*party.WorkerRuntime, error) {
	w := o.worker
	if w.deliver == "" && !w.demo {
		return nil, exitcode.Requires("--least", "--deliver", "")
	}
	b, err := o.bargaining(ctx, hire.RoleWorker, "least", w.least)
	if err != nil {
		return nil, err
	}
	if err := o.advise(b, o.changed); err != nil {
		return nil, err
	}
	if err := w.limit(b); err != nil {
		return nil, err
	}
	config, err := o.party(ctx, k, origin, origin, b)
	if err != nil {
		return nil, err
	}
	// The home runs locally.
	config.Home.Client = &hire.Client{Local: true}
	config.Resolver.Client = config.Home.Client
	t := &transcript{out: o.Stdout, json: o.JSON, self: origin, name: "worker"}
	b.decided = t.decision
	config.Observe, config.Acted, config.Logger = t.message, t.act, o.Logger(slog.LevelWarn)
	config.Ended = func(r party.Result) { t.deal(viewOf(r)) }
	quote, deliver := b.player.Decide, w.run
	if w.demo {
		quote, deliver = quoteAfterQuestion(quote), drawLogo
	}
	return party.NewWorker(party.Worker{
		Config: config, Quote: quote, Deliver: deliver, Skills: w.skills,
		Prices: []hire.UnitPrice{{Unit: "task", Price: b.asset.Price(b.player.Opening)}},
	})
}

// contractView is the contract on stdin of --deliver.
type contractView struct {
	Conversation string    `json:"conversation_id"`
	Deal         int       `json:"deal"`
	Seeker       string    `json:"seeker"`
	Price        string    `json:"price"`
	Units        uint64    `json:"units"`
	Deadline     time.Time `json:"deadline"`
	Negotiation  string    `json:"negotiation"`
	// Untrusted holds the seeker's texts.
	Untrusted struct {
		Task         hire.Text   `json:"task"`
		Requirements []hire.Text `json:"requirements"`
		Answers      []hire.Text `json:"answers"`
	} `json:"untrusted"`
}

// run runs the command of --deliver.
func (f *workerFlags) run(ctx context.Context, c party.Contract) ([]byte, error) {
	v := contractView{
		Conversation: c.Conversation, Deal: c.Deal, Seeker: c.Counterpart, Price: string(c.Terms.Price), Units: c.Price,
		Deadline: c.Deadline, Negotiation: c.Negotiation.String(),
	}
	v.Untrusted.Task, v.Untrusted.Requirements = c.Text.Task, c.Text.Requirements
	for _, exchange := range c.Text.Exchanges {
		if exchange.By == hire.RoleSeeker {
			v.Untrusted.Answers = append(v.Untrusted.Answers, exchange.Answers...)
		}
	}
	input, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, "sh", "-c", f.deliver)
	command.Stdin = bytes.NewReader(input)
	command.WaitDelay = time.Second
	var problem bytes.Buffer
	command.Stderr = &limited{to: &problem, left: 4096}
	output, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("--deliver: %w", err)
	}
	delivery, readErr := io.ReadAll(io.LimitReader(output, hire.MaxDelivery+1))
	if len(delivery) > hire.MaxDelivery {
		readErr = fmt.Errorf("writes more than %d bytes", hire.MaxDelivery)
	}
	if readErr != nil {
		_ = command.Process.Kill()
	}
	if err := errors.Join(readErr, command.Wait()); err != nil {
		return nil, fmt.Errorf("--deliver: %w: %s", err, bytes.TrimSpace(problem.Bytes()))
	}
	return delivery, nil
}

// limited keeps the first bytes.
type limited struct {
	to   io.Writer
	left int
}

func (l *limited) Write(data []byte) (int, error) {
	kept := data[:min(len(data), l.left)]
	l.left -= len(kept)
	if _, err := l.to.Write(kept); err != nil {
		return 0, err
	}
	return len(data), nil
}
