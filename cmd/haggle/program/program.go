// Package program has the commands of "haggle program".
package program

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/connection"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/format"
	"github.com/haggle-protocol/haggle/internal/cli/session"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Command returns "haggle program".
func Command(s *session.Session) *cobra.Command {
	return command.Group("program", "Verify the on-chain program",
		"The deployed program and its upgrade authority.", newProgramVerifyCommand(s))
}

// deployedProgram is a program as the upgradeable loader stores it.
type deployedProgram struct {
	// address is the ProgramData account address.
	address   solana.PublicKey
	slot      uint64
	authority *solana.PublicKey
	// content is the ELF, padded with zeros to the reserved length.
	content []byte
}

// Account layout of the upgradeable loader: a tag of four bytes, then a program's ProgramData address, or
// ProgramData's slot, an upgrade authority flag, the authority (space is reserved even if there is none), and
// the ELF.
const (
	tagProgram         = 2
	tagProgramData     = 3
	programLength      = 4 + solana.PublicKeyLength
	slotOffset         = 4
	hasAuthorityOffset = slotOffset + 8
	authorityOffset    = hasAuthorityOffset + 1
	contentOffset      = authorityOffset + solana.PublicKeyLength
)

func readProgram(ctx context.Context, node *rpc.Client, address solana.PublicKey) (*deployedProgram, error) {
	data, err := readLoaderAccount(ctx, node, address, tagProgram, programLength)
	if err != nil {
		return nil, fmt.Errorf("program %s: %w", address, err)
	}
	where := solana.PublicKeyFromBytes(data[4:programLength])
	if data, err = readLoaderAccount(ctx, node, where, tagProgramData, contentOffset); err != nil {
		return nil, fmt.Errorf("ProgramData %s of program %s: %w", where, address, err)
	}
	return parseProgramData(where, data), nil
}

// parseProgramData reads data at least as long as ProgramData's header.
func parseProgramData(address solana.PublicKey, data []byte) *deployedProgram {
	program := &deployedProgram{
		address: address, slot: binary.LittleEndian.Uint64(data[slotOffset:]), content: data[contentOffset:],
	}
	if data[hasAuthorityOffset] != 0 {
		authority := solana.PublicKeyFromBytes(data[authorityOffset:contentOffset])
		program.authority = &authority
	}
	return program
}

func readLoaderAccount(ctx context.Context, node *rpc.Client, address solana.PublicKey, tag uint32, least int) ([]byte, error) {
	account, err := node.GetAccountInfoWithOpts(ctx, address, &rpc.GetAccountInfoOpts{Commitment: rpc.CommitmentConfirmed})
	if err != nil {
		return nil, err
	}
	data := account.GetBinary()
	if account.Value.Owner != solana.BPFLoaderUpgradeableProgramID || len(data) < least || binary.LittleEndian.Uint32(data) != tag {
		return nil, &exitcode.Error{Kind: exitcode.Other, Hint: "use the program's address",
			Err: errors.New("not an account of the upgradeable loader")}
	}
	return data, nil
}

// runs reports whether the program is this file, followed only by zeros.
func (p *deployedProgram) runs(file []byte) bool {
	return bytes.HasPrefix(p.content, file) && len(bytes.TrimRight(p.content[len(file):], "\x00")) == 0
}

// withoutPadding returns the content up to the last non-zero byte. Because an ELF can end in zeros, only runs
// compares a program with a file.
func (p *deployedProgram) withoutPadding() []byte { return bytes.TrimRight(p.content, "\x00") }

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
	// Authority can upgrade the program. If there is none, the program is final.
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
