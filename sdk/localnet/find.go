package localnet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
)

// validatorVersion is built into the cache by toolchain/validator. A test compares it with the scripts.
const validatorVersion = "4.2.2"

// The first version of solana-test-validator that runs the program: older versions reject its instructions.
const (
	leastMajor = 4
	leastMinor = 2
)

// validatorCommand is the validator's name on PATH.
const validatorCommand = "solana-test-validator"

// HasValidator reports whether a [Validator] chain needs no build: a usable solana-test-validator is on PATH or
// in the cache.
func HasValidator(ctx context.Context) bool {
	path, _ := findValidator(ctx, func(string) {}, "--installed")
	return path != ""
}

// findValidator returns a solana-test-validator path: on PATH, or in the cache. Inside a checkout,
// toolchain/validator chooses it, given args; if there are none, it builds a missing validator.
func findValidator(ctx context.Context, progress func(string), arguments ...string) (string, error) {
	inside, err := findCheckout()
	if err != nil {
		return "", err
	}
	if inside != "" {
		return inside.runScript(ctx, progress, "validator", arguments...)
	}
	path, lookErr := exec.LookPath(validatorCommand)
	if lookErr == nil {
		if err = checkVersion(ctx, path); err == nil {
			return path, nil
		}
	}
	if path := cachedValidator(); path != "" {
		return path, nil
	}
	return "", errors.Join(err, notFound())
}

var versionNumber = regexp.MustCompile(`\b(\d+)\.(\d+)\.\d+`)

// checkVersion checks that a solana-test-validator can run the program. It accepts a version that it cannot
// read.
func checkVersion(ctx context.Context, path string) error {
	output, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return fmt.Errorf("%s --version: %w", path, err)
	}
	number := versionNumber.FindSubmatch(output)
	if number == nil {
		return nil
	}
	major, _ := strconv.Atoi(string(number[1]))
	minor, _ := strconv.Atoi(string(number[2]))
	if major > leastMajor || major == leastMajor && minor >= leastMinor {
		return nil
	}
	return fmt.Errorf("%s is too old: version %s, but the program needs %d.%d or later; "+
		"update it with: agave-install update", path, number[0], leastMajor, leastMinor)
}

// cachedValidator returns the validator built by a checkout on this machine, or an empty path.
func cachedValidator() string {
	folder, err := CacheFolder()
	if err != nil {
		return ""
	}
	path := filepath.Join(folder, "bin", validatorCommand+"-"+validatorVersion)
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return path
}

// CacheFolder returns the directory for compiled engines and built validators: HAGGLE_CACHE, or haggle in
// XDG_CACHE_HOME or in ~/.cache.
func CacheFolder() (string, error) {
	if folder := os.Getenv("HAGGLE_CACHE"); folder != "" {
		return folder, nil
	}
	if folder := os.Getenv("XDG_CACHE_HOME"); folder != "" {
		return filepath.Join(folder, "haggle"), nil
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".cache", "haggle"), err
}

func notFound() error {
	return fmt.Errorf("validator not found: install %s %d.%d or later (https://docs.anza.xyz/cli/install) on PATH; "+
		"or run this in a checkout of %s, which builds one (about 25 minutes, once per machine); or start a chain of "+
		"the kind %s; or set %s to the endpoint of a running chain with the program",
		validatorCommand, leastMajor, leastMinor, modulePath, Process, EnvRPCURL)
}
