package localnet

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"github.com/gofrs/flock"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/solanaconfig"
	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// localnetFolder is a directory with localnet files.
type localnetFolder struct {
	path string
	// own reports whether this process created the directory and therefore deletes it.
	own bool
	// kept reports whether the folder has a kept ledger.
	kept bool
	// detached reports whether the process runs in the background and therefore keeps the log.
	detached bool
	// lock locks the directory until the process ends, to keep other processes from taking it over.
	lock *flock.Flock
}

// usualFolder returns the localnet directory that later commands must find.
func usualFolder() (string, error) {
	cache, err := localnet.CacheFolder()
	if err != nil {
		return "", err
	}
	return filepath.Join(cache, "localnet"), os.MkdirAll(cache, folderMode)
}

// claimFolder locks a folder that is new, empty, kept, or left over from a killed localnet, and writes this
// process's number to it.
func claimFolder(o options) (localnetFolder, error) {
	folder, err := findFolder(o)
	if err != nil {
		return folder, err
	}
	folder.kept, folder.detached = o.keep, o.detached
	pid := []byte(strconv.Itoa(os.Getpid()) + "\n")
	if err := os.WriteFile(filepath.Join(folder.path, pidFile), pid, fileMode); err != nil {
		return folder, errors.Join(err, folder.lock.Close())
	}
	return folder, nil
}

func findFolder(o options) (localnetFolder, error) {
	if o.dir == "" {
		path, err := os.MkdirTemp("", "haggle-localnet-")
		if err != nil {
			return localnetFolder{}, err
		}
		return lockFolder(path, path, true)
	}
	folder, err := openFolder(o.dir)
	if err != nil || folder.own {
		return folder, err
	}
	if err := folder.takeOver(o.dir, o.keep); err != nil {
		return localnetFolder{}, errors.Join(err, folder.lock.Close())
	}
	return folder, nil
}

// openFolder locks a folder. It creates the folder if it does not exist.
func openFolder(given string) (localnetFolder, error) {
	path, err := filepath.Abs(given)
	if err != nil {
		return localnetFolder{}, err
	}
	err = os.Mkdir(path, folderMode)
	if err != nil && !errors.Is(err, os.ErrExist) {
		return localnetFolder{}, exitcode.Usagef("--dir: %w", err)
	}
	return lockFolder(path, given, err == nil)
}

// lockFolder locks a folder. The kernel releases the lock when the process ends.
func lockFolder(path, given string, own bool) (localnetFolder, error) {
	lock := flock.New(path, flock.SetFlag(os.O_RDONLY))
	locked, err := lock.TryLock()
	if err != nil {
		return localnetFolder{}, exitcode.Usagef("--dir: %w", err)
	}
	if !locked {
		return localnetFolder{}, exitcode.Usagef(
			"--dir: %s is used by another localnet: stop it (haggle localnet --stop --dir %s), or use another folder",
			given, given)
	}
	return localnetFolder{path: path, own: own, lock: lock}, nil
}

// takeOver empties an existing directory, except for a kept ledger. It refuses a directory with foreign
// files: a localnet directory contains a description, a kept ledger, or nothing but a log.
func (f localnetFolder) takeOver(given string, keep bool) error {
	entries, err := os.ReadDir(f.path)
	if err != nil {
		return exitcode.Usagef("--dir: %w", err)
	}
	found := map[string]bool{}
	for _, entry := range entries {
		found[entry.Name()] = true
	}
	if found[ledgerFolder] && !keep {
		return exitcode.Usagef("--dir: %s has a kept chain: continue it with --keep, or delete the folder", given)
	}
	own := found[localnetFile] || found[ledgerFolder] || found[pidFile]
	delete(found, logFile)
	if len(found) > 0 && !own {
		return exitcode.Usagef("--dir: %s has other files: use a new folder", given)
	}
	return f.remove()
}

// release deletes the written files and unlocks the folder.
func (f localnetFolder) release() error { return errors.Join(f.remove(), f.lock.Close()) }

// remove deletes the localnet files, which are useless once the chain has stopped. It keeps a kept ledger and
// the log. The next start rewrites a kept ledger's fixed keys.
func (f localnetFolder) remove() error {
	for _, name := range []string{localnetFile, pidFile, "buyer.json", "buyer.yml", "seller.json", "seller.yml", "authority.json", "authority.yml"} {
		if err := os.Remove(filepath.Join(f.path, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	if f.own && !f.kept && !f.detached {
		return os.Remove(f.path)
	}
	return nil
}

// fill writes keypairs and configurations, and the description last, which marks the folder as complete.
func (f localnetFolder) fill(net *localnet.Net) (localnetView, error) {
	v := localnetView{
		RPC: net.Chain.RPCURL(), WebSocket: net.Chain.WSURL(), Program: net.Chain.ProgramID,
		Mint: net.Mint, Decimals: localnet.Decimals, Treasury: net.Treasury, PID: os.Getpid(), TestKeys: f.kept,
	}
	if f.detached {
		v.Log = filepath.Join(f.path, logFile)
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
