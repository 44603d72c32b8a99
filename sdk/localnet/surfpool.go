package localnet

import (
	"bufio"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
)

const (
	surfpoolLimit = 30 * time.Second
	// slotTime is the time between the blocks of surfpool. A transaction is confirmed after at most one
	// block.
	slotTime = 50 * time.Millisecond
	// surfpoolFaucetLamports is the balance of surfpool's faucet; solana-test-validator gives the same to its
	// own.
	surfpoolFaucetLamports = 500_000_000 * solana.LAMPORTS_PER_SOL
)

// embedded prepares the embedded surfpool of program/localnet, which loads the program before its
// first block.
func (c configuration) embedded() (*launch, error) {
	port := c.options.Port
	wsPort := 0 // the chain chooses free ports
	if port != 0 {
		if wsPort = port + 1; !portsFree(port, 2) {
			return nil, portInUse(port)
		}
	}
	folder, err := os.MkdirTemp("", "haggle-embedded-")
	if err != nil {
		return nil, err
	}
	cleanUp := func() error { return os.RemoveAll(folder) }
	program, err := c.writeProgram(folder)
	if err != nil {
		return nil, errors.Join(err, cleanUp())
	}
	return &launch{
		command: exec.Command(c.binary.path,
			"--program", c.options.ProgramID.String(), program,
			"--upgrade-authority", c.authority.String(),
			"--faucet", c.faucet.String(),
			"--rpc-port", strconv.Itoa(port), "--ws-port", strconv.Itoa(wsPort),
			"--slot-time", strconv.FormatInt(slotTime.Milliseconds(), 10),
			"--exit-with-parent"),
		cleanUp: cleanUp,
		ready:   readEndpoints,
		limit:   surfpoolLimit,
	}, nil
}

// readEndpoints reads the line that the embedded chain prints when it is ready.
func readEndpoints(_ context.Context, stdout io.Reader) (endpoints, error) {
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	if err != nil {
		return endpoints{}, fmt.Errorf("no endpoints on stdout: %w", err)
	}
	var where endpoints
	if err := json.Unmarshal(line, &where); err != nil {
		return endpoints{}, fmt.Errorf("no endpoints in %q: %w", line, err)
	}
	return where, nil
}

// surfpool prepares the command surfpool. It starts empty; the program and the faucet are written by
// RPC.
func (c configuration) surfpool() (*launch, error) {
	base, _, err := c.options.ports()
	if err != nil {
		return nil, err
	}
	// surfpool writes logs to its working directory, and deploys programs that it finds there.
	folder, err := os.MkdirTemp("", "haggle-surfpool-")
	if err != nil {
		return nil, err
	}
	where := localEndpoints(base)
	command := exec.Command(c.binary.path, "start",
		"--host", "127.0.0.1",
		"--port", strconv.Itoa(base),
		"--ws-port", strconv.Itoa(base+1),
		"--slot-time", strconv.FormatInt(slotTime.Milliseconds(), 10),
		"--offline", "--no-deploy", "--no-studio", "--no-tui")
	command.Dir = folder
	return &launch{
		command:      command,
		cleanUp:      func() error { return os.RemoveAll(folder) },
		logsToStdout: true,
		ready: func(ctx context.Context, _ io.Reader) (endpoints, error) {
			if err := awaitBlocks(ctx, where.RPC); err != nil {
				return endpoints{}, err
			}
			return where, writeState(ctx, where.RPC, c.options.ProgramID, c.elf, c.authority, c.faucet)
		},
		limit: surfpoolLimit,
	}, nil
}

// writeState writes the program, as an upgradeable one, and the faucet's balance to a running surfpool.
func writeState(ctx context.Context, url string, program solana.PublicKey, elf []byte, authority,
	faucet solana.PublicKey) error {
	client := rpc.New(url)
	defer client.Close()
	var done struct{}
	err := client.RPCCallForInto(ctx, &done, "surfnet_writeProgram",
		[]any{program, hex.EncodeToString(elf), 0, authority})
	if err != nil {
		return fmt.Errorf("load the program: %w", err)
	}
	balance := map[string]uint64{"lamports": surfpoolFaucetLamports}
	if err := client.RPCCallForInto(ctx, &done, "surfnet_setAccount", []any{faucet, balance}); err != nil {
		return fmt.Errorf("fund the faucet: %w", err)
	}
	return nil
}
