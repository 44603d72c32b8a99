// Package statefolder finds the directory for the commands' data: journals, state databases, the list of local
// chains and the gateway's database.
package statefolder

import (
	"os"
	"path/filepath"
)

// The subdirectories.
const (
	// Arena holds an arena's default database and keys, and the players' keys.
	Arena = "arena"
	// Gateway contains the gateway's default database.
	Gateway = "gateway"
	// Hire holds a home's default database and settlement key.
	Hire = "hire"
	// Issues contains the outcomes of negotiations about several issues.
	Issues = "issues"
	// Journals contains the default journals.
	Journals = "journal"
	// Localnets contains the list of running local chains.
	Localnets = "localnets"
	// Mints records the decimals of mints at their first use.
	Mints = "mints"
	// State contains the default state databases.
	State = "state"
)

// Path returns a subdirectory of haggle in $XDG_STATE_HOME or ~/.local/state. A relative $XDG_STATE_HOME is
// ignored. The directory may not exist. Path returns an error if the user has no home directory.
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
