package localnet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/haggle-protocol/haggle/sdk/localnet/internal/childprocess"
	"github.com/haggle-protocol/haggle/sdk/localnet/jsonrpc"
)

// stopGrace is the time from SIGTERM to SIGKILL.
const stopGrace = 5 * time.Second

// launch is a validator that is ready to be started.
type launch struct {
	command *exec.Cmd
	// cleanUp removes the process's files.
	cleanUp func() error
	// logFile is the process's log file.
	logFile string
	// endpoints holds the chain's addresses.
	endpoints jsonrpc.Endpoints
	// limit is the longest time before the chain confirms blocks.
	limit time.Duration
}

// process is a child in a separate group. It ends when stopped or when the parent ends.
type process struct {
	command *exec.Cmd
	exited  chan struct{}
	status  error
	cleanUp func() error
	// draining is done at the end of the process's output.
	draining sync.WaitGroup
}

// run starts the child and waits for the chain to be ready. If it fails, neither processes nor files are left.
func (l *launch) run(ctx context.Context, log io.Writer) (*process, error) {
	tail := &tailBuffer{next: log}
	l.command.Stderr = tail
	started, stdout, err := startProcess(l.command, l.cleanUp)
	if err != nil {
		return nil, err
	}

	started.draining.Go(func() { drain(stdout, tail) })

	ctx, cancel := context.WithTimeoutCause(ctx, l.limit, fmt.Errorf("not ready after %s", l.limit))
	defer cancel()
	outcome := make(chan error, 1)
	go func() { outcome <- awaitBlocks(ctx, l.endpoints.RPC) }()
	select {
	case err = <-outcome:
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-started.exited:
		err = fmt.Errorf("process ended: %w", started.status)
	}
	if err == nil {
		return started, nil
	}
	if content, readErr := os.ReadFile(l.logFile); readErr == nil {
		_, _ = tail.Write(content)
	}
	err = errors.Join(err, started.stop())
	return nil, fmt.Errorf("%w\n%s", err, tail)
}

// drain copies the child's output to the log. Unread output would block the child.
func drain(stdout io.ReadCloser, log io.Writer) {
	_, _ = io.Copy(log, stdout)
	_ = stdout.Close()
}

func startProcess(command *exec.Cmd, cleanUp func() error) (*process, io.ReadCloser, error) {
	abandon := func(err error) (*process, io.ReadCloser, error) {
		return nil, nil, errors.Join(err, cleanUp())
	}
	// The pipe stays empty. It closes when this process or the command ends.
	if _, err := command.StdinPipe(); err != nil {
		return abandon(err)
	}
	// Not exec's pipe: Wait closes it, possibly before all output is read.
	stdoutReader, stdoutWriter, err := os.Pipe()
	if err != nil {
		return abandon(err)
	}
	command.Stdout = stdoutWriter

	p := &process{command: command, exited: make(chan struct{}), cleanUp: cleanUp}
	err = childprocess.Start(command, func() {
		p.status = command.Wait()
		if p.status == nil {
			p.status = errors.New("exit status 0")
		}
		close(p.exited)
	})
	_ = stdoutWriter.Close()
	if err != nil {
		_ = stdoutReader.Close()
		return abandon(err)
	}
	return p, stdoutReader, nil
}

// StartCommand starts a command as the leader of a new process group, which Ctrl-C does not reach. On Linux the
// kernel kills the child when this process ends. If the command starts, attend runs in a new goroutine, and must
// wait for the end of the command.
func StartCommand(command *exec.Cmd, attend func()) error { return childprocess.Start(command, attend) }

// stop ends the whole group, waits for it and removes the files.
func (p *process) stop() error {
	group := -p.command.Process.Pid
	_ = syscall.Kill(group, syscall.SIGTERM)
	select {
	case <-p.exited:
	case <-time.After(stopGrace):
	}
	// Other processes in the group can outlive the leader.
	_ = syscall.Kill(group, syscall.SIGKILL)
	<-p.exited
	p.draining.Wait()
	return p.cleanUp()
}

// tailBuffer forwards input and keeps the last tailBytes for error messages.
type tailBuffer struct {
	next io.Writer
	lock sync.Mutex
	kept []byte
}

const tailBytes = 4096

func (t *tailBuffer) Write(data []byte) (int, error) {
	t.lock.Lock()
	defer t.lock.Unlock()
	t.kept = append(t.kept, data...)
	t.kept = bytes.Clone(t.kept[max(0, len(t.kept)-tailBytes):])
	return t.next.Write(data)
}

func (t *tailBuffer) String() string {
	t.lock.Lock()
	defer t.lock.Unlock()
	return strings.TrimSpace(string(t.kept))
}
