package hire

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"time"

	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/duration"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/languagemodel"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	"github.com/haggle-protocol/haggle/sdk/hire"
	"github.com/haggle-protocol/haggle/sdk/hire/party"
	"github.com/haggle-protocol/haggle/sdk/llm"
)

const askHelp = `Proposes a task to the worker at ORIGIN, bargains about the price, deposits it in escrow, and waits for the
delivery. It pays when you, or --review, accept the delivery.

--opening is the first offer (default: half of --most), and --most the highest price, the fee included. The
price is deposited from the wallet; --policy limits it like any other payment.

The delivery is written to --out. At a terminal the command then asks whether to pay. --review is a
command line for sh that reads the delivery on stdin, with the evidence in HAGGLE_EVIDENCE: the exit code
0 pays, 1 disputes, and any other code runs it again. --yes pays for every delivery whose SHA-256 the
worker has claimed. A delivery that is not reviewed within 24 hours is disputed, because silence would
pay it.

--conversation names the purchase. The command prints a new one if it is not set. After an interruption, the
same command with it continues with the same deal, and deposits nothing again.

The exit code is 0 if the price is paid, and 8 without a deal.

` + languagemodel.Help + `
The worker's texts reach the model as quoted data.`

const askExample = `  haggle hire ask https://worker.example --task "A logo for a bakery" --requirement SVG --most "5 USDC" \
      --deadline 1d --arbiter ADDRESS --out logo.svg`

// askOptions holds the flags of haggle hire ask.
type askOptions struct {
	agentFlags
	task, need, most, out, review, conversation, worker string
	requirements, answers                               []string
	deadline, patience                                  duration.Flag
	yes                                                 bool

	transcript *transcript
}

// askedView names a purchase.
type askedView struct {
	Conversation string `json:"conversation_id"`
	Worker       string `json:"worker"`
}

func askCommand(s *session.Session) *cobra.Command {
	o := &askOptions{
		agentFlags: agentFlags{Session: s}, deadline: duration.Flag(24 * time.Hour),
		patience: duration.Flag(party.DefaultPatience),
	}
	cmd := &cobra.Command{
		Use: "ask ORIGIN", Short: "Hire a worker for a task", Long: askHelp, Example: askExample,
	}
	flags := cmd.Flags()
	o.register(cmd, "Solana address that decides about a disputed delivery")
	flags.StringVar(&o.task, "task", "", "description of the task")
	flags.StringArrayVar(&o.requirements, "requirement", nil, "requirement of the task; can be repeated")
	flags.StringArrayVar(&o.answers, "answer", nil, "answer to the worker's questions; can be repeated")
	flags.StringVar(&o.need, "inquire", "", "ask what the worker can do first, with this description")
	flags.StringVar(&o.most, "most", "", `highest price, the fee included, such as "5 USDC"`)
	flags.Var(&o.deadline, "deadline", "time for the delivery from now on")
	flags.Var(&o.patience, "patience", "longest timeout of the home: an accepted price binds you for as long")
	flags.StringVar(&o.out, "out", "", "file for the delivery (default: its SHA-256)")
	flags.StringVar(&o.review, "review", "", "command line that reviews the delivery")
	flags.BoolVar(&o.yes, "yes", false, "pay without a review")
	flags.StringVar(&o.conversation, "conversation", "", "name of the purchase, to continue it (default: a new one)")
	flags.StringVar(&o.worker, "worker", "", "id of the worker, if it is not the home's own (default: ORIGIN)")
	command.Required(cmd, "task", "most", "arbiter")
	cmd.MarkFlagsMutuallyExclusive("review", "yes")
	command.Documents(cmd, askedView{}, messageView{}, actView{}, dealView{}, modelMove{}, llm.Spending{})
	cmd.RunE = s.Unlimited(func(ctx context.Context, arguments []string) error {
		return o.ask(ctx, arguments[0], flags.Changed)
	})
	return cmd
}

func (o *askOptions) ask(ctx context.Context, origin string, changed func(flag string) bool) error {
	switch {
	case hire.CheckOrigin(origin) != nil:
		return exitcode.Usagef("ORIGIN: %w", hire.CheckOrigin(origin))
	case !o.yes && o.review == "" && !o.Interactive():
		return exitcode.Usagef("--review or --yes not set: nobody can review the delivery at a terminal")
	case len(o.arbiters) > 1:
		return exitcode.Usagef("--arbiter: must be set once")
	}
	b, err := o.bargaining(ctx, hire.RoleSeeker, "most", o.most)
	if err != nil {
		return err
	}
	if !changed("opening") {
		b.player.Opening = max(b.player.Reservation/2, min(b.player.Reservation, hire.MinUnits))
	}
	if err := o.advise(b, changed); err != nil {
		return err
	}
	k, err := o.keys(ctx)
	if err != nil {
		return err
	}
	self := addressOf(k.key).String()
	config, err := o.party(ctx, k, origin, self, b)
	if err != nil {
		return err
	}
	o.transcript = &transcript{out: o.Stdout, json: o.JSON, self: self, name: "seeker"}
	b.decided = o.transcript.decision
	config.Observe, config.Acted, config.Logger = o.transcript.message, o.transcript.act, o.Logger(slog.LevelWarn)
	config.Patience = time.Duration(o.patience)
	seeker, err := party.NewSeeker(party.Seeker{
		Config: config, Decide: o.answering(b.player.Decide), Review: o.reviewed,
	})
	if err != nil {
		return err
	}
	request := party.Request{
		Conversation: cmp.Or(o.conversation, rand.Text()), Worker: cmp.Or(o.worker, origin), Need: o.need, Task: o.task,
		Requirements: o.requirements, Symbol: b.asset.Symbol, Price: b.player.Opening,
		Deadline: time.Now().Add(time.Duration(o.deadline)), Arbiter: b.limits.Arbiters[0],
	}
	o.transcript.print(askedView{request.Conversation, request.Worker},
		fmt.Sprintf("%-8s  %s (continue with --conversation %s)", "hires", request.Worker, request.Conversation))
	defer o.ShowProgress("waiting for the worker")()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		cancel(seeker.Run(ctx))
	}()
	result, err := seeker.Hire(ctx, request)
	cancel(err)
	<-done
	if err != nil {
		return err
	}
	o.transcript.spent(b.models)
	return o.ended(result)
}

// answering answers questions with --answer, and leaves everything else to the strategy.
func (o *askOptions) answering(
	decide func(context.Context, party.Turn) (party.Move, error),
) func(context.Context, party.Turn) (party.Move, error) {
	answers := o.answers
	if len(answers) == 0 {
		answers = []string{"There is nothing to add: decide yourself."}
	}
	return func(ctx context.Context, turn party.Turn) (party.Move, error) {
		exchanges := turn.Text.Exchanges
		if _, stands := turn.Standing(); !stands && len(exchanges) > 0 && exchanges[len(exchanges)-1].By == hire.RoleWorker {
			return party.Answer{Answers: answers}, nil
		}
		return decide(ctx, turn)
	}
}

// ended prints the result, and returns an error with the matching exit code.
func (o *askOptions) ended(result party.Result) error {
	v := viewOf(result)
	if result.Delivery != nil && result.Delivery.Content != nil {
		v.File = o.file(*result.Delivery)
	}
	o.transcript.deal(v)
	if result.Outcome == party.Settled {
		return nil
	}
	return &exitcode.Error{Kind: exitcode.NoDeal, Err: fmt.Errorf("no delivery is paid: %s", result.Outcome)}
}

func (o *askOptions) file(d party.Delivery) string {
	return cmp.Or(o.out, fmt.Sprintf("%x", d.Evidence[:]))
}

// reviewed returns the verdict, either from --review or typed at the terminal.
func (o *askOptions) reviewed(ctx context.Context, c party.Contract, d party.Delivery) (party.Verdict, error) {
	if d.Content == nil {
		o.Report("the home does not have the delivery that the worker has claimed: disputed")
		return party.Dispute, nil
	}
	path := o.file(d)
	if err := os.WriteFile(path, d.Content, 0o600); err != nil {
		return 0, fmt.Errorf("--out: %w", err)
	}
	switch {
	case o.yes:
		return party.Release, nil
	case o.review != "":
		return o.run(ctx, d)
	}
	err := o.Confirm(ctx, fmt.Sprintf("Is the delivery in %s worth %s", path, c.Terms.Price), "the delivery is disputed")
	switch {
	case err == nil:
		return party.Release, nil
	case ctx.Err() != nil:
		return 0, context.Cause(ctx)
	}
	return party.Dispute, nil
}

// run runs the command of --review.
func (o *askOptions) run(ctx context.Context, d party.Delivery) (party.Verdict, error) {
	command := exec.CommandContext(ctx, "sh", "-c", o.review)
	command.Stdin, command.WaitDelay = bytes.NewReader(d.Content), time.Second
	command.Env = append(os.Environ(), fmt.Sprintf("HAGGLE_EVIDENCE=%x", d.Evidence[:]))
	command.Stderr = o.Stderr
	err := command.Run()
	if ended := new(exec.ExitError); errors.As(err, &ended) && ended.ExitCode() == 1 {
		return party.Dispute, nil
	}
	if err != nil {
		return 0, fmt.Errorf("--review: %w", err)
	}
	return party.Release, nil
}
