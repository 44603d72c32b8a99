package localnet

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"sync"
	"time"

	"github.com/haggle-protocol/haggle/sdk/localnet/engine"
	"github.com/haggle-protocol/haggle/sdk/localnet/jsonrpc"
	"github.com/haggle-protocol/haggle/sdk/localnet/ledger"
)

// slotTime is the block interval for in-process chains.
const slotTime = 50 * time.Millisecond

// inProcess is an in-process chain.
type inProcess struct {
	ledger *ledger.Ledger
	server *jsonrpc.Server

	lock sync.Mutex
	// endpoints are set once the server has ports.
	endpoints jsonrpc.Endpoints
	nodes     []*Node
}

// engineModule compiles the engine once; all chains share it.
var engineModule = sync.OnceValues(func() (*engine.Module, error) {
	cache, err := CacheFolder()
	if err != nil {
		return nil, err
	}
	return engine.Compile(context.Background(), filepath.Join(cache, "engine"))
})

// startInProcess starts an in-process chain with the program and a funded faucet.
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
	chain.local = &inProcess{ledger: started, server: server}
	if err := started.LoadProgram(options.ProgramID, elf, chain.UpgradeAuthority.PublicKey()); err != nil {
		return nil, errors.Join(err, chain.local.close())
	}
	if options.Port != 0 {
		if _, err := chain.local.listen(options.Port); err != nil {
			return nil, errors.Join(err, chain.local.close())
		}
	}
	server.Run(slotTime)
	chain.client = server.Client()
	return chain, nil
}

// listen opens ports, unless they are already open. If port is zero, it chooses free ports.
func (p *inProcess) listen(port int) (jsonrpc.Endpoints, error) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.endpoints != (jsonrpc.Endpoints{}) {
		return p.endpoints, nil
	}
	var err error
	p.endpoints, err = p.server.Listen(port)
	return p.endpoints, err
}

// dial opens connections to the server that need no port, and TCP connections to all other addresses.
func (p *inProcess) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if address == jsonrpc.InProcessAddress {
		return p.server.Dial(ctx, network, address)
	}
	return (&net.Dialer{}).DialContext(ctx, network, address)
}

func (p *inProcess) close() error {
	p.lock.Lock()
	defer p.lock.Unlock()
	err := p.server.Close()
	for _, node := range p.nodes {
		err = errors.Join(err, node.server.Close())
	}
	return errors.Join(err, p.ledger.Close())
}

// advanceTo moves the clock, and confirms a block with the new time. The time may have passed meanwhile.
func (p *inProcess) advanceTo(unixTime int64) error {
	if p.ledger.Time() < unixTime {
		if err := p.ledger.AdvanceTo(unixTime); err != nil && p.ledger.Time() < unixTime {
			return err
		}
	}
	return p.ledger.NextBlock()
}
