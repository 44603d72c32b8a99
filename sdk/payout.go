package haggle

import (
	"context"
	"errors"
	"fmt"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
)

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

func (c *Client) associatedAccount(ctx context.Context, owner solana.PublicKey, mint *Mint) (associatedAccount, error) {
	address, err := mint.AssociatedTokenAddress(owner)
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
		found.canReceive = err == nil && account.receives(mint, owner)
	}
	return found, nil
}

// receivingAccount is the token account at which an owner is paid: the one that is named, otherwise the associated one; if that
// cannot receive, another one of the owner's that can. If the associated one is missing, the instruction that creates it comes
// with it, for which the payer pays. A node can name any account as another one of the owner's, so this is only for instructions
// of which the program checks the owner.
func (c *Client) receivingAccount(ctx context.Context, named, payer, owner solana.PublicKey, mint *Mint) (solana.PublicKey, []solana.Instruction, error) {
	if !named.IsZero() {
		return named, nil, nil
	}
	associated, err := c.associatedAccount(ctx, owner, mint)
	if err != nil {
		return solana.PublicKey{}, nil, err
	}
	if associated.missing {
		return mint.createAssociated(payer, owner, associated.address)
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
func (c *Client) claimingAccount(ctx context.Context, named, party solana.PublicKey, mint *Mint) (solana.PublicKey, []solana.Instruction, error) {
	if !named.IsZero() {
		return named, nil, nil
	}
	associated, err := c.associatedAccount(ctx, party, mint)
	if err != nil {
		return solana.PublicKey{}, nil, err
	}
	if associated.missing {
		return mint.createAssociated(party, party, associated.address)
	}
	if !associated.canReceive {
		return solana.PublicKey{}, nil, &AccountError{Address: associated.address, Err: errCannotReceive}
	}
	return associated.address, nil, nil
}

var errCannotReceive = errors.New("haggle: the party's associated token account cannot receive, so Destination has to be given")

// otherAccount is any token account of an owner's that can receive; zero if there is none.
func (c *Client) otherAccount(ctx context.Context, owner solana.PublicKey, mint *Mint) (solana.PublicKey, error) {
	answer, err := c.rpc.GetTokenAccountsByOwner(ctx, owner,
		&rpc.GetTokenAccountsConfig{Mint: &mint.Address},
		&rpc.GetTokenAccountsOpts{Commitment: c.commitment, Encoding: solana.EncodingBase64})
	if err != nil {
		return solana.PublicKey{}, err
	}
	if answer == nil {
		return solana.PublicKey{}, malformed("the node does not answer with a list of accounts")
	}
	for _, keyed := range answer.Value {
		if keyed == nil || keyed.Account.Data == nil {
			continue
		}
		account, err := decodeTokenAccount(keyed.Pubkey, &keyed.Account, answer.Context.Slot)
		if err == nil && account.receives(mint, owner) {
			return account.Address, nil
		}
	}
	return solana.PublicKey{}, nil
}

// othersAccount is the token account at which the other party receives. A missing one is not paid for, and one that cannot
// receive holds nobody up: the program then keeps the payment until its party fetches it.
func othersAccount(named, party solana.PublicKey, mint *Mint) (solana.PublicKey, error) {
	if !named.IsZero() {
		return named, nil
	}
	return mint.AssociatedTokenAddress(party)
}

// payouts are the token accounts at which the two parties receive, and what the program needs beside them.
type payouts struct {
	mint          *Mint
	buyer, seller solana.PublicKey
	// before creates the acting party's account if it is missing.
	before []solana.Instruction
}

// payouts finds the token accounts at which both parties receive. That of the acting one is created if it is missing.
func (c *Client) payouts(ctx context.Context, n *NegotiationAccount, acting, buyers, sellers solana.PublicKey) (p payouts, err error) {
	if p.mint, err = c.GetMint(ctx, n.TokenMint); err != nil {
		return p, fmt.Errorf("mint: %w", err)
	}
	if err = p.addBuyer(ctx, c, n, acting, buyers); err != nil {
		return p, err
	}
	return p, p.addSeller(ctx, c, n, acting, sellers)
}

// sellersPayout finds the token account at which the seller alone receives.
func (c *Client) sellersPayout(ctx context.Context, n *NegotiationAccount, acting, sellers solana.PublicKey) (p payouts, err error) {
	if p.mint, err = c.GetMint(ctx, n.TokenMint); err != nil {
		return p, fmt.Errorf("mint: %w", err)
	}
	return p, p.addSeller(ctx, c, n, acting, sellers)
}

func (p *payouts) addBuyer(ctx context.Context, c *Client, n *NegotiationAccount, acting, named solana.PublicKey) (err error) {
	if p.buyer, err = p.accountOf(ctx, c, n.Buyer, acting, named); err != nil {
		return fmt.Errorf("buyer's token account: %w", err)
	}
	return nil
}

func (p *payouts) addSeller(ctx context.Context, c *Client, n *NegotiationAccount, acting, named solana.PublicKey) (err error) {
	if p.seller, err = p.accountOf(ctx, c, n.Seller, acting, named); err != nil {
		return fmt.Errorf("seller's token account: %w", err)
	}
	return nil
}

func (p *payouts) accountOf(ctx context.Context, c *Client, party, acting, named solana.PublicKey) (solana.PublicKey, error) {
	if acting != party {
		return othersAccount(named, party, p.mint)
	}
	account, before, err := c.receivingAccount(ctx, named, acting, party, p.mint)
	p.before = append(p.before, before...)
	return account, err
}

// refunds finds where the escrow goes back to, and the bond of a negotiation that asks for one, whether or not it is known to be
// held: what has been read may be older than the seller's deposit, and an account that turns out not to be needed does no harm.
func (c *Client) refunds(ctx context.Context, n *NegotiationAccount, acting, buyers, sellers solana.PublicKey) (p payouts, err error) {
	if p.mint, err = c.GetMint(ctx, n.TokenMint); err != nil {
		return p, fmt.Errorf("mint: %w", err)
	}
	if err = p.addBuyer(ctx, c, n, acting, buyers); err != nil || n.BondRequired == 0 {
		return p, err
	}
	if n.sellerOwesReveal() {
		// The seller's silence or rejection forfeits the bond, so there is no account of its own to pay for.
		p.seller, err = othersAccount(sellers, n.Seller, p.mint)
		return p, err
	}
	return p, p.addSeller(ctx, c, n, acting, sellers)
}
