package localnet

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gagliardetto/solana-go"
)

// repository is the root folder of the checkout: programs and scripts are taken from there.
type repository string

func findRepository() (repository, error) {
	root, err := findCheckout()
	if err != nil {
		return "", fmt.Errorf("%w: a local chain is built from there; change into one, or set %s to a chain that runs", err, EnvRPCURL)
	}
	return repository(root), nil
}

// programID reads the program's address from the IDL.
func (r repository) programID() (solana.PublicKey, error) {
	path := filepath.Join(string(r), "idl", "haggle.json")
	content, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return solana.PublicKey{}, fmt.Errorf("%w; write it first: make idl", err)
	}
	if err != nil {
		return solana.PublicKey{}, err
	}
	var idl struct {
		Address solana.PublicKey `json:"address"`
	}
	if err := json.Unmarshal(content, &idl); err != nil {
		return solana.PublicKey{}, fmt.Errorf("%s: %w", path, err)
	}
	return idl.Address, nil
}
