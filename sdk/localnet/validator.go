package localnet

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/internal/wait"
	"github.com/haggle-protocol/haggle/sdk/localnet/jsonrpc"
)

// validator prepares a solana-test-validator with a temporary or kept ledger.
func (c configuration) validator() (_ *launch, err error) {
	rpcPort, base, err := c.options.ports()
	if err != nil {
		return nil, err
	}
	folder, ledger, cleanUp := c.options.Ledger, c.options.Ledger, func() error { return nil }
	if ledger == "" {
		if folder, err = os.MkdirTemp("", "haggle-validator-"); err != nil {
			return nil, err
		}
		ledger, cleanUp = filepath.Join(folder, "ledger"), func() error { return os.RemoveAll(folder) }
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, cleanUp())
		}
	}()
	if ledger, err = filepath.Abs(ledger); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(ledger, 0o700); err != nil {
		return nil, err
	}
	// An existing ledger already contains the program and the faucet.
	var genesis []string
	if !hasLedger(ledger) {
		program, err := c.writeProgram(ledger)
		if err != nil {
			return nil, err
		}
		genesis = []string{
			"--upgradeable-program", c.options.ProgramID.String(), program, c.authority.String(),
			"--mint", c.faucet.String(),
		}
		if !c.options.mint.IsZero() {
			metadata, err := genesisMetadata(ledger, c.options.mint)
			if err != nil {
				return nil, err
			}
			genesis = append(genesis, metadata...)
		}
	}
	port := func(offset int) string { return strconv.Itoa(base + offset) }
	command := exec.Command(c.binary, append(genesis,
		"--ledger", ledger, "--quiet",
		"--bind-address", "127.0.0.1",
		"--rpc-port", strconv.Itoa(rpcPort), // the WebSocket port follows
		"--faucet-port", port(2),
		"--gossip-port", port(3),
		"--dynamic-port-range", port(4)+"-"+port(portBlock-1))...)
	if c.options.GeyserPlugin != "" {
		command.Args = append(command.Args, "--geyser-plugin-config", c.options.GeyserPlugin)
	}
	command.Dir = folder
	return &launch{
		command:   command,
		cleanUp:   cleanUp,
		logFile:   filepath.Join(ledger, "validator.log"),
		endpoints: localEndpoints(rpcPort),
		limit:     90 * time.Second,
	}, nil
}

// localEndpoints returns a chain's endpoints on two consecutive ports.
func localEndpoints(port int) jsonrpc.Endpoints {
	return jsonrpc.Endpoints{
		RPC: fmt.Sprintf("http://127.0.0.1:%d", port),
		WS:  fmt.Sprintf("ws://127.0.0.1:%d", port+1),
	}
}

// awaitBlocks waits for a healthy chain with a confirmed block.
func awaitBlocks(ctx context.Context, url string) error {
	client := rpc.New(url)
	defer client.Close()
	for {
		health, err := client.GetHealth(ctx)
		if err == nil && health == rpc.HealthOk {
			var slot uint64
			if slot, err = client.GetSlot(ctx, rpc.CommitmentConfirmed); err == nil && slot > 0 {
				return nil
			}
		}
		if err := wait.For(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}

// A chain uses a block of consecutive ports: JSON-RPC, WebSocket, and the validator's other servers. Blocks
// are lower than the system's ephemeral ports, so outgoing connections cannot take a port before the chain
// does.
const (
	portBlock    = 40
	firstPort    = 12_000
	lastPort     = 32_000
	portAttempts = 50
	checkedPorts = 4 // the validator chooses the others from a range
)

// lastRPCPort is followed by exactly one port.
const lastRPCPort = 65534

// ErrPortInUse is StartChain's error if another program uses a port of Options.Port.
var ErrPortInUse = errors.New("port in use")

// ports returns the JSON-RPC server's port and the first of a block of free ports. The WebSocket server's port
// follows the JSON-RPC port.
func (o Options) ports() (rpcPort, block int, err error) {
	block, err = freePortBlock()
	if err != nil || o.Port == 0 {
		return block, block, err
	}
	return o.Port, block, nil
}

func freePortBlock() (int, error) {
	for range portAttempts {
		base := firstPort + portBlock*rand.IntN((lastPort-firstPort)/portBlock)
		if portsFree(base, checkedPorts) {
			return base, nil
		}
	}
	return 0, errors.New("no free ports for a chain found")
}

func portsFree(base, count int) bool {
	for port := base; port < base+count; port++ {
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			return false
		}
		_ = listener.Close()
	}
	return true
}
