package svm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/haggle-protocol/haggle/sdk/localnet"
)

// Build builds the machine from the checkout of the working directory and returns the binary's path, for
// Start. Cargo rebuilds only changed crates. Build needs cargo on PATH.
func Build(ctx context.Context) (binary string, err error) {
	from, err := findSources()
	if err != nil {
		return "", err
	}
	// The workspace's features and target directory are used, so that crates that the program's tests
	// compiled are not compiled again.
	target := filepath.Join(from.cache, "target", "program")
	from.environment = append(from.environment,
		"CARGO_TARGET_DIR="+target, "RUSTC_WORKSPACE_WRAPPER="+filepath.Join(from.root, "toolchain", "rustc-here"))
	err = from.run(ctx, filepath.Join(from.root, "program"),
		"cargo", "build", "--locked", "--workspace", "--bin", "haggle-svm")
	return filepath.Join(target, "debug", "haggle-svm"), err
}

// BuildProgram builds the program from the same checkout and returns the ELF file's content, for
// Machine.Load. It needs the compilers that toolchain/build-program installs.
func BuildProgram(ctx context.Context) (elf []byte, err error) {
	from, err := findSources()
	if err != nil {
		return nil, err
	}
	script := filepath.Join(from.root, "toolchain", "build-program")
	if err := from.run(ctx, from.root, script); err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(from.root, "sdk", "localnet", "haggle.so"))
}

// sources holds the directories with sources and build results, and the environment for builds.
type sources struct {
	root, cache string
	environment []string
}

func findSources() (*sources, error) {
	module, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return nil, fmt.Errorf("find the sources of the machine: %w", err)
	}
	cache, err := localnet.CacheFolder()
	if err != nil {
		return nil, err
	}
	return &sources{strings.TrimSpace(string(module)), cache, append(os.Environ(), "HAGGLE_CACHE="+cache)}, nil
}

func (s *sources) run(ctx context.Context, folder, name string, arguments ...string) error {
	command := exec.CommandContext(ctx, name, arguments...)
	command.Dir = folder
	command.Env = s.environment
	var stderr bytes.Buffer
	command.Stderr = &stderr
	if err := command.Run(); err != nil {
		return fmt.Errorf("%s: %w\n%s", name, errors.Join(err, ctx.Err()), stderr.String())
	}
	return nil
}
