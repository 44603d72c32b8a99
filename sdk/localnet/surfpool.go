package localnet

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"time"

	"github.com/gagliardetto/solana-go"
)

// surfpoolCommand prepares the embedded chain of program/localnet.
func surfpoolCommand(ctx context.Context, root repository, options Options, authority, faucet solana.PublicKey) (*launch, error) {
	binary, err := root.ensure(ctx, "localnet", options.Progress)
	if err != nil {
		return nil, err
	}
	return &launch{
		command: exec.Command(binary,
			"--program", options.ProgramID.String(), options.ELFPath,
			"--upgrade-authority", authority.String(),
			"--faucet", faucet.String(),
			"--exit-with-parent"),
		ready: readEndpoints,
		limit: 30 * time.Second,
	}, nil
}

// readEndpoints reads the line that the embedded chain prints when it answers.
func readEndpoints(_ context.Context, stdout io.Reader) (endpoints, error) {
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	if err != nil {
		return endpoints{}, fmt.Errorf("it ended without saying where it listens: %w", err)
	}
	var where endpoints
	if err := json.Unmarshal(line, &where); err != nil {
		return endpoints{}, fmt.Errorf("it said %q: %w", line, err)
	}
	return where, nil
}
