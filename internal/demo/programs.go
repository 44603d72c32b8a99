package demo

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

const module = "github.com/haggle-protocol/haggle"

// programs are the paths of the agents' binaries.
type programs struct{ buyer, seller string }

func in(folder string) programs {
	return programs{filepath.Join(folder, "buyer"), filepath.Join(folder, "seller")}
}

func (p programs) exist() bool {
	for _, path := range []string{p.buyer, p.seller} {
		if info, err := os.Stat(path); err != nil || info.IsDir() {
			return false
		}
	}
	return true
}

// findPrograms returns the binaries of Options.Programs or of this binary's folder, otherwise it builds them.
func findPrograms(ctx context.Context, options Options, folder string) (programs, error) {
	if options.Programs != "" {
		found := in(options.Programs)
		if !found.exist() {
			return found, fmt.Errorf("binaries buyer and seller not found in %s", options.Programs)
		}
		return found, nil
	}
	if own, err := os.Executable(); err == nil && in(filepath.Dir(own)).exist() {
		return in(filepath.Dir(own)), nil
	}
	fmt.Fprintln(options.Progress, "building buyer and seller")
	var said bytes.Buffer
	build := exec.CommandContext(ctx, "go", "build", "-o", folder, module+"/cmd/buyer", module+"/cmd/seller")
	build.Stdout, build.Stderr = &said, &said
	// Ctrl-C reaches the compiler only through the context, so that the error is the interrupt.
	build.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	build.Cancel = func() error { return syscall.Kill(-build.Process.Pid, syscall.SIGINT) }
	build.WaitDelay = stopGrace
	err := build.Run()
	if ctx.Err() != nil {
		return programs{}, ctx.Err()
	}
	if err != nil {
		return programs{}, fmt.Errorf("build buyer and seller (is this a checkout?): %w\n%s", err, &said)
	}
	return in(folder), nil
}
