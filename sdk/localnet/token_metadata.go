package localnet

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/gagliardetto/solana-go"
	token2022 "github.com/gagliardetto/solana-go/programs/token-2022"
	"github.com/gagliardetto/solana-go/rpc"
)

// Pointers from a mint to where it is described: to itself.
var (
	MetadataPointer    = pointer(token2022.ExtensionMetadataPointer, token2022.Instruction_MetadataPointerExtension)
	GroupPointer       = pointer(token2022.ExtensionGroupPointer, token2022.Instruction_GroupPointerExtension)
	GroupMemberPointer = pointer(token2022.ExtensionGroupMemberPointer, token2022.Instruction_GroupMemberPointerExtension)
)

func pointer(kind token2022.ExtensionType, instruction byte) MintExtension {
	return MintExtension{kind, func(mint, issuer solana.PublicKey) []byte {
		const initialize = 0
		return slices.Concat([]byte{instruction, initialize}, issuer[:], mint[:])
	}}
}

// What the interfaces of token metadata and token groups call their instructions: the first eight bytes of the hash are the
// discriminator.
const (
	initializeMetadata = "spl_token_metadata_interface:initialize_account"
	initializeGroup    = "spl_token_group_interface:initialize_token_group"
	initializeMember   = "spl_token_group_interface:initialize_member"
)

// metadataOverhead is what token metadata takes beside its three texts: its header, two addresses, and four lengths.
const metadataOverhead = 4 + 2*32 + 4*4

// Describe writes token metadata into a mint of CreateToken2022Mint that has a metadata pointer. The mint's account grows by it.
func (c *Chain) Describe(ctx context.Context, mint solana.PublicKey, name, symbol, uri string) error {
	faucet := c.faucet.PublicKey()
	data := interfaceCall(initializeMetadata)
	for _, text := range []string{name, symbol, uri} {
		data = binary.LittleEndian.AppendUint32(data, uint32(len(text)))
		data = append(data, text...)
	}
	return c.grow(ctx, mint, metadataOverhead+uint64(len(name)+len(symbol)+len(uri)),
		solana.NewInstruction(solana.Token2022ProgramID, solana.AccountMetaSlice{
			solana.Meta(mint).WRITE(), solana.Meta(faucet), solana.Meta(mint), solana.Meta(faucet).SIGNER(),
		}, data))
}

// The lengths of a token group and of a membership in one, with their headers.
const (
	groupLength  = 4 + 80
	memberLength = 4 + 72
)

// MakeGroup makes a group of a mint of CreateToken2022Mint that has a group pointer.
func (c *Chain) MakeGroup(ctx context.Context, mint solana.PublicKey, maxSize uint64) error {
	faucet := c.faucet.PublicKey()
	data := append(interfaceCall(initializeGroup), faucet.Bytes()...)
	data = binary.LittleEndian.AppendUint64(data, maxSize)
	return c.grow(ctx, mint, groupLength,
		solana.NewInstruction(solana.Token2022ProgramID, solana.AccountMetaSlice{
			solana.Meta(mint).WRITE(), solana.Meta(mint), solana.Meta(faucet).SIGNER(),
		}, data))
}

// JoinGroup makes a mint of CreateToken2022Mint that has a group member pointer a member of MakeGroup's group.
func (c *Chain) JoinGroup(ctx context.Context, group, mint solana.PublicKey) error {
	faucet := c.faucet.PublicKey()
	return c.grow(ctx, mint, memberLength,
		solana.NewInstruction(solana.Token2022ProgramID, solana.AccountMetaSlice{
			solana.Meta(mint).WRITE(), solana.Meta(mint), solana.Meta(faucet).SIGNER(),
			solana.Meta(group).WRITE(), solana.Meta(faucet).SIGNER(),
		}, interfaceCall(initializeMember)))
}

func interfaceCall(name string) []byte {
	hash := sha256.Sum256([]byte(name))
	return bytes.Clone(hash[:8])
}

// grow pays the rent of what an instruction adds to an account.
func (c *Chain) grow(ctx context.Context, account solana.PublicKey, by uint64, instruction solana.Instruction) error {
	whole, err := c.client.GetMinimumBalanceForRentExemption(ctx, by, rpc.CommitmentConfirmed)
	if err != nil {
		return err
	}
	_, err = c.Send(ctx, nil, c.gift(account, whole), instruction)
	return err
}
