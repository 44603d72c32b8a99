package agent

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/preflight"
	"github.com/haggle-protocol/haggle/sdk/token"
)

// preflightTimeout is how long Run retries its checks while no node answers them.
const preflightTimeout = time.Minute

// StartError reports that an agent cannot work with its cluster or wallet.
type StartError struct {
	// Check is the check that fails: one of package preflight.
	Check string
	// Err is the problem and what to do about it.
	Err error
}

func (e *StartError) Error() string { return fmt.Sprintf("agent: %s: %v", e.Check, e.Err) }

// Unwrap returns the problem.
func (e *StartError) Unwrap() error { return e.Err }

// preflight checks the nodes, the program and the wallet before a run. It logs warnings. Without a source of
// events the agent starts, too: it then lists its negotiations periodically.
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
			err := &StartError{Check: string(result.Check), Err: fmt.Errorf("%w: %s", result.Err, result.Advice)}
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
		Names: r.config.Names,
	}
	if !only.isChosen() && !r.config.sells() {
		config.Role = preflight.RoleBuyer
	}
	if limited, ok := r.signer.(interface{ CheckUsable() error }); ok {
		config.Policy = limited
	}
	return config
}

// decimals returns the decimals with which the limits were computed.
func (c Config) decimals() map[solana.PublicKey]uint8 {
	decimals := make(map[solana.PublicKey]uint8, len(c.Mints))
	for mint, limits := range c.Mints {
		decimals[mint] = limits.Decimals
	}
	return decimals
}

// wantedLamports returns the lamports of fees, the rent of a token account for each mint in which the agent
// sells, and the deposits in wrapped SOL.
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
