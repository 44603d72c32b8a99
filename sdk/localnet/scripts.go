package localnet

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// ensure runs a script of toolchain/ that builds what is missing and prints the path of a binary.
func (r repository) ensure(ctx context.Context, script string, progress func(string)) (string, error) {
	path := filepath.Join(string(r), "toolchain", script)
	command := exec.CommandContext(ctx, path)
	// An interrupted build stops as a whole, and says so.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGTERM) }
	command.WaitDelay = 10 * time.Second

	stderr, err := command.StderrPipe()
	if err != nil {
		return "", err
	}
	var stdout bytes.Buffer
	command.Stdout = &stdout
	if err := command.Start(); err != nil {
		return "", err
	}
	var said []string
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		line := strings.TrimPrefix(lines.Text(), "haggle: ")
		said = append(said[max(0, len(said)-40):], line)
		progress(line)
	}
	if err := command.Wait(); err != nil {
		return "", fmt.Errorf("toolchain/%s: %w\n%s", script, errors.Join(err, ctx.Err()), strings.Join(said, "\n"))
	}
	return strings.TrimSpace(stdout.String()), nil
}
