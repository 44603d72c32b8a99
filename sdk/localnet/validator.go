package localnet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/internal/wait"
)

// validatorCommand prepares a solana-test-validator with its own ledger.
func validatorCommand(binary string, options Options, authority, faucet solana.PublicKey) (*launch, error) {
	base, err := freePortBlock()
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "haggle-validator-")
	if err != nil {
		return nil, err
	}
	where := localEndpoints(base)
	port := func(offset int) string { return strconv.Itoa(base + offset) }
	command := exec.Command(binary,
		"--ledger", folder, "--reset", "--quiet",
		"--upgradeable-program", options.ProgramID.String(), options.Program, authority.String(),
		"--mint", faucet.String(),
		"--bind-address", "127.0.0.1",
		"--rpc-port", port(0), // the WebSocket port is the next one
		"--faucet-port", port(2),
		"--gossip-port", port(3),
		"--dynamic-port-range", port(4)+"-"+port(portBlock-1))
	if options.GeyserPlugin != "" {
		command.Args = append(command.Args, "--geyser-plugin-config", options.GeyserPlugin)
	}
	command.Dir = folder
	return &launch{
		command: command,
		cleanUp: func() error { return os.RemoveAll(folder) },
		logFile: filepath.Join(folder, "validator.log"),
		ready: func(ctx context.Context, _ io.Reader) (endpoints, error) {
			return where, awaitBlocks(ctx, where.RPC)
		},
		limit: 90 * time.Second,
	}, nil
}

// localEndpoints are the endpoints of a chain on two consecutive ports.
func localEndpoints(port int) endpoints {
	return endpoints{
		RPC: fmt.Sprintf("http://127.0.0.1:%d", port),
		WS:  fmt.Sprintf("ws://127.0.0.1:%d", port+1),
	}
}

// awaitBlocks returns when the chain is healthy and has confirmed its first block.
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

// A chain gets a block of consecutive ports: JSON-RPC, WebSocket, and those of a validator's other servers.
// Blocks are below the ports of the system's outgoing connections, so that no connection takes one before the
// chain does.
const (
	portBlock    = 40
	firstPort    = 12_000
	lastPort     = 32_000
	portAttempts = 50
	checkedPorts = 4 // the validator chooses the others from a range
)

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
