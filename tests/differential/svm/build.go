package svm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/haggle-protocol/haggle/internal/checkout"
)

// Build builds the machine from the checkout that the working directory is in, as it is now, and answers with the path of its
// binary, for Start; cargo knows what is up to date. It needs cargo on PATH.
func Build(ctx context.Context) (binary string, err error) {
	from, err := findSources()
	if err != nil {
		return "", err
	}
	// With the workspace's features and in the workspace's folder for compiled files, so that it shares what the program's tests
	// have compiled.
	from.environment = append(from.environment,
		"CARGO_TARGET_DIR="+filepath.Join(from.cache, "target", "program"),
		"RUSTC_WORKSPACE_WRAPPER="+filepath.Join(from.root, "toolchain", "rustc-here"))
	messages, err := from.run(ctx, filepath.Join(from.root, "program"),
		"cargo", "build", "--locked", "--workspace", "--bin", "haggle-svm", "--message-format", "json")
	if err != nil {
		return "", err
	}
	// One JSON value for each crate; the binary is the only one that can be executed.
	decoder := json.NewDecoder(bytes.NewReader(messages))
	for {
		var message struct {
			Executable string `json:"executable"`
		}
		if err := decoder.Decode(&message); err != nil {
			return "", fmt.Errorf("cargo does not say where haggle-svm is: %w", err)
		}
		if message.Executable != "" {
			return message.Executable, nil
		}
	}
}

// BuildProgram builds the program from the same checkout, and answers with the content of its ELF file, for Machine.Load. It
// needs the compilers that toolchain/build-program installs.
func BuildProgram(ctx context.Context) (elf []byte, err error) {
	from, err := findSources()
	if err != nil {
		return nil, err
	}
	if _, err := from.run(ctx, from.root, filepath.Join(from.root, "toolchain", "build-program")); err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(from.root, "program", "target", "deploy", "haggle.so"))
}

// sources are where they lie, and where what is built from them does.
type sources struct {
	root, cache string
	environment []string
}

func findSources() (*sources, error) {
	root, err := checkout.Find()
	if err != nil {
		return nil, fmt.Errorf("%w, which the machine is built from", err)
	}
	cache, err := cacheFolder()
	if err != nil {
		return nil, err
	}
	return &sources{root, cache, append(os.Environ(), "HAGGLE_CACHE="+cache)}, nil
}

// run runs a command and answers with what it printed.
func (s *sources) run(ctx context.Context, folder, name string, arguments ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, name, arguments...)
	command.Dir = folder
	command.Env = s.environment
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", name, errors.Join(err, ctx.Err()), stderr.String())
	}
	return stdout.Bytes(), nil
}

// cacheFolder is where everything that is built outside of the tree lies, as in toolchain/steps.sh.
func cacheFolder() (string, error) {
	if folder := os.Getenv("HAGGLE_CACHE"); folder != "" {
		return folder, nil
	}
	folder, err := os.UserCacheDir()
	return filepath.Join(folder, "haggle"), err
}
