package haggle

import (
	"context"
	"errors"
	"fmt"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
)

// Deposit selects where a deposit comes from.
type Deposit struct {
	// TokenAccount is the token account to deposit from. If zero, the depositor's associated token account is
	// used.
	TokenAccount solana.PublicKey
	// WrapSOL wraps the whole deposit from the depositor's lamports in the same transaction. The
	// negotiation's mint must be solana.WrappedSol or token.WrappedSOL2022.
	WrapSOL bool
}

// AcceptInvitation accepts the buyer's invitation as the seller, who signs; then it is the buyer's turn. The
// seller agrees to exactly the terms behind termsHash: see [Snapshot.TermsHash]. For other terms it fails
// with [ErrNotAsExpected]. If zero, the snapshot's hash is used with [Client.At]; otherwise zero is an error.
//
// decimals is the number of decimals that the seller assumes for amounts. It is required, and the program
// refuses other decimals than the mint's; the action fails with [*token.DecimalsError] before. Do not copy it
// from a node: see [Client.GetMint].
//
// If the seller's associated token account for the mint is missing, the same transaction creates it, so that
// the seller can be paid. A negotiation that requires a bond takes it from the deposit's token account. It
// fails with [*token.InsufficientFunds] if that holds less, with [protocol.ErrAccountNotFound] if there is
// none, and with [token.ErrCPIGuard] if deposits from it are impossible. Warnings contains an [ErrOffCurve]
// for each party with an address that is not a wallet's.
//
// The program returns [protocol.ErrInvalidState] if the invitation was already accepted or is over,
// [protocol.ErrExpired], [protocol.ErrUnauthorized], or [protocol.ErrStaleState].
func (n *Negotiation) AcceptInvitation(
	seller solana.PublicKey, terms [32]byte, decimals uint8, bond Deposit,
) *Action {
	action := n.actionBy(seller, &acceptInvitation{
		protocol.AcceptInvitation{Seller: seller, TermsHash: terms, Decimals: decimals}, bond})
	if terms == [32]byte{} && n.snapshot == nil && action.err == nil {
		action.err = errors.New("haggle: accept_invitation: snapshot or terms hash not set")
	}
	return action
}

type acceptInvitation struct {
	protocol.AcceptInvitation
	bond Deposit
}

func (i acceptInvitation) build(ctx context.Context, a *Action) (*builtInstruction, error) {
	n, c := a.snapshot, a.client
	if len(n.Data) != protocol.NegotiationSize {
		return nil, fmt.Errorf("%w: the snapshot has %d bytes of data instead of %d", ErrNotAsExpected,
			len(n.Data), protocol.NegotiationSize)
	}
	terms := n.TermsHash()
	if i.TermsHash != [32]byte{} && i.TermsHash != terms {
		return nil, fmt.Errorf("%w: the terms' hash is %x", ErrNotAsExpected, terms)
	}
	mint, err := c.GetMint(ctx, n.TokenMint)
	if err == nil {
		err = checkDecimals(mint, i.Decimals)
	}
	if err != nil {
		return nil, fmt.Errorf("mint: %w", err)
	}
	i.On(a.Negotiation, &n.Negotiation)
	i.TermsHash = terms
	var before []solana.Instruction
	if n.BondRequired > 0 {
		if before, err = i.addBond(ctx, c, n, mint); err != nil {
			return nil, fmt.Errorf("seller's token account: %w", err)
		}
	}
	if len(before) == 0 {
		if _, before, err = c.payee(ctx, mint, i.Seller, i.Seller, solana.PublicKey{}, true); err != nil {
			return nil, fmt.Errorf("seller's token account: %w", err)
		}
	}
	return &builtInstruction{payer: i.Seller, instruction: &i.AcceptInvitation, preparation: before,
		warnings: partyWarnings(n.Buyer, i.Seller)}, nil
}

// addBond adds the accounts that the bond moves between, and returns the instructions that have to be
// executed before.
func (i *acceptInvitation) addBond(
	ctx context.Context, c *Client, n *Snapshot, mint *token.Mint,
) (before []solana.Instruction, err error) {
	if i.Seller == n.Seller && n.Status == protocol.NegotiationStatusCreated {
		i.SellerTokenAccount, before, err = c.depositOf(ctx, i.bond, n.Seller, mint, n.BondRequired)
	} else {
		// The program's reason to refuse this is not the account's balance, which the bond itself may have
		// lowered.
		i.SellerTokenAccount, err = accountOrAssociated(i.bond.TokenAccount, n.Seller, mint)
	}
	if err != nil {
		return nil, err
	}
	i.EscrowVault, err = n.vault()
	i.TokenProgram = mint.TokenProgram
	return before, err
}

// partyWarnings returns a warning for each party with an address that is not a wallet's.
func partyWarnings(buyer, seller solana.PublicKey) (warnings []error) {
	if !buyer.IsOnCurve() {
		warnings = append(warnings, fmt.Errorf("%w: buyer %s", ErrOffCurve, buyer))
	}
	if !seller.IsOnCurve() {
		warnings = append(warnings, fmt.Errorf("%w: seller %s", ErrOffCurve, seller))
	}
	return warnings
}

// The seller alone can accept. A negotiation that ended in another way is inconclusive.
func (i acceptInvitation) postcondition(_, now *Snapshot) bool {
	return now.Seller == i.Seller &&
		(now.IsBargaining() || now.IsAgreed() || now.Status == protocol.NegotiationStatusSettled)
}
