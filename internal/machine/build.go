package machine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const modulePath = "github.com/haggle-protocol/haggle"

// Build builds the machine from the checkout that the working directory is in, as it is now, and answers with the path of its
// binary, for Start; cargo knows what is up to date. It needs cargo on PATH.
func Build(ctx context.Context) (binary string, err error) {
	checkout, err := findCheckout()
	if err != nil {
		return "", err
	}
	// With the workspace's features and in the workspace's folder for compiled files, so that it shares what the program's tests
	// have compiled.
	checkout.environment = append(checkout.environment,
		"CARGO_TARGET_DIR="+filepath.Join(checkout.cache, "target", "program"),
		"RUSTC_WORKSPACE_WRAPPER="+filepath.Join(checkout.root, "toolchain", "rustc-here"))
	messages, err := checkout.run(ctx, filepath.Join(checkout.root, "program"),
		"cargo", "build", "--locked", "--workspace", "--bin", "haggle-machine", "--message-format", "json")
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
			return "", fmt.Errorf("cargo does not say where haggle-machine is: %w", err)
		}
		if message.Executable != "" {
			return message.Executable, nil
		}
	}
}

// BuildProgram builds the program from the same checkout, and answers with the content of its ELF file, for Machine.Load. It
// needs the compilers that toolchain/build-program installs.
func BuildProgram(ctx context.Context) (elf []byte, err error) {
	checkout, err := findCheckout()
	if err != nil {
		return nil, err
	}
	if _, err := checkout.run(ctx, checkout.root, filepath.Join(checkout.root, "toolchain", "build-program")); err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(checkout.root, "program", "target", "deploy", "haggle.so"))
}

// checkout is where the sources are, and where what is built from them lies.
type checkout struct {
	root, cache string
	environment []string
}

func findCheckout() (*checkout, error) {
	root, err := findRepository()
	if err != nil {
		return nil, err
	}
	cache, err := cacheFolder()
	if err != nil {
		return nil, err
	}
	return &checkout{root, cache, append(os.Environ(), "HAGGLE_CACHE="+cache)}, nil
}

// run runs a command and answers with what it printed.
func (c *checkout) run(ctx context.Context, folder, name string, arguments ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, name, arguments...)
	command.Dir = folder
	command.Env = c.environment
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

// findRepository walks up from the working directory to this module's go.mod.
func findRepository() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for folder := start; ; folder = filepath.Dir(folder) {
		content, err := os.ReadFile(filepath.Join(folder, "go.mod"))
		if err == nil && strings.HasPrefix(string(content), "module "+modulePath+"\n") {
			return folder, nil
		}
		if folder == filepath.Dir(folder) {
			return "", fmt.Errorf("%s is not inside a checkout of %s, which the machine is built from", start, modulePath)
		}
	}
}
