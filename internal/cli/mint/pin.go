package mint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/statefolder"
	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/token"
)

// pin records a mint's decimals on first use. The genesis hash names the cluster; it does not select the pin,
// because a node that misstates decimals can misstate the genesis hash as well.
type pin struct {
	Decimals    uint8       `json:"decimals"`
	GenesisHash solana.Hash `json:"genesis_hash"`
}

// Pin records a mint's decimals, unless well known, on first use for an amount or a signature. Later uses
// with different decimals return a [*token.DecimalsError]. Each mint has a separate file in the state
// directory, linked into place whole: if two processes race, the later reads the earlier's pin.
func (m Mint) Pin(ctx context.Context, client *haggle.Client) error {
	if _, known := token.WellKnownDecimals(m.Address); known {
		return nil
	}
	path, err := pinPath(m.Address)
	if err == nil {
		if _, missing := os.Stat(path); !errors.Is(missing, fs.ErrNotExist) {
			return m.checkPin()
		}
		err = m.writePin(ctx, client, path)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return exitcode.WithHint(fmt.Errorf("decimals of mint %s cannot be recorded: %w", m.Address, err),
			"nothing was signed; set XDG_STATE_HOME to a writable directory")
	}
	return m.checkPin()
}

func (m Mint) writePin(ctx context.Context, client *haggle.Client, path string) (err error) {
	genesis, err := client.RPC().GetGenesisHash(ctx)
	if err != nil {
		return err
	}
	content, err := json.Marshal(pin{m.Decimals, genesis})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	written, err := os.CreateTemp(filepath.Dir(path), ".pin-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(written.Name())) }()
	_, err = written.Write(append(content, '\n'))
	if err := errors.Join(err, written.Sync(), written.Close()); err != nil {
		return err
	}
	return os.Link(written.Name(), path)
}

// checkPin returns a [*token.DecimalsError] if the mint's decimals differ from the pin. An unpinned mint
// passes.
func (m Mint) checkPin() error {
	path, err := pinPath(m.Address)
	if err != nil {
		return nil // if there is no state directory, there are no pins, and Pin fails
	}
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var pinned pin
	if err == nil {
		err = json.Unmarshal(content, &pinned)
	}
	if err != nil {
		return fmt.Errorf("decimals of mint %s at their first use: %s: %w", m.Address, path, err)
	}
	if pinned.Decimals == m.Decimals {
		return nil
	}
	differs := &token.DecimalsError{Mint: m.Address, Source: "the node", Decimals: m.Decimals,
		Reference: fmt.Sprintf("%s (first use, genesis hash %s)", path, pinned.GenesisHash),
		Expected:  pinned.Decimals}
	return exitcode.WithHint(differs,
		"nothing was signed; compare with the mint's issuer, and remove the file only if it is wrong")
}

func pinPath(mint solana.PublicKey) (string, error) {
	directory, err := statefolder.Path(statefolder.Mints)
	return filepath.Join(directory, mint.String()+".json"), err
}
