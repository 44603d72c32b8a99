package token

import (
	"encoding/binary"
	"fmt"

	"github.com/gagliardetto/solana-go"
	associatedtoken "github.com/gagliardetto/solana-go/programs/associated-token-account"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// AccountRent is the rent for an SPL Token account, in lamports. Token-2022 accounts with extensions cost
// more.
const AccountRent = 2_039_280

// associatedRent2022 is the rent for a Token-2022 associated token account, in lamports.
const associatedRent2022 = 2_074_080

// AssociatedRent returns the rent for an associated token account under the given token program, in lamports,
// if the mint requires no account extensions: see [Mint.IsSupported].
func AssociatedRent(tokenProgram solana.PublicKey) uint64 {
	if tokenProgram == solana.Token2022ProgramID {
		return associatedRent2022
	}
	return AccountRent
}

// State is a token account's state.
type State uint8

// States, the same for both token programs.
const (
	StateUninitialized State = iota
	StateInitialized
	// StateFrozen can neither pay nor be paid, until the mint's freeze authority thaws it.
	StateFrozen
)

// Account is an account of SPL Token or Token-2022 as the chain had it at a slot.
type Account struct {
	// Address is the account's address.
	Address solana.PublicKey
	// TokenProgram is the account's owner: solana.TokenProgramID or solana.Token2022ProgramID.
	TokenProgram solana.PublicKey
	// Mint is the mint of the account's tokens.
	Mint solana.PublicKey
	// Owner is the wallet that can spend the tokens.
	Owner solana.PublicKey
	// Amount is measured in the mint's base units.
	Amount uint64
	// State is initialized or frozen.
	State State
	// MemoRequired reports whether the owner requires a memo with transfers. The program's transfers contain
	// no memo. (Token-2022 only.)
	MemoRequired bool
	// CPIGuarded reports whether the CPI guard is on: no program can take tokens from the account in the
	// owner's name, so deposits from it fail. (Token-2022 only.)
	CPIGuarded bool
	// HasOtherAuthority reports whether a delegate or close authority is set. The program then pays to the
	// account only if the account's owner is the instruction's only signer, and never when closing.
	HasOtherAuthority bool
	// Slot is the slot when the account was read.
	Slot uint64

	// obstructed reports whether any extension prevents payments to the account, or is malformed.
	obstructed bool
}

// CanReceive reports whether the program pays to the account if the owner is the only signer: the account is
// initialized and not frozen, requires no memo, and has no extension but an immutable owner and the CPI
// guard. Otherwise the program also requires that HasOtherAuthority is false. Unpayable amounts are recorded
// for the party.
func (t *Account) CanReceive() bool {
	return t.State == StateInitialized && !t.MemoRequired && !t.obstructed
}

// Receives reports whether the program pays the mint's tokens to the account as one of the owner's accounts.
// signs reports whether the owner signs.
func (t *Account) Receives(mint *Mint, owner solana.PublicKey, signs bool) bool {
	return t.TokenProgram == mint.TokenProgram && t.Mint == mint.Address && t.Owner == owner &&
		t.CanReceive() &&
		(signs || !t.HasOtherAuthority)
}

// Token account layout, the same for both programs.
const (
	tokenAccountSize                 = 165
	tokenAccountOffsetMint           = 0
	tokenAccountOffsetOwner          = 32
	tokenAccountOffsetAmt            = 64
	tokenAccountOffsetDelegate       = 72
	tokenAccountOffsetState          = 108
	tokenAccountOffsetCloseAuthority = 129
)

// AssociatedAddress derives a wallet's associated token account address from mint and token program: see
// [Mint].
func AssociatedAddress(wallet, mint, tokenProgram solana.PublicKey) (solana.PublicKey, error) {
	address, _, err := solana.FindAssociatedTokenAddressWithProgram(wallet, mint, tokenProgram)
	return address, err
}

// CreateAssociated returns the instruction that creates a wallet's associated token account for the mint and
// token program, and does nothing if the account exists. The payer pays the rent: see [AssociatedRent].
func CreateAssociated(payer, wallet, mint, tokenProgram solana.PublicKey) (solana.Instruction, error) {
	return associatedtoken.NewCreateIdempotentInstructionWithTokenProgram(payer, wallet, mint,
		tokenProgram).ValidateAndBuild()
}

// DecodeAccount decodes an SPL Token or Token-2022 account, read at the given slot. It returns a
// [*protocol.AccountError].
func DecodeAccount(address solana.PublicKey, account *rpc.Account, slot uint64) (*Account, error) {
	if !IsProgram(account.Owner) {
		return nil, &protocol.AccountError{Address: address,
			Err: fmt.Errorf("%w: %s", protocol.ErrWrongOwner, account.Owner)}
	}
	data := account.Data.GetBinary()
	if !hasTokenLayout(account.Owner, data, tokenAccountSize, accountTypeTokenAccount) {
		return nil, &protocol.AccountError{Address: address,
			Err: protocol.WrongSize("token account", len(data), tokenAccountSize)}
	}
	if state := data[tokenAccountOffsetState]; state > byte(StateFrozen) {
		return nil, &protocol.AccountError{Address: address,
			Err: &protocol.DecodeError{Type: "token account", Field: "state", Reason: protocol.ErrOutOfRange,
				Detail: fmt.Sprint(state)}}
	}
	read := &Account{
		Address:      address,
		TokenProgram: account.Owner,
		Mint:         solana.PublicKey(data[tokenAccountOffsetMint:tokenAccountOffsetOwner]),
		Owner:        solana.PublicKey(data[tokenAccountOffsetOwner:tokenAccountOffsetAmt]),
		Amount:       binary.LittleEndian.Uint64(data[tokenAccountOffsetAmt:]),
		State:        State(data[tokenAccountOffsetState]),
		Slot:         slot,
		HasOtherAuthority: binary.LittleEndian.Uint32(data[tokenAccountOffsetDelegate:]) != 0 ||
			binary.LittleEndian.Uint32(data[tokenAccountOffsetCloseAuthority:]) != 0,
	}
	read.readExtensions(data)
	return read, nil
}

// readExtensions finds the extensions that prevent payments to the account or deposits from it.
func (t *Account) readExtensions(data []byte) {
	wellFormed := eachExtension(data, accountExtensions, func(kind uint16, value []byte) {
		switch kind {
		case extensionImmutableOwner:
		case extensionCPIGuard:
			t.CPIGuarded = t.CPIGuarded || len(value) != 1 || value[0] != 0
		case extensionMemoTransfer:
			t.MemoRequired = t.MemoRequired || len(value) != 1 || value[0] != 0
		default:
			t.obstructed = true
		}
	})
	t.obstructed = t.obstructed || !wellFormed
}
