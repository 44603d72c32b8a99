// Package zopastore keeps committed reservation prices on disk until they are revealed.
//
// Without its nonce a committed price cannot be revealed, which costs a seller its bond. So the price is
// synced to the disk before its commitment is sent, files are never overwritten, and a file is deleted only
// after the reveal is confirmed.
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

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Store is a folder with a file for each committed price, readable by its owner alone.
type Store struct {
	// Dir is the folder. Keep creates it.
	Dir string
}

// prefix is the beginning of the names of an agent's files for a negotiation.
func prefix(negotiation, agent solana.PublicKey) string {
	return negotiation.String() + "-" + agent.String() + "-"
}

const suffix = ".json"

// Path returns the file of a price. Its name contains the commitment, so that each price has its own file.
func (s Store) Path(price *protocol.SealedPrice) string {
	commitment := price.Commitment()
	name := prefix(price.Negotiation(), price.Agent()) + hex.EncodeToString(commitment[:8]) + suffix
	return filepath.Join(s.Dir, name)
}

// Keep writes a price and returns after it is synced to the disk. It can be repeated.
func (s Store) Keep(price *protocol.SealedPrice) (err error) {
	secret, err := price.Secret()
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("store the committed price: %w", err)
		}
	}()
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(s.Dir, "writing-*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) // does nothing after the rename
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

// syncFolder syncs the names in a folder to the disk.
func syncFolder(dir string) error {
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// Find returns an agent's prices for a negotiation, in the order of the files' names. It returns none if the
// folder does not exist, and an error if a file cannot be read or is damaged.
func (s Store) Find(negotiation, agent solana.PublicKey) ([]*protocol.SealedPrice, error) {
	paths, err := s.paths(negotiation, agent)
	if err != nil {
		return nil, err
	}
	var found []*protocol.SealedPrice
	for _, path := range paths {
		secret, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		price, err := protocol.ParseSealedPrice(secret)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if price.Negotiation() != negotiation || price.Agent() != agent {
			return nil, fmt.Errorf("%s: %w: belongs to another negotiation or agent", path,
				protocol.ErrSealedPrice)
		}
		found = append(found, price)
	}
	return found, nil
}

// Forget deletes an agent's prices for a negotiation, after the reveal.
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
		if strings.HasPrefix(entry.Name(), prefix(negotiation, agent)) &&
			strings.HasSuffix(entry.Name(), suffix) {
			paths = append(paths, filepath.Join(s.Dir, entry.Name()))
		}
	}
	return paths, nil
}
