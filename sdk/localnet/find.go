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

// The chains that the scripts of toolchain/ build into the cache. A test compares these with the scripts.
const (
	embeddedKey      = "c2401ff5bd80919c"
	validatorVersion = "4.2.2"
)

// The first version of solana-test-validator that runs the program: older ones refuse its instruction set.
const (
	leastMajor = 4
	leastMinor = 2
)

// chainBinary is the executable of a chain.
type chainBinary struct {
	path string
	kind Kind
	// embedded reports whether it is haggle-localnet of program/localnet and not the command surfpool.
	embedded bool
}

// commands are the names of the chains' commands on PATH.
var commands = map[Kind]string{Surfpool: "surfpool", Validator: "solana-test-validator"}

// findBinary returns the first of: a command on PATH, a chain in the cache, and, inside a checkout, a chain
// that the scripts of toolchain/ build. A checkout prefers its own chains, because its tests are about them:
// the embedded chain if it is built, and the validator that toolchain/validator chooses.
func findBinary(ctx context.Context, kind Kind, progress func(string)) (chainBinary, error) {
	inside, err := findCheckout()
	if err != nil {
		return chainBinary{}, err
	}
	if inside != "" && kind == Validator {
		path, err := inside.runScript(ctx, progress, "validator")
		return chainBinary{path: path, kind: Validator}, err
	}
	if inside != "" {
		path, err := inside.runScript(ctx, progress, "localnet", "--if-built")
		if err != nil {
			return chainBinary{}, err
		}
		if path != "" {
			return chainBinary{path, Surfpool, true}, nil
		}
	}
	found, tooOld := onPath(ctx, kind)
	if found.path == "" {
		found = inCache(kind)
	}
	if found.path != "" {
		return found, nil
	}
	if inside != "" {
		path, err := inside.runScript(ctx, progress, "localnet")
		return chainBinary{path, Surfpool, true}, err
	}
	return chainBinary{}, errors.Join(tooOld, notFound(kind))
}

// onPath returns the chain on PATH. If the validator is too old, tooOld says so.
func onPath(ctx context.Context, kind Kind) (found chainBinary, tooOld error) {
	path, err := exec.LookPath(commands[kind])
	if err != nil {
		return chainBinary{}, nil
	}
	if kind == Validator {
		if tooOld = checkVersion(ctx, path); tooOld != nil {
			return chainBinary{}, tooOld
		}
	}
	return chainBinary{path: path, kind: kind}, nil
}

var versionNumber = regexp.MustCompile(`\b(\d+)\.(\d+)\.\d+`)

// checkVersion returns an error if a solana-test-validator cannot run the program. It accepts a version that
// it cannot read.
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

// inCache returns a chain that a checkout has built on this machine.
func inCache(kind Kind) chainBinary {
	folder, err := CacheFolder()
	if err != nil {
		return chainBinary{}
	}
	for _, candidate := range []chainBinary{
		{filepath.Join(folder, "bin", "haggle-localnet-"+embeddedKey), Surfpool, true},
		{filepath.Join(folder, "bin", "solana-test-validator-"+validatorVersion), Validator, false},
	} {
		if kind != candidate.kind {
			continue
		}
		if info, err := os.Stat(candidate.path); err == nil && info.Mode().IsRegular() {
			return candidate
		}
	}
	return chainBinary{}
}

// CacheFolder returns the folder of built chains: HAGGLE_CACHE, or haggle in XDG_CACHE_HOME or in ~/.cache.
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

func notFound(kind Kind) error {
	install := "surfpool (https://docs.surfpool.run)"
	if kind == Validator {
		install = fmt.Sprintf("solana-test-validator %d.%d or later (https://docs.anza.xyz/cli/install)", leastMajor, leastMinor)
	}
	return fmt.Errorf("local chain not found: install %s on PATH; or run this in a checkout of %s, which "+
		"builds a chain (10 to 25 minutes, once per machine); or start a chain of the kind %s; or set %s to the "+
		"endpoint of a running chain with the program", install, modulePath, Process, EnvRPCURL)
}
