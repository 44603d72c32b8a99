package token

import (
	"encoding/binary"
	"fmt"

	"github.com/gagliardetto/solana-go"
	associatedtoken "github.com/gagliardetto/solana-go/programs/associated-token-account"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// AccountRent is the rent of an account of SPL Token, in lamports. Accounts of Token-2022 with extensions
// have a higher one.
const AccountRent = 2_039_280

// associatedRent2022 is the rent of an associated token account of Token-2022, in lamports.
const associatedRent2022 = 2_074_080

// AssociatedRent returns the rent of an associated token account of a token program, in lamports, if the mint
// requires no extensions of its accounts: see [Mint.IsSupported].
func AssociatedRent(tokenProgram solana.PublicKey) uint64 {
	if tokenProgram == solana.Token2022ProgramID {
		return associatedRent2022
	}
	return AccountRent
}

// State is the state of a token account.
type State uint8

// The states of both token programs.
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
	// Amount is in base units of the mint.
	Amount uint64
	// State is initialized or frozen.
	State State
	// MemoRequired reports whether the owner refuses transfers without a memo, which the program's transfers
	// do not have. (Token-2022 only.)
	MemoRequired bool
	// CPIGuarded reports whether the CPI guard is on: no program can take tokens from the account in its
	// owner's name, so deposits from it fail. (Token-2022 only.)
	CPIGuarded bool
	// HasOtherAuthority reports whether a delegate or a close authority is set. The program pays to such an
	// account only if the account's owner is the only signer of the instruction, and never with a closing.
	HasOtherAuthority bool
	// Slot is the slot at which the account was read.
	Slot uint64

	// obstructed reports whether an extension prevents payments to the account, or is malformed.
	obstructed bool
}

// CanReceive reports whether the program pays to the account if its owner is the only signer: the account is
// initialised and not frozen, requires no memo, and has no extension but an immutable owner and the CPI
// guard. Otherwise the program also requires that HasOtherAuthority is false. An amount that cannot be paid
// is recorded for its party.
func (t *Account) CanReceive() bool {
	return t.State == StateInitialized && !t.MemoRequired && !t.obstructed
}

// Receives reports whether the program pays tokens of a mint to the account as an account of the owner. signs
// reports whether the owner signs.
func (t *Account) Receives(mint *Mint, owner solana.PublicKey, signs bool) bool {
	return t.TokenProgram == mint.TokenProgram && t.Mint == mint.Address && t.Owner == owner &&
		t.CanReceive() &&
		(signs || !t.HasOtherAuthority)
}

// The layout of the token accounts of both programs.
const (
	tokenAccountSize                 = 165
	tokenAccountOffsetMint           = 0
	tokenAccountOffsetOwner          = 32
	tokenAccountOffsetAmt            = 64
	tokenAccountOffsetDelegate       = 72
	tokenAccountOffsetState          = 108
	tokenAccountOffsetCloseAuthority = 129
)

// AssociatedAddress returns the address of a wallet's associated token account for a mint of the token
// program: see [Mint].
func AssociatedAddress(wallet, mint, tokenProgram solana.PublicKey) (solana.PublicKey, error) {
	address, _, err := solana.FindAssociatedTokenAddressWithProgram(wallet, mint, tokenProgram)
	return address, err
}

// CreateAssociated returns the instruction that creates a wallet's associated token account for a mint of the
// token program, and does nothing if the account exists. The payer pays its rent: see [AssociatedRent].
func CreateAssociated(payer, wallet, mint, tokenProgram solana.PublicKey) (solana.Instruction, error) {
	return associatedtoken.NewCreateIdempotentInstructionWithTokenProgram(payer, wallet, mint,
		tokenProgram).ValidateAndBuild()
}

// DecodeAccount decodes an account of SPL Token or Token-2022 that was read at a slot. It returns a
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
