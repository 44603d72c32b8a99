package localnet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/session"
)

const (
	// stopLimit is longer than a chain needs to end.
	stopLimit = 30 * time.Second
	// pollInterval is the pause between directory reads.
	pollInterval = 100 * time.Millisecond
)

// detachLocalnet starts a localnet as a background process and waits until the chain is ready. If the context
// ends first, the process is stopped.
func detachLocalnet(ctx context.Context, s *session.Session, o options) error {
	path, err := prepareFolder(o.dir)
	if err != nil {
		return err
	}
	logPath := filepath.Join(path, logFile)
	background, err := o.background(path, logPath)
	if err != nil {
		return err
	}
	if err := background.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- background.Wait() }()
	defer s.ShowProgress("starting the local chain (log: " + logPath + ")")()
	for {
		content, err := os.ReadFile(filepath.Join(path, localnetFile))
		if err == nil {
			var v localnetView
			if err := json.Unmarshal(content, &v); err != nil {
				return err
			}
			return s.Print(v, v.text())
		}
		select {
		case err := <-ended:
			return describeEnd(err, logPath)
		case <-ctx.Done():
			_ = background.Process.Signal(syscall.SIGTERM)
			<-ended
			return ctx.Err()
		case <-time.After(pollInterval):
		}
	}
}

// prepareFolder creates the directory, unless a localnet is using it, and removes a killed localnet's
// description. From then on, a description means that the chain is ready.
func prepareFolder(given string) (string, error) {
	folder, err := openFolder(given)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(filepath.Join(folder.path, localnetFile)); err == nil {
		return folder.path, folder.release()
	}
	return folder.path, folder.lock.Close()
}

// background returns the command line of the background process.
func (o options) background(path, logPath string) (*exec.Cmd, error) {
	own, err := os.Executable()
	if err != nil {
		return nil, err
	}
	log, err := os.OpenFile(logPath, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, fileMode)
	if err != nil {
		return nil, err
	}
	command := exec.Command(own, "localnet", "--detached", "--dir", path, "--port", strconv.Itoa(o.port),
		"--chain", string(o.kind), "--keep="+strconv.FormatBool(o.keep))
	for _, owner := range o.funded {
		command.Args = append(command.Args, "--fund", owner.String())
	}
	// A test's binary decides by this name whether it is haggle.
	command.Args[0] = os.Args[0]
	command.Stdout, command.Stderr = log, log
	// Its own session, so that neither Ctrl-C nor the end of the terminal reaches it.
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return command, nil
}

// describeEnd returns the error for a background process that ended early, with the chain not ready.
func describeEnd(err error, logPath string) error {
	content, _ := os.ReadFile(logPath)
	content = bytes.TrimPrefix(bytes.TrimSpace(content), []byte("haggle: "))
	kind := exitcode.Other
	var ended *exec.ExitError
	if errors.As(err, &ended) && ended.ExitCode() > 0 {
		kind = exitcode.Kind(ended.ExitCode())
	}
	return &exitcode.Error{Kind: kind, Err: fmt.Errorf("%s (log: %s)", content, logPath)}
}

type stoppedView struct {
	PID    int    `json:"stopped_pid"`
	Folder string `json:"folder"`
}

// stopLocalnet stops a directory's localnet, in the background or not, and waits for the process to exit.
func stopLocalnet(ctx context.Context, s *session.Session, given string) error {
	path, err := filepath.Abs(given)
	if err != nil {
		return err
	}
	running, err := isLocked(path)
	if err != nil {
		return exitcode.Usagef("--dir: %w", err)
	}
	if !running {
		return &exitcode.Error{Kind: exitcode.NotFound, Err: fmt.Errorf("no localnet runs in %s", path),
			Hint: "name its folder with --dir"}
	}
	content, err := os.ReadFile(filepath.Join(path, pidFile))
	if err != nil {
		return fmt.Errorf("%s is in use, but has no %s: %w", path, pidFile, err)
	}
	pid, err := strconv.Atoi(string(bytes.TrimSpace(content)))
	if err != nil || pid <= 0 {
		return fmt.Errorf("%s has no process number: %q", filepath.Join(path, pidFile), content)
	}
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		return fmt.Errorf("stop process %d: %w", pid, err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, stopLimit, fmt.Errorf("process %d has not ended after %s", pid, stopLimit))
	defer cancel()
	for running {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pollInterval):
		}
		if running, err = isLocked(path); err != nil {
			return err
		}
	}
	return s.Print(stoppedView{pid, path}, fmt.Sprintf("stopped the localnet in %s (process %d)", path, pid))
}

// isLocked reports whether any process holds a directory's lock. A missing directory is not locked.
func isLocked(path string) (bool, error) {
	lock := flock.New(path, flock.SetFlag(os.O_RDONLY))
	locked, err := lock.TryLock()
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return !locked, lock.Unlock()
}
