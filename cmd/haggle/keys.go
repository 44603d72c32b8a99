package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gagliardetto/solana-go"
	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/failure"
	"github.com/haggle-protocol/haggle/internal/solanaconfig"
	"github.com/haggle-protocol/haggle/sdk"
)

func newKeygenCommand(s *session) *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use: "keygen", Short: "Make a keypair file",
		Long: `Makes a new keypair and writes it as the Solana tools do, readable by its owner alone. A file that exists
is never overwritten: whoever loses a key loses what it owns.`,
		Example: "  haggle keygen --outfile buyer.json",
		Args:    exactly(0),
	}
	cmd.Flags().StringVarP(&path, "outfile", "o", "", "file to write (default: ~/.config/solana/id.json)")
	cmd.RunE = s.limited(func(context.Context, []string) error {
		if path == "" {
			path = solanaconfig.DefaultKeypairPath()
		}
		key, err := haggle.GenerateKeypair()
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(path), folderMode); err != nil {
			return err
		}
		if err := key.Save(path); err != nil {
			if errors.Is(err, fs.ErrExist) {
				return &failure.Error{Kind: failure.Usage, Hint: "choose another file with --outfile", Err: fmt.Errorf("%s exists", path)}
			}
			return err
		}
		return s.print(addressView{key.PublicKey(), path}, key.PublicKey().String())
	})
	return cmd
}

type addressView struct {
	Address solana.PublicKey `json:"address"`
	Path    string           `json:"path"`
}

func newAddressCommand(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use: "address", Short: "Print the keypair's address",
		Long:    "Prints the address that --keypair, or the Solana tools' configuration, stands for: what the other side\nhas to know.",
		Example: "  haggle address --keypair buyer.json",
		Args:    exactly(0),
	}
	cmd.RunE = s.limited(func(context.Context, []string) error {
		key, err := s.connection.Keypair()
		if err != nil {
			return err
		}
		settings, err := s.connection.Settle()
		if err != nil {
			return err
		}
		return s.print(addressView{key.PublicKey(), settings.KeypairPath}, key.PublicKey().String())
	})
	return cmd
}
