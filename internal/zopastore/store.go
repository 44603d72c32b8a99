// Package zopastore keeps sealed reservation prices on disk until they have been revealed.
//
// Whoever has committed to a price and loses its nonce cannot reveal it, and a seller then loses its bond. So a price is on
// the disk, and the disk has said so, before its commitment goes anywhere; nothing is ever overwritten; and it stays until
// its revelation is confirmed.
package zopastore

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk"
)

// A Store is a folder with a file for each sealed price, which only its owner can read.
type Store struct {
	// Dir is the folder. It is made when it is needed.
	Dir string
}

// DefaultDir is where sealed prices are kept unless somebody says otherwise: beneath $XDG_STATE_HOME, by default
// ~/.local/state.
func DefaultDir() (string, error) {
	if state := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(state) {
		return filepath.Join(state, "haggle", "sealed"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("where to keep sealed prices: %w", err)
	}
	return filepath.Join(home, ".local", "state", "haggle", "sealed"), nil
}

// prefix is what the names of an agent's files for a negotiation begin with.
func prefix(negotiation, agent solana.PublicKey) string {
	return negotiation.String() + "-" + agent.String() + "-"
}

const suffix = ".json"

// Path is the file of a sealed price: the commitment is in its name, so that two prices never share one.
func (s Store) Path(price *haggle.SealedPrice) string {
	commitment := price.Commitment()
	return filepath.Join(s.Dir, prefix(price.Negotiation(), price.Agent())+hex.EncodeToString(commitment[:8])+suffix)
}

// Keep writes a sealed price and returns once it is on the disk. To keep one that is there already is fine.
func (s Store) Keep(price *haggle.SealedPrice) (err error) {
	secret, err := price.Secret()
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("keep the sealed price: %w", err)
		}
	}()
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(s.Dir, "writing-*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) // once it has its name, there is nothing under this one
	if _, err = file.Write(append(secret, '\n')); err == nil {
		err = file.Sync()
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err := os.Rename(file.Name(), s.Path(price)); err != nil {
		return err
	}
	return syncFolder(s.Dir)
}

// syncFolder makes sure that the names in a folder survive a loss of power.
func syncFolder(dir string) error {
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// Find is what is kept of an agent's for a negotiation, in the order of the files' names. A folder that does not exist keeps
// nothing. It fails if one of the files cannot be read or is not what was written: what it says would be missing.
func (s Store) Find(negotiation, agent solana.PublicKey) ([]*haggle.SealedPrice, error) {
	paths, err := s.paths(negotiation, agent)
	if err != nil {
		return nil, err
	}
	var found []*haggle.SealedPrice
	for _, path := range paths {
		secret, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		price, err := haggle.ParseSealedPrice(secret)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if price.Negotiation() != negotiation || price.Agent() != agent {
			return nil, fmt.Errorf("%s: %w: it is another negotiation's or another agent's", path, haggle.ErrSealedPrice)
		}
		found = append(found, price)
	}
	return found, nil
}

// Forget removes what is kept of an agent's for a negotiation, after the price has been revealed.
func (s Store) Forget(negotiation, agent solana.PublicKey) error {
	paths, err := s.paths(negotiation, agent)
	if err != nil {
		return err
	}
	for _, path := range paths {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (s Store) paths(negotiation, agent solana.PublicKey) ([]string, error) {
	entries, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), prefix(negotiation, agent)) && strings.HasSuffix(entry.Name(), suffix) {
			paths = append(paths, filepath.Join(s.Dir, entry.Name()))
		}
	}
	return paths, nil
}
