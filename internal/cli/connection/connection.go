// Package connection defines the flags for cluster, wallet and policy, with defaults from the Solana tools'
// configuration.
package connection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/spf13/pflag"

	"github.com/haggle-protocol/haggle/internal/cli/duration"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/solanaconfig"
	"github.com/haggle-protocol/haggle/internal/cli/telemetry"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/events"
	"github.com/haggle-protocol/haggle/sdk/policy"
	"github.com/haggle-protocol/haggle/sdk/yellowstone"
)

// Flags holds the command line values. An empty value is taken from the Solana tools' configuration file. If
// missing there, too, the defaults are localhost, the keypair created by "solana-keygen new", and the
// commitment "confirmed".
type Flags struct {
	URL string
	// Fallbacks are further endpoints of the same cluster.
	Fallbacks    []string
	WebSocketURL string
	KeypairPath  string
	ConfigPath   string
	Commitment   string
	// Yellowstone is a Yellowstone gRPC endpoint for events, used instead of the WebSocket endpoint.
	Yellowstone string
	// PollEvery polls for events instead of using the WebSocket endpoint; zero does not poll.
	PollEvery duration.Flag
	// MaxPriorityFee is in lamports.
	MaxPriorityFee uint64
	// PolicyPath is the file with the policy's limits.
	PolicyPath string
	// StatePath names the database: a file, a PostgreSQL URL, or "" for the default.
	StatePath string
	// NoJournal is true if transactions are not written to the database.
	NoJournal bool
	// Unattended disables questions, even at a terminal.
	Unattended bool
	// Prompting is called before a question at the terminal, and the returned function afterwards. Nil is no
	// call.
	Prompting func() (done func())
	// AmountOf formats base units of a mint, or lamports if there is no mint, in questions. If nil, only
	// well-known mints are formatted with decimals and symbol.
	AmountOf func(mint solana.PublicKey, units uint64) string

	client    *haggle.Client
	exporters *telemetry.Exporters
	// opened holds the wallet, and signer the same wallet within the policy.
	opened, signer haggle.Signer
	policy         *policy.Config
	state          lazyState
	// sends is true after RegisterJournal.
	sends bool
}

// Register adds the flags to a set.
func (f *Flags) Register(set *pflag.FlagSet) {
	set.StringVarP(&f.URL, "url", "u", "", "RPC endpoint: an http address or localhost, devnet, testnet, mainnet-beta (l, d, t, m)")
	set.StringSliceVar(&f.Fallbacks, "fallback", nil, "further RPC endpoint of the same cluster, used if the first one fails or lags; can be repeated")
	set.StringVar(&f.WebSocketURL, "ws", "", "WebSocket endpoint (default: derived from the RPC endpoint)")
	set.StringVar(&f.Yellowstone, "yellowstone", "", "receive events from this Yellowstone gRPC endpoint; its token is in YELLOWSTONE_TOKEN")
	set.Var(&f.PollEvery, "poll", "poll the node for events this often, without its WebSocket endpoint (0s: do not poll)")
	set.StringVarP(&f.KeypairPath, "keypair", "k", "", "wallet that signs and pays: a keypair file, env:NAME, age:FILE or https://HOST/PATH")
	set.StringVarP(&f.ConfigPath, "config", "C", "", "configuration file of the Solana tools (default: ~/.config/solana/cli/config.yml)")
	set.Uint64Var(&f.MaxPriorityFee, "max-priority-fee", 0, "highest priority fee of a transaction, in lamports")
	set.StringVar(&f.Commitment, "commitment", "", "commitment of reads and transactions: confirmed or finalized (default: confirmed)")
	set.StringVar(&f.PolicyPath, "policy", "", "sign only within the limits of this file (haggle policy --help)")
	set.StringVar(&f.StatePath, "state", "", "state database with sent transactions, the usage of the policy's limits, "+
		"the expenses of the keeper and committed prices: FILE or postgres://... "+
		"(default: one for each cluster in ~/.local/state/haggle/state, or below $XDG_STATE_HOME)")
}

// Settings holds the flags with defaults applied. An empty WebSocket endpoint is derived from the RPC
// endpoint.
type Settings struct {
	haggle.Config
	KeypairPath string
}

// Settle adds the defaults.
func (f *Flags) Settle() (Settings, error) {
	configured, err := solanaconfig.Read(f.ConfigPath)
	if errors.Is(err, fs.ErrNotExist) {
		return Settings{}, &exitcode.Error{Kind: exitcode.Usage, Hint: "if it belongs to a localnet, check that the localnet is still running", Err: fmt.Errorf("--config: %w", err)}
	}
	if err != nil {
		return Settings{}, exitcode.Usagef("--config: %w", err)
	}
	url := cmp.Or(f.URL, configured.URL, solanaconfig.LocalhostURL)
	endpoint, err := solanaconfig.ResolveURL(url)
	if err != nil {
		return Settings{}, exitcode.Usagef("--url: %w", err)
	}
	var fallbacks []string
	for _, written := range f.Fallbacks {
		fallback, err := solanaconfig.ResolveURL(written)
		if err != nil {
			return Settings{}, exitcode.Usagef("--fallback: %w", err)
		}
		fallbacks = append(fallbacks, fallback)
	}
	if configured.Commitment == rpc.CommitmentProcessed {
		// A processed state can still be dropped, so no payment may depend on it.
		configured.Commitment = rpc.CommitmentConfirmed
	}
	commitment, err := solanaconfig.ParseCommitment(
		cmp.Or(f.Commitment, string(configured.Commitment), string(rpc.CommitmentConfirmed)))
	if err != nil {
		return Settings{}, exitcode.Usagef("--commitment: %w", err)
	}
	if commitment == rpc.CommitmentProcessed {
		return Settings{}, exitcode.Usagef("--commitment: must be confirmed or finalized: a processed state can still be dropped")
	}
	socket := f.WebSocketURL
	if socket == "" && f.URL == "" {
		socket = configured.WebSocketURL
	}
	settings := Settings{
		Config:      haggle.Config{Endpoint: endpoint, Fallbacks: fallbacks, WSEndpoint: socket, Commitment: commitment, MaxPriorityFee: f.MaxPriorityFee},
		KeypairPath: cmp.Or(f.KeypairPath, configured.KeypairPath, solanaconfig.DefaultKeypairPath()),
	}
	switch {
	case f.Yellowstone != "" && f.PollEvery > 0:
		return Settings{}, exitcode.Excludes("--yellowstone", "--poll", "")
	case f.Yellowstone != "":
		source, err := yellowstone.New(yellowstone.Config{Endpoint: f.Yellowstone, Token: os.Getenv(yellowstoneToken)})
		if err != nil {
			return Settings{}, exitcode.Usagef("--yellowstone: %w", err)
		}
		settings.Source = source
	case f.PollEvery > 0:
		settings.Source = events.NewPolling(time.Duration(f.PollEvery))
	}
	if f.exporters == nil {
		if f.exporters, err = telemetry.FromEnvironment(context.Background()); err != nil {
			return Settings{}, exitcode.Usagef("%w", err)
		}
	}
	settings.TracerProvider, settings.MeterProvider = f.exporters.TracerProvider(), f.exporters.MeterProvider()
	return settings, nil
}

// yellowstoneToken names the environment variable with the Yellowstone access token.
const yellowstoneToken = "YELLOWSTONE_TOKEN"

// Client connects to the cluster. It returns the same client each time.
func (f *Flags) Client() (*haggle.Client, error) {
	if f.client != nil {
		return f.client, nil
	}
	settings, err := f.Settle()
	if err != nil {
		return nil, err
	}
	if f.hasJournal() {
		settings.Journal = lazyJournals{f}
	}
	client, err := haggle.NewClient(settings.Config)
	if err != nil {
		return nil, exitcode.Usagef("--url, --fallback, --ws: %w", err)
	}
	f.client = client
	return client, nil
}

// Close closes the client and the state database.
func (f *Flags) Close() error {
	var failures []error
	if f.client != nil {
		failures = append(failures, f.client.Close())
	}
	if f.exporters != nil {
		failures = append(failures, f.exporters.Close())
	}
	failures = append(failures, f.state.close())
	f.client, f.exporters, f.opened, f.signer, f.policy = nil, nil, nil, nil, nil
	return errors.Join(failures...)
}

// Address is a flag that takes an account. The zero value is unset.
type Address solana.PublicKey

// Set parses 32 bytes in base58.
func (a *Address) Set(written string) error {
	key, err := ParseAddress(written)
	if err == nil {
		*a = Address(key)
	}
	return err
}

// String returns the account in base58, or an empty string.
func (a *Address) String() string {
	if a.Key().IsZero() {
		return ""
	}
	return a.Key().String()
}

// Type is the flag's type in the help.
func (*Address) Type() string { return "address" }

// Key converts the flag for the SDK.
func (a Address) Key() solana.PublicKey { return solana.PublicKey(a) }

// ParseAddress parses 32 bytes in base58.
func ParseAddress(written string) (solana.PublicKey, error) {
	key, err := solana.PublicKeyFromBase58(written)
	if err != nil || key.IsZero() && written != (solana.PublicKey{}).String() {
		return solana.PublicKey{}, fmt.Errorf("%q is not an address (32 bytes in base 58)", written)
	}
	return key, nil
}
