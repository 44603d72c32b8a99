package localnet

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"time"

	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/localnet/engine"
	"github.com/haggle-protocol/haggle/sdk/localnet/jsonrpc"
	"github.com/haggle-protocol/haggle/sdk/localnet/ledger"
)

// slotTime is the time between the blocks of a chain in this process.
const slotTime = 50 * time.Millisecond

// inProcess is a chain in this process.
type inProcess struct {
	ledger *ledger.Ledger
	server *jsonrpc.Server
}

// engineModule compiles the engine once per process; all chains share it.
var engineModule = sync.OnceValues(func() (*engine.Module, error) {
	cache, err := CacheFolder()
	if err != nil {
		return nil, err
	}
	return engine.Compile(context.Background(), filepath.Join(cache, "engine"))
})

// startInProcess starts a chain in this process, with the program and a funded faucet.
func startInProcess(ctx context.Context, options Options) (*Chain, error) {
	elf, err := readProgram(options.Program)
	if err != nil {
		return nil, err
	}
	chain := &Chain{Kind: Process, ProgramID: options.ProgramID}
	if chain.UpgradeAuthority, err = options.key(authorityKey); err != nil {
		return nil, err
	}
	if chain.faucet, err = options.key(faucetKey); err != nil {
		return nil, err
	}
	module, err := engineModule()
	if err != nil {
		return nil, err
	}
	started, err := ledger.New(ctx, ledger.Options{Module: module, Faucet: chain.faucet})
	if err != nil {
		return nil, err
	}
	server := jsonrpc.New(started)
	chain.local = &inProcess{started, server}
	if err := started.LoadProgram(options.ProgramID, elf, chain.UpgradeAuthority.PublicKey()); err != nil {
		return nil, errors.Join(err, chain.local.close())
	}
	endpoints, err := server.Listen(options.Port)
	if err != nil {
		return nil, errors.Join(err, chain.local.close())
	}
	server.Run(slotTime)
	chain.RPCURL, chain.WSURL = endpoints.RPC, endpoints.WS
	chain.client = rpc.New(endpoints.RPC)
	return chain, nil
}

func (p *inProcess) close() error { return errors.Join(p.server.Close(), p.ledger.Close()) }

// advanceTo moves the clock, and confirms a block with the new time. The time may have passed meanwhile.
func (p *inProcess) advanceTo(unixTime int64) error {
	if p.ledger.Time() < unixTime {
		if err := p.ledger.AdvanceTo(unixTime); err != nil && p.ledger.Time() < unixTime {
			return err
		}
	}
	return p.ledger.NextBlock()
}
