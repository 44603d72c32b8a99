package localnet

import (
	"bufio"
	"context"
	"encoding/hex"
	"encoding/json"
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

// embeddedCommand prepares the embedded surfpool of program/localnet, which loads the program before its
// first block.
func embeddedCommand(binary string, options Options, authority, faucet solana.PublicKey) (*launch, error) {
	return &launch{
		command: exec.Command(binary,
			"--program", options.ProgramID.String(), options.Program,
			"--upgrade-authority", authority.String(),
			"--faucet", faucet.String(),
			"--slot-time", strconv.FormatInt(slotTime.Milliseconds(), 10),
			"--exit-with-parent"),
		ready: readEndpoints,
		limit: surfpoolLimit,
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

// surfpoolCommand prepares the command surfpool. It starts empty; the program and the faucet are written by
// RPC.
func surfpoolCommand(binary string, options Options, authority, faucet solana.PublicKey) (*launch, error) {
	elf, err := os.ReadFile(options.Program)
	if err != nil {
		return nil, err
	}
	base, err := freePortBlock()
	if err != nil {
		return nil, err
	}
	// surfpool writes logs to its working directory, and deploys programs that it finds there.
	folder, err := os.MkdirTemp("", "haggle-surfpool-")
	if err != nil {
		return nil, err
	}
	where := localEndpoints(base)
	command := exec.Command(binary, "start",
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
			return where, writeState(ctx, where.RPC, options.ProgramID, elf, authority, faucet)
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
