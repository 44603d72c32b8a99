package demo

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/haggle-protocol/haggle/internal/exampleagent"
	"github.com/haggle-protocol/haggle/sdk/localnet/childprocess"
)

// stopGrace is the time that an interrupted agent has to finish its transaction.
const stopGrace = 10 * time.Second

// process is an agent. It has its own process group, so that Ctrl-C reaches it only once, through its
// context.
type process struct {
	name    string
	command *exec.Cmd
	stderr  bytes.Buffer
	// actions are the agent's actions. It is closed after the agent has ended.
	actions chan exampleagent.Action
	ended   chan struct{}
	status  error
}

// startProcess starts an agent. If the agent fails, it calls failed.
func startProcess(ctx context.Context, failed func(), name string, program program, arguments ...string) (*process, error) {
	p := &process{name: name, command: program.command(ctx, arguments), actions: make(chan exampleagent.Action), ended: make(chan struct{})}
	p.command.Cancel = func() error { return syscall.Kill(-p.command.Process.Pid, syscall.SIGINT) }
	p.command.WaitDelay = stopGrace
	p.command.Stderr = &p.stderr
	stdout, err := p.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	err = childprocess.Start(p.command, func() {
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			var action exampleagent.Action
			if json.Unmarshal(lines.Bytes(), &action) == nil && action.Name != "" {
				p.actions <- action
			}
		}
		p.status = p.command.Wait()
		// End the processes that the agent may have started.
		_ = syscall.Kill(-p.command.Process.Pid, syscall.SIGKILL)
		if p.status != nil {
			failed()
		}
		close(p.ended)
		close(p.actions)
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}

// wait reads the remaining actions and returns the error of the agent.
func (p *process) wait() error {
	go func() {
		for range p.actions {
		}
	}()
	<-p.ended
	if p.status == nil {
		return nil
	}
	return fmt.Errorf("%s: %w\n%s", p.name, p.status, bytes.TrimSpace(p.stderr.Bytes()))
}

// merge returns the actions of several agents until all have ended.
func merge(sources ...<-chan exampleagent.Action) <-chan exampleagent.Action {
	merged := make(chan exampleagent.Action)
	var running sync.WaitGroup
	for _, source := range sources {
		running.Go(func() {
			for action := range source {
				merged <- action
			}
		})
	}
	go func() {
		running.Wait()
		close(merged)
	}()
	return merged
}
