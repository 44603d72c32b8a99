package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cenkalti/backoff/v5"
	bin "github.com/gagliardetto/binary"
	"github.com/gagliardetto/solana-go"
	spltoken "github.com/gagliardetto/solana-go/programs/token"
	"github.com/gagliardetto/solana-go/rpc"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/node"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
)

const (
	// preflightTimeout is how long Run retries its checks while no node answers them.
	preflightTimeout = time.Minute
	// preflightAttempt limits one check.
	preflightAttempt = 5 * time.Second
	// minLamports are the fees of twenty transactions.
	minLamports = 20 * 5_000
)

// StartError reports that an agent cannot work with its cluster or wallet.
type StartError struct {
	// Check is the check that fails: "node", "program", "configuration", "mint", "lamports" or "tokens".
	Check string
	// Err is the reason.
	Err error
}

func startError(check, format string, values ...any) error {
	return &StartError{Check: check, Err: fmt.Errorf(format, values...)}
}

func (e *StartError) Error() string { return fmt.Sprintf("agent: %s: %v", e.Check, e.Err) }

// Unwrap returns the reason.
func (e *StartError) Unwrap() error { return e.Err }

// preflight checks the node, the program and the wallet before a run.
func (r *Runtime) preflight(ctx context.Context, only *single) error {
	checks := []func(context.Context) error{r.checkProgram, r.checkConfig, r.checkMints, r.checkLamports}
	if !only.isChosen() && !r.config.sells() {
		checks = append(checks, r.checkTokens)
	}
	limited, cancel := context.WithTimeout(ctx, r.preflightTimeout)
	defer cancel()
	for _, check := range checks {
		if err := r.retryCheck(limited, check); err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			r.config.Logger.Error("the agent does not start", "wallet", r.self, "error", err)
			return err
		}
	}
	r.config.Logger.Info("the agent starts", "wallet", r.self)
	return nil
}

// retryCheck retries a check as long as no node answers it.
func (r *Runtime) retryCheck(ctx context.Context, check func(context.Context) error) error {
	policy := backoff.NewExponentialBackOff()
	policy.InitialInterval, policy.MaxInterval = 200*time.Millisecond, 5*time.Second
	var last error
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		attempt, cancel := context.WithTimeout(ctx, preflightAttempt)
		defer cancel()
		err := check(attempt)
		var failed *StartError
		if errors.As(err, &failed) || errors.Is(err, haggle.ErrClientClosed) {
			err = backoff.Permanent(err)
		}
		if err != nil && ctx.Err() == nil {
			last = err
		}
		return struct{}{}, err
	}, backoff.WithBackOff(policy), backoff.WithMaxElapsedTime(0),
		backoff.WithNotify(func(err error, pause time.Duration) {
			r.config.Logger.Warn("no node answers; the next attempt follows", "error", err, "pause", pause)
		}))
	var failed *StartError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &failed):
		return failed
	case errors.Is(err, haggle.ErrClientClosed):
		return haggle.ErrClientClosed
	case last == nil:
		last = err
	}
	return startError("node", "no usable answer: check Endpoint: %w", last)
}

// account returns an account, or nil if it does not exist.
func (r *Runtime) account(ctx context.Context, address solana.PublicKey) (*rpc.Account, error) {
	answer, err := r.client.RPC().GetMultipleAccountsWithOpts(ctx, []solana.PublicKey{address},
		&rpc.GetMultipleAccountsOpts{Encoding: solana.EncodingBase64, Commitment: rpc.CommitmentConfirmed})
	if err != nil {
		return nil, err
	}
	if len(answer.Value) != 1 {
		return nil, fmt.Errorf("the node returned %d accounts instead of 1", len(answer.Value))
	}
	return answer.Value[0], nil
}

func (r *Runtime) checkProgram(ctx context.Context) error {
	program, err := r.account(ctx, protocol.ProgramID)
	switch {
	case err != nil:
		return err
	case program == nil || !program.Executable:
		return startError("program", "program %s is not deployed on this cluster: check Endpoint",
			protocol.ProgramID)
	}
	return nil
}

func (r *Runtime) checkConfig(ctx context.Context) error {
	_, err := r.client.GetConfig(ctx)
	if errors.Is(err, protocol.ErrAccountNotFound) || isUndecodable(err) {
		return startError("configuration", "the protocol is not initialized on this cluster: %w", err)
	}
	return err
}

func (r *Runtime) checkMints(ctx context.Context) error {
	for address := range r.config.Mints {
		mint, err := r.client.GetMint(ctx, address)
		if err == nil {
			err = mint.Check()
		}
		unsupported := new(token.UnsupportedMint)
		if errors.As(err, &unsupported) || errors.Is(err, protocol.ErrAccountNotFound) || isUndecodable(err) {
			return startError("mint", "Config.Mints: %s: %w", address, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// isUndecodable reports whether an account is not of the expected kind.
func isUndecodable(err error) bool {
	var decode *protocol.DecodeError
	return errors.As(err, &decode) || errors.Is(err, protocol.ErrWrongOwner)
}

func (r *Runtime) checkLamports(ctx context.Context) error {
	wallet, err := r.account(ctx, r.self)
	if err != nil {
		return err
	}
	have := uint64(0)
	if wallet != nil {
		have = wallet.Lamports
	}
	if have < minLamports {
		return startError("lamports",
			"wallet %s has %d lamports, at least %d are needed for fees: fund it with SOL", r.self, have, minLamports)
	}
	return nil
}

// checkTokens checks that a buyer has tokens. They may be in the escrow of its negotiations.
func (r *Runtime) checkTokens(ctx context.Context) error {
	for mint := range r.config.Mints {
		if mint == solana.WrappedSol || mint == token.WrappedSOL2022 {
			return nil // lamports can be wrapped
		}
		if holds, err := r.holdsTokens(ctx, mint); holds || err != nil {
			return err
		}
	}
	for _, err := range r.client.FindNegotiations(ctx, haggle.Filter{Buyer: r.self}) {
		if err == nil || isUndecodable(err) {
			return nil
		}
		return err
	}
	return startError("tokens", "buyer %s has no tokens of any of Config.Mints, and no negotiation", r.self)
}

// holdsTokens reports whether any of the wallet's token accounts holds tokens of a mint. It decodes the list:
// one request for each account would let anyone delay the start by creating empty accounts for the wallet.
func (r *Runtime) holdsTokens(ctx context.Context, mint solana.PublicKey) (bool, error) {
	listed, err := r.client.RPC().GetTokenAccountsByOwner(ctx, r.self, &rpc.GetTokenAccountsConfig{Mint: &mint},
		&rpc.GetTokenAccountsOpts{Encoding: solana.EncodingBase64, Commitment: rpc.CommitmentConfirmed})
	if err != nil {
		return false, err
	}
	if listed == nil {
		return false, fmt.Errorf("%w: no list of token accounts", node.ErrMalformed)
	}
	return slices.ContainsFunc(listed.Value, func(held *rpc.TokenAccount) bool {
		if held == nil {
			return false
		}
		var account spltoken.Account
		err := account.UnmarshalWithDecoder(bin.NewBinDecoder(held.Account.Data.GetBinary()))
		return err == nil && account.Amount > 0
	}), nil
}
