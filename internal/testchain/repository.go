package testchain

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gagliardetto/solana-go"
)

const modulePath = "github.com/haggle-protocol/haggle"

// repository is the root folder of the checkout: programs and scripts are taken from there.
type repository string

// findRepository walks up from the working directory to this module's go.mod.
func findRepository() (repository, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for folder := start; ; folder = filepath.Dir(folder) {
		content, err := os.ReadFile(filepath.Join(folder, "go.mod"))
		if err == nil && strings.HasPrefix(string(content), "module "+modulePath+"\n") {
			return repository(folder), nil
		}
		if folder == filepath.Dir(folder) {
			return "", fmt.Errorf("%s is not inside a checkout of %s: a local chain is built from there; "+
				"change into one, or set %s to a chain that runs", start, modulePath, EnvRPCURL)
		}
	}
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
