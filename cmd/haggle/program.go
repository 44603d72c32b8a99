package main

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

	"github.com/haggle-protocol/haggle/internal/cli/connection"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

func newProgramCommand(s *session) *cobra.Command {
	return newGroupCommand("program", "Look at the on-chain program",
		"What the cluster runs, and who can replace it.", newProgramVerifyCommand(s))
}

const programVerifyHelp = `Compares the program at an address (by default the one that this binary talks to) with a file, byte by
byte; the zeros with which the loader fills up its account do not count. "make verify" shows that the
sources give that file, so that the two together show what code holds the money.`

func newProgramVerifyCommand(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use: "verify ELF [ADDRESS]", Short: "Compare what is deployed with a file", Long: programVerifyHelp,
		Example: "  haggle program verify program/target/deploy/haggle.so --url devnet\n  haggle program verify haggle.so ADDRESS --json | jq -r .sha256",
		Args:    between(1, 2),
	}
	cmd.RunE = s.limited(func(ctx context.Context, arguments []string) error {
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
		return s.verifyProgram(ctx, address, arguments[0], file)
	})
	return cmd
}

func (s *session) verifyProgram(ctx context.Context, address solana.PublicKey, name string, file []byte) error {
	client, err := s.client()
	if err != nil {
		return err
	}
	program, err := readProgram(ctx, client.RPC(), address)
	if err != nil {
		return notFound(err, "nobody has deployed the program here: make deploy, or another --url")
	}
	if !program.runs(file) {
		return &exitcode.Error{Kind: exitcode.Other, Hint: "build the commit that was deployed, with the compiler that make verify names",
			Err: fmt.Errorf("%s is not what runs at %s: the file has %d bytes with SHA-256 %x, the program %d with %x",
				name, address, len(file), sha256.Sum256(file), len(program.withoutPadding()), sha256.Sum256(program.withoutPadding()))}
	}
	hash := sha256.Sum256(file)
	v := programView{address, program.address, program.authority, program.slot, len(file), hex.EncodeToString(hash[:])}
	return s.print(v, v.text())
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
	return columns(
		row{"program", v.Program.String()},
		row{"deployed", fmt.Sprintf("in slot %d", v.Slot)},
		row{"upgradeable by", authority},
		row{"sha256", v.SHA256},
		row{"same as file", fmt.Sprintf("yes, all %d bytes", v.Bytes)},
	)
}

// deployedProgram is what the upgradeable loader stores of a program.
type deployedProgram struct {
	// address is the ProgramData account's.
	address   solana.PublicKey
	slot      uint64
	authority *solana.PublicKey
	// content is the ELF, filled up with zeros to the length that was reserved.
	content []byte
}

// The upgradeable loader's accounts: a tag of four bytes, then a program's ProgramData address, or ProgramData's slot, whether
// there is an upgrade authority, its address (reserved even if there is none), and the ELF.
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

// parseProgramData reads what is at least as long as ProgramData's header.
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
		return nil, &exitcode.Error{Kind: exitcode.Other, Hint: "name the program's address, not another account's",
			Err: errors.New("it is not what the upgradeable loader stores there")}
	}
	return data, nil
}

// runs says whether the program is this file and nothing but zeros after it.
func (p *deployedProgram) runs(file []byte) bool {
	return bytes.HasPrefix(p.content, file) && len(bytes.TrimRight(p.content[len(file):], "\x00")) == 0
}

// withoutPadding is the content up to its last byte that is not zero. An ELF can end in zeros: this tells programs apart, and only
// runs tells that one is a file.
func (p *deployedProgram) withoutPadding() []byte { return bytes.TrimRight(p.content, "\x00") }
