package haggle

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/programs/system"
	"github.com/gagliardetto/solana-go/rpc"
)

// A nonce account: version, state, authority, value, and the fee of a signature at the time. Numbers are little endian.
const (
	nonceSize            = 80
	nonceOffsetState     = 4
	nonceOffsetAuthority = 8
	nonceOffsetValue     = 40

	// nonceVersion is the one whose values cannot be mistaken for blockhashes.
	nonceVersion     = 1
	nonceInitialized = 1
)

// ErrNotANonce: the account holds no durable nonce.
var ErrNotANonce = errors.New("haggle: not a nonce account")

// Nonce is a nonce account as the chain had it at a slot.
type Nonce struct {
	// Address is the account's.
	Address solana.PublicKey
	// Authority has to sign whatever uses or changes the nonce.
	Authority solana.PublicKey
	// Value is what a transaction has in the place of a recent blockhash.
	Value solana.Hash
	// Lamports are the account's.
	Lamports uint64
	// Slot is when the account was read.
	Slot uint64
}

// NonceAddress is the address of the nonce account that [Client.CreateNonce] makes. The seed is the payer's choice, up to 32 bytes.
func NonceAddress(payer solana.PublicKey, seed string) (solana.PublicKey, error) {
	address, err := solana.CreateWithSeed(payer, seed, solana.SystemProgramID)
	if err != nil {
		return solana.PublicKey{}, fmt.Errorf("haggle: nonce account of seed %q: %w", seed, err)
	}
	return address, nil
}

// GetNonce reads a nonce account. It fails with an [*AccountError] that holds [ErrAccountNotFound], [ErrWrongOwner] or
// [ErrNotANonce].
func (c *Client) GetNonce(ctx context.Context, address solana.PublicKey) (*Nonce, error) {
	account, slot, err := c.accountOf(ctx, address, solana.SystemProgramID)
	if err != nil {
		return nil, err
	}
	data := account.Data.GetBinary()
	if len(data) != nonceSize || binary.LittleEndian.Uint32(data) != nonceVersion ||
		binary.LittleEndian.Uint32(data[nonceOffsetState:]) != nonceInitialized {
		return nil, &AccountError{Address: address, Err: ErrNotANonce}
	}
	return &Nonce{
		Address:   address,
		Authority: solana.PublicKey(data[nonceOffsetAuthority:nonceOffsetValue]),
		Value:     solana.Hash(data[nonceOffsetValue : nonceOffsetValue+32]),
		Lamports:  account.Lamports,
		Slot:      slot,
	}, nil
}

// CreateNonceRequest says which nonce account is to be made.
type CreateNonceRequest struct {
	// Payer signs, and pays the rent of about 1,450,000 lamports, which CloseNonce gives back.
	Payer solana.PublicKey
	// Seed tells the payer's nonce accounts apart, up to 32 bytes: see [NonceAddress].
	Seed string
	// Authority has to sign whatever uses the nonce. Zero is the payer.
	Authority solana.PublicKey
}

// CreateNonce makes a nonce account, for [WithNonce]. The account's address is [NonceAddress]. It fails if there is one already.
func (c *Client) CreateNonce(ctx context.Context, request CreateNonceRequest) (*Action, error) {
	address, err := NonceAddress(request.Payer, request.Seed)
	if err != nil {
		return nil, err
	}
	rent, err := c.rpc.GetMinimumBalanceForRentExemption(ctx, nonceSize, c.commitment)
	if err != nil {
		return nil, err
	}
	return c.systemAction("create_nonce_account", request.Payer,
		system.NewCreateAccountWithSeedInstruction(request.Payer, request.Seed, rent, nonceSize, solana.SystemProgramID,
			request.Payer, address, request.Payer).Build(),
		system.NewInitializeNonceAccountInstruction(nonZeroOr(request.Authority, request.Payer), address,
			solana.SysVarRecentBlockHashesPubkey, solana.SysVarRentPubkey).Build())
}

// AdvanceNonce gives a nonce account another value: a transaction that was signed with the present one can never be executed then.
func (c *Client) AdvanceNonce(_ context.Context, nonce *Nonce) (*Action, error) {
	return c.systemAction("advance_nonce_account", nonce.Authority, nonce.advance())
}

// CloseNonce pays all lamports of a nonce account to somebody, and with that removes it.
func (c *Client) CloseNonce(_ context.Context, nonce *Nonce, recipient solana.PublicKey) (*Action, error) {
	return c.systemAction("withdraw_nonce_account", nonce.Authority,
		system.NewWithdrawNonceAccountInstruction(nonce.Lamports, nonce.Address, recipient,
			solana.SysVarRecentBlockHashesPubkey, solana.SysVarRentPubkey, nonce.Authority).Build())
}

func (n *Nonce) advance() solana.Instruction {
	return system.NewAdvanceNonceAccountInstruction(n.Address, solana.SysVarRecentBlockHashesPubkey, n.Authority).Build()
}

// systemAction is an action of the system program's, on no negotiation.
func (c *Client) systemAction(name string, payer solana.PublicKey, instructions ...solana.Instruction) (*Action, error) {
	content := make([][]byte, 0, len(instructions))
	for _, instruction := range instructions {
		data, err := instruction.Data()
		if err != nil {
			return nil, fmt.Errorf("haggle: %s: %w", name, err)
		}
		content = append(content, instruction.Accounts()[0].PublicKey[:], data)
	}
	return &Action{Name: name, Instructions: instructions, Payer: payer, client: c, key: randomKey(), intent: intentOf(payer, name, content...)}, nil
}

// holdsNonce says whether an account is a nonce account with a value.
func holdsNonce(account *rpc.Account, value solana.Hash) bool {
	if account == nil || account.Owner != solana.SystemProgramID {
		return false
	}
	data := account.Data.GetBinary()
	return len(data) == nonceSize && solana.Hash(data[nonceOffsetValue:nonceOffsetValue+32]) == value
}

// dateByNonce has the transaction use the nonce that the action's options name.
func (a *Action) dateByNonce(ctx context.Context, found *facts) error {
	nonce, err := a.client.GetNonce(ctx, a.options.nonce)
	if err != nil {
		return fmt.Errorf("nonce: %w", err)
	}
	found.first = nonce.advance()
	found.blockhash = nonce.Value
	found.valid = validity{blockhash: nonce.Value, nonce: nonce.Address, since: nonce.Slot}
	return nil
}

// nonceOf is the nonce account of a transaction with a durable nonce.
func nonceOf(transaction *solana.Transaction) (solana.PublicKey, error) {
	address, ok := transaction.GetNonceAccount()
	if !ok {
		return solana.PublicKey{}, fmt.Errorf("%w: the transaction does not name one", ErrNotANonce)
	}
	return address, nil
}
