package localnet

import (
	"fmt"
	"io"
	"os"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Environment variables that Start and StartChain read.
const (
	// EnvRPCURL is the JSON-RPC endpoint of a running chain that has the program.
	EnvRPCURL = "HAGGLE_RPC_URL"
	// EnvWSURL is the WebSocket endpoint of that chain. If empty, it is derived from the JSON-RPC endpoint as
	// Solana's tools do: the next port.
	EnvWSURL = "HAGGLE_WS_URL"
	// EnvUpgradeAuthority is the path of a Solana CLI keypair file: the upgrade authority of the program on
	// that chain.
	EnvUpgradeAuthority = "HAGGLE_UPGRADE_AUTHORITY"
	// EnvChain is the kind of chain to start, if Options.Kind is empty.
	EnvChain = "HAGGLE_CHAIN"
)

// Kind is the kind of a chain.
type Kind string

// The kinds of chains. Surfpool and Validator can be started; External is a running chain.
const (
	Surfpool  Kind = "surfpool"
	Validator Kind = "validator"
	External  Kind = "external"
)

// Options configure Start and StartChain. In a checkout of the Haggle repository, the zero value is complete.
// Elsewhere, Program is required unless HAGGLE_RPC_URL is set.
type Options struct {
	// Kind is the kind of chain to start: Surfpool or Validator. If empty, HAGGLE_CHAIN decides. Both are
	// ignored if HAGGLE_RPC_URL is set.
	Kind Kind
	// Program is the path of the program's ELF file. If empty, it is program/target/deploy/haggle.so of the
	// checkout that contains the working directory.
	Program string
	// ProgramID is the address of the program. If zero, protocol.ProgramID is used. Start always uses that
	// one.
	ProgramID solana.PublicKey
	// GeyserPlugin is the path of the configuration file of a Geyser plugin. It is an error unless a chain of
	// the kind Validator is started.
	GeyserPlugin string
	// Log receives the log of a started chain. If nil, the log is discarded; the error of a failed start has
	// its last 4 KiB.
	Log io.Writer
	// Progress receives lines about builds, which happen once per machine and take minutes. It is called from
	// the goroutine of Start. If nil, the lines are discarded.
	Progress func(line string)
}

// withDefaults fills the fields that do not depend on where the chain comes from.
func (o Options) withDefaults() Options {
	if o.Kind == "" {
		o.Kind = Kind(os.Getenv(EnvChain))
	}
	if o.ProgramID.IsZero() {
		o.ProgramID = protocol.ProgramID
	}
	if o.Log == nil {
		o.Log = io.Discard
	}
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	return o
}

func (o Options) validate(rpcURL string) error {
	switch o.Kind {
	case "", Surfpool, Validator:
	default:
		if rpcURL == "" {
			return fmt.Errorf("chain %q unknown: set %s to %q or %q", o.Kind, EnvChain, Surfpool, Validator)
		}
	}
	if o.GeyserPlugin != "" && (rpcURL != "" || o.Kind != Validator) {
		return fmt.Errorf("GeyserPlugin needs a started chain of the kind %s: set %s, and unset %s",
			Validator, EnvChain, EnvRPCURL)
	}
	return nil
}
