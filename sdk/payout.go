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

// payee is an owner of token accounts who is to be paid.
type payee struct {
	owner solana.PublicKey
	// named is the account that the caller has chosen; zero for none.
	named solana.PublicKey
	// signs reports whether the owner is the only signer of the instruction. Only then an account with a
	// delegate or a close authority is paid.
	signs bool
	// creates reports whether the transaction creates a missing associated account, which its payer pays for.
	creates bool
}

// payeeAccounts returns the token account of each payee: the named one, otherwise the associated one. If that
// exists and cannot be paid, it is another one of the owner's that can, if there is one. An amount that
// cannot be paid to the associated account is recorded, so that account always works. before creates what is
// missing.
//
// A node can name any account as another one of the owner's, so this is only for instructions of which the
// program checks the owner.
func (c *Client) payeeAccounts(ctx context.Context, payer solana.PublicKey, mint *Mint, payees ...payee) (
	accounts []solana.PublicKey, before []solana.Instruction, err error) {
	accounts = make([]solana.PublicKey, len(payees))
	var unnamed []int
	var associated []solana.PublicKey
	for i, payee := range payees {
		accounts[i] = payee.named
		if !payee.named.IsZero() {
			continue
		}
		if accounts[i], err = mint.AssociatedTokenAddress(payee.owner); err != nil {
			return nil, nil, err
		}
		unnamed, associated = append(unnamed, i), append(associated, accounts[i])
	}
	if len(unnamed) == 0 {
		return accounts, nil, nil
	}
	stored, slot, err := c.accounts(ctx, associated...)
	if err != nil {
		return nil, nil, err
	}
	for at, i := range unnamed {
		payee := payees[i]
		switch {
		case !isMissing(stored[at]):
			if !canBePaid(associated[at], stored[at], slot, mint, payee) {
				accounts[i] = c.otherAccountOr(ctx, associated[at], mint, payee)
			}
		case payee.creates:
			creation, err := CreateAssociatedTokenAccount(payer, payee.owner, mint.Address, mint.TokenProgram)
			if err != nil {
				return nil, nil, err
			}
			before = append(before, creation)
		}
	}
	return accounts, before, nil
}

func canBePaid(address solana.PublicKey, stored *rpc.Account, slot uint64, mint *Mint, payee payee) bool {
	account, err := decodeTokenAccount(address, stored, slot)
	return err == nil && account.receives(mint, payee.owner, payee.signs)
}

// otherAccountOr returns another token account of the owner's that can be paid, or otherwise the associated
// one. An owner with too many accounts to list must not keep the others from acting, so an error of the node
// is not one here.
func (c *Client) otherAccountOr(ctx context.Context, associated solana.PublicKey, mint *Mint, payee payee) solana.PublicKey {
	other, err := c.otherAccount(ctx, mint, payee)
	if err != nil || other.IsZero() {
		return associated
	}
	return other
}

// otherAccount returns a token account of the owner's that can be paid; zero if there is none.
func (c *Client) otherAccount(ctx context.Context, mint *Mint, payee payee) (solana.PublicKey, error) {
	answer, err := c.rpc.GetTokenAccountsByOwner(ctx, payee.owner,
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
		if canBePaid(keyed.Pubkey, &keyed.Account, answer.Context.Slot, mint, payee) {
			return keyed.Pubkey, nil
		}
	}
	return solana.PublicKey{}, nil
}

// claimingAccount returns the token account that a party claims to: the named one, otherwise the associated
// one, which is created if it is missing. The program pays a claim to any account, so an account that only a
// node has named is never used.
func (c *Client) claimingAccount(ctx context.Context, named, party solana.PublicKey, mint *Mint) (solana.PublicKey, []solana.Instruction, error) {
	if !named.IsZero() {
		return named, nil, nil
	}
	address, err := mint.AssociatedTokenAddress(party)
	if err != nil {
		return solana.PublicKey{}, nil, err
	}
	accounts, slot, err := c.accounts(ctx, address)
	if err != nil {
		return solana.PublicKey{}, nil, err
	}
	if isMissing(accounts[0]) {
		return mint.createAssociated(party, party, address)
	}
	if !canBePaid(address, accounts[0], slot, mint, payee{owner: party, signs: true}) {
		return solana.PublicKey{}, nil, &AccountError{Address: address, Err: errCannotReceive}
	}
	return address, nil, nil
}

var errCannotReceive = errors.New("haggle: the party's associated token account cannot receive, so Destination has to be given")

// accountOrAssociated returns the named token account, otherwise the owner's associated one.
func accountOrAssociated(named, owner solana.PublicKey, mint *Mint) (solana.PublicKey, error) {
	if !named.IsZero() {
		return named, nil
	}
	return mint.AssociatedTokenAddress(owner)
}

// payouts are the token accounts at which the parties are paid, and the mint that the program needs beside
// them.
type payouts struct {
	mint          *Mint
	buyer, seller solana.PublicKey
	// before creates the payer's account if it is missing.
	before []solana.Instruction
}

// payoutRequest selects the parties' token accounts for an instruction.
type payoutRequest struct {
	// payer pays the transaction's fee, and for its own associated account if that is missing.
	payer solana.PublicKey
	// signer is the only signer of the instruction; zero if nobody has to sign it, or two have to.
	signer solana.PublicKey
	// buyer and seller are the accounts that the caller has named; zero for none.
	buyer, seller solana.PublicKey
	// withoutBuyer and withoutSeller leave a party out that the instruction does not pay.
	withoutBuyer, withoutSeller bool
	// unpaidSeller reports that the seller gets nothing although its account is named, so the transaction does
	// not create it.
	unpaidSeller bool
}

// payouts returns the token accounts at which the parties are paid.
func (c *Client) payouts(ctx context.Context, n *NegotiationAccount, request payoutRequest) (p payouts, err error) {
	if p.mint, err = c.GetMint(ctx, n.TokenMint); err != nil {
		return p, fmt.Errorf("mint: %w", err)
	}
	var payees []payee
	var to []*solana.PublicKey
	add := func(owner, named solana.PublicKey, creates bool, account *solana.PublicKey) {
		payees = append(payees, payee{
			owner: owner, named: named, signs: owner == request.signer, creates: creates && owner == request.payer,
		})
		to = append(to, account)
	}
	if !request.withoutBuyer {
		add(n.Buyer, request.buyer, true, &p.buyer)
	}
	if !request.withoutSeller {
		add(n.Seller, request.seller, !request.unpaidSeller, &p.seller)
	}
	accounts, before, err := c.payeeAccounts(ctx, request.payer, p.mint, payees...)
	if err != nil {
		return p, fmt.Errorf("token accounts of the parties: %w", err)
	}
	for i, account := range accounts {
		*to[i] = account
	}
	p.before = before
	return p, nil
}
