package demo

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/haggle-protocol/haggle/internal/exampleagent"
)

// stopGrace is how long an agent may take to finish the transaction under way when it is told to stop.
const stopGrace = 10 * time.Second

// process is an agent. It leads a process group of its own, so that Ctrl-C reaches it once, through its context.
type process struct {
	name    string
	command *exec.Cmd
	stderr  bytes.Buffer
	// said are the agent's actions; it is closed when the agent has ended.
	said   chan exampleagent.Action
	ended  chan struct{}
	status error
}

// startProcess runs an agent; should it fail, failed is called.
func startProcess(ctx context.Context, failed func(), name, program string, arguments ...string) (*process, error) {
	p := &process{name: name, command: exec.CommandContext(ctx, program, arguments...), said: make(chan exampleagent.Action), ended: make(chan struct{})}
	p.command.SysProcAttr = diesWithParent(&syscall.SysProcAttr{Setpgid: true})
	p.command.Cancel = func() error { return syscall.Kill(-p.command.Process.Pid, syscall.SIGINT) }
	p.command.WaitDelay = stopGrace
	p.command.Stderr = &p.stderr
	stdout, err := p.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	starting := make(chan error, 1)
	go func() {
		// The kernel takes the end of the thread that started a child for the death of its parent.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.command.Start()
		starting <- err
		if err != nil {
			return
		}
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			var action exampleagent.Action
			if json.Unmarshal(lines.Bytes(), &action) == nil && action.Name != "" {
				p.said <- action
			}
		}
		p.status = p.command.Wait()
		// Whatever the agent may have started goes with it.
		_ = syscall.Kill(-p.command.Process.Pid, syscall.SIGKILL)
		if p.status != nil {
			failed()
		}
		close(p.ended)
		close(p.said)
	}()
	if err := <-starting; err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}

// wait returns how the agent has ended. It reads what is left of its actions.
func (p *process) wait() error {
	go func() {
		for range p.said {
		}
	}()
	<-p.ended
	if p.status == nil {
		return nil
	}
	return fmt.Errorf("%s: %w\n%s", p.name, p.status, bytes.TrimSpace(p.stderr.Bytes()))
}

// merge gives the actions of several agents as they come, until all have ended.
func merge(sources ...<-chan exampleagent.Action) <-chan exampleagent.Action {
	merged := make(chan exampleagent.Action)
	var running sync.WaitGroup
	for _, source := range sources {
		running.Go(func() {
			for said := range source {
				merged <- said
			}
		})
	}
	go func() {
		running.Wait()
		close(merged)
	}()
	return merged
}
