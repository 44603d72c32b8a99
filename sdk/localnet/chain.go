package localnet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
)

// Chain is a running chain with the program. Its methods can be called from several goroutines.
type Chain struct {
	// Kind is External if HAGGLE_RPC_URL was set.
	Kind Kind
	// RPCURL and WSURL are the chain's JSON-RPC and WebSocket endpoints.
	RPCURL string
	WSURL  string
	// ProgramID is the address of the program.
	ProgramID solana.PublicKey
	// UpgradeAuthority is the program's upgrade authority. It is nil on an external chain unless
	// HAGGLE_UPGRADE_AUTHORITY is set.
	UpgradeAuthority solana.PrivateKey

	faucet  solana.PrivateKey
	client  *rpc.Client
	process *process
	// travels reports whether the clock can be set.
	travels bool
	// wrapping is locked while a mint of wrapped SOL is created.
	wrapping sync.Mutex
	closing  sync.Once
	closed   error
}

// StartChain starts a chain with the program, or connects to the one of HAGGLE_RPC_URL, and returns when it
// answers. The protocol is not initialized. The context limits only the start, builds included. The chain
// runs until Close or until this process ends.
//
// It returns an error if the program or the chain's binary is not found, the chain is not ready after 30 s
// (Surfpool) or 90 s (Validator), or the external chain does not have the program.
func StartChain(ctx context.Context, options Options) (*Chain, error) {
	options = options.withDefaults()
	url := os.Getenv(EnvRPCURL)
	if err := options.validate(url); err != nil {
		return nil, err
	}
	if url != "" {
		return connect(ctx, url, os.Getenv(EnvWSURL), options)
	}
	return startOwn(ctx, options)
}

// Close stops the chain, waits until its processes have ended and removes their files. An external chain
// continues to run. Further calls return the same error.
func (c *Chain) Close() error {
	c.closing.Do(func() {
		c.closed = c.client.Close()
		if c.process != nil {
			c.closed = errors.Join(c.closed, c.process.stop())
		}
	})
	return c.closed
}

// startAttempts is the number of attempts to start a chain. Another process can take a port between its
// choice and its use.
const startAttempts = 3

func startOwn(ctx context.Context, options Options) (*Chain, error) {
	from, err := findCheckout()
	if err != nil {
		return nil, err
	}
	if options.Kind == "" {
		if options.Kind, err = from.defaultKind(); err != nil {
			return nil, err
		}
	}
	if options.Program, err = from.findProgram(options.Program); err != nil {
		return nil, err
	}
	binary, err := from.command(ctx, options.Kind, options.Progress)
	if err != nil {
		return nil, err
	}
	prepare := validatorCommand
	if options.Kind == Surfpool {
		prepare = embeddedCommand
		if from == "" {
			prepare = surfpoolCommand
		}
	}
	chain := &Chain{Kind: options.Kind, ProgramID: options.ProgramID, travels: options.Kind == Surfpool}
	if chain.UpgradeAuthority, err = solana.NewRandomPrivateKey(); err != nil {
		return nil, err
	}
	if chain.faucet, err = solana.NewRandomPrivateKey(); err != nil {
		return nil, err
	}
	for attempt := 1; ; attempt++ {
		launch, err := prepare(binary, options, chain.UpgradeAuthority.PublicKey(), chain.Faucet())
		if err != nil {
			return nil, err
		}
		running, endpoints, err := launch.run(ctx, options.Log)
		if err == nil {
			chain.process, chain.RPCURL, chain.WSURL = running, endpoints.RPC, endpoints.WS
			chain.client = rpc.New(endpoints.RPC)
			return chain, nil
		}
		if attempt == startAttempts || ctx.Err() != nil || !strings.Contains(err.Error(), "in use") {
			return nil, fmt.Errorf("start %s: %w", options.Kind, err)
		}
	}
}
