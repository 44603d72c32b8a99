package connection

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/pflag"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/sdk/identity"
)

// TrustAPIKeyVariable names the environment variable with a registry's API key.
const TrustAPIKeyVariable = "HAGGLE_TRUST_API_KEY"

// TrustFlags configures the counterparty checks.
type TrustFlags struct {
	// Registry is the URL of a registry that implements SAID's interface.
	Registry string
	// Threshold is the lowest accepted score, 0 to identity.MaxScore.
	Threshold float64
	// Allowlist is a file with addresses, which is checked before the registry.
	Allowlist string

	set *pflag.FlagSet
}

// Register adds the flags to a set.
func (t *TrustFlags) Register(set *pflag.FlagSet) {
	t.set = set
	set.StringVar(&t.Registry, "trust", "", "registry (https://HOST) with the trust score of the other side")
	set.Float64Var(&t.Threshold, "trust-threshold", 0, "lowest accepted trust score of the other side, 0 to 100")
	set.StringVar(&t.Allowlist, "allowlist", "", "accept only addresses in this file, one per line; with --trust also those that the registry accepts")
}

// Gate returns the checks, or nil if no flag is set.
func (t *TrustFlags) Gate() (*identity.Gate, error) {
	given := t.set.Changed("trust-threshold")
	switch {
	case t.Registry == "" && t.Allowlist == "" && given:
		return nil, exitcode.Requires("--trust-threshold", "--trust URL or --allowlist FILE", "")
	case t.Registry == "" && t.Allowlist == "":
		return nil, nil
	case t.Registry != "" && !given:
		return nil, exitcode.Requires("--trust", "--trust-threshold",
			fmt.Sprintf("it is the lowest accepted score, 0 to %d", identity.MaxScore))
	case !(t.Threshold >= 0 && t.Threshold <= identity.MaxScore):
		return nil, exitcode.Usagef("--trust-threshold: must be 0 to %d", identity.MaxScore)
	}
	source, err := t.source()
	if err != nil {
		return nil, err
	}
	return &identity.Gate{Source: source, Threshold: t.Threshold}, nil
}

func (t *TrustFlags) source() (identity.Source, error) {
	var sources []identity.Source
	if t.Allowlist != "" {
		list, err := identity.OpenAllowlist(t.Allowlist)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, exitcode.Usagef("--allowlist: %s: file not found", t.Allowlist)
		}
		if err != nil {
			return nil, exitcode.Usagef("--allowlist: %w", err)
		}
		sources = append(sources, list)
	}
	if t.Registry != "" {
		registry, err := identity.NewRegistry(identity.RegistryConfig{Endpoint: t.Registry, APIKey: os.Getenv(TrustAPIKeyVariable)})
		if err != nil {
			return nil, exitcode.Usagef("--trust: %w", err)
		}
		sources = append(sources, registry)
	}
	return identity.FirstOf(sources...), nil
}
