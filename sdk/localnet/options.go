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
	// EnvRPCURL names the JSON-RPC endpoint of a running chain with the program.
	EnvRPCURL = "HAGGLE_RPC_URL"
	// EnvWSURL is the WebSocket endpoint of that chain. If unset, it is derived from the RPC endpoint as
	// Solana's tools do: the next port.
	EnvWSURL = "HAGGLE_WS_URL"
	// EnvUpgradeAuthority is a Solana CLI keypair file path: the upgrade authority of the program on that
	// chain.
	EnvUpgradeAuthority = "HAGGLE_UPGRADE_AUTHORITY"
	// EnvChain selects the chain, if Options.Kind is empty.
	EnvChain = "HAGGLE_CHAIN"
)

// Kind is a kind of chain.
type Kind string

// The chains. Process and Validator can be started; External is a running chain.
const (
	// Process runs in the current process: see package ledger.
	Process Kind = "process"
	// Validator is solana-test-validator, run as a child.
	Validator Kind = "validator"
	External  Kind = "external"
)

// Options configure Start and StartChain. The zero value is complete.
type Options struct {
	// Kind selects Process or Validator. If unset, HAGGLE_CHAIN decides; the default is Process, or Validator
	// if Ledger is set. If HAGGLE_RPC_URL is set, Kind and HAGGLE_CHAIN are ignored.
	Kind Kind
	// Program is the path of the program's ELF file. If empty, the file in this package is used: see
	// [Program].
	Program string
	// ProgramID is the program's address. If zero, protocol.ProgramID is used. Start always uses
	// protocol.ProgramID.
	ProgramID solana.PublicKey
	// Port is the JSON-RPC server's port; the WebSocket server uses the following port. If zero, free ports are
	// used. If either port is not free, StartChain returns ErrPortInUse.
	Port int
	// Ledger is the directory for a ledger that outlives the chain. A later chain with the same directory
	// continues it, with the same program, accounts and balances. If unset, Close deletes the chain's state.
	//
	// The chain is a validator then. All keys are fixed: the faucet, the upgrade authority, and the mint,
	// treasury, buyer and seller of Net. Anybody can derive them from this package's source. They are for tests
	// only: never send funds to them on another chain.
	//
	// The chain's clock does not advance while the chain is stopped. It is then behind the machine's clock.
	Ledger string
	// GeyserPlugin is the path to a Geyser plugin's configuration file. It is an error unless a Validator
	// chain is started.
	GeyserPlugin string
	// Log receives a started validator's log. If nil, the output is discarded; on failure, the error contains
	// the last 4 KiB.
	Log io.Writer
	// Progress receives lines about builds of the validator, which happen once per machine and take minutes. It
	// is called in Start's goroutine. If nil, the lines are discarded.
	Progress func(line string)

	// mint selects the mint to give metadata in a new ledger, if any.
	mint solana.PublicKey
}

// withDefaults fills fields independent of the chain's origin.
func (o Options) withDefaults() Options {
	if o.Kind == "" {
		o.Kind = Kind(os.Getenv(EnvChain))
	}
	if o.Kind == "" {
		o.Kind = Process
		if o.Ledger != "" {
			o.Kind = Validator
		}
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
	case Process, Validator:
	default:
		if rpcURL == "" {
			return fmt.Errorf("chain %q unknown: set %s to %q or %q", o.Kind, EnvChain, Process, Validator)
		}
	}
	if o.Ledger != "" && (rpcURL != "" || o.Kind != Validator) {
		return fmt.Errorf("option Ledger needs a started chain of the kind %s: set %s, and unset %s",
			Validator, EnvChain, EnvRPCURL)
	}
	if o.Port < 0 || o.Port > lastRPCPort {
		return fmt.Errorf("port %d is not between 0 and %d", o.Port, lastRPCPort)
	}
	if o.GeyserPlugin != "" && (rpcURL != "" || o.Kind != Validator) {
		return fmt.Errorf("GeyserPlugin needs a started chain of the kind %s: set %s, and unset %s",
			Validator, EnvChain, EnvRPCURL)
	}
	return nil
}
