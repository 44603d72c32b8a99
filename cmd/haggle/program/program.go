// Package program has the commands of "haggle program".
package program

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/spf13/cobra"

	"github.com/haggle-protocol/haggle/internal/cli/command"
	"github.com/haggle-protocol/haggle/internal/cli/exitcode"
	"github.com/haggle-protocol/haggle/internal/cli/session"
)

// Command returns "haggle program".
func Command(s *session.Session) *cobra.Command {
	return command.Group("program", "Verify the on-chain program",
		"The deployed program and its upgrade authority.", newProgramVerifyCommand(s))
}

// deployedProgram is a program as the upgradeable loader stores it.
type deployedProgram struct {
	// address is the ProgramData account's.
	address   solana.PublicKey
	slot      uint64
	authority *solana.PublicKey
	// content is the ELF, padded with zeros to the reserved length.
	content []byte
}

// The layout of the upgradeable loader's accounts: a tag of four bytes, then a program's ProgramData address,
// or ProgramData's slot, a flag for the upgrade authority, its address (also reserved without one), and the
// ELF.
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

// parseProgramData reads data that is at least as long as ProgramData's header.
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

// withoutPadding returns the content up to its last byte that is not zero. Because an ELF can end in zeros,
// only runs compares a program with a file.
func (p *deployedProgram) withoutPadding() []byte { return bytes.TrimRight(p.content, "\x00") }
