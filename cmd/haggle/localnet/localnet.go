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

The first start on a machine builds the chain, which takes minutes.`

// The files of a localnet's folder.
const (
	localnetFile = "localnet.json"
	folderMode   = 0o700
	fileMode     = 0o600
)

// Command returns "haggle localnet".
func Command(s *session.Session) *cobra.Command {
	var folder string
	var chain flags.Chain
	var funded []string
	cmd := &cobra.Command{
		Use: "localnet", Short: "Run a local chain with the program and two funded agents", Long: localnetHelp,
		Example: `  haggle localnet --dir chain
  haggle -C chain/buyer.yml balance --mint MINT      # in another terminal
  haggle localnet --fund ADDRESS --chain validator`,
		Args: command.Exactly(0),
	}
	cmd.Flags().StringVar(&folder, "dir", "", "folder for keypairs and configurations (default: a temporary one)")
	chain.Register(cmd)
	cmd.Flags().StringArrayVar(&funded, "fund", nil, "further address that gets SOL and tokens; can be repeated")
	command.Documents(cmd, localnetView{})
	cmd.RunE = s.Unlimited(func(ctx context.Context, _ []string) error {
		kind, err := chain.Kind()
		if err != nil {
			return err
		}
		if url := os.Getenv(localnet.EnvRPCURL); url != "" {
			return exitcode.Usagef("%s is set to a running chain, %s: unset it to start another chain", localnet.EnvRPCURL, url)
		}
		var owners []solana.PublicKey
		for _, written := range funded {
			owner, err := connection.ParseAddress(written)
			if err != nil {
				return exitcode.Usagef("--fund: %w", err)
			}
			owners = append(owners, owner)
		}
		return run(ctx, s, folder, kind, owners)
	})
	return cmd
}

func run(ctx context.Context, s *session.Session, given string, kind localnet.Kind, funded []solana.PublicKey) (err error) {
	folder, err := claimFolder(given)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, folder.release()) }()
	started := s.ShowProgress("starting the local chain")
	defer started()
	net, err := localnet.Start(ctx, localnet.Options{Kind: kind, Progress: s.Report})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, net.Close()) }()
	if len(funded) > 0 {
		if err := net.Endow(ctx, funded...); err != nil {
			return err
		}
	}
	v, err := folder.fill(net)
	if err != nil {
		return err
	}
	started()
	// Without a home folder other commands cannot name this chain in their hints.
	if withdraw, err := localnets.Announce(localnets.Entry{URL: v.RPC, Folder: folder.path}); err == nil {
		defer func() { _ = withdraw() }()
	}
	if err := s.Print(v, v.text()); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
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
}

type agentView struct {
	Address solana.PublicKey `json:"address"`
	Keypair string           `json:"keypair"`
	Config  string           `json:"config"`
}

func (v localnetView) text() string {
	return "local chain running; Ctrl-C stops it\n" + format.Rows{
		{"rpc", v.RPC},
		{"websocket", v.WebSocket},
		{"program", v.Program.String()},
		{"mint", v.Mint.String()},
		{"treasury", v.Treasury.String()},
		{"buyer", v.Buyer.Address.String()},
		{"seller", v.Seller.Address.String()},
		{"keys in", filepath.Dir(v.Buyer.Keypair)},
	}.String() + fmt.Sprintf(`
in another terminal:
  haggle -C %s negotiation create --seller %s --mint %s --escrow 5 --service "Summarise a paper"
  haggle -C %s negotiation list`, v.Buyer.Config, v.Seller.Address, v.Mint, v.Seller.Config)
}
