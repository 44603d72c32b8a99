// Package preflight checks whether an agent can work with a cluster and a wallet: the nodes, the source of
// events, the clock, the program and the configuration, the mints, the wallet's SOL and tokens, and the
// policy. Results state problems and advice. Package agent runs these checks before an agent starts, and
// returns them to others (agent.Preflight).
package preflight

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
)

// Check names a result's subject, a string for package agent.
type Check = string

// The checks, in result order. All but CheckPolicy need a node.
const (
	// CheckNode passes if a node responds. Every node of the client yields a result.
	CheckNode = "node"
	// CheckEvents passes if the source of events accepts a subscription: by default a WebSocket interface.
	CheckEvents = "events"
	// CheckClock compares the machine's clock with the chain's.
	CheckClock = "clock"
	// CheckProgram passes if the program is deployed.
	CheckProgram = "program"
	// CheckConfiguration passes if the protocol is initialized and not paused.
	CheckConfiguration = "configuration"
	// CheckMint passes if a mint exists and is supported. Every mint yields a result.
	CheckMint = "mint"
	// CheckLamports passes if the wallet can pay fees and rent.
	CheckLamports = "lamports"
	// CheckTokens passes if a buyer owns tokens.
	CheckTokens = "tokens"
	// CheckPolicy passes if the wallet's policy signs anything.
	CheckPolicy = "policy"
)

// Status grades a check's outcome.
type Status = string

// The statuses. A warning does not prevent an agent's work, or only a part of it.
const (
	OK      = "ok"
	Warning = "warning"
	Problem = "problem"
)

// Role is a wallet's role in negotiations.
type Role = string

// The roles. A buyer must own tokens, or negotiations with tokens in escrow. For RoleAny, missing tokens are
// a warning. For RoleSeller they are not checked.
const (
	RoleAny    = "any"
	RoleBuyer  = "buyer"
	RoleSeller = "seller"
)

// Result reports a finished check.
type Result struct {
	Check  Check
	Status Status
	// Text is a single line that names the subject and state.
	Text string
	// Advice is the next step; empty if the status is OK.
	Advice string
	// Err is the cause; nil if the status is OK.
	Err error
}

// Lamports of common actions.
const (
	// FeesLamports covers the fees for twenty transactions.
	FeesLamports = 20 * 5_000
	// CreationLamports covers the rent for a negotiation and vault.
	CreationLamports = protocol.NegotiationRent + token.AccountRent
)

// maxSkew is the difference between the clocks that needs no warning. Validators agree on the chain's clock
// only roughly.
const maxSkew = 30 * time.Second

// attemptTimeout limits an attempt of any check.
const attemptTimeout = 5 * time.Second

// Config selects the checks.
type Config struct {
	// Client connects to the cluster. It is required.
	Client *haggle.Client
	// Wallet is the account that pays. If zero, lamports and tokens are not checked.
	Wallet solana.PublicKey
	// Mints lists the mints that the wallet sells and buys in.
	Mints []solana.PublicKey
	// Decimals holds the decimals used to compute amounts in mints. Mints that it lacks are not compared.
	Decimals map[solana.PublicKey]uint8
	// Role is the wallet's role. If empty, RoleAny is used.
	Role Role
	// MinLamports is the wallet's required minimum. If zero, FeesLamports is used. Below WantedLamports there
	// is a warning.
	MinLamports, WantedLamports uint64
	// Policy is the wallet's policy, such as a *policy.Policy or a *policy.Config. If nil, it is not checked.
	Policy interface{ CheckUsable() error }

	// Patience is how long checks are retried while no node responds, all together. If zero, every check
	// makes a single attempt.
	Patience time.Duration
	// Logger logs retries. If nil, nothing is logged.
	Logger *slog.Logger
	// Started is called before each check. It may be nil.
	Started func(Check)
	// Names holds the setting names used in the advice.
	Names Names
}

// Names holds setting names, with the fields of agent.Names. An empty name means the name in the SDK's
// configuration.
type Names struct{ Endpoint, WSEndpoint, Mints, SingleSourceUpTo, Fund string }

// WithDefaults returns the names with the SDK's ones for empty names.
func (n Names) WithDefaults() Names {
	return Names{
		Endpoint: cmp.Or(n.Endpoint, "Endpoint"), WSEndpoint: cmp.Or(n.WSEndpoint, "WSEndpoint"),
		Mints: cmp.Or(n.Mints, "Config.Mints"), Fund: cmp.Or(n.Fund, "fund it with SOL"),
		SingleSourceUpTo: cmp.Or(n.SingleSourceUpTo, "SingleSourceUpTo"),
	}
}

// run is the state while checking.
type run struct {
	Config
	// ctx ends with Config.Patience; zero Patience does not limit it.
	ctx context.Context
	// now is the chain's time in Unix seconds, and nowAt the machine's when it was read.
	now   int64
	nowAt time.Time
}

// Run runs the checks and yields their results. If no node responds, it skips the checks that need a node. It
// ends early if the context ends.
func Run(ctx context.Context, config Config) iter.Seq[Result] {
	return func(yield func(Result) bool) {
		config.Names = config.Names.WithDefaults()
		config.MinLamports = cmp.Or(config.MinLamports, FeesLamports)
		if config.Logger == nil {
			config.Logger = slog.New(slog.DiscardHandler)
		}
		if config.Started == nil {
			config.Started = func(Check) {}
		}
		r := &run{Config: config, ctx: ctx}
		if config.Patience > 0 {
			limited, cancel := context.WithTimeout(ctx, config.Patience)
			defer cancel()
			r.ctx = limited
		}
		r.each(ctx, yield)
	}
}

func (r *run) each(ctx context.Context, yield func(Result) bool) {
	for _, step := range r.steps() {
		r.Started(step.check)
		results, err := step.run()
		for _, result := range results {
			if !yield(result) {
				return
			}
		}
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			break
		}
	}
	if r.Policy != nil {
		yield(r.checkPolicy())
	}
}

// step is a check that needs a node. An error skips the remaining steps.
type step struct {
	check Check
	run   func() ([]Result, error)
}

func (r *run) steps() []step {
	steps := []step{
		{CheckNode, r.checkNodes}, {CheckEvents, r.checkEvents}, {CheckClock, single(r.checkClock)},
		{CheckProgram, r.retried(r.checkProgram)}, {CheckConfiguration, r.retried(r.checkConfig)},
	}
	for _, mint := range r.Mints {
		steps = append(steps, step{CheckMint, r.retried(func(ctx context.Context) (Result, error) {
			return r.checkMint(ctx, mint)
		})})
	}
	if r.Wallet.IsZero() {
		return steps
	}
	steps = append(steps, step{CheckLamports, r.retried(r.checkLamports)})
	if len(r.Mints) > 0 && (r.Role != RoleSeller) {
		steps = append(steps, step{CheckTokens, r.retried(r.checkTokens)})
	}
	return steps
}

// single returns a check that cannot fail.
func single(check func() Result) func() ([]Result, error) {
	return func() ([]Result, error) { return []Result{check()}, nil }
}

// retried returns a check that is retried as long as no node responds. If none does, the result is a problem
// of CheckNode.
func (r *run) retried(check func(ctx context.Context) (Result, error)) func() ([]Result, error) {
	return func() ([]Result, error) {
		result, err := retry(r, check)
		if err != nil {
			return []Result{r.unanswered(err)}, err
		}
		return []Result{result}, nil
	}
}

// retry calls a function until it returns no error or Patience has passed. Without Patience it calls it once.
func retry[T any](r *run, attempt func(ctx context.Context) (T, error)) (T, error) {
	once := func() (T, error) {
		ctx, cancel := context.WithTimeout(r.ctx, attemptTimeout)
		defer cancel()
		return attempt(ctx)
	}
	if r.Patience == 0 {
		return once()
	}
	policy := backoff.NewExponentialBackOff()
	policy.InitialInterval, policy.MaxInterval = 200*time.Millisecond, 5*time.Second
	var last error
	value, err := backoff.Retry(r.ctx, func() (T, error) {
		value, err := once()
		if err != nil && r.ctx.Err() == nil {
			last = err
		}
		if errors.Is(err, haggle.ErrClientClosed) {
			err = backoff.Permanent(err)
		}
		return value, err
	}, backoff.WithBackOff(policy), backoff.WithMaxElapsedTime(0),
		backoff.WithNotify(func(err error, pause time.Duration) {
			r.Logger.Warn("no node answers; the next attempt follows", "error", err, "pause", pause)
		}))
	if err != nil && last != nil && !errors.Is(err, haggle.ErrClientClosed) {
		err = last
	}
	return value, err
}

func ok(check Check, format string, values ...any) Result {
	return Result{Check: check, Status: OK, Text: fmt.Sprintf(format, values...)}
}

// failed returns a warning or a problem.
func failed(check Check, status Status, advice, format string, values ...any) Result {
	err := fmt.Errorf(format, values...)
	return Result{Check: check, Status: status, Text: lineOf(err), Advice: advice, Err: err}
}

// lineOf returns an error's message as a single line, without the SDK's prefix.
func lineOf(err error) string {
	return strings.NewReplacer("\n", "; ", "haggle: ", "").Replace(err.Error())
}
