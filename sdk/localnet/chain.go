package localnet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/localnet/jsonrpc"
)

// Chain is a running chain with the program. It is safe for concurrent use.
type Chain struct {
	// Kind is External if HAGGLE_RPC_URL was set.
	Kind Kind
	// ProgramID is the program's address.
	ProgramID solana.PublicKey
	// UpgradeAuthority is the program's upgrade authority. It is nil on an external chain unless
	// HAGGLE_UPGRADE_AUTHORITY is set.
	UpgradeAuthority solana.PrivateKey

	faucet solana.PrivateKey
	client *rpc.Client
	// endpoints are used for validators and external chains.
	endpoints jsonrpc.Endpoints
	process   *process
	// local is the chain if it runs in process; process is nil then.
	local *inProcess
	// wrapping is locked while a mint of wrapped SOL is created.
	wrapping sync.Mutex
	closing  sync.Once
	closed   error
}

// StartChain starts a chain with the program, or connects to the chain at HAGGLE_RPC_URL, and waits until it
// responds. The protocol is not initialized. The context limits only startup, builds included. The chain runs
// until Close is called or this process ends.
//
// It returns an error if the program or the validator is not found, the port is in use (ErrPortInUse), the
// validator is not ready after 90 s, the ledger contains another program version, or the external chain lacks
// the program.
func StartChain(ctx context.Context, options Options) (*Chain, error) {
	options = options.withDefaults()
	url := os.Getenv(EnvRPCURL)
	if err := options.validate(url); err != nil {
		return nil, err
	}
	if url != "" {
		return connect(ctx, url, os.Getenv(EnvWSURL), options)
	}
	// Before a validator is built.
	if options.Port != 0 && !portsFree(options.Port, 2) {
		return nil, fmt.Errorf("%w: a process uses %d or %d", ErrPortInUse, options.Port, options.Port+1)
	}
	if options.Kind == Process {
		return startInProcess(ctx, options)
	}
	return startValidator(ctx, options)
}

// Close stops the chain, waits for all child processes and removes their files. An external chain continues to
// run. Further calls return the same error.
func (c *Chain) Close() error {
	c.closing.Do(func() {
		c.closed = c.client.Close()
		if c.process != nil {
			c.closed = errors.Join(c.closed, c.process.stop())
		}
		if c.local != nil {
			c.closed = errors.Join(c.closed, c.local.close())
		}
	})
	return c.closed
}

// startAttempts limits attempts to start a validator. Another program can take a chosen port before the
// validator opens it.
const startAttempts = 3

func startValidator(ctx context.Context, options Options) (*Chain, error) {
	elf, err := readProgram(options.Program)
	if err != nil {
		return nil, err
	}
	binary, err := findValidator(ctx, options.Progress)
	if err != nil {
		return nil, err
	}
	chain := &Chain{Kind: Validator, ProgramID: options.ProgramID}
	if chain.UpgradeAuthority, err = options.key(authorityKey); err != nil {
		return nil, err
	}
	if chain.faucet, err = options.key(faucetKey); err != nil {
		return nil, err
	}
	configuration := configuration{options, binary, elf, chain.UpgradeAuthority.PublicKey(), chain.Faucet()}
	for attempt := 1; ; attempt++ {
		launch, err := configuration.validator()
		if err != nil {
			return nil, err
		}
		running, err := launch.run(ctx, options.Log)
		if err == nil {
			chain.process, chain.endpoints = running, launch.endpoints
			chain.client = rpc.New(chain.endpoints.RPC)
			break
		}
		if attempt == startAttempts || ctx.Err() != nil || !strings.Contains(err.Error(), "in use") {
			return nil, fmt.Errorf("start %s: %w", Validator, err)
		}
	}
	if options.Ledger == "" {
		return chain, nil
	}
	if err := chain.checkProgram(ctx, elf); err != nil {
		return nil, errors.Join(fmt.Errorf("ledger %s: %w", options.Ledger, err), chain.Close())
	}
	return chain, nil
}

// configuration determines the validator's command line.
type configuration struct {
	options           Options
	binary            string
	elf               []byte
	authority, faucet solana.PublicKey
}

// writeProgram writes the program's ELF file to a directory and returns the path.
func (c configuration) writeProgram(folder string) (string, error) {
	path := filepath.Join(folder, "haggle.so")
	return path, os.WriteFile(path, c.elf, 0o600)
}
