package wallet

import (
	"errors"
	"fmt"
	"os"
)

// ErrNotSet: the environment variable is not set, or empty.
var ErrNotSet = errors.New("haggle: wallet: the environment variable is not set")

// FromEnvironment reads the key from an environment variable: 64 bytes as base58, as exported by wallets, or
// as a keypair file's JSON array. The variable stays set and visible to child processes until the caller
// calls os.Unsetenv.
func FromEnvironment(variable string) (*Keypair, error) {
	text := os.Getenv(variable)
	if text == "" {
		return nil, fmt.Errorf("%w: %s", ErrNotSet, variable)
	}
	keypair, err := ParseKeypair([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("%w: environment variable %s", err, variable)
	}
	return keypair, nil
}
