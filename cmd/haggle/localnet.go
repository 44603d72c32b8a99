package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/gagliardetto/solana-go"
	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/connection"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/solanaconfig"
	"github.com/haggle-protocol/haggle/internal/localnet"
	"github.com/haggle-protocol/haggle/internal/testchain"
	haggle "github.com/haggle-protocol/haggle/sdk"
)

const localnetHelp = `Starts a local chain with the program, initializes the protocol, and makes a mint, a buyer with SOL and
tokens, and a seller. It runs until Ctrl-C; then nothing of it is left.

The keypairs and, for each agent, a configuration file of the Solana tools are written to a folder;
"haggle -C FOLDER/buyer.yml ..." (or "solana -C ...") then acts as that agent. localnet.json in the folder
says what stands here on the screen, once everything is ready.

The first start on a machine builds the chain, which takes minutes.`

// The files of a localnet's folder.
const (
	localnetFile = "localnet.json"
	folderMode   = 0o700
	fileMode     = 0o600
)

func newLocalnetCommand(s *session) *cobra.Command {
	var folder, kind string
	var funded []string
	cmd := &cobra.Command{
		Use: "localnet", Short: "Run a local chain with the program and two agents who have money", Long: localnetHelp,
		Example: `  haggle localnet --dir chain
  haggle -C chain/buyer.yml balance --mint MINT      # in another terminal
  haggle localnet --fund ADDRESS --chain validator`,
		Args: exactly(0),
	}
	cmd.Flags().StringVar(&folder, "dir", "", "folder for keypairs and configurations (default: a temporary one)")
	cmd.Flags().StringVar(&kind, "chain", "", "surfpool (embedded, the default) or validator (solana-test-validator)")
	cmd.Flags().StringArrayVar(&funded, "fund", nil, "address that gets SOL and tokens too; may be repeated")
	_ = cmd.RegisterFlagCompletionFunc("chain", cobra.FixedCompletions([]string{"surfpool", "validator"}, cobra.ShellCompDirectiveNoFileComp))
	cmd.RunE = s.unlimited(func(ctx context.Context, _ []string) error {
		if err := knownChain(kind); err != nil {
			return err
		}
		if url := os.Getenv(testchain.EnvRPCURL); url != "" {
			return exitcode.Usagef("%s names a chain that runs already, %s: unset it to start another", testchain.EnvRPCURL, url)
		}
		var owners []solana.PublicKey
		for _, written := range funded {
			owner, err := connection.ParseAddress(written)
			if err != nil {
				return exitcode.Usagef("--fund: %w", err)
			}
			owners = append(owners, owner)
		}
		return s.localnet(ctx, folder, testchain.Kind(kind), owners)
	})
	return cmd
}

// knownChain refuses what --chain cannot be, before anything is built.
func knownChain(written string) error {
	switch testchain.Kind(written) {
	case "", testchain.Surfpool, testchain.Validator:
		return nil
	}
	return exitcode.Usagef("--chain: %q is neither %s nor %s", written, testchain.Surfpool, testchain.Validator)
}

func (s *session) localnet(ctx context.Context, given string, kind testchain.Kind, funded []solana.PublicKey) (err error) {
	folder, err := claimFolder(given)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, folder.release()) }()
	net, err := localnet.Start(ctx, testchain.Options{Kind: kind, Progress: func(line string) { fmt.Fprintln(s.stderr, line) }})
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
	if err := s.print(v, v.text()); err != nil {
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
	return "a local chain is running; Ctrl-C stops it\n" + columns(
		row{"rpc", v.RPC},
		row{"websocket", v.WebSocket},
		row{"program", v.Program.String()},
		row{"mint", v.Mint.String()},
		row{"treasury", v.Treasury.String()},
		row{"buyer", v.Buyer.Address.String()},
		row{"seller", v.Seller.Address.String()},
		row{"keys in", filepath.Dir(v.Buyer.Keypair)},
	) + fmt.Sprintf(`
in another terminal:
  haggle -C %s negotiation create --seller %s --mint %s --escrow 5 --service "Summarise a paper"
  haggle -C %s negotiation list`, v.Buyer.Config, v.Seller.Address, v.Mint, v.Seller.Config)
}

// localnetFolder holds what a localnet writes, and nothing else.
type localnetFolder struct {
	path string
	// own says that the folder has been made here, and goes with what is in it.
	own bool
	// lock is the open folder. It is locked for as long as the process lives, so that nobody takes it for one left behind.
	lock *os.File
}

// claimFolder takes a folder that is new, empty, or left behind by a localnet that was killed.
func claimFolder(given string) (localnetFolder, error) {
	if given == "" {
		path, err := os.MkdirTemp("", "haggle-localnet-")
		if err != nil {
			return localnetFolder{}, err
		}
		return lockFolder(path, path, true)
	}
	path, err := filepath.Abs(given)
	if err != nil {
		return localnetFolder{}, err
	}
	err = os.Mkdir(path, folderMode)
	if err != nil && !errors.Is(err, os.ErrExist) {
		return localnetFolder{}, exitcode.Usagef("--dir: %w", err)
	}
	folder, lockErr := lockFolder(path, given, err == nil)
	if lockErr != nil || folder.own {
		return folder, lockErr
	}
	if err := folder.takeOver(given); err != nil {
		return localnetFolder{}, errors.Join(err, folder.lock.Close())
	}
	return folder, nil
}

// lockFolder opens a folder and locks it. The kernel lets go of it when the process ends, however that happens.
func lockFolder(path, given string, own bool) (localnetFolder, error) {
	lock, err := os.Open(path)
	if err != nil {
		return localnetFolder{}, exitcode.Usagef("--dir: %w", err)
	}
	err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = exitcode.Usagef("--dir: another localnet is using %s (stop it, or name another folder)", given)
	}
	if err != nil {
		return localnetFolder{}, errors.Join(err, lock.Close())
	}
	return localnetFolder{path, own, lock}, nil
}

// takeOver empties a folder that was there before, unless it has files in it that are no localnet's.
func (f localnetFolder) takeOver(given string) error {
	entries, err := os.ReadDir(f.path)
	if err != nil {
		return exitcode.Usagef("--dir: %w", err)
	}
	_, err = os.Stat(filepath.Join(f.path, localnetFile))
	if len(entries) > 0 && err != nil {
		return exitcode.Usagef("--dir: %s has other files in it: name a new folder", given)
	}
	return f.remove()
}

// release deletes what has been written and lets go of the folder.
func (f localnetFolder) release() error { return errors.Join(f.remove(), f.lock.Close()) }

// remove deletes what a localnet writes; without its chain it is worth nothing.
func (f localnetFolder) remove() error {
	for _, name := range []string{localnetFile, "buyer.json", "buyer.yml", "seller.json", "seller.yml", "authority.json", "authority.yml"} {
		if err := os.Remove(filepath.Join(f.path, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	if f.own {
		return os.Remove(f.path)
	}
	return nil
}

// fill writes keypairs and configurations, and the description last, for whoever waits for it.
func (f localnetFolder) fill(net *localnet.Net) (localnetView, error) {
	v := localnetView{
		RPC: net.Chain.RPCURL, WebSocket: net.Chain.WSURL, Program: net.Chain.ProgramID,
		Mint: net.Mint, Decimals: localnet.Decimals, Treasury: net.Treasury,
	}
	authority, err := haggle.NewKeypair(net.Chain.UpgradeAuthority)
	if err != nil {
		return v, err
	}
	for _, agent := range []struct {
		name string
		key  *haggle.Keypair
		view *agentView
	}{{"buyer", net.Buyer, &v.Buyer}, {"seller", net.Seller, &v.Seller}, {"authority", authority, &v.Authority}} {
		*agent.view = agentView{
			Address: agent.key.PublicKey(),
			Keypair: filepath.Join(f.path, agent.name+".json"),
			Config:  filepath.Join(f.path, agent.name+".yml"),
		}
		if err := agent.key.Save(agent.view.Keypair); err != nil {
			return v, err
		}
		config := solanaconfig.Config{URL: v.RPC, WebSocketURL: v.WebSocket, KeypairPath: agent.view.Keypair, Commitment: "confirmed"}
		if err := config.Write(agent.view.Config); err != nil {
			return v, err
		}
	}
	content, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return v, err
	}
	// Renaming makes it appear whole.
	partial := filepath.Join(f.path, localnetFile+".part")
	if err := os.WriteFile(partial, append(content, '\n'), fileMode); err != nil {
		return v, err
	}
	return v, os.Rename(partial, filepath.Join(f.path, localnetFile))
}
