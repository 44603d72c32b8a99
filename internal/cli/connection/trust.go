package connection

import (
	"errors"
	"io/fs"
	"os"

	"github.com/spf13/pflag"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/sdk/identity"
)

// TrustAPIKeyVariable is the environment variable with the API key of a registry, if it wants one.
const TrustAPIKeyVariable = "HAGGLE_TRUST_API_KEY"

// TrustFlags say whom an agent engages with.
type TrustFlags struct {
	// Registry is the URL of a registry of SAID's shape.
	Registry string
	// Threshold is the least score that is let through, 0 to identity.MaxScore.
	Threshold float64
	// Allowlist is a file with addresses, which are looked for before the registry is asked.
	Allowlist string

	set *pflag.FlagSet
}

// Register adds the flags to a set.
func (t *TrustFlags) Register(set *pflag.FlagSet) {
	t.set = set
	set.StringVar(&t.Registry, "trust", "", "ask this registry (https://HOST) first how much the other side is trusted")
	set.Float64Var(&t.Threshold, "trust-threshold", 0, "least trust score of the other side, 0 to 100")
	set.StringVar(&t.Allowlist, "allowlist", "", "engage only with addresses in this file, one a line; with --trust, also whom that lets through")
}

// Gate is what the flags ask for; nil if they ask for nothing.
func (t *TrustFlags) Gate() (*identity.Gate, error) {
	given := t.set.Changed("trust-threshold")
	switch {
	case t.Registry == "" && t.Allowlist == "" && given:
		return nil, exitcode.Usagef("--trust-threshold: whom to ask for a score is missing: --trust URL or --allowlist FILE")
	case t.Registry == "" && t.Allowlist == "":
		return nil, nil
	case t.Registry != "" && !given:
		return nil, exitcode.Usagef("--trust needs --trust-threshold, the least score that is let through, 0 to %d", identity.MaxScore)
	case !(t.Threshold >= 0 && t.Threshold <= identity.MaxScore):
		return nil, exitcode.Usagef("--trust-threshold: 0 to %d", identity.MaxScore)
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
			return nil, exitcode.Usagef("--allowlist: there is no file %s", t.Allowlist)
		}
		if err != nil {
			return nil, exitcode.Usagef("--allowlist: %w", bare{err})
		}
		sources = append(sources, list)
	}
	if t.Registry != "" {
		registry, err := identity.NewRegistry(identity.RegistryConfig{Endpoint: t.Registry, APIKey: os.Getenv(TrustAPIKeyVariable)})
		if err != nil {
			return nil, exitcode.Usagef("--trust: %w", bare{err})
		}
		sources = append(sources, registry)
	}
	return identity.FirstOf(sources...), nil
}
