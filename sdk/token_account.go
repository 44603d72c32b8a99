package haggle

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/gagliardetto/solana-go"
	associatedtoken "github.com/gagliardetto/solana-go/programs/associated-token-account"
	"github.com/gagliardetto/solana-go/rpc"
)

// TokenAccountState says what can be done with a token account.
type TokenAccountState uint8

// The states of SPL Token.
const (
	TokenAccountUninitialized TokenAccountState = iota
	TokenAccountInitialized
	// TokenAccountFrozen can neither pay nor be paid, until the mint's freeze authority thaws it.
	TokenAccountFrozen
)

// TokenAccount is an SPL Token account as the chain had it at a slot.
type TokenAccount struct {
	Address solana.PublicKey
	Mint    solana.PublicKey
	Owner   solana.PublicKey
	// Amount is in base units of the mint.
	Amount uint64
	State  TokenAccountState
	// Slot is when the account was read.
	Slot uint64
}

// canReceive says whether tokens of a mint can be paid to it as an account of the owner's.
func (t *TokenAccount) canReceive(mint, owner solana.PublicKey) bool {
	return t.Mint == mint && t.Owner == owner && t.State == TokenAccountInitialized
}

// Where SPL Token's accounts have what is read here.
const (
	tokenAccountSize        = 165
	tokenAccountOffsetMint  = 0
	tokenAccountOffsetOwner = 32
	tokenAccountOffsetAmt   = 64
	tokenAccountOffsetState = 108
)

// AssociatedTokenAddress is the address of a wallet's associated token account for an SPL Token mint.
func AssociatedTokenAddress(wallet, mint solana.PublicKey) (solana.PublicKey, error) {
	address, _, err := solana.FindAssociatedTokenAddress(wallet, mint)
	return address, err
}

// CreateAssociatedTokenAccount is the instruction that creates a wallet's associated token account for an SPL Token mint, and
// does nothing if there is one. The payer pays its rent of 2,039,280 lamports.
func CreateAssociatedTokenAccount(payer, wallet, mint solana.PublicKey) (solana.Instruction, error) {
	return associatedtoken.NewCreateIdempotentInstruction(payer, wallet, mint).ValidateAndBuild()
}

// GetTokenAccount reads an SPL Token account. Its error is as [Client.GetNegotiation]'s.
func (c *Client) GetTokenAccount(ctx context.Context, address solana.PublicKey) (*TokenAccount, error) {
	account, slot, err := c.accountOf(ctx, address, solana.TokenProgramID)
	if err != nil {
		return nil, err
	}
	return decodeTokenAccount(address, account, slot)
}

func decodeTokenAccount(address solana.PublicKey, account *rpc.Account, slot uint64) (*TokenAccount, error) {
	if account.Owner != solana.TokenProgramID {
		return nil, &AccountError{Address: address, Err: fmt.Errorf("%w: %s", ErrWrongOwner, account.Owner)}
	}
	data := account.Data.GetBinary()
	if len(data) != tokenAccountSize {
		return nil, &AccountError{Address: address, Err: wrongSize("token account", len(data), tokenAccountSize)}
	}
	if state := data[tokenAccountOffsetState]; state > byte(TokenAccountFrozen) {
		return nil, &AccountError{Address: address, Err: &DecodeError{Type: "token account", Field: "state", Reason: ErrOutOfRange, Detail: fmt.Sprint(state)}}
	}
	return &TokenAccount{
		Address: address,
		Mint:    solana.PublicKey(data[tokenAccountOffsetMint:tokenAccountOffsetOwner]),
		Owner:   solana.PublicKey(data[tokenAccountOffsetOwner:tokenAccountOffsetAmt]),
		Amount:  binary.LittleEndian.Uint64(data[tokenAccountOffsetAmt:]),
		State:   TokenAccountState(data[tokenAccountOffsetState]),
		Slot:    slot,
	}, nil
}

// isMissing says whether an account is still to be created: nobody has, or somebody has only sent it lamports.
func isMissing(account *rpc.Account) bool {
	return account == nil || (account.Owner == solana.SystemProgramID && len(account.Data.GetBinary()) == 0)
}

// associatedAccount is an owner's associated token account as the node has it.
type associatedAccount struct {
	address    solana.PublicKey
	missing    bool
	canReceive bool
}

func (c *Client) associatedAccount(ctx context.Context, owner, mint solana.PublicKey) (associatedAccount, error) {
	address, err := AssociatedTokenAddress(owner, mint)
	if err != nil {
		return associatedAccount{}, err
	}
	accounts, slot, err := c.accounts(ctx, address)
	if err != nil {
		return associatedAccount{}, err
	}
	found := associatedAccount{address: address, missing: isMissing(accounts[0])}
	if !found.missing {
		account, err := decodeTokenAccount(address, accounts[0], slot)
		found.canReceive = err == nil && account.canReceive(mint, owner)
	}
	return found, nil
}

// receivingAccount is the token account at which an owner is paid: the one that is named, otherwise the associated one; if that
// cannot receive, another one of the owner's that can. If the associated one is missing, the instruction that creates it comes
// with it, for which the payer pays. A node can name any account as another one of the owner's, so this is only for instructions
// of which the program checks the owner.
func (c *Client) receivingAccount(ctx context.Context, named, payer, owner, mint solana.PublicKey) (solana.PublicKey, []solana.Instruction, error) {
	if !named.IsZero() {
		return named, nil, nil
	}
	associated, err := c.associatedAccount(ctx, owner, mint)
	if err != nil {
		return solana.PublicKey{}, nil, err
	}
	if associated.missing {
		return created(associated.address, payer, owner, mint)
	}
	if associated.canReceive {
		return associated.address, nil, nil
	}
	other, err := c.otherAccount(ctx, owner, mint)
	if err != nil {
		return solana.PublicKey{}, nil, err
	}
	if other.IsZero() {
		return associated.address, nil, nil
	}
	return other, nil, nil
}

// claimingAccount is the token account that a party claims to: the one that is named, otherwise the associated one, whose address
// follows from the party's. The program pays a claim to any account, so none is taken that a node has named.
func (c *Client) claimingAccount(ctx context.Context, named, party, mint solana.PublicKey) (solana.PublicKey, []solana.Instruction, error) {
	if !named.IsZero() {
		return named, nil, nil
	}
	associated, err := c.associatedAccount(ctx, party, mint)
	if err != nil {
		return solana.PublicKey{}, nil, err
	}
	if associated.missing {
		return created(associated.address, party, party, mint)
	}
	if !associated.canReceive {
		return solana.PublicKey{}, nil, &AccountError{Address: associated.address, Err: errCannotReceive}
	}
	return associated.address, nil, nil
}

var errCannotReceive = errors.New("haggle: the party's associated token account cannot receive, so Destination has to be given")

// created is an associated token account with the instruction that creates it.
func created(address, payer, owner, mint solana.PublicKey) (solana.PublicKey, []solana.Instruction, error) {
	creation, err := CreateAssociatedTokenAccount(payer, owner, mint)
	if err != nil {
		return solana.PublicKey{}, nil, err
	}
	return address, []solana.Instruction{creation}, nil
}

// otherAccount is any token account of an owner's that can receive; zero if there is none.
func (c *Client) otherAccount(ctx context.Context, owner, mint solana.PublicKey) (solana.PublicKey, error) {
	answer, err := c.rpc.GetTokenAccountsByOwner(ctx, owner,
		&rpc.GetTokenAccountsConfig{Mint: &mint},
		&rpc.GetTokenAccountsOpts{Commitment: c.commitment, Encoding: solana.EncodingBase64})
	if err != nil {
		return solana.PublicKey{}, err
	}
	if answer == nil {
		return solana.PublicKey{}, errors.New("haggle: the node does not answer with a list of accounts")
	}
	for _, keyed := range answer.Value {
		if keyed == nil || keyed.Account.Data == nil {
			continue
		}
		account, err := decodeTokenAccount(keyed.Pubkey, &keyed.Account, answer.Context.Slot)
		if err == nil && account.canReceive(mint, owner) {
			return account.Address, nil
		}
	}
	return solana.PublicKey{}, nil
}

// othersAccount is the token account at which the other party receives. A missing one is not paid for, and one that cannot
// receive holds nobody up: the program then keeps the payment until its party fetches it.
func othersAccount(named, party, mint solana.PublicKey) (solana.PublicKey, error) {
	if !named.IsZero() {
		return named, nil
	}
	return AssociatedTokenAddress(party, mint)
}

// payoutAccounts are the token accounts at which the two parties receive. That of the acting one is created if it is missing.
func (c *Client) payoutAccounts(ctx context.Context, n *NegotiationAccount, acting, buyers, sellers solana.PublicKey) (buyer, seller solana.PublicKey, before []solana.Instruction, err error) {
	if acting == n.Seller {
		if buyer, err = othersAccount(buyers, n.Buyer, n.TokenMint); err == nil {
			seller, before, err = c.receivingAccount(ctx, sellers, acting, n.Seller, n.TokenMint)
		}
		return buyer, seller, before, err
	}
	if acting == n.Buyer {
		buyer, before, err = c.receivingAccount(ctx, buyers, acting, n.Buyer, n.TokenMint)
	} else {
		buyer, err = othersAccount(buyers, n.Buyer, n.TokenMint)
	}
	if err == nil {
		seller, err = othersAccount(sellers, n.Seller, n.TokenMint)
	}
	return buyer, seller, before, err
}
