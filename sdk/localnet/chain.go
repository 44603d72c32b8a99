// Package localnet sets up all that two agents need to bargain with each other: a chain with the program, the protocol's
// configuration, a mint, and a buyer and a seller who have SOL and tokens.
//
// [StartChain] gives a test or a demo the chain alone. It takes the endpoint of HAGGLE_RPC_URL if that is set. Otherwise it starts a chain of its own, of the kind that
// HAGGLE_CHAIN names: "surfpool" (the default: embedded, confirms in some ten milliseconds, travels in time) or "validator"
// (solana-test-validator: the real thing, where time passes as it does). To the caller both are the same; only
// [Chain.AdvanceTo] takes longer on one of them.
//
//	chain, err := localnet.StartChain(ctx, localnet.Options{})
//	...
//	defer chain.Close()
//	mint, err := chain.CreateMint(ctx, 6)
//	err = chain.Endow(ctx, mint, localnet.Holding{Owner: buyer, Lamports: 1e9, Tokens: 5_000_000})
//
// Travelling in time moves the clock of everything on the chain: tests that run in parallel and travel start one chain each.
package localnet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
)

// What StartChain looks for in the environment.
const (
	// EnvRPCURL is the JSON-RPC endpoint of a chain that runs already and has the program loaded.
	EnvRPCURL = "HAGGLE_RPC_URL"
	// EnvWSURL is that chain's WebSocket endpoint. By default it is derived from the RPC endpoint as Solana's tools do.
	EnvWSURL = "HAGGLE_WS_URL"
	// EnvUpgradeAuthority is a Solana CLI keypair file: the upgrade authority of the program on that chain.
	EnvUpgradeAuthority = "HAGGLE_UPGRADE_AUTHORITY"
	// EnvChain is the kind of chain to start if no endpoint is given.
	EnvChain = "HAGGLE_CHAIN"
)

// Kind says what runs a chain.
type Kind string

// The kinds of chain. The first two are values of HAGGLE_CHAIN.
const (
	Surfpool  Kind = "surfpool"
	Validator Kind = "validator"
	External  Kind = "external"
)

// Options say what to load and where to report. The zero value is complete wherever the repository is the working
// directory or above it.
type Options struct {
	// Kind is the chain to start; by default what HAGGLE_CHAIN says, otherwise Surfpool. It and HAGGLE_CHAIN mean nothing when
	// HAGGLE_RPC_URL is set.
	Kind Kind
	// ProgramID is the address of the program; by default the one in the IDL.
	ProgramID solana.PublicKey
	// ELFPath is the program's file; by default program/target/deploy/haggle.so of the repository.
	ELFPath string
	// GeyserPlugin is the configuration file of a Geyser plugin for the validator to load. Only chains of that kind that are started
	// here have any; for others it is an error.
	GeyserPlugin string
	// Log receives what the chain itself logs. Nil discards it; the end of it is part of a failed start's error anyway.
	Log io.Writer
	// Progress is called with a line at a time while something is built or installed, which happens once per machine and
	// takes minutes. It may be called from another goroutine. Nil discards the lines.
	Progress func(line string)
}

// Chain is a running chain. Its methods may be called from several goroutines.
type Chain struct {
	Kind   Kind
	RPCURL string
	WSURL  string
	// ProgramID is the address of the loaded program.
	ProgramID solana.PublicKey
	// UpgradeAuthority is what the program's ProgramData account records. It is nil on an external chain unless
	// HAGGLE_UPGRADE_AUTHORITY names a keypair file.
	UpgradeAuthority solana.PrivateKey

	faucet  solana.PrivateKey
	client  *rpc.Client
	process *process
	travels bool
	// wrapping is held while the mint of wrapped SOL is made.
	wrapping sync.Mutex
	closing  sync.Once
	closed   error
}

// StartChain returns a chain that answers. The context limits the start alone, builds included; the chain runs until Close, or
// until the process that started it ends, however that happens.
func StartChain(ctx context.Context, options Options) (*Chain, error) {
	url := os.Getenv(EnvRPCURL)
	kind := options.Kind
	if kind == "" {
		kind = Kind(os.Getenv(EnvChain))
	}
	if options.GeyserPlugin != "" && (url != "" || kind != Validator) {
		return nil, fmt.Errorf("a Geyser plugin is loaded by a %s that is started here: set %s, and not %s", Validator, EnvChain, EnvRPCURL)
	}
	if url != "" {
		return connect(ctx, url, os.Getenv(EnvWSURL), options)
	}
	switch kind {
	case "", Surfpool:
		return startOwn(ctx, Surfpool, options, surfpoolCommand)
	case Validator:
		return startOwn(ctx, Validator, options, validatorCommand)
	default:
		return nil, fmt.Errorf("%s=%s: the chains are %q and %q", EnvChain, kind, Surfpool, Validator)
	}
}

// Close stops the chain, waits until its processes are gone and removes what they wrote. An external chain goes on. Calling
// it again does nothing.
func (c *Chain) Close() error {
	c.closing.Do(func() {
		c.closed = c.client.Close()
		if c.process != nil {
			c.closed = errors.Join(c.closed, c.process.stop())
		}
	})
	return c.closed
}

func (o Options) withDefaults(root repository) (Options, error) {
	if o.ProgramID.IsZero() {
		id, err := root.programID()
		if err != nil {
			return o, err
		}
		o.ProgramID = id
	}
	if o.ELFPath == "" {
		o.ELFPath = filepath.Join(string(root), "program", "target", "deploy", "haggle.so")
	}
	if _, err := os.Stat(o.ELFPath); err != nil {
		return o, fmt.Errorf("no program to load: %w; build it first: make program", err)
	}
	if o.Log == nil {
		o.Log = io.Discard
	}
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	return o, nil
}

// startAttempts is how often a chain is tried that did not come up, because another process may take a port between its
// choice and its use.
const startAttempts = 3

// A command says how to run a kind of chain.
type command func(ctx context.Context, root repository, options Options, authority, faucet solana.PublicKey) (*launch, error)

func startOwn(ctx context.Context, kind Kind, options Options, prepare command) (*Chain, error) {
	root, err := findRepository()
	if err != nil {
		return nil, err
	}
	if options, err = options.withDefaults(root); err != nil {
		return nil, err
	}
	authority, err := solana.NewRandomPrivateKey()
	if err != nil {
		return nil, err
	}
	faucet, err := solana.NewRandomPrivateKey()
	if err != nil {
		return nil, err
	}
	for attempt := 1; ; attempt++ {
		launch, err := prepare(ctx, root, options, authority.PublicKey(), faucet.PublicKey())
		if err != nil {
			return nil, err
		}
		running, endpoints, err := launch.run(ctx, options.Log)
		if err == nil {
			return &Chain{
				Kind: kind, RPCURL: endpoints.RPC, WSURL: endpoints.WS,
				ProgramID: options.ProgramID, UpgradeAuthority: authority,
				faucet: faucet, client: rpc.New(endpoints.RPC), process: running, travels: kind == Surfpool,
			}, nil
		}
		if attempt == startAttempts || ctx.Err() != nil || !strings.Contains(err.Error(), "in use") {
			return nil, fmt.Errorf("start %s: %w", kind, err)
		}
	}
}
