// Package localnet has the commands of "haggle localnet".
package localnet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gagliardetto/solana-go"
	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/connection"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/flags"
	"github.com/haggle-protocol/haggle/internal/cli/format"
	"github.com/haggle-protocol/haggle/internal/cli/localnets"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	"github.com/haggle-protocol/haggle/sdk/localnet"
)

const localnetHelp = `Starts a local chain with the program, initializes the protocol, and creates a mint, a buyer with SOL and
tokens, and a seller with SOL. It runs until Ctrl-C, which deletes the chain and its files.

The folder gets the keypairs and, for each agent, a configuration file of the Solana tools:
"haggle -C FOLDER/buyer.yml ..." (or "solana -C ...") then acts as that agent. When the chain is ready,
localnet.json in the folder has the printed values.

--keep keeps the chain's ledger in the folder, and the next start with --keep continues it: with the same
mint, buyer, seller and balances. Its keys are fixed and public. They are test keys: never send funds to
them on another chain. The chain's clock does not advance while the chain is stopped.

--detach returns when the chain is ready, and the chain continues in the background until
"haggle localnet --stop". Its log is localnet.log in the folder, its process localnet.pid. With --keep,
--detach or --stop, the folder is localnet in the cache (HAGGLE_CACHE, default ~/.cache/haggle) unless
--dir names another one.

The chain runs in this process. --chain validator runs solana-test-validator (4.2 or later) from PATH or the
cache. In a checkout of the repository, a script chooses the validator, and builds a missing one in about 30
minutes.`

// Files in a localnet directory.
const (
	localnetFile = "localnet.json"
	pidFile      = "localnet.pid"
	logFile      = "localnet.log"
	ledgerFolder = "ledger"
	folderMode   = 0o700
	fileMode     = 0o600
)

// usualPort is the port that the Solana tools mean by "localhost".
const usualPort = 8899

// options holds the parsed flags.
type options struct {
	dir      string
	kind     localnet.Kind
	funded   []solana.PublicKey
	port     int
	keep     bool
	detached bool
}

// Command returns "haggle localnet".
func Command(s *session.Session) *cobra.Command {
	var o options
	var chain flags.Chain
	var funded []string
	var detach, stop bool
	cmd := &cobra.Command{
		Use: "localnet", Short: "Run a local chain with the program and two funded agents", Long: localnetHelp,
		Example: `  haggle localnet --dir chain
  haggle -C chain/buyer.yml balance --mint MINT      # in another terminal
  haggle localnet --fund ADDRESS --chain validator
  haggle localnet --keep --detach                    # in the background, with the state of the last time
  haggle localnet --stop`,
	}
	cmd.Flags().StringVar(&o.dir, "dir", "", "folder for keypairs and configurations (default: a temporary one)")
	chain.Register(cmd)
	cmd.Flags().StringArrayVar(&funded, "fund", nil, "further address that gets SOL and tokens; can be repeated")
	cmd.Flags().IntVar(&o.port, "port", usualPort, "port of JSON-RPC; WebSocket uses the next one (0: any free ports)")
	cmd.Flags().BoolVar(&o.keep, "keep", false, "keep the ledger in the folder, with fixed test keys, and continue it at the next start")
	cmd.Flags().BoolVar(&detach, "detach", false, "return when the chain is ready; it continues in the background")
	cmd.Flags().BoolVar(&stop, "stop", false, "stop the localnet of the folder")
	cmd.MarkFlagsMutuallyExclusive("stop", "detach")
	cmd.MarkFlagsMutuallyExclusive("stop", "keep")
	cmd.Flags().BoolVar(&o.detached, "detached", false, "run as the background process of --detach")
	_ = cmd.Flags().MarkHidden("detached")
	command.Documents(cmd, localnetView{}, stoppedView{})
	cmd.RunE = s.Unlimited(func(ctx context.Context, _ []string) (err error) {
		if o.dir == "" && (o.keep || detach || stop) {
			if o.dir, err = usualFolder(); err != nil {
				return err
			}
		}
		if stop {
			return stopLocalnet(ctx, s, o.dir)
		}
		if o.kind, err = chain.Kind(); err != nil {
			return err
		}
		if o.keep && o.kind != "" && o.kind != localnet.Validator {
			return exitcode.Requires("--keep", "--chain "+string(localnet.Validator),
				string(o.kind)+" keeps no ledger")
		}
		if o.keep {
			o.kind = localnet.Validator
		}
		if o.port < 0 || o.port > 65534 {
			return exitcode.Usagef("--port: %d is not between 0 and 65534", o.port)
		}
		if url := os.Getenv(localnet.EnvRPCURL); url != "" {
			return exitcode.Usagef("%s is set to a running chain, %s: unset it to start another chain", localnet.EnvRPCURL, url)
		}
		for _, written := range funded {
			owner, err := connection.ParseAddress(written)
			if err != nil {
				return exitcode.Usagef("--fund: %w", err)
			}
			o.funded = append(o.funded, owner)
		}
		if detach {
			return detachLocalnet(ctx, s, o)
		}
		return run(ctx, s, o)
	})
	return cmd
}

func run(ctx context.Context, s *session.Session, o options) (err error) {
	folder, err := claimFolder(o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, folder.release()) }()
	started := s.ShowProgress("starting the local chain")
	defer started()
	net, err := localnet.Start(ctx, o.chain(s, folder))
	if errors.Is(err, localnet.ErrPortInUse) {
		return exitcode.Usagef("--port: another process, maybe a localnet, uses %d or %d already: stop it "+
			"(haggle localnet --stop --dir FOLDER), or choose another port with --port (0: any free ones)", o.port, o.port+1)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, net.Close()) }()
	if len(o.funded) > 0 {
		if err := net.Endow(ctx, o.funded...); err != nil {
			return err
		}
	}
	v, err := folder.fill(net)
	if err != nil {
		return err
	}
	started()
	// If there is no home directory, other commands cannot name this chain in hints.
	if withdraw, err := localnets.Announce(localnets.Entry{URL: v.RPC, Folder: folder.path}); err == nil {
		defer func() { _ = withdraw() }()
	}
	if err := s.Print(v, v.text()); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// chain returns the options of the chain.
func (o options) chain(s *session.Session, folder localnetFolder) localnet.Options {
	chain := localnet.Options{Kind: o.kind, Port: o.port, Progress: s.Report}
	if o.keep {
		chain.Ledger = filepath.Join(folder.path, ledgerFolder)
	}
	if o.detached {
		chain.Log = s.Stderr
	}
	return chain
}

type localnetView struct {
	RPC       string           `json:"rpc_url"`
	WebSocket string           `json:"ws_url"`
	Program   solana.PublicKey `json:"program"`
	Mint      solana.PublicKey `json:"mint"`
	Decimals  uint8            `json:"decimals"`
	Treasury  solana.PublicKey `json:"treasury"`
	Buyer     agentView        `json:"buyer"`
	Seller    agentView        `json:"seller"`
	// Authority is the program's upgrade authority.
	Authority agentView `json:"upgrade_authority"`
	// PID is the process id of the chain.
	PID int `json:"pid"`
	// Log is the file with the process output. It is omitted unless --detach is set.
	Log string `json:"log,omitempty"`
	// TestKeys reports whether all keys are fixed and public, as with --keep.
	TestKeys bool `json:"test_keys"`
}

type agentView struct {
	Address solana.PublicKey `json:"address"`
	Keypair string           `json:"keypair"`
	Config  string           `json:"config"`
}

func (v localnetView) text() string {
	folder := filepath.Dir(v.Buyer.Keypair)
	heading, stop := "local chain running; Ctrl-C stops it\n", ""
	if v.Log != "" {
		heading = fmt.Sprintf("local chain running in the background as process %d\n", v.PID)
		stop = fmt.Sprintf("\nlog:  %s\nstop: haggle localnet --stop --dir %s", v.Log, folder)
	}
	if v.TestKeys {
		heading += "its keys are public test keys: never send funds to them on another chain\n"
	}
	return heading + format.Rows{
		{"rpc", v.RPC},
		{"websocket", v.WebSocket},
		{"program", v.Program.String()},
		{"mint", v.Mint.String()},
		{"treasury", v.Treasury.String()},
		{"buyer", v.Buyer.Address.String()},
		{"seller", v.Seller.Address.String()},
		{"keys in", folder},
	}.String() + fmt.Sprintf(`
in another terminal:
  haggle -C %s negotiation create --seller %s --mint %s --escrow 5 --service "Summarise a paper"
  haggle -C %s negotiation list`, v.Buyer.Config, v.Seller.Address, v.Mint, v.Seller.Config) + stop
}
