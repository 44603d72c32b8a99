// Package solanaconfig reads the configuration of the Solana command line tools: the cluster, the keypair and
// the commitment, from the YAML file of "solana config set". It accepts the tools' names for clusters
// ("devnet", "d").
package solanaconfig

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/gagliardetto/solana-go/rpc"
	"go.yaml.in/yaml/v3"
)

// LocalhostURL is the default cluster.
const LocalhostURL = "http://localhost:8899"

var clusters = map[string]string{
	"localhost":    LocalhostURL,
	"devnet":       rpc.DevNet_RPC,
	"testnet":      rpc.TestNet_RPC,
	"mainnet-beta": rpc.MainNetBeta_RPC,
}

// Config is the used part of the file. Empty fields are not configured.
type Config struct {
	// URL is the JSON-RPC endpoint, or a cluster name.
	URL string `yaml:"json_rpc_url"`
	// WebSocketURL is the subscription endpoint. If it is "", it is derived from URL.
	WebSocketURL string `yaml:"websocket_url"`
	// KeypairPath is the file of the keypair that signs.
	KeypairPath string `yaml:"keypair_path"`
	// Commitment is "processed", "confirmed" or "finalized".
	Commitment rpc.CommitmentType `yaml:"commitment"`
}

// DefaultPath returns the Solana tools' configuration file, or "" if the user has no home directory.
func DefaultPath() string { return inHome(".config", "solana", "cli", "config.yml") }

// DefaultKeypairPath returns the file written by "solana-keygen new", or "" if the user has no home
// directory.
func DefaultKeypairPath() string { return inHome(".config", "solana", "id.json") }

func inHome(elements ...string) string {
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(append([]string{home}, elements...)...)
}

// Read reads the file. If path is empty, it reads DefaultPath, which need not exist; a file that is named must
// configure something.
func Read(path string) (Config, error) {
	mustExist := path != ""
	if !mustExist {
		path = DefaultPath()
	}
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && !mustExist {
		return Config{}, nil
	}
	if err != nil {
		return Config{}, err
	}
	var config Config
	if err := yaml.Unmarshal(content, &config); err != nil {
		return Config{}, fmt.Errorf("%s: %w", path, err)
	}
	if mustExist && config == (Config{}) {
		return Config{}, fmt.Errorf("%s: not a configuration of the Solana tools: it has none of json_rpc_url, "+
			"websocket_url, keypair_path and commitment", path)
	}
	return config, nil
}

// Write writes a file for Read and the Solana tools.
func (c Config) Write(path string) error {
	content, err := yaml.Marshal(struct {
		Config `yaml:",inline"`
		Labels map[string]string `yaml:"address_labels"`
	}{c, map[string]string{}})
	if err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o600)
}

// ResolveURL expands a cluster name, or the name's initial letter, into the endpoint. An http or https
// address stays as it is.
func ResolveURL(given string) (string, error) {
	for name, endpoint := range clusters {
		if given == name || given == name[:1] {
			return endpoint, nil
		}
	}
	parsed, err := url.Parse(given)
	if err != nil || (parsed.Scheme != "http" && parsed.Scheme != "https") || parsed.Host == "" {
		return "", fmt.Errorf("%q must be an http address or localhost, devnet, testnet or mainnet-beta (l, d, t, m)", given)
	}
	return given, nil
}

// ParseCommitment accepts the three levels of commitment.
func ParseCommitment(given string) (rpc.CommitmentType, error) {
	switch level := rpc.CommitmentType(strings.ToLower(given)); level {
	case rpc.CommitmentProcessed, rpc.CommitmentConfirmed, rpc.CommitmentFinalized:
		return level, nil
	}
	return "", fmt.Errorf("%q must be confirmed or finalized", given)
}
