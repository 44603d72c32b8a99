package token

import (
	"fmt"
	"slices"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Mint is an SPL Token or Token-2022 mint. The fields never change.
type Mint struct {
	// Address is the mint's address.
	Address solana.PublicKey
	// TokenProgram is the mint's owner: solana.TokenProgramID or solana.Token2022ProgramID. Transfers go
	// through it, and associated token accounts are derived with it.
	TokenProgram solana.PublicKey
	// Decimals is the number of decimal places: a token is ten to the power of Decimals base units.
	Decimals uint8

	// unsupported explains why the mint cannot hold escrow, if it cannot.
	unsupported string
}

// UnsupportedMint reports a mint that cannot hold escrow. CreateNegotiation returns it before sending
// anything. errors.Is finds [protocol.ErrUnsupportedMint], while errors.As finds a [*protocol.ProgramError],
// as for the program's own refusal.
type UnsupportedMint struct {
	// Mint is the mint's address.
	Mint solana.PublicKey
	// Reason names the unsupported property.
	Reason string
}

func (e *UnsupportedMint) Error() string {
	return fmt.Sprintf("haggle: escrow cannot be held in mint %s: %s", e.Mint, e.Reason)
}

// Unwrap returns the program's refusal.
func (e *UnsupportedMint) Unwrap() error { return protocol.Refusal(protocol.ErrUnsupportedMint) }

// Check returns nil if the mint can hold escrow, otherwise an [*UnsupportedMint]: the mint is not
// initialized, or contains an extension that is unknown or could take or withhold paid tokens.
func (m *Mint) Check() error {
	if m.unsupported == "" {
		return nil
	}
	return &UnsupportedMint{Mint: m.Address, Reason: m.unsupported}
}

// AssociatedAddress derives a wallet's associated token account address for the mint.
func (m *Mint) AssociatedAddress(wallet solana.PublicKey) (solana.PublicKey, error) {
	return AssociatedAddress(wallet, m.Address, m.TokenProgram)
}

// IsSupported reports whether escrow can be held in the mint.
func (m *Mint) IsSupported() bool { return m.unsupported == "" }

// Mint layout, the same for both programs.
const (
	mintSize              = 82
	mintOffsetDecimals    = 44
	mintOffsetInitialised = 45
)

// DecodeMint decodes an SPL Token or Token-2022 mint. It returns [protocol.ErrWrongOwner] together with
// [protocol.ErrAccountOwnedByWrongProgram] for an account of neither token program, or a
// [*protocol.DecodeError] together with [protocol.ErrUnsupportedMint] for non-mint accounts.
func DecodeMint(address solana.PublicKey, account *rpc.Account) (*Mint, error) {
	if !IsProgram(account.Owner) {
		return nil, fmt.Errorf("%w: %s: %w", protocol.ErrWrongOwner, account.Owner,
			protocol.Refusal(protocol.ErrAccountOwnedByWrongProgram))
	}
	data := account.Data.GetBinary()
	if !hasTokenLayout(account.Owner, data, mintSize, accountTypeMint) {
		return nil, fmt.Errorf("%w: %w", protocol.WrongSize("mint", len(data), mintSize),
			protocol.Refusal(protocol.ErrUnsupportedMint))
	}
	return &Mint{
		Address:      address,
		TokenProgram: account.Owner,
		Decimals:     data[mintOffsetDecimals],
		unsupported:  unsupportedBecause(data),
	}, nil
}

// unsupportedBecause returns the reason why escrow cannot be held in the mint, or "".
func unsupportedBecause(data []byte) string {
	if data[mintOffsetInitialised] != 1 {
		return "not initialised"
	}
	if len(data) > mintSize && !isZero(data[mintSize:offsetAccountType]) {
		return "padding is not empty"
	}
	reason := ""
	wellFormed := eachExtension(data, len(supportedMintExtensions), func(kind uint16, _ []byte) {
		if !supportedMintExtensions[kind] && reason == "" {
			reason = "extension " + extensionName(kind)
		}
	})
	if reason == "" && !wellFormed {
		return "malformed extensions"
	}
	return reason
}

func isZero(data []byte) bool {
	return !slices.ContainsFunc(data, func(value byte) bool { return value != 0 })
}
