package agent

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/internal/preflight"
	"github.com/haggle-protocol/haggle/sdk/token"
)

// preflightTimeout is how long Run retries the checks while no node responds.
const preflightTimeout = time.Minute

// StartError reports that the cluster or wallet does not suit the agent.
type StartError struct {
	// Check is the check that fails: see [CheckResult].Check.
	Check string
	// Err is the problem and what to do about it.
	Err error
}

func (e *StartError) Error() string { return fmt.Sprintf("agent: %s: %v", e.Check, e.Err) }

// Unwrap returns the problem.
func (e *StartError) Unwrap() error { return e.Err }

// Names holds the setting names used in the advice of [Preflight] and [*StartError]. An empty name means the
// name in the SDK's configuration.
type Names struct {
	// Endpoint and WSEndpoint name the URLs of the node.
	Endpoint, WSEndpoint string
	// Mints names the mints.
	Mints string
	// SingleSourceUpTo names the highest price that a single node may confirm.
	SingleSourceUpTo string
	// Fund is an instruction that gives the wallet SOL.
	Fund string
}

// PreflightConfig selects the checks of [Preflight].
type PreflightConfig struct {
	// Client connects to the cluster. It is required.
	Client *haggle.Client
	// Wallet is the account that pays. If zero, lamports and tokens are not checked. The check fails if the
	// lamports do not cover fees; if they do not cover fees and the rent of a new negotiation, there is a
	// warning.
	Wallet solana.PublicKey
	// Mints lists the mints that the wallet sells and buys in.
	Mints []solana.PublicKey
	// Role is the wallet's role: buyer, seller, or any, which an empty role means. A buyer must own tokens,
	// or negotiations with tokens in escrow. For any role missing tokens are a warning. A seller's are not
	// checked.
	Role string
	// Policy is the wallet's policy, such as a *policy.Policy or a *policy.Config. If nil, it is not checked.
	Policy interface{ CheckUsable() error }
	// Started is called before each check. It may be nil.
	Started func(check string)
	// Names holds the setting names for the advice.
	Names Names
}

// CheckResult is a check's result.
type CheckResult struct {
	// Check is the subject: node, events, clock, program, configuration, mint, lamports, tokens or policy. There
	// is a result for each node of the client and for each mint.
	Check string
	// Status is ok, warning or problem. A warning does not prevent an agent's work, or only a part of it.
	Status string
	// Text is a single line that names the subject and state.
	Text string
	// Advice is the next step; empty if the status is ok.
	Advice string
	// Err is the cause; nil if the status is ok.
	Err error
}

// The values of [CheckResult].Status.
const (
	StatusOK      = preflight.OK
	StatusWarning = preflight.Warning
	StatusProblem = preflight.Problem
)

// The values of [CheckResult].Check that callers can add to: see [CheckResult].
const (
	CheckNode   = preflight.CheckNode
	CheckEvents = preflight.CheckEvents
	CheckPolicy = preflight.CheckPolicy
)

// Preflight checks whether an agent can work with a cluster and a wallet: the nodes, the source of events, the
// clock, the program and its configuration, the mints, the wallet's SOL and tokens, and its policy. [Runtime.Run]
// makes the same checks before it starts. If no node answers, Preflight skips the checks that need one. It ends
// early if the context ends.
func Preflight(ctx context.Context, config PreflightConfig) iter.Seq[CheckResult] {
	return func(yield func(CheckResult) bool) {
		for result := range preflight.Run(ctx, preflight.Config{
			Client: config.Client, Wallet: config.Wallet, Mints: config.Mints, Role: config.Role,
			WantedLamports: preflight.FeesLamports + preflight.CreationLamports, Policy: config.Policy,
			Started: config.Started, Names: preflight.Names(config.Names),
		}) {
			if !yield(CheckResult(result)) {
				return
			}
		}
	}
}

// preflight checks the nodes, the program and the wallet for a run. It logs warnings. An agent with no source
// of events starts, too: it then lists the negotiations periodically.
func (r *Runtime) preflight(ctx context.Context, only *single) error {
	for result := range preflight.Run(ctx, r.preflightConfig(only)) {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(result.Err, haggle.ErrClientClosed):
			return haggle.ErrClientClosed
		case result.Status == preflight.OK:
		case result.Status == preflight.Warning, result.Check == preflight.CheckEvents:
			r.config.Logger.Warn(result.Text, "check", result.Check, "advice", result.Advice)
		default:
			err := &StartError{Check: result.Check, Err: fmt.Errorf("%w: %s", result.Err, result.Advice)}
			r.config.Logger.Error("agent not started", "wallet", r.self, "error", err)
			return err
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	r.config.Logger.Info("agent started", "wallet", r.self)
	return nil
}

func (r *Runtime) preflightConfig(only *single) preflight.Config {
	config := preflight.Config{
		Client: r.client, Wallet: r.self, Mints: slices.Collect(maps.Keys(r.config.Mints)), Role: preflight.RoleSeller,
		Decimals: r.config.decimals(), WantedLamports: r.config.wantedLamports(), Patience: r.preflightTimeout, Logger: r.config.Logger,
		Names: preflight.Names(r.config.Names),
	}
	if !only.isChosen() && !r.config.sells() {
		config.Role = preflight.RoleBuyer
	}
	if limited, ok := r.signer.(interface{ CheckUsable() error }); ok {
		config.Policy = limited
	}
	return config
}

// decimals returns the decimals used to compute the limits.
func (c Config) decimals() map[solana.PublicKey]uint8 {
	decimals := make(map[solana.PublicKey]uint8, len(c.Mints))
	for mint, limits := range c.Mints {
		decimals[mint] = limits.Decimals
	}
	return decimals
}

// wantedLamports returns the lamports for fees, for the rent of a token account for each mint that the agent
// sells in, and for the deposits in wrapped SOL.
func (c Config) wantedLamports() uint64 {
	wanted := uint64(preflight.FeesLamports)
	for mint, limits := range c.Mints {
		if limits.MinPrice > 0 {
			wanted += token.AccountRent
		}
		if (mint == solana.WrappedSol || mint == token.WrappedSOL2022) && limits.MaxBond < ^uint64(0)-wanted {
			wanted += limits.MaxBond
		}
	}
	return wanted
}
