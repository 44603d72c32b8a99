package localnet

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"syscall"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/solanaconfig"
	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// localnetFolder is a folder with the files of a localnet.
type localnetFolder struct {
	path string
	// own reports whether this process has created the folder, and so deletes it.
	own bool
	// lock is the open folder. It stays locked until the process ends, so that no other process takes the
	// folder over.
	lock *os.File
}

// claimFolder locks a folder that is new, empty, or left over from a killed localnet.
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

// lockFolder opens a folder and locks it. The kernel releases the lock when the process ends.
func lockFolder(path, given string, own bool) (localnetFolder, error) {
	lock, err := os.Open(path)
	if err != nil {
		return localnetFolder{}, exitcode.Usagef("--dir: %w", err)
	}
	err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = exitcode.Usagef("--dir: %s is used by another localnet: stop it, or use another folder", given)
	}
	if err != nil {
		return localnetFolder{}, errors.Join(err, lock.Close())
	}
	return localnetFolder{path, own, lock}, nil
}

// takeOver empties an existing folder. It refuses a folder with files of another origin.
func (f localnetFolder) takeOver(given string) error {
	entries, err := os.ReadDir(f.path)
	if err != nil {
		return exitcode.Usagef("--dir: %w", err)
	}
	_, err = os.Stat(filepath.Join(f.path, localnetFile))
	if len(entries) > 0 && err != nil {
		return exitcode.Usagef("--dir: %s has other files: use a new folder", given)
	}
	return f.remove()
}

// release deletes the written files and unlocks the folder.
func (f localnetFolder) release() error { return errors.Join(f.remove(), f.lock.Close()) }

// remove deletes the files of a localnet, which are useless without its chain.
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

// fill writes keypairs and configurations, and the description last, which marks the folder as complete.
func (f localnetFolder) fill(net *localnet.Net) (localnetView, error) {
	v := localnetView{
		RPC: net.Chain.RPCURL, WebSocket: net.Chain.WSURL, Program: net.Chain.ProgramID,
		Mint: net.Mint, Decimals: localnet.Decimals, Treasury: net.Treasury,
	}
	authority, err := wallet.NewKeypair(net.Chain.UpgradeAuthority)
	if err != nil {
		return v, err
	}
	for _, agent := range []struct {
		name string
		key  *wallet.Keypair
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
