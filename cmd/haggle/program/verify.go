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

const programVerifyHelp = `Compares the deployed program (by default Haggle's) with a file, byte by byte, except for the loader's
padding with zeros. "make verify" reproduces that file from the sources, so that both together show
which code holds the escrows.`

func newProgramVerifyCommand(s *session.Session) *cobra.Command {
	cmd := &cobra.Command{
		Use: "verify ELF [ADDRESS]", Short: "Compare the deployed program with a file", Long: programVerifyHelp,
		Example: "  haggle program verify sdk/localnet/haggle.so --url devnet\n  haggle program verify haggle.so ADDRESS --json | jq -r .sha256",
	}
	command.Documents(cmd, programView{})
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
		return session.NotFound(err, "the program is not deployed on this cluster: make deploy, or another --url")
	}
	if !program.runs(file) {
		return &exitcode.Error{Kind: exitcode.Other, Hint: "build the deployed commit with the compiler that make verify names",
			Err: fmt.Errorf("program %[2]s differs from %[1]s: the file has %[3]d bytes with SHA-256 %[4]x, the program %[5]d with %[6]x",
				name, address, len(file), sha256.Sum256(file), len(program.withoutPadding()), sha256.Sum256(program.withoutPadding()))}
	}
	hash := sha256.Sum256(file)
	v := programView{address, program.address, program.authority, program.slot, len(file), hex.EncodeToString(hash[:])}
	return s.Print(v, v.text())
}

type programView struct {
	Program     solana.PublicKey `json:"program"`
	ProgramData solana.PublicKey `json:"program_data"`
	// Authority can upgrade the program. Without one the program is final.
	Authority *solana.PublicKey `json:"upgrade_authority" jsonschema:"nullable"`
	Slot      uint64            `json:"slot"`
	Bytes     int               `json:"bytes"`
	SHA256    string            `json:"sha256"`
}

func (v programView) text() string {
	authority := "none: the program is final"
	if v.Authority != nil {
		authority = v.Authority.String()
	}
	return format.Rows{
		{"program", v.Program.String()},
		{"deployed", fmt.Sprintf("in slot %d", v.Slot)},
		{"upgrade authority", authority},
		{"sha256", v.SHA256},
		{"same as file", fmt.Sprintf("yes, all %d bytes", v.Bytes)},
	}.String()
}
