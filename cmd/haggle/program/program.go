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

func Command(s *session.Session) *cobra.Command {
	return command.Group("program", "Look at the on-chain program",
		"What the cluster runs, and who can replace it.", newProgramVerifyCommand(s))
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
