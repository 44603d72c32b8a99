package program

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"

	"github.com/gagliardetto/solana-go"
	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/connection"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/format"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

const programVerifyHelp = `Compares the program at an address (by default the one that this binary talks to) with a file, byte by
byte; the zeros with which the loader fills up its account do not count. "make verify" shows that the
sources give that file, so that the two together show what code holds the money.`

func newProgramVerifyCommand(s *session.Session) *cobra.Command {
	cmd := &cobra.Command{
		Use: "verify ELF [ADDRESS]", Short: "Compare what is deployed with a file", Long: programVerifyHelp,
		Example: "  haggle program verify program/target/deploy/haggle.so --url devnet\n  haggle program verify haggle.so ADDRESS --json | jq -r .sha256",
		Args:    command.Between(1, 2),
	}
	cmd.RunE = s.Limited(func(ctx context.Context, arguments []string) error {
		file, err := os.ReadFile(arguments[0])
		if err != nil {
			return exitcode.Usagef("ELF: %w", err)
		}
		if len(file) == 0 {
			return exitcode.Usagef("ELF: %s is empty", arguments[0])
		}
		address := protocol.ProgramID
		if len(arguments) == 2 {
			if address, err = connection.ParseAddress(arguments[1]); err != nil {
				return exitcode.Usagef("ADDRESS: %w", err)
			}
		}
		return verifyProgram(ctx, s, address, arguments[0], file)
	})
	return cmd
}

func verifyProgram(ctx context.Context, s *session.Session, address solana.PublicKey, name string, file []byte) error {
	client, err := s.Client()
	if err != nil {
		return err
	}
	program, err := readProgram(ctx, client.RPC(), address)
	if err != nil {
		return session.NotFound(err, "nobody has deployed the program here: make deploy, or another --url")
	}
	if !program.runs(file) {
		return &exitcode.Error{Kind: exitcode.Other, Hint: "build the commit that was deployed, with the compiler that make verify names",
			Err: fmt.Errorf("%s is not what runs at %s: the file has %d bytes with SHA-256 %x, the program %d with %x",
				name, address, len(file), sha256.Sum256(file), len(program.withoutPadding()), sha256.Sum256(program.withoutPadding()))}
	}
	hash := sha256.Sum256(file)
	v := programView{address, program.address, program.authority, program.slot, len(file), hex.EncodeToString(hash[:])}
	return s.Print(v, v.text())
}

type programView struct {
	Program     solana.PublicKey `json:"program"`
	ProgramData solana.PublicKey `json:"program_data"`
	// Authority can replace the program; nobody can where there is none.
	Authority *solana.PublicKey `json:"upgrade_authority"`
	Slot      uint64            `json:"slot"`
	Bytes     int               `json:"bytes"`
	SHA256    string            `json:"sha256"`
}

func (v programView) text() string {
	authority := "nobody: the program is final"
	if v.Authority != nil {
		authority = v.Authority.String()
	}
	return format.Rows{
		{"program", v.Program.String()},
		{"deployed", fmt.Sprintf("in slot %d", v.Slot)},
		{"upgradeable by", authority},
		{"sha256", v.SHA256},
		{"same as file", fmt.Sprintf("yes, all %d bytes", v.Bytes)},
	}.String()
}
