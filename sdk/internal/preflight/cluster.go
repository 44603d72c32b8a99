package preflight

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// checkNodes reads the chain's clock, which makes the client request the slot of every node.
func (r *run) checkNodes() ([]Result, error) {
	now, err := retry(r, r.Client.Now)
	if err != nil {
		return r.deadNodes(err), err
	}
	r.now, r.nowAt = now, time.Now()
	var results []Result
	for _, health := range r.Client.Nodes() {
		results = append(results, r.nodeResult(health))
	}
	return results, nil
}

// maxLag is the number of slots that a node may be behind others: one minute.
const maxLag = 150

// nodeResult returns a node's result while any node responds.
func (r *run) nodeResult(health transaction.NodeHealth) Result {
	switch {
	case errors.Is(health.Err, transaction.ErrOtherCluster):
		return failed(CheckNode, Problem, "check "+r.Names.Endpoint+": all nodes must be of one cluster",
			"node %s: %w", health.Host, health.Err)
	case health.Err != nil:
		return failed(CheckNode, Warning, "the other nodes are used; check its URL",
			"node %s: %w", health.Host, health.Err)
	case health.Lag > maxLag:
		return failed(CheckNode, Warning, "the other nodes are used until it has caught up",
			"node %s: %d slots behind", health.Host, health.Lag)
	case health.Latency == 0:
		return failed(CheckNode, Warning, "the other nodes are used; check its URL",
			"node %s: no answer yet", health.Host)
	}
	return ok(CheckNode, "node %s: answers, at slot %d", health.Host, health.Slot)
}

// deadNodes returns the results if no node responds.
func (r *run) deadNodes(err error) []Result {
	nodes := r.Client.Nodes()
	var results []Result
	for _, health := range nodes {
		if len(nodes) > 1 && health.Err != nil {
			results = append(results, failed(CheckNode, Problem, "check "+r.Names.Endpoint,
				"node %s: %w", health.Host, health.Err))
		}
	}
	if results == nil {
		results = append(results, r.unanswered(err))
	}
	return results
}

// unanswered is the result for requests that no node answers.
func (r *run) unanswered(err error) Result {
	host := ""
	if nodes := r.Client.Nodes(); len(nodes) == 1 {
		host = "node " + nodes[0].Host + ": "
	}
	return failed(CheckNode, Problem, "check "+r.Names.Endpoint+", and that the node is running",
		"%sno usable answer: %w", host, err)
}

// checkEvents subscribes once. An agent also works without events, but reacts later.
func (r *run) checkEvents() ([]Result, error) {
	address, _, err := protocol.FindConfigAddress()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(r.ctx, attemptTimeout)
	defer cancel()
	subscription, err := r.Client.Watch(ctx, address)
	if err != nil {
		return []Result{failed(CheckEvents, Problem,
			"check "+r.Names.WSEndpoint+" (by default the port after the one of "+r.Names.Endpoint+
				"); without it, agents react late and watchers fail",
			"events: %w", err)}, nil
	}
	subscription.Close()
	return []Result{ok(CheckEvents, "events: subscribed")}, nil
}

func (r *run) checkClock() Result {
	skew := r.nowAt.Sub(time.Unix(r.now, 0)).Round(time.Second)
	if skew.Abs() <= maxSkew {
		return ok(CheckClock, "clock: within %s of the chain's", maxSkew)
	}
	direction := "ahead of"
	if skew < 0 {
		direction = "behind"
	}
	return failed(CheckClock, Warning,
		"deadlines follow the chain's clock; set the machine's by NTP, unless the chain is a local one",
		"clock: the machine's is %s %s the chain's", skew.Abs(), direction)
}

// account returns an account, or nil if it does not exist.
func (r *run) account(ctx context.Context, address solana.PublicKey) (*rpc.Account, error) {
	answer, err := r.Client.RPC().GetMultipleAccountsWithOpts(ctx, []solana.PublicKey{address},
		&rpc.GetMultipleAccountsOpts{Encoding: solana.EncodingBase64, Commitment: rpc.CommitmentConfirmed})
	if err != nil {
		return nil, err
	}
	if len(answer.Value) != 1 {
		return nil, fmt.Errorf("node returned %d accounts instead of 1", len(answer.Value))
	}
	return answer.Value[0], nil
}

func (r *run) checkProgram(ctx context.Context) (Result, error) {
	program, err := r.account(ctx, protocol.ProgramID)
	if err != nil {
		return Result{}, err
	}
	if program == nil || !program.Executable {
		return failed(CheckProgram, Problem, "check "+r.Names.Endpoint+": the cluster may be another one",
			"%w", &missing{"program " + protocol.ProgramAddress + " is not deployed on this cluster"}), nil
	}
	return ok(CheckProgram, "program %s: deployed", protocol.ProgramAddress), nil
}

// missing is the error for accounts that should exist.
type missing struct{ text string }

func (m *missing) Error() string { return m.text }

// Unwrap returns protocol.ErrAccountNotFound.
func (*missing) Unwrap() error { return protocol.ErrAccountNotFound }

func (r *run) checkConfig(ctx context.Context) (Result, error) {
	config, err := r.Client.GetConfig(ctx)
	switch {
	case errors.Is(err, protocol.ErrAccountNotFound) || isUndecodable(err):
		return failed(CheckConfiguration, Problem,
			"check "+r.Names.Endpoint+"; on a cluster of your own: haggle config init",
			"configuration: the protocol is not initialized on this cluster: %w", err), nil
	case err != nil:
		return Result{}, err
	case config.IsPaused:
		return failed(CheckConfiguration, Warning,
			"existing negotiations continue; wait until the protocol's authority ends the pause",
			"configuration: the creation of negotiations is paused"), nil
	}
	return ok(CheckConfiguration, "configuration: initialized, not paused"), nil
}

func (r *run) checkMint(ctx context.Context, address solana.PublicKey) (Result, error) {
	mint, err := r.Client.GetMint(ctx, address)
	if err == nil {
		err = mint.Check()
	}
	if expected, stated := r.Decimals[address]; err == nil && stated && expected != mint.Decimals {
		err = &token.DecimalsError{Mint: address, Source: "the node", Decimals: mint.Decimals,
			Reference: r.Names.Mints, Expected: expected}
	}
	unsupported := new(token.UnsupportedMint)
	switch {
	case isUndecodable(err):
		return failed(CheckMint, Problem, "check "+r.Names.Mints+": the address may be a wallet's or a token account's",
			"%s: %w", address, &notMint{err}), nil
	case errors.Is(err, protocol.ErrAccountNotFound):
		return failed(CheckMint, Problem, "check "+r.Names.Mints+": the mint may be of another cluster",
			"mint %s: %w", address, err), nil
	case errors.As(err, new(*token.DecimalsError)):
		return failed(CheckMint, Problem, "compare the decimals with the mint's issuer; stop using the wrong node",
			"mint %s: %w", address, err), nil
	case errors.As(err, &unsupported):
		return failed(CheckMint, Problem, "use another mint: docs/PROTOCOL.md lists the allowed extensions",
			"mint %s: %w", address, err), nil
	case err != nil:
		return Result{}, err
	}
	return ok(CheckMint, "mint %s: supported", address), nil
}

// notMint is the error for accounts that are no mint.
type notMint struct{ error }

func (*notMint) Error() string { return "not a mint" }

func (e *notMint) Unwrap() error { return e.error }

// isUndecodable reports whether an account is not of the expected kind.
func isUndecodable(err error) bool {
	var decode *protocol.DecodeError
	return errors.As(err, &decode) || errors.Is(err, protocol.ErrWrongOwner)
}
