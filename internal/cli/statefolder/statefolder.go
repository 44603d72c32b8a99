// Package statefolder finds the folder of the commands' state: journals, state databases, the list of
// local chains and the gateway's database.
package statefolder

import (
	"os"
	"path/filepath"
)

// The folders below the state folder.
const (
	// Arena has the default database and keys of an arena, and the keys of its players.
	Arena = "arena"
	// Gateway has the default database of the gateway.
	Gateway = "gateway"
	// Hire has the default database and settlement key of a home.
	Hire = "hire"
	// Issues has the outcomes of negotiations about several issues.
	Issues = "issues"
	// Journals has the default journals.
	Journals = "journal"
	// Localnets has the list of running local chains.
	Localnets = "localnets"
	// Mints records the decimals of mints at their first use.
	Mints = "mints"
	// State contains the default state databases.
	State = "state"
)

// Path returns a folder below the state folder, which is haggle in $XDG_STATE_HOME or in ~/.local/state. A
// relative $XDG_STATE_HOME is ignored. The folder may not exist. Path returns an error if the user has no
// home folder.
func Path(name string) (string, error) {
	if state := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(state) {
		return filepath.Join(state, "haggle", name), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(home, ".local", "state", "haggle", name), nil
}
