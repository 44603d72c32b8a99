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

// The kinds of chains. Process and Validator can be started; External is a running chain.
const (
	// Process runs in this process: see package ledger.
	Process Kind = "process"
	// Validator is solana-test-validator, as a child process.
	Validator Kind = "validator"
	External  Kind = "external"
)

// Options configure Start and StartChain. The zero value is complete.
type Options struct {
	// Kind is the kind of chain to start: Process or Validator. If empty, HAGGLE_CHAIN decides; if that is empty,
	// too, the chain is a Process, or with a Ledger a Validator. All of it is ignored if HAGGLE_RPC_URL is set.
	Kind Kind
	// Program is the path of the program's ELF file. If empty, the one in this package is used, see [Program].
	Program string
	// ProgramID is the address of the program. If zero, protocol.ProgramID is used. Start always uses that
	// one.
	ProgramID solana.PublicKey
	// Port is the port of the JSON-RPC server; the WebSocket server gets the next one. If zero, free ports are
	// used. If one of both is not free, StartChain returns ErrPortInUse.
	Port int
	// Ledger is the folder of a ledger that outlives the chain. A later start with the same folder continues
	// it, with the program, accounts and balances of the earlier one. If empty, Close deletes the chain's state.
	//
	// The chain is a validator then. All keys are fixed: the faucet, the upgrade authority, and the mint,
	// treasury, buyer and seller of Net. Anybody can derive them from this package's source. They are for tests
	// only: never send funds to them on another chain.
	//
	// The chain's clock does not advance while the chain is stopped. It is then behind the machine's clock.
	Ledger string
	// GeyserPlugin is the path of the configuration file of a Geyser plugin. It is an error unless a chain of
	// the kind Validator is started.
	GeyserPlugin string
	// Log receives the log of a started validator. If nil, the log is discarded; the error of a failed start
	// contains its last 4 KiB.
	Log io.Writer
	// Progress receives lines about builds of the validator, which happen once per machine and take minutes. It is called from
	// the goroutine of Start. If nil, the lines are discarded.
	Progress func(line string)

	// mint is the mint whose metadata a new ledger has; zero for none.
	mint solana.PublicKey
}

// withDefaults fills the fields that do not depend on where the chain comes from.
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
