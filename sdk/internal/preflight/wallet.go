package preflight

import (
	"context"
	"errors"
	"fmt"
	"slices"

	bin "github.com/gagliardetto/binary"
	"github.com/gagliardetto/solana-go"
	spltoken "github.com/gagliardetto/solana-go/programs/token"
	"github.com/gagliardetto/solana-go/rpc"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/token"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

func sol(lamports uint64) amount.Tokens {
	return amount.Tokens{Units: lamports, Decimals: amount.SOLDecimals}
}

func (r *run) checkLamports(ctx context.Context) (Result, error) {
	wallet, err := r.account(ctx, r.Wallet)
	if err != nil {
		return Result{}, err
	}
	have := uint64(0)
	if wallet != nil {
		have = wallet.Lamports
	}
	switch {
	case have < r.MinLamports:
		return failed(CheckLamports, Problem, r.Names.Fund,
			"wallet %s: has %s SOL, needs at least %s for fees", r.Wallet, sol(have), sol(r.MinLamports)), nil
	case have < r.WantedLamports:
		return failed(CheckLamports, Warning, r.Names.Fund,
			"wallet %s: has %s SOL, enough for fees; with rent and deposits it may need %s",
			r.Wallet, sol(have), sol(r.WantedLamports)), nil
	}
	return ok(CheckLamports, "wallet %s: has %s SOL", r.Wallet, sol(have)), nil
}

// checkTokens checks that a buyer owns tokens, including tokens in escrow.
func (r *run) checkTokens(ctx context.Context) (Result, error) {
	for _, mint := range r.Mints {
		if mint == solana.WrappedSol || mint == token.WrappedSOL2022 {
			return ok(CheckTokens, "tokens: the wallet can wrap its SOL"), nil
		}
		holds, err := r.holdsTokens(ctx, mint)
		if err != nil {
			return Result{}, err
		}
		if holds {
			return ok(CheckTokens, "tokens: the wallet has tokens of mint %s", mint), nil
		}
	}
	for _, err := range r.Client.FindNegotiations(ctx, haggle.Filter{Buyer: r.Wallet}) {
		if err == nil || isUndecodable(err) {
			return ok(CheckTokens, "tokens: the wallet has none left, but negotiations as a buyer"), nil
		}
		return Result{}, err
	}
	status := Problem
	if r.Role != RoleBuyer {
		status = Warning
	}
	return failed(CheckTokens, status,
		"a buyer needs tokens: send some to the wallet, or change "+r.Names.Mints,
		"wallet %s: has no tokens of any of the mints, and no negotiation as a buyer", r.Wallet), nil
}

// holdsTokens reports whether any of the wallet's token accounts holds the mint's tokens. It decodes the
// list: a request per account would let anyone delay the check by creating empty accounts for the wallet.
func (r *run) holdsTokens(ctx context.Context, mint solana.PublicKey) (bool, error) {
	listed, err := r.Client.RPC().GetTokenAccountsByOwner(ctx, r.Wallet,
		&rpc.GetTokenAccountsConfig{Mint: &mint},
		&rpc.GetTokenAccountsOpts{Encoding: solana.EncodingBase64, Commitment: rpc.CommitmentConfirmed})
	if err != nil {
		return false, err
	}
	if listed == nil {
		return false, fmt.Errorf("%w: no list of token accounts", transaction.ErrMalformed)
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

func (r *run) checkPolicy() Result {
	if err := r.Policy.CheckUsable(); err != nil {
		advice := "to read the limits: haggle policy check FILE"
		var advised advisor
		if errors.As(err, &advised) {
			advice = advised.Advice()
		}
		return failed(CheckPolicy, Problem, advice, "policy: signs nothing: %w", err)
	}
	return ok(CheckPolicy, "policy: limits what the wallet signs")
}

// advisor is an error with the next step.
type advisor interface {
	error
	Advice() string
}
