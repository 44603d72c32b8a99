package gatewayload

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/haggle-protocol/haggle/sdk/localnet"
)

// gateway is a running `haggle serve`.
type gateway struct {
	url      string
	process  *exec.Cmd
	ended    chan error
	log      *os.File
	stopping sync.Once
	err      error
}

// environment is the environment for a run's commands: their files are in folder.
func environment(folder string) []string { return append(os.Environ(), "XDG_STATE_HOME="+folder) }

const stopLimit = 30 * time.Second

// startGateway starts a gateway with the limits of a new installation.
func startGateway(ctx context.Context, program, address, folder string) (g *gateway, err error) {
	g = &gateway{ended: make(chan error, 1)}
	if g.log, err = os.CreateTemp(folder, "gateway-*.log"); err != nil {
		return nil, err
	}
	reading, writing, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer reading.Close()
	g.process = exec.Command(program, "serve", "--json", "--db", address, "--listen", "127.0.0.1:0",
		"--licensing-listen", "127.0.0.1:0")
	g.process.Env, g.process.Stdout, g.process.Stderr = environment(folder), writing, g.log
	err = localnet.StartCommand(g.process, func() { g.ended <- g.process.Wait() })
	if err = errors.Join(err, writing.Close()); err != nil {
		return nil, err
	}
	var ready struct {
		URL string `json:"negotiation_url"`
	}
	release := context.AfterFunc(ctx, func() { _ = g.process.Process.Kill() })
	defer release()
	if err := json.NewDecoder(reading).Decode(&ready); err != nil {
		return nil, fmt.Errorf("haggle serve did not start: %w", errors.Join(err, g.stop()))
	}
	g.url = ready.URL
	return g, nil
}

// stop stops the gateway, which then writes a last checkpoint. If the gateway has failed, stop returns the
// log.
func (g *gateway) stop() error {
	g.stopping.Do(func() {
		_ = g.process.Process.Signal(syscall.SIGTERM) // it has ended already if it has failed
		select {
		case g.err = <-g.ended:
		case <-time.After(stopLimit):
			g.err = errors.Join(fmt.Errorf("gateway: not stopped after %s", stopLimit), g.process.Process.Kill())
			<-g.ended
		}
		if g.err != nil {
			text, err := os.ReadFile(g.log.Name())
			g.err = fmt.Errorf("gateway: %w\n%s", errors.Join(g.err, err), lastLines(text))
		}
		g.err = errors.Join(g.err, g.log.Close())
	})
	return g.err
}

// lastLines returns a log's end.
func lastLines(text []byte) []byte {
	const lines = 20
	at := len(text)
	for range lines {
		if at = bytes.LastIndexByte(text[:max(at, 0)], '\n'); at < 0 {
			return text
		}
	}
	return text[at+1:]
}

// verified is the result from haggle audit verify.
type verified struct {
	Valid       bool  `json:"valid"`
	Chains      int   `json:"chains"`
	Entries     int64 `json:"entries"`
	Checkpoints int   `json:"checkpoints"`
	Uncovered   int64 `json:"uncovered_entries"`
	Findings    []any `json:"findings"`
}

// verify verifies the audit log with the command. A stopped gateway's log contains no uncovered entries.
func verify(ctx context.Context, program, address, folder string) (v verified, err error) {
	command := exec.CommandContext(ctx, program, "audit", "verify", "--json", "--db", address)
	command.Env = environment(folder)
	var failure bytes.Buffer
	command.Stderr = &failure
	output, err := command.Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || len(output) == 0) {
		return v, fmt.Errorf("haggle audit verify: %w\n%s", err, failure.String())
	}
	if err := json.Unmarshal(output, &v); err != nil {
		return v, fmt.Errorf("haggle audit verify: %w", err)
	}
	return v, nil
}

// logFile is the log of a PostgreSQL server with logSettings.
func logFile(folder string) string { return filepath.Join(folder, "data", "log", "statements.json") }
