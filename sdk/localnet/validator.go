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
)

// validatorCommand prepares a solana-test-validator with a ledger of its own.
func validatorCommand(ctx context.Context, root repository, options Options, authority, faucet solana.PublicKey) (*launch, error) {
	binary, err := root.ensure(ctx, "validator", options.Progress)
	if err != nil {
		return nil, err
	}
	base, err := freePortBlock()
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "haggle-validator-")
	if err != nil {
		return nil, err
	}
	where := endpoints{RPC: fmt.Sprintf("http://127.0.0.1:%d", base), WS: fmt.Sprintf("ws://127.0.0.1:%d", base+1)}
	port := func(offset int) string { return strconv.Itoa(base + offset) }
	command := exec.Command(binary,
		"--ledger", folder, "--reset", "--quiet",
		"--upgradeable-program", options.ProgramID.String(), options.ELFPath, authority.String(),
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

// awaitBlocks waits until the chain is healthy and has confirmed its first block.
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
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}

// A validator needs its RPC port and the next one, and some more for its other servers. The blocks lie below the ports that the
// system gives to clients, so that a connection cannot take one of them in between.
const (
	portBlock    = 40
	firstPort    = 12_000
	lastPort     = 32_000
	portAttempts = 50
	checkedPorts = 4 // those that are not chosen from a range
)

func freePortBlock() (int, error) {
	for range portAttempts {
		base := firstPort + portBlock*rand.IntN((lastPort-firstPort)/portBlock)
		if portsFree(base, checkedPorts) {
			return base, nil
		}
	}
	return 0, errors.New("found no free ports for a validator")
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
