package haggle

import (
	"context"
	"fmt"
	"slices"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Mint is what is to be known of a mint of SPL Token or Token-2022. None of it changes as long as the mint exists.
type Mint struct {
	// Address is the mint's.
	Address solana.PublicKey
	// TokenProgram is the program that it belongs to: solana.TokenProgramID or solana.Token2022ProgramID. Transfers go through it,
	// and associated token accounts are derived with it.
	TokenProgram solana.PublicKey
	// Decimals is how many digits of an amount stand behind the point: a token is ten to the power of it base units.
	Decimals uint8

	// unsupported says why escrow cannot be held in it; empty if it can.
	unsupported string
}

// UnsupportedMint says that escrow cannot be held in a mint, which [Client.CreateNegotiation] finds out before anything is sent.
// It is found with errors.Is as [protocol.ErrUnsupportedMint] and with errors.As as a [*protocol.ProgramError], as the program's own answer is.
type UnsupportedMint struct {
	// Mint is the mint's address.
	Mint solana.PublicKey
	// Reason says what about the mint is not supported.
	Reason string
}

func (e *UnsupportedMint) Error() string {
	return fmt.Sprintf("haggle: escrow cannot be held in mint %s: %s", e.Mint, e.Reason)
}

// Unwrap is the program's refusal.
func (e *UnsupportedMint) Unwrap() error { return protocol.Refusal(protocol.ErrUnsupportedMint) }

// Check is nil for a mint that escrow can be held in, otherwise an [*UnsupportedMint]: it is not initialised, or it has an
// extension that could take or hold back what has been paid, or that this version does not know.
func (m *Mint) Check() error {
	if m.unsupported == "" {
		return nil
	}
	return &UnsupportedMint{Mint: m.Address, Reason: m.unsupported}
}

// AssociatedTokenAddress is the address of a wallet's associated token account for the mint.
func (m *Mint) AssociatedTokenAddress(wallet solana.PublicKey) (solana.PublicKey, error) {
	return AssociatedTokenAddress(wallet, m.Address, m.TokenProgram)
}

// createAssociated is the wallet's associated token account with the instruction that creates it.
func (m *Mint) createAssociated(payer, wallet, address solana.PublicKey) (solana.PublicKey, []solana.Instruction, error) {
	creation, err := CreateAssociatedTokenAccount(payer, wallet, m.Address, m.TokenProgram)
	if err != nil {
		return solana.PublicKey{}, nil, err
	}
	return address, []solana.Instruction{creation}, nil
}

// Where the mints of both programs have what is read here.
const (
	mintSize              = 82
	mintOffsetDecimals    = 44
	mintOffsetInitialised = 45
)

// GetMint reads a mint. One that escrow can be held in is read once: nobody can close or change it.
//
// It fails with an [*AccountError] that holds [ErrAccountNotFound], [ErrWrongOwner] together with
// [protocol.ErrAccountOwnedByWrongProgram] for an account of neither token program, or a [*protocol.DecodeError] together with [protocol.ErrUnsupportedMint] for
// one that is no mint.
func (c *Client) GetMint(ctx context.Context, mint solana.PublicKey) (*Mint, error) {
	if known, ok := c.mints.get(mint); ok {
		return &known, nil
	}
	accounts, _, err := c.accounts(ctx, mint)
	if err != nil {
		return nil, err
	}
	if accounts[0] == nil {
		return nil, &AccountError{Address: mint, Err: ErrAccountNotFound}
	}
	read, err := decodeMint(mint, accounts[0])
	if err != nil {
		return nil, &AccountError{Address: mint, Err: err}
	}
	if read.unsupported == "" {
		c.mints.put(mint, *read)
	}
	return read, nil
}

func decodeMint(address solana.PublicKey, account *rpc.Account) (*Mint, error) {
	if !isTokenProgram(account.Owner) {
		return nil, fmt.Errorf("%w: %s: %w", ErrWrongOwner, account.Owner, protocol.Refusal(protocol.ErrAccountOwnedByWrongProgram))
	}
	data := account.Data.GetBinary()
	if !hasTokenLayout(account.Owner, data, mintSize, accountTypeMint) {
		return nil, fmt.Errorf("%w: %w", wrongSize("mint", len(data), mintSize), protocol.Refusal(protocol.ErrUnsupportedMint))
	}
	return &Mint{
		Address:      address,
		TokenProgram: account.Owner,
		Decimals:     data[mintOffsetDecimals],
		unsupported:  unsupportedBecause(data),
	}, nil
}

// unsupportedBecause says what keeps escrow from being held in a mint; empty if nothing does.
func unsupportedBecause(data []byte) string {
	if data[mintOffsetInitialised] != 1 {
		return "it is not initialised"
	}
	if len(data) > mintSize && !isZero(data[mintSize:offsetAccountType]) {
		return "its padding is not empty"
	}
	reason := ""
	wellFormed := eachExtension(data, len(supportedMintExtensions), func(kind uint16, _ []byte) {
		if !supportedMintExtensions[kind] && reason == "" {
			reason = "extension " + extensionName(kind)
		}
	})
	if reason == "" && !wellFormed {
		return "its extensions are malformed"
	}
	return reason
}

func isZero(data []byte) bool {
	return !slices.ContainsFunc(data, func(value byte) bool { return value != 0 })
}
