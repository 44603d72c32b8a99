package localnet

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const modulePath = "github.com/haggle-protocol/haggle"

// checkout is the Haggle repository checkout's root directory, if any.
type checkout string

// findCheckout returns the checkout that contains the working directory: the first directory upwards with
// this module's go.mod.
func findCheckout() (checkout, error) {
	folder, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; ; folder = filepath.Dir(folder) {
		content, err := os.ReadFile(filepath.Join(folder, "go.mod"))
		if err == nil && strings.HasPrefix(string(content), "module "+modulePath+"\n") {
			return checkout(folder), nil
		}
		if folder == filepath.Dir(folder) {
			return "", nil
		}
	}
}

// runScript runs a toolchain/ script that builds a missing binary and prints the path.
func (c checkout) runScript(ctx context.Context, progress func(string), script string,
	arguments ...string) (string, error) {
	command := exec.CommandContext(ctx, filepath.Join(string(c), "toolchain", script), arguments...)
	// An interrupt must also stop the compilers that the script has started.
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
	var last []string
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		line := strings.TrimPrefix(lines.Text(), "haggle: ")
		last = append(last[max(0, len(last)-40):], line)
		progress(line)
	}
	if err := command.Wait(); err != nil {
		return "", fmt.Errorf("toolchain/%s: %w\n%s", script, errors.Join(err, ctx.Err()),
			strings.Join(last, "\n"))
	}
	return strings.TrimSpace(stdout.String()), nil
}
