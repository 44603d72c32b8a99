package scenarios

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/programs/system"
	extensions "github.com/gagliardetto/solana-go/programs/token-2022"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/localnet"
)

// Extensions that point from a mint to the description, group and membership: to the mint itself.
var (
	metadataPointer = pointer(
		extensions.ExtensionMetadataPointer, extensions.Instruction_MetadataPointerExtension)
	groupPointer = pointer(
		extensions.ExtensionGroupPointer, extensions.Instruction_GroupPointerExtension)
	groupMemberPointer = pointer(
		extensions.ExtensionGroupMemberPointer, extensions.Instruction_GroupMemberPointerExtension)
)

func pointer(kind extensions.ExtensionType, instruction byte) localnet.MintExtension {
	return localnet.MintExtension{Type: kind, Initialize: func(mint, issuer solana.PublicKey) []byte {
		const initialize = 0
		return slices.Concat([]byte{instruction, initialize}, issuer[:], mint[:])
	}}
}

// Names of token metadata and token group interface instructions. The first eight bytes of the name's SHA-256
// are the discriminator.
const (
	initializeMetadata = "spl_token_metadata_interface:initialize_account"
	initializeGroup    = "spl_token_group_interface:initialize_token_group"
	initializeMember   = "spl_token_group_interface:initialize_member"
)

// metadataOverhead is the length of token metadata in bytes, excluding the three texts: header, two
// addresses, and four lengths.
const metadataOverhead = 4 + 2*32 + 4*4

// describe writes token metadata into a mint with a metadata pointer. The mint's account grows.
func (v *venue) describe(ctx context.Context, mint solana.PublicKey, name, symbol, uri string) error {
	faucet := v.Faucet()
	data := interfaceCall(initializeMetadata)
	for _, text := range []string{name, symbol, uri} {
		data = binary.LittleEndian.AppendUint32(data, uint32(len(text)))
		data = append(data, text...)
	}
	return v.grow(ctx, mint, metadataOverhead+uint64(len(name)+len(symbol)+len(uri)),
		solana.NewInstruction(solana.Token2022ProgramID, solana.AccountMetaSlice{
			solana.Meta(mint).WRITE(), solana.Meta(faucet), solana.Meta(mint), solana.Meta(faucet).SIGNER(),
		}, data))
}

// The lengths of group and membership data in bytes, including headers.
const (
	groupLength  = 4 + 80
	memberLength = 4 + 72
)

// makeGroup makes a mint with a group pointer a group.
func (v *venue) makeGroup(ctx context.Context, mint solana.PublicKey, maxSize uint64) error {
	faucet := v.Faucet()
	data := append(interfaceCall(initializeGroup), faucet.Bytes()...)
	data = binary.LittleEndian.AppendUint64(data, maxSize)
	return v.grow(ctx, mint, groupLength,
		solana.NewInstruction(solana.Token2022ProgramID, solana.AccountMetaSlice{
			solana.Meta(mint).WRITE(), solana.Meta(mint), solana.Meta(faucet).SIGNER(),
		}, data))
}

// joinGroup makes a mint with a group member pointer a group member.
func (v *venue) joinGroup(ctx context.Context, group, mint solana.PublicKey) error {
	faucet := v.Faucet()
	return v.grow(ctx, mint, memberLength,
		solana.NewInstruction(solana.Token2022ProgramID, solana.AccountMetaSlice{
			solana.Meta(mint).WRITE(), solana.Meta(mint), solana.Meta(faucet).SIGNER(),
			solana.Meta(group).WRITE(), solana.Meta(faucet).SIGNER(),
		}, interfaceCall(initializeMember)))
}

func interfaceCall(name string) []byte {
	hash := sha256.Sum256([]byte(name))
	return bytes.Clone(hash[:8])
}

// grow sends an instruction that makes an account longer by some bytes, and pays the rent for them.
func (v *venue) grow(ctx context.Context, account solana.PublicKey, by uint64,
	instruction solana.Instruction) error {
	whole, err := v.Client().GetMinimumBalanceForRentExemption(ctx, by, rpc.CommitmentConfirmed)
	if err != nil {
		return err
	}
	_, err = v.Send(ctx, nil, system.NewTransferInstruction(whole, v.Faucet(), account).Build(), instruction)
	return err
}
