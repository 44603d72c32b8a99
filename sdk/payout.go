package haggle

import (
	"context"
	"errors"
	"fmt"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
)

// isMissing reports whether an account is still to be created. An address holding nothing but lamports counts
// as missing.
func isMissing(account *rpc.Account) bool {
	return account == nil || (account.Owner == solana.SystemProgramID && len(account.Data.GetBinary()) == 0)
}

// payouts holds the token accounts that the parties are paid to, and the mint that the program needs beside
// them.
type payouts struct {
	mint          *token.Mint
	buyer, seller solana.PublicKey
	// before creates the payer's account if it is missing.
	before []solana.Instruction
}

// payoutRequest selects the parties' token accounts for an instruction.
type payoutRequest struct {
	// payer pays the transaction's fee, and for the payer's own associated account if it is missing.
	payer solana.PublicKey
	// withoutBuyer and withoutSeller leave a party out that the instruction does not pay.
	withoutBuyer, withoutSeller bool
	// unpaidSeller reports whether the seller receives nothing although the seller's account is named. The
	// transaction then does not create the account.
	unpaidSeller bool
}

// payouts returns the token accounts that the parties are paid to: the named account, otherwise the
// associated account.
//
// The associated account cannot make the transaction fail, whatever the owner does to it until the
// transaction is executed: the program records the amount if it cannot be paid. Any other account can, so
// callers alone name such accounts.
func (a *Action) payouts(ctx context.Context, request payoutRequest) (p payouts, err error) {
	c, n := a.client, a.snapshot
	if p.mint, err = c.mintOf(ctx, n.TokenMint); err != nil {
		return p, fmt.Errorf("mint: %w", err)
	}
	var creation []solana.Instruction
	if !request.withoutBuyer {
		if p.buyer, p.before, err = c.payee(ctx, p.mint, request.payer, n.Buyer, a.accounts.Buyer,
			true); err != nil {
			return p, fmt.Errorf("buyer's token account: %w", err)
		}
	}
	if !request.withoutSeller {
		if p.seller, creation, err = c.payee(ctx, p.mint, request.payer, n.Seller, a.accounts.Seller,
			!request.unpaidSeller); err != nil {
			return p, fmt.Errorf("seller's token account: %w", err)
		}
	}
	p.before = append(p.before, creation...)
	return p, nil
}

// payee returns a party's token account: the named account, otherwise the associated account. The payer's own
// is created if it is missing and creates is set.
func (c *Client) payee(
	ctx context.Context, mint *token.Mint, payer, party, named solana.PublicKey, creates bool,
) (address solana.PublicKey, creation []solana.Instruction, err error) {
	address, err = accountOrAssociated(named, party, mint)
	if err != nil || !named.IsZero() || party != payer || !creates {
		return address, nil, err
	}
	stored, _, err := c.accounts(ctx, address)
	if err != nil || !isMissing(stored[0]) {
		return address, nil, err
	}
	return createAssociated(mint, payer, party, address)
}

// canBePaid reports whether the program pays the mint's tokens to an account as the owner's. signs reports
// whether the owner signs.
func canBePaid(
	address solana.PublicKey, stored *rpc.Account, slot uint64, mint *token.Mint, owner solana.PublicKey,
	signs bool,
) bool {
	account, err := token.DecodeAccount(address, stored, slot)
	return err == nil && account.Receives(mint, owner, signs)
}

// otherAccount returns a token account of the owner that can be paid without the owner's signature; zero if
// there is none. A node can name any account, so this is only for instructions that make the program check
// the owner.
func (c *Client) otherAccount(
	ctx context.Context, mint *token.Mint, owner solana.PublicKey,
) (solana.PublicKey, error) {
	answer, err := c.rpc.GetTokenAccountsByOwner(ctx, owner,
		&rpc.GetTokenAccountsConfig{Mint: &mint.Address},
		&rpc.GetTokenAccountsOpts{Commitment: c.commitment, Encoding: solana.EncodingBase64})
	if err != nil {
		return solana.PublicKey{}, err
	}
	for _, keyed := range answer.Value {
		if keyed == nil || keyed.Account.Data == nil {
			continue
		}
		if canBePaid(keyed.Pubkey, &keyed.Account, answer.Context.Slot, mint, owner, false) {
			return keyed.Pubkey, nil
		}
	}
	return solana.PublicKey{}, nil
}

// claimingAccount returns the token account that a party claims to: the named account, otherwise the
// associated account, which is created if it is missing. The program pays a claim to any account, so an
// account named by nothing but a node is never used.
func (c *Client) claimingAccount(
	ctx context.Context, named, party solana.PublicKey, mint *token.Mint,
) (solana.PublicKey, []solana.Instruction, error) {
	if !named.IsZero() {
		return named, nil, nil
	}
	address, err := mint.AssociatedAddress(party)
	if err != nil {
		return solana.PublicKey{}, nil, err
	}
	accounts, slot, err := c.accounts(ctx, address)
	if err != nil {
		return solana.PublicKey{}, nil, err
	}
	if isMissing(accounts[0]) {
		return createAssociated(mint, party, party, address)
	}
	if !canBePaid(address, accounts[0], slot, mint, party, true) {
		return solana.PublicKey{}, nil, &protocol.AccountError{Address: address, Err: errCannotReceive}
	}
	return address, nil, nil
}

var errCannotReceive = errors.New("haggle: the party's associated token account cannot receive (name a destination)")

// accountOrAssociated returns the named token account, otherwise the owner's associated account.
func accountOrAssociated(named, owner solana.PublicKey, mint *token.Mint) (solana.PublicKey, error) {
	if !named.IsZero() {
		return named, nil
	}
	return mint.AssociatedAddress(owner)
}
