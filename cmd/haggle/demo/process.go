package demo

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"syscall"
	"time"

	"github.com/haggle-protocol/haggle/internal/cli/actions"
	"github.com/haggle-protocol/haggle/sdk/localnet"
)

// stopGrace is how long an interrupted agent may take to finish a transaction.
const stopGrace = 10 * time.Second

// process is an agent. It runs in a separate process group, so that Ctrl-C reaches it only once, through the
// context.
type process struct {
	name    string
	command *exec.Cmd
	stderr  bytes.Buffer
	ended   chan struct{}
	status  error
}

// startProcess starts an agent. It calls acted with the agent's actions, and failed if the agent fails.
func startProcess(
	ctx context.Context, acted func(actions.Action), failed func(), name string, program program, arguments ...string,
) (*process, error) {
	p := &process{name: name, command: program.command(ctx, arguments), ended: make(chan struct{})}
	p.command.Cancel = func() error { return syscall.Kill(-p.command.Process.Pid, syscall.SIGINT) }
	p.command.WaitDelay = stopGrace
	p.command.Stderr = &p.stderr
	stdout, err := p.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	err = localnet.StartCommand(p.command, func() {
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			var action actions.Action
			if json.Unmarshal(lines.Bytes(), &action) == nil && action.Name != "" {
				acted(action)
			}
		}
		p.status = p.command.Wait()
		// Terminate the processes that the agent may have started.
		_ = syscall.Kill(-p.command.Process.Pid, syscall.SIGKILL)
		if p.status != nil {
			failed()
		}
		close(p.ended)
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}

// wait waits for the agent's process and returns the agent's error.
func (p *process) wait() error {
	<-p.ended
	if p.status == nil {
		return nil
	}
	return fmt.Errorf("%s: %w\n%s", p.name, p.status, bytes.TrimSpace(p.stderr.Bytes()))
}
